//! Answers in other languages than English: true sentences are shown, and false ones are not shown
//! as if nothing were wrong with them. The sentences are in `languages.txt`.

use super::*;

const SENTENCES: &str = include_str!("languages.txt");

/// The sentences of one kind, each with its note.
fn sentences(kind: &str) -> Vec<(&'static str, &'static str)> {
    let mut note = "";
    let mut out = Vec::new();
    for line in SENTENCES.lines().filter(|l| !l.starts_with('#')) {
        match line.split_once(": ") {
            Some((head, text)) if head.starts_with("note ") => note = text,
            Some((head, text)) if head == kind => out.push((note, text)),
            _ => {}
        }
    }
    assert!(!out.is_empty(), "{kind}");
    out
}

/// The report about a sentence and the note below it.
fn report_of(note: &str, answer: &str) -> Report {
    check_in(answer, &snapshot(&[note]))
}

/// The sentences of a kind whose report is not as it should be.
fn missed(kind: &str, cites: bool, holds: impl Fn(&Report) -> bool) -> Vec<String> {
    let cited = |text: &str| match cites {
        true => format!("{} [E1].", text.trim_end_matches(['.', '。'])),
        false => text.to_owned(),
    };
    let all = sentences(kind).into_iter();
    let reports = all.map(|(note, text)| (text, report_of(note, &cited(text))));
    let wrong = reports.filter(|(_, report)| !holds(report));
    wrong
        .map(|(text, report)| format!("{text} {:?} {:?}", report.codes, report.doubts))
        .collect()
}

/// Whether nothing was found against an answer.
fn is_clean(report: &Report) -> bool {
    report.outcome == Outcome::Abstained
        || report.outcome == Outcome::Passed && report.doubts.is_empty()
}

#[test]
fn true_sentences_are_not_rejected() {
    let missed = missed("true", true, |report| report.outcome != Outcome::Rejected);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn false_sentences_are_rejected_or_doubted() {
    let missed = missed("false", true, |report| !is_clean(report));
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn true_gaps_pass_without_a_citation_and_with_one() {
    for cites in [false, true] {
        let missed = missed("gap", cites, |report| report.outcome != Outcome::Rejected);
        assert!(missed.is_empty(), "{cites} {missed:#?}");
    }
}

#[test]
fn a_cited_gap_that_the_note_fills_is_doubted() {
    let missed = missed("denied", true, |report| !is_clean(report));
    assert!(missed.is_empty(), "{missed:#?}");
}

/// "The wording is the answer's own" said nothing of words that were never compared.
#[test]
fn a_sentence_in_another_language_says_what_was_compared() {
    let frozen = snapshot(&["照片服务器每周日凌晨三点备份。共保留十四份。"]);
    let report = check_in(
        "The photo server is backed up every Sunday at 3 am [E1].",
        &frozen,
    );
    let why = report.claims.first().map(|claim| claim.why.clone());
    assert!(
        why.is_some_and(|why| why.contains("only numbers, dates and names were compared")),
        "{report:?}"
    );
}

#[test]
fn a_task_is_as_done_as_its_box_in_other_languages_too() {
    let open = [
        "- [ ] Dachrinne reinigen",
        "- [ ] Réparer le portail",
        "- [ ] Limpiar el tejado",
        "- [ ] Pulire la grondaia",
    ];
    outcomes::all_rejected(
        &[Code::Status],
        &[
            (open[0], "Die Dachrinne wurde gereinigt"),
            (open[0], "Die Dachrinne ist gereinigt"),
            (open[1], "Le portail a été réparé"),
            (open[2], "Se limpió el tejado"),
        ],
    );
    outcomes::all_passed(&[
        (open[0], "Die Dachrinne muss noch gereinigt werden"),
        (open[0], "Die Dachrinne ist zu reinigen"),
        (open[0], "Es ist geplant, die Dachrinne zu reinigen"),
        (
            open[0],
            "Die nächste Aufgabe ist, die Dachrinne zu reinigen",
        ),
        (open[0], "Die Dachrinne sollte schon bald gereinigt werden"),
        (open[1], "Le portail est à réparer"),
        (open[1], "Il est prévu de réparer le portail"),
        (open[2], "El tejado está por limpiar"),
        (open[2], "Se tiene que limpiar el tejado"),
        (open[3], "La grondaia è da pulire"),
        ("- [x] Heizung entlüften", "Die Heizung wurde entlüftet"),
        (
            "- [x] Dachrinne reinigen",
            "Die Dachrinne wurde noch vor dem Winter gereinigt",
        ),
    ]);
}

#[test]
fn a_sign_of_a_chinese_number_is_no_number_of_its_own() {
    let chairs = "仓库里有十四把椅子。";
    outcomes::all_objected(
        &[Code::Number],
        &[
            (chairs, "仓库里有十把椅子"),
            (chairs, "仓库里有四把椅子"),
            (chairs, "There are 10 chairs in the warehouse"),
        ],
    );
    outcomes::all_passed(&[
        (chairs, "仓库有14把椅子"),
        (chairs, "There are 14 chairs in the warehouse"),
    ]);
}
