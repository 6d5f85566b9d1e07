use super::draft::draft;
use super::*;
use local_agent_index::retrieval::Packed;
use local_agent_testing::fixture::excerpt;
use local_agent_text::evidence::{EvidenceSnapshot, Freshness, Piece};
use local_agent_text::types::{RelPath, SourceName};
use local_agent_verify::{VerifyOptions, verify};

/// One item per note, the whole file.
fn packed(notes: &[(&str, &str)]) -> Packed {
    let excerpts = notes
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(path, text)| excerpt(path, "", 0, text))
        .collect();
    let snapshot = EvidenceSnapshot::freeze("?", excerpts).unwrap();
    let items = snapshot.items().iter();
    let freshness = items.map(|i| (i.label, Freshness::Fresh)).collect();
    Packed {
        freshness,
        scores: vec![1.0; snapshot.items().len()],
        snapshot,
        index_stale: Vec::new(),
    }
}

pub(super) fn sources(notes: &[(&str, &str)]) -> Vec<NoteSource> {
    let source = |(path, text): &(&str, &str)| NoteSource {
        source: SourceName::new("notes").unwrap(),
        path: RelPath::new(*path).unwrap(),
        path_is_shared: false,
        text: (*text).to_owned(),
        hits: vec![(0..text.len(), 1.0)],
    };
    notes.iter().map(source).collect()
}

/// Extracts with every term weighing the same, as asked on 2026-06-20.
pub(super) fn extracted(
    question: &str,
    notes: &[(&str, &str)],
    meaning: Option<&dyn Meaning>,
) -> Extracted {
    extracted_with(question, notes, meaning, &|_| Ok(MoreNotes::default()))
}

/// Like [`extracted`], with a lookup of more notes.
pub(super) fn extracted_with(
    question: &str,
    notes: &[(&str, &str)],
    meaning: Option<&dyn Meaning>,
    more: &dyn Fn(&Lookup<'_>) -> Result<MoreNotes>,
) -> Extracted {
    let evidence = Evidence {
        notes: sources(notes),
        rarity: &|_| Rarity {
            idf: 1.0,
            known: true,
        },
        meaning,
        more,
        today: Day::parse("2026-06-20").unwrap(),
    };
    extract(question, evidence).unwrap()
}

/// What is shown, with `[En]` for citations; checks the guarantees for every answer.
pub(super) fn shown(question: &str, notes: &[(&str, &str)], extracted: &Extracted) -> String {
    let drafted = draft(&extracted.notes, &extracted.passages, &packed(notes)).unwrap();
    let (draft, snapshot) = (drafted.draft, drafted.packed.snapshot);
    let report = verify(
        &draft,
        &snapshot,
        &drafted.packed.freshness,
        &VerifyOptions::default(),
    );
    assert!(report.ok, "{question}: {:?}", report.codes);
    let rendered = draft.render(&snapshot).unwrap();
    let mut text = String::new();
    for (range, piece) in &rendered.pieces {
        let bytes = &rendered.text[range.clone()];
        match piece {
            Piece::Cite(label) => text.push_str(&format!("[{label}]")),
            Piece::Text => {
                assert!(
                    bytes.trim().is_empty(),
                    "nothing is said between quotes: {bytes:?}"
                );
                text.push_str(bytes);
            }
            Piece::Quote { label, span } => {
                assert_eq!(
                    snapshot.item(*label).and_then(|i| i.slice(*span)),
                    Some(bytes)
                );
                text.push_str(bytes);
            }
            other => panic!("{other:?}"),
        }
    }
    text
}

pub(super) fn answer(question: &str, notes: &[(&str, &str)]) -> String {
    let extracted = extracted(question, notes, None);
    assert!(extracted.certain, "{question}: not certain");
    shown(question, notes, &extracted)
}

/// Asserts that nothing is presented as the answer.
pub(super) fn abstains(question: &str, notes: &[(&str, &str)]) {
    let extracted = extracted(question, notes, None);
    assert!(
        !extracted.certain,
        "{question}: {}",
        shown(question, notes, &extracted)
    );
}

const SHED: &str = "# Garden shed\n\nThe garden shed was built in May 2021. It is four metres long.\n\n\
    ## Roof\n\nThe roof of the shed is made of larch. The painter looks at it every autumn.\n";

#[test]
fn the_answer_is_the_paragraph_that_says_it() {
    assert_eq!(
        answer(
            "What is the roof of the shed made of?",
            &[("shed.md", SHED)]
        ),
        "The roof of the shed is made of larch. [E1] The painter looks at it every autumn. [E1]"
    );
    assert_eq!(
        answer("When was the garden shed built?", &[("shed.md", SHED)]),
        "The garden shed was built in May 2021. [E1] It is four metres long. [E1]"
    );
}

#[test]
fn headings_answer_nothing_but_say_what_is_spoken_of() {
    let notes = [(
        "shop.md",
        "# Shop\n\n## Stove price\n\nIt costs 900 euros.\n\n## Table price\n\nIt costs 120 euros.\n",
    )];
    assert_eq!(
        answer("What is the price of the stove?", &notes),
        "It costs 900 euros. [E1]"
    );
    abstains(
        "Which stove heats the shop?",
        &[(
            "a.md",
            "# Which stove heats the shop\n\n## Stove in the shop\n",
        )],
    );
}

#[test]
fn a_sentence_that_points_back_brings_the_one_before() {
    let text = "The old mill stands in Reedham. It was sold to a painter for 400 crowns.\n";
    assert_eq!(
        answer(
            "To whom was it sold and for how many crowns?",
            &[("mill.md", text)]
        ),
        "The old mill stands in Reedham. [E1] It was sold to a painter for 400 crowns. [E1]"
    );
}

#[test]
fn a_sentence_without_what_was_asked_brings_the_one_after() {
    let text =
        "The school gets rolls every Monday. Since March it is sixty of them, before it was 40.\n";
    let got = answer(
        "How many rolls does the school get every Monday?",
        &[("rolls.md", text)],
    );
    assert_eq!(
        got,
        "The school gets rolls every Monday. [E1] Since March it is sixty of them, before it was 40. [E1]"
    );
}

#[test]
fn nothing_is_said_twice() {
    let notes = [
        ("a.md", "The ferry leaves at 9:40 from the north pier.\n"),
        ("b.md", "The ferry leaves from the north pier at 9:40.\n"),
    ];
    assert_eq!(
        answer("When does the ferry leave from the north pier?", &notes)
            .matches("ferry")
            .count(),
        1
    );
}

#[test]
fn two_notes_that_disagree_are_both_shown_the_newer_first() {
    let notes = [
        (
            "old.md",
            "In March 2024 the guarantee of the pump was two years.\n",
        ),
        (
            "new.md",
            "Since June 2025 the guarantee of the pump lasts seven months.\n",
        ),
    ];
    let got = answer("How long is the guarantee of the pump?", &notes);
    let (new, old) = (
        got.find("seven months").unwrap(),
        got.find("two years").unwrap(),
    );
    assert!(new < old, "{got}");
}

#[test]
fn a_note_that_says_it_is_superseded_gives_way() {
    let notes = [
        (
            "plan-1.md",
            "# Boiler\n\n**Status: superseded.**\n\nWe heat the hall with the gas boiler.\n",
        ),
        (
            "plan-2.md",
            "# Boiler\n\n**Status: accepted.**\n\nWe heat the hall with the wood boiler.\n",
        ),
    ];
    let got = answer("With which boiler do we heat the hall?", &notes);
    assert!(
        got.starts_with("We heat the hall with the wood boiler."),
        "{got}"
    );
    assert!(!got.contains("gas"), "{got}");
}

#[test]
fn what_is_not_there_is_not_answered() {
    for question in [
        "What colour is the bicycle?",
        "Who repairs the piano?",
        "Wie heißt der Hund?",
        "犬の名前は何ですか。",
    ] {
        abstains(question, &[("shed.md", SHED)]);
    }
    abstains("What colour is the bicycle?", &[]);
    abstains("", &[("shed.md", SHED)]);
}

#[test]
fn debris_is_never_quoted() {
    let text = "The harbour crane:\n\n[[Harbour crane]]\n\n![[crane.png]]\n\n#harbour/crane\n\n%%The harbour crane lifts 9 tons.%%\n\n\
        <!-- The harbour crane lifts 8 tons. -->\n\nHow much does the harbour crane lift?\n\nThe harbour crane lifts 7 tons. #crane ^lift\n";
    assert_eq!(
        answer(
            "How much does the harbour crane lift?",
            &[("crane.md", text)]
        ),
        "The harbour crane lifts 7 tons. [E1]"
    );
}

#[test]
fn steps_are_given_in_their_order_with_their_numbers() {
    let text = "# Bleed the radiator\n\nOnce a year.\n\n1. Close the pump.\n2. Open the valve with the key. Hold a cup under it.\n3. Wait for water.\n\nThe key hangs in the cellar.\n";
    let got = answer("How do I bleed the radiator?", &[("radiator.md", text)]);
    let steps = "Once a year. [E1]\n\n1. Close the pump. [E1]\n2. Open the valve with the key. [E1] Hold a cup under it. [E1]\n3. Wait for water. [E1]\n\nThe key hangs in the cellar. [E1]";
    assert_eq!(got, steps);
}

#[test]
fn a_step_never_comes_without_those_before_it() {
    let text = "# Truing\n\n1. Clamp the wheel.\n2. When the rim rubs on the right, loosen the nearest right spoke.\n3. Check again.\n";
    let got = answer(
        "What do I do when the rim rubs on the right?",
        &[("wheel.md", text)],
    );
    assert!(
        got.starts_with("1. Clamp the wheel. [E1]\n2. When the rim"),
        "{got}"
    );
}

#[test]
fn reasons_under_a_heading_that_asks_are_one_answer() {
    let text = "# Canoe trip\n\n## Why the canoe trip was cancelled\n\n- The river was too high.\n- Two of us had a cold.\n";
    let got = answer("Why was the canoe trip cancelled?", &[("canoe.md", text)]);
    assert_eq!(
        got,
        "- The river was too high. [E1]\n- Two of us had a cold. [E1]"
    );
}

#[test]
fn a_row_comes_with_the_header_of_its_table() {
    let text = "# Stock\n\n| Grain | Sacks |\n| --- | ---: |\n| barley | 14 |\n| oats | 9 |\n";
    assert_eq!(
        answer("How many sacks of oats?", &[("stock.md", text)]),
        "| Grain | Sacks |\n| oats | 9 | [E1]"
    );
}

#[test]
fn a_row_answers_with_the_words_of_its_header() {
    let text = "# Mill\n\nIn May the mill was painted green by 3 people.\n\n\
        | Month | Ground | Sold |\n| --- | ---: | ---: |\n| April | 31 | 30 |\n| May | 28 | 25 |\n";
    assert_eq!(
        answer("How many sacks were ground in May?", &[("mill.md", text)]),
        "| Month | Ground | Sold |\n| May | 28 | 25 | [E1]"
    );
}

#[test]
fn fragments_and_other_files_add_nothing_to_an_answer() {
    let tower = "# Tower\n\nThe tower keeps 14 bells at 20 degrees.\n\n## Parts\n\n- One temperature gauge for the bells\n";
    let notes = [
        ("tower.md", tower),
        ("church.md", "The temperature of the church is pleasant.\n"),
    ];
    let got = answer("At what temperature does the tower keep the bells?", &notes);
    assert_eq!(got, "The tower keeps 14 bells at 20 degrees. [E1]");
}

#[test]
fn the_mark_of_a_footnote_is_not_quoted() {
    let text = "The barge carries 40 tons of gravel[^1]\n\n[^1]: Said the skipper.\n";
    assert_eq!(
        answer(
            "How many tons of gravel does the barge carry?",
            &[("b.md", text)]
        ),
        "The barge carries 40 tons of gravel [E1]"
    );
}

#[test]
fn code_is_quoted_only_when_a_command_or_steps_are_asked_for() {
    let text = "# Restart the mail server\n\nThe mail server restarts itself on Sundays.\n\n```sh\n# restart the mail server\n\nsudo systemctl restart mail\n```\n";
    let notes = [("mail.md", text)];
    let got = answer("What is the command to restart the mail server?", &notes);
    assert!(
        got.contains(
            "```sh\n# restart the mail server\n\nsudo systemctl restart mail\n```\n\n[E1]"
        ),
        "{got}"
    );
    assert!(!answer("When does the mail server restart itself?", &notes).contains("sudo"));
}

#[test]
fn german_questions_are_answered() {
    let text = "# Gartenpacht\n\nDie Pacht für den Garten beträgt seit 2024 monatlich 31 Euro. Der Verein verlangt keine Kaution.\n";
    let got = answer(
        "Wie hoch ist die Pacht für den Garten?",
        &[("pacht.md", text)],
    );
    assert_eq!(
        got,
        "Die Pacht für den Garten beträgt seit 2024 monatlich 31 Euro. [E1] Der Verein verlangt keine Kaution. [E1]"
    );
    abstains("Wo wohnt der Bürgermeister?", &[("pacht.md", text)]);
}

#[test]
fn japanese_questions_are_answered() {
    let text = "# 図書館\n\n図書館の休館日は毎週月曜日です。本は三週間まで借りられます。\n";
    assert_eq!(
        answer("図書館の休館日はいつですか。", &[("図書館.md", text)]),
        "図書館の休館日は毎週月曜日です。 [E1] 本は三週間まで借りられます。 [E1]"
    );
    abstains("駅前の食堂の電話番号は何番ですか。", &[("図書館.md", text)]);
}

/// A model that rates texts with its words as similar.
struct Near(&'static str);

impl Meaning for Near {
    fn compare(&self, _: &str, _: &[&str], texts: &[&str]) -> Result<Comparison> {
        let near = |text: &&str| if text.contains(self.0) { 0.9 } else { 0.1 };
        Ok(Comparison {
            cosines: texts.iter().map(near).collect(),
            ..Comparison::default()
        })
    }
}

#[test]
fn the_model_decides_where_words_do_not() {
    let text = "# Food\n\nThe dog eats at seven.\n\n# Vet\n\nShe said that Rex must lose weight.\n";
    let notes = [("pets.md", text)];
    let extracted = extracted("Is Rex too heavy?", &notes, Some(&Near("lose weight")));
    assert!(extracted.certain);
    let text = shown("Is Rex too heavy?", &notes, &extracted);
    assert!(text.starts_with("She said that Rex"), "{text}");
}

#[test]
fn an_error_of_the_model_is_passed_on() {
    struct Broken;
    impl Meaning for Broken {
        fn compare(&self, _: &str, _: &[&str], _: &[&str]) -> Result<Comparison> {
            Err(local_agent_text::error::Failure::internal("no model"))
        }
    }
    let evidence = Evidence {
        notes: sources(&[("a.md", "The dog eats at seven.\n")]),
        rarity: &|_| Rarity {
            idf: 1.0,
            known: true,
        },
        meaning: Some(&Broken),
        more: &|_| Ok(MoreNotes::default()),
        today: Day::parse("2026-06-20").unwrap(),
    };
    let error = extract("When does the dog eat?", evidence).unwrap_err();
    assert_eq!(error.message, "no model");
}

#[test]
fn a_property_answers_and_is_cited_by_its_line() {
    let note = "---\nphone: 0171 555 0134\nowner: Ann\n---\n# Boat shed\n\nBy the river.\n";
    let notes = [("Boat shed.md", note)];
    assert_eq!(
        answer("What is the phone number of the boat shed?", &notes),
        "phone: 0171 555 0134 [E1]"
    );
    abstains("What is the email address of the boat shed?", &notes);
}

#[test]
fn what_leads_in_comes_with_what_it_announces() {
    let text = "# Trip\n\nThings that we forget when packing:\n\n- the head torch\n- the stamps\n";
    let got = answer(
        "Which things do we forget when packing?",
        &[("trip.md", text)],
    );
    assert!(
        got.contains("head torch") && got.contains("stamps"),
        "{got}"
    );
}

/// The line in bold makes no claim when quoted alone, so the answer was once dropped as "nothing".
#[test]
fn a_line_in_bold_comes_with_the_list_below_it() {
    let text = "# Log\n\n**Alarm call never came**\n\n- the phone was flat\n- the porter slept\n";
    let got = answer("Why did the alarm call never come?", &[("log.md", text)]);
    assert!(
        got.contains("phone was flat") && got.contains("porter slept"),
        "{got}"
    );
}

/// The longest item scored less than the others and was left out without a word.
#[test]
fn people_in_a_list_are_shown_all_if_its_line_above_is_asked_for() {
    let text = "# Committee prep\n\nWe met at noon.\n\nPanel\n- Dr Owen Strand, chair\n\
        - Prof. Chiara Marchetti, external (Genoa), knows everything about Posidonia, will ask \
        about sediment grain size\n- Dr Lisbeth Aune, internal, statistician\n\nRoom 307.\n";
    let got = answer("Who is on the panel?", &[("Prep.md", text)]);
    for name in ["Owen Strand", "Chiara Marchetti", "Lisbeth Aune"] {
        assert!(got.contains(name), "{name}: {got}");
    }
    let text = "# Boats\n\nCrew of the Heron:\n- Nils Brandt steers\n- two cooks\n- a stowaway\n";
    let got = answer("Who steers the Heron?", &[("Boats.md", text)]);
    assert!(
        got.contains("Nils Brandt") && !got.contains("stowaway"),
        "{got}"
    );
}

/// The line of the contents was the answer, and the sentence came without what it introduces.
#[test]
fn a_list_of_contents_is_no_answer_and_a_colon_comes_with_what_follows() {
    let text = "# Centrifuge\n\n## Contents\n\n- [Cleaning the centrifuge](#cleaning-the-centrifuge)\n\
        - [[#Storing the centrifuge]]\n\n## Cleaning the centrifuge\n\nThe rotor is taken out and \
        wiped with:\n\n1. warm water\n2. isopropanol\n\n## Storing the centrifuge\n\nKeep it dry.\n";
    for question in [
        "What is the rotor wiped with?",
        "How is the centrifuge cleaned?",
    ] {
        let got = answer(question, &[("manual.md", text)]);
        assert!(got.contains("isopropanol"), "{question}: {got}");
        assert!(!got.contains("Storing"), "{question}: {got}");
    }
}

/// The phone number of the firm was taken for its price, and other facts for a phone number.
#[test]
fn a_phone_number_is_no_charge_and_only_it_is_a_phone_number() {
    let firm = "Kindly Hands: office 01752 555 0118, ask for Trish.\n";
    abstains(
        "How much is the charge per hour at Kindly Hands?",
        &[("Firm.md", firm)],
    );
    let person = "# Priya Raman\n\nPriya Raman is the field tech and sings in a choir.\n";
    abstains("phone number Priya Raman", &[("Priya Raman.md", person)]);
}

/// The line above the list was the whole answer.
#[test]
fn a_short_line_directly_above_a_list_comes_with_it() {
    let text = "# Meeting\n\nMoira's tips\n- bring water\n- print the plan\n";
    let got = answer("Moira's tips for the meeting", &[("Meeting.md", text)]);
    assert!(
        got.contains("bring water") && got.contains("print the plan"),
        "{got}"
    );
}

#[test]
fn an_adjective_compares_two_rows_of_one_table() {
    let text = "# Boats\n\n| Boat | Built | Crew |\n| --- | --- | --- |\n| Heron | 2003 | 4 |\n\
        | Gull | 2011 | 2 |\n| Tern | 1998 | 1 |\n";
    for question in [
        "Which boat is older, the Heron or the Gull?",
        "Is the Heron older than the Gull?",
    ] {
        let got = answer(question, &[("Boats.md", text)]);
        assert!(
            got.contains("Heron | 2003") && got.contains("Gull | 2011") && !got.contains("Tern"),
            "{question}: {got}"
        );
    }
}

/// Another fact about the person was shown.
#[test]
fn where_somebody_lives_needs_a_word_for_a_home() {
    let work = [(
        "Moira Tench.md",
        "# Moira Tench\n\nMoira Tench teaches at the music school.\n",
    )];
    abstains("Where does Moira Tench live?", &work);
    let home = [(
        "Moira Tench.md",
        "# Moira Tench\n\nMoira Tench has a flat in Corn Street.\n",
    )];
    assert!(answer("Where does Moira Tench live?", &home).contains("flat in Corn Street"));
}

/// Another fact about the person was shown for words typed without "when".
#[test]
fn a_typed_birthday_needs_a_birthday() {
    let notes = [(
        "Moira Tench.md",
        "# Moira Tench\n\nMoira Tench teaches in Leeds.\n",
    )];
    abstains("birthday Moira Tench", &notes);
}

#[test]
fn open_tasks_are_those_without_a_tick() {
    let text = "# Fence\n\n- [ ] Buy posts\n- [x] Dig holes\n- [ ] Paint it\n";
    let got = answer(
        "What are the open tasks of the fence?",
        &[("Fence.md", text)],
    );
    assert!(
        got.contains("Buy posts") && got.contains("Paint it"),
        "{got}"
    );
    assert!(!got.contains("Dig"), "{got}");
}

#[test]
fn the_newest_of_several_is_the_latest() {
    let notes = [
        ("daily/2026-03-02.md", "The well stood at 4 metres.\n"),
        ("daily/2026-05-09.md", "The well stood at 6 metres.\n"),
        ("daily/2026-04-01.md", "The well stood at 5 metres.\n"),
    ];
    let got = answer("What was the last mark of the well in metres?", &notes);
    assert!(
        got.contains("6 metres") && !got.contains("5 metres"),
        "{got}"
    );
    let got = answer("Where stood the well on 2026-04-01?", &notes);
    assert!(
        got.contains("5 metres") && !got.contains("6 metres"),
        "{got}"
    );
}

#[test]
fn a_total_is_computed_from_the_rows_that_are_shown() {
    let text = "# Hive costs\n\n| Item | Cost |\n| --- | --- |\n| Frames | 12.50 € |\n| Wax | 30.00 € |\n| Smoker | 19.99 € |\n";
    let notes = [("Hive costs.md", text)];
    let found = extracted("What are the hive costs in total?", &notes, None);
    let computed = found.computed.as_ref().unwrap();
    assert_eq!(computed.value, "62.49 €");
    assert_eq!(computed.arithmetic, "12.50 + 30.00 + 19.99");
    assert_eq!(shown("", &notes, &found).matches("[E1]").count(), 3);
}

#[test]
fn two_steps_lead_from_one_note_to_the_next() {
    let notes = [
        (
            "Mill.md",
            "---\nowner: \"[[Ada Byron]]\"\n---\n# Mill\n\nGrinds on Mondays.\n",
        ),
        (
            "Ada Byron.md",
            "---\nphone: 0171 555 0199\n---\n# Ada Byron\n\nLikes tea.\n",
        ),
        (
            "Bo.md",
            "---\nphone: 0171 555 0111\n---\n# Bo\n\nLikes coffee.\n",
        ),
    ];
    let got = answer("What is the phone number of the owner of the mill?", &notes);
    assert!(got.contains("Ada Byron") && got.contains("0199"), "{got}");
    assert!(!got.contains("0111"), "{got}");
}

#[test]
fn the_part_that_was_not_found_is_named() {
    let notes = [(
        "Choir.md",
        "# Choir\n\nThe choir meets on Mondays at 19:30.\n",
    )];
    let found = extracted(
        "When does the choir meet and who paid for the piano?",
        &notes,
        None,
    );
    assert!(found.certain && found.why.unwrap().contains("who paid for the piano"));
}

#[test]
fn a_summary_is_the_skeleton_of_the_note() {
    let text = format!(
        "# Barn\n\n## Roof\n\nThe roof leaks. {}\n\n## Floor\n\nThe floor is dry. {}\n",
        "It was laid long ago. ".repeat(30),
        "Nobody knows why. ".repeat(30)
    );
    let got = answer("Summarize the barn", &[("Barn.md", &text)]);
    assert!(
        got.contains("# Roof") && got.contains("The roof leaks."),
        "{got}"
    );
    assert!(
        got.contains("The floor is dry.") && !got.contains("Nobody"),
        "{got}"
    );
}

proptest::proptest! {
    #[test]
    fn whatever_the_notes_hold_quotes_are_their_bytes(
        text in "[ab .?:\\-|#>`~*%1\\[\\]!<\n 日は。€]{0,160}", any in proptest::prelude::any::<String>(), question in "[ab1日は。 ?]{0,20}"
    ) {
        for note in [&text, &any] {
            for begin in ["", "how do i ", "what command ", "total of ", "open tasks ", "summarize "] {
                let question = format!("{begin}{question}");
                let notes = [("a.md", note.as_str())];
                let found = extracted(&question, &notes, None);
                let drafted = draft(&found.notes, &found.passages, &packed(&notes)).unwrap();
                drafted.draft.render(&drafted.packed.snapshot).unwrap();
            }
        }
    }
}

/// The sentence has nearly all words of the question but is about another year.
#[test]
fn a_sentence_of_another_time_is_no_answer() {
    let notes = [
        (
            "income-2022.md",
            "# Freelance income 2022\n\nKestrel Studio paid 11,400 euros.\n",
        ),
        (
            "q3.md",
            "# Budget 2024 Q3\n\n| Category | Actual |\n| --- | --- |\n| Transport | 233 |\n",
        ),
    ];
    assert!(answer("How much did Kestrel Studio pay in 2022?", &notes).contains("11,400"));
    abstains("How much did Kestrel Studio pay in 2023?", &notes);
    assert!(answer("What was actual transport in Q3 2024?", &notes).contains("233"));
    abstains("What was actual transport in Q2 2024?", &notes);
    abstains(
        "What was actual transport in the second quarter of 2024?",
        &notes,
    );
}

#[test]
fn the_year_of_a_sentence_stands_in_its_folder_its_heading_or_above_it() {
    for (path, text) in [
        ("2023/rent.md", "The rent of the flat is 735 euros.\n"),
        ("rent.md", "## 2023\n\nThe rent of the flat is 735 euros.\n"),
        (
            "rent.md",
            "We moved in 2023.\n\nThe rent of the flat is 735 euros.\n",
        ),
        (
            "rent.md",
            "Of 2023:\n\n- The rent of the flat is 735 euros.\n",
        ),
    ] {
        assert!(
            answer(
                "How much was the rent of the flat in 2023?",
                &[(path, text)]
            )
            .contains("735"),
            "{path}: {text}"
        );
    }
    let rows = "- In 2022 the rent of the flat was 710 euros.\n- In 2023 the rent of the flat was 735 euros.\n";
    assert!(
        answer(
            "How much was the rent of the flat in 2023?",
            &[("rent.md", rows)]
        )
        .contains("735")
    );
}

/// The only number of eggs belongs to another recipe.
#[test]
fn a_sentence_of_another_subject_gives_way_to_nothing() {
    let bread = (
        "Banana bread.md",
        "# Banana bread\n\n- 3 eggs\n- 250 g flour\n\nBake for 55 minutes.\n",
    );
    let dough = (
        "Sourdough.md",
        "# Sourdough\n\n- 500 g flour\n- 350 g water\n\nRest it overnight.\n",
    );
    assert!(
        answer("How many eggs does the banana bread need?", &[bread, dough]).contains("3 eggs")
    );
    abstains("How many eggs does the sourdough need?", &[bread, dough]);
    assert!(answer("How long does the banana bread bake?", &[bread, dough]).contains("55 minutes"));
}

/// "Long" was once treated as a word that the answer must contain.
#[test]
fn how_long_asks_for_an_amount_of_time() {
    let notes = [(
        "Lease.md",
        "# Mietvertrag\n\nKaltmiete: 735 €\n\nKündigungsfrist: drei Monate\n",
    )];
    assert!(answer("Wie hoch ist die Kaltmiete?", &notes).contains("735"));
    assert!(answer("Wie lange ist die Kündigungsfrist?", &notes).contains("drei Monate"));
}

/// A row was once quoted for its empty cell.
#[test]
fn an_empty_cell_is_no_answer() {
    let table = "# Houseplants\n\n| Plant | Water | Repotted |\n| --- | --- | --- |\n| Calathea | every 4 days | |\n\
                 | Monstera | weekly | March 2024 |\n";
    assert!(
        answer("When did I repot the monstera?", &[("plants.md", table)]).contains("March 2024")
    );
    abstains("When did I repot the calathea?", &[("plants.md", table)]);
}

#[test]
fn a_word_that_means_the_same_is_as_good() {
    let notes = [
        (
            "Car.md",
            "# Car\n\nThe garage wants 340 euros for the repair.\n",
        ),
        ("Boat.md", "# Boat\n\nThe sail is blue.\n"),
    ];
    let got = answer("How much is the automobile repair?", &notes);
    assert!(got.contains("340 euros"), "{got}");
}

#[test]
fn notes_are_found_by_a_property_and_named() {
    let notes = [
        (
            "Plants/Fern.md",
            "---\nstatus: thirsty\n---\n# Fern\n\nGreen.\n",
        ),
        (
            "Plants/Cactus.md",
            "---\nstatus: happy\n---\n# Cactus\n\nSpiky.\n",
        ),
    ];
    let got = answer("Which plants are thirsty?", &notes);
    assert!(got.contains("Fern") && !got.contains("Cactus"), "{got}");
}

#[test]
fn a_task_is_overdue_when_its_day_is_over() {
    let notes = [(
        "List.md",
        "# List\n\n- [ ] paint the door 📅 2026-06-01\n- [ ] oil the gate 📅 2026-07-01\n- [x] fix the roof 📅 2026-05-01\n",
    )];
    let got = answer("Which tasks are overdue?", &notes);
    assert!(
        got.contains("door") && !got.contains("gate") && !got.contains("roof"),
        "{got}"
    );
    let got = answer("What is due next month on 2026-07-01?", &notes);
    assert!(got.contains("gate") && !got.contains("door"), "{got}");
}

#[test]
fn the_latest_is_not_of_the_future() {
    let notes = [(
        "Log.md",
        "# Log\n\n- Flood in the cellar on 2026-05-02.\n- Flood drill planned for 2026-08-01.\n",
    )];
    let got = answer("What was the latest flood?", &notes);
    assert!(got.contains("2026-05-02"), "{got}");
}

#[test]
fn a_column_with_empty_cells_is_added_up() {
    let notes = [(
        "Till.md",
        "# Till\n\n| Day | Money in | Money out |\n|---|---|---|\n| May 1 | 50 | |\n| May 2 | | 20 |\n| May 3 | | 5 |\n",
    )];
    let extracted = extracted(
        "How much money has gone out of the till in total?",
        &notes,
        None,
    );
    assert_eq!(extracted.computed.map(|c| c.value), Some("25".to_owned()));
}

#[test]
fn before_and_after_are_not_the_thing_itself() {
    let notes = [(
        "Club.md",
        "# Club\n\nOur treasurer since 2021 is Mira Falk.\n",
    )];
    let got = extracted("Who was treasurer of the club before Mira?", &notes, None);
    assert!(!got.certain);
}

#[test]
fn everything_of_some_days_is_their_notes_the_newest_first() {
    let notes = [
        (
            "daily/2026-06-09.md",
            "# Tuesday\n\nThe sails were mended.\n",
        ),
        (
            "daily/2026-06-11.md",
            "# Thursday\n\nThe mast was painted.\n",
        ),
        (
            "daily/2026-06-18.md",
            "# Later\n\nThe regatta was called off.\n",
        ),
        ("boats.md", "# Boats\n\nEvery boat has a sail.\n"),
    ];
    for question in [
        "What did I do last week?",
        "what happened last week",
        "Was war letzte Woche?",
        "what happened between 8 and 14 June",
        "what happened between 8 June and 14 June 2026?",
        "Was war zwischen dem 8. und dem 14. Juni?",
    ] {
        let shown = answer(question, &notes);
        let (newer, older) = (shown.find("The mast"), shown.find("The sails"));
        assert!(newer.is_some() && newer < older, "{question}: {shown}");
        assert!(
            !shown.contains("regatta") && !shown.contains("Every boat"),
            "{question}: {shown}"
        );
    }
    let since = answer("what happened since 10 June", &notes);
    let has_both = since.contains("regatta") && since.contains("mast");
    assert!(has_both && !since.contains("sails"), "{since}");
    let month = answer("what did I do in June", &notes);
    assert!(
        month.contains("regatta") && month.contains("sails"),
        "{month}"
    );
}

#[test]
fn days_until_a_date_and_ages_are_computed_from_today() {
    let notes = [
        (
            "people/Ada Byron.md",
            "---\nbirthday: 1990-07-01\n---\n# Ada Byron\n\nAda likes sailing.\n",
        ),
        (
            "projects/Regatta.md",
            "---\ndeadline: 2026-07-04\n---\n# Regatta\n\nThe regatta opens on 12 July.\n",
        ),
    ];
    let value = |question: &str| {
        let found = extracted(question, &notes, None);
        found.computed.map(|computed| computed.value)
    };
    assert_eq!(value("How old is Ada Byron?").as_deref(), Some("35 years"));
    assert_eq!(
        value("days left until the deadline of the regatta").as_deref(),
        Some("14 days")
    );
    assert_eq!(
        value("In how many days is the birthday of Ada Byron?").as_deref(),
        Some("11 days")
    );
    assert_eq!(
        value("How many days until the regatta opens?").as_deref(),
        Some("22 days")
    );
}

#[test]
fn a_count_needs_a_list_of_what_is_counted() {
    let notes = [(
        "oysters.md",
        "# The big oyster book\n\n- New York ate them like crisps.\n- The beds were gone by then.\n\
         - It was the sewage.\n",
    )];
    let pages = extracted(
        "How many pages does the big oyster book have?",
        &notes,
        None,
    );
    assert_eq!(pages.computed, None);
    assert!(!pages.certain, "{}", shown("pages", &notes, &pages));
    let notes = [(
        "boats.md",
        "# Harbour\n\nThe boats in the harbour:\n\n- Wren\n- Curlew\n- Heron\n",
    )];
    let boats = extracted("How many boats are in the harbour?", &notes, None);
    assert_eq!(boats.computed.map(|c| c.value), Some("3".to_owned()));
}

#[test]
fn a_year_is_no_amount() {
    let question = "How much did the sauna cost?";
    abstains(
        question,
        &[("a.md", "# Sauna\n\nThe sauna was built in 2024.\n")],
    );
    assert_eq!(
        answer(
            question,
            &[("a.md", "# Sauna\n\nThe sauna cost 2024 euros.\n")]
        ),
        "The sauna cost 2024 euros. [E1]"
    );
}

#[test]
fn what_was_paid_in_a_time_is_the_sum_of_its_rows() {
    let dated = "# Costs of the yard\n\n| Date | Paid to | EUR |\n| --- | --- | --- |\n\
        | 2026-05-02 | Lindner | 120 |\n| 2026-05-20 | Lindner | 80 |\n| 2026-04-11 | Lindner | 500 |\n";
    let question = "How much was paid to Lindner in May 2026?";
    let sum = extracted(question, &[("costs.md", dated)], None);
    assert_eq!(sum.computed.map(|c| c.value), Some("200".to_owned()));
    let undated = dated.replace("2026-05-02", "soon");
    let none = extracted(question, &[("costs.md", undated.as_str())], None);
    assert_eq!(
        none.computed, None,
        "a row without a day may be of another time"
    );
}

#[test]
fn the_title_tells_who_she_is() {
    assert_eq!(
        answer(
            "Who is Till's godmother?",
            &[("aoife.md", "# Aoife\n\nShe is Till's godmother.\n")]
        ),
        "Aoife [E1]\n\nShe is Till's godmother. [E1]"
    );
}

/// A model that rates every text, and each word of the question, with a given cosine.
struct Rated(f32, &'static [(&'static str, f32)]);

impl Meaning for Rated {
    fn compare(&self, _: &str, words: &[&str], texts: &[&str]) -> Result<Comparison> {
        let cosine = |word: &&str| {
            let given = self.1.iter().find(|(known, _)| known == word);
            given.map_or(0.5, |(_, cosine)| *cosine)
        };
        let of_words: Vec<f32> = words.iter().map(cosine).collect();
        let has_words = !self.1.is_empty();
        Ok(Comparison {
            cosines: vec![self.0; texts.len()],
            words: if has_words {
                vec![of_words; texts.len()]
            } else {
                Vec::new()
            },
            legible: if has_words {
                vec![1.0; words.len()]
            } else {
                Vec::new()
            },
        })
    }
}

#[test]
fn a_passage_in_another_language_needs_fewer_words_of_the_question() {
    let question = "When may the tenant leave the flat early?";
    let german = "Der Mieter darf die Wohnung mit einer Frist von drei Monaten verlassen.\n";
    let english = "Whoever rents it can move out with a notice of three months.\n";
    let near = Rated(0.55, &[]);
    assert!(extracted(question, &[("a.md", german)], Some(&near)).certain);
    assert!(!extracted(question, &[("a.md", english)], Some(&near)).certain);
    let far = Rated(0.3, &[]);
    assert!(!extracted(question, &[("a.md", german)], Some(&far)).certain);
}

#[test]
fn a_name_is_found_in_another_script() {
    let question = "When does Tamara visit us again?";
    let notes = [("a.md", "Тамара приедет к нам на Пасху, второго мая.\n")];
    let same = Rated(0.6, &[("Tamara", 0.8)]);
    assert!(extracted(question, &notes, Some(&same)).certain);
    let other = Rated(0.6, &[("Tamara", 0.3)]);
    assert!(!extracted(question, &notes, Some(&other)).certain);
}

/// The answer was once the sentence about the colour, which has all words except the requested one.
#[test]
fn another_attribute_of_the_right_thing_is_no_answer() {
    let notes = [(
        "sloop.md",
        "# Sloop\n\nThe mast of the sloop is painted green.\n",
    )];
    let model = Rated(0.6, &[("length", 0.2)]);
    for question in [
        "What is the sloop's length?",
        "length of the sloop",
        "What is the length of the sloop?",
    ] {
        assert!(
            !extracted(question, &notes, Some(&model)).certain,
            "{question}"
        );
    }
    assert!(extracted("What is the sloop's mast?", &notes, Some(&model)).certain);
}

#[test]
fn a_price_is_an_amount() {
    let notes = [
        ("a.md", "# Saw\n\nThe saw was bought at Holt's in May.\n"),
        (
            "b.md",
            "# Saw blade\n\nThe blade of the saw was 14 euros.\n",
        ),
    ];
    let got = answer("What did the blade of the saw cost?", &notes);
    assert!(got.starts_with("The blade"), "{got}");
    abstains("What did the saw cost?", &notes[..1]);
}

#[test]
fn a_day_of_a_month_and_an_ordinal_are_no_price() {
    let ferry = "# Trip\n\nBooked the ferry to Rosslare: out on 3 July, back on 12 July.\n";
    abstains(
        "How much did the ferry to Rosslare cost?",
        &[("a.md", ferry)],
    );
    let curtain = "# Curtain\n\nThe curtain was treated by Drapewell on the 23rd.\n";
    abstains(
        "What did Drapewell charge for treating the curtain?",
        &[("b.md", curtain)],
    );
    let paid = "# Curtain\n\nDrapewell treated the curtain for 340 pounds.\n";
    let got = answer(
        "What did Drapewell charge for treating the curtain?",
        &[("b.md", paid)],
    );
    assert!(got.contains("340"), "{got}");
}

/// "Was" was once taken for the English verb.
#[test]
fn german_was_asks_for_a_thing() {
    let kind = |text: &str| {
        let rarity = |_: &str| Rarity {
            idf: 1.0,
            known: true,
        };
        ParsedQuestion::read(text, Day::parse("2026-06-20").unwrap(), &rarity).kind
    };
    assert_eq!(kind("Was kostet der Transporter?"), QuestionKind::Fact);
    assert_eq!(
        kind("was zahlen wir dem Gärtner im Monat"),
        QuestionKind::Fact
    );
    assert_eq!(kind("Was the van sold in March?"), QuestionKind::YesNo);
}

#[test]
fn a_number_behind_a_hyphen_names_a_thing() {
    let text = "# Herd\n\n| tag | weight |\n| --- | --- |\n| 26-003 | 231 |\n| 26-011 | 244 |\n";
    abstains("weight of weaner 26-030", &[("herd.md", text)]);
    let got = answer("weight of 26-011", &[("herd.md", text)]);
    assert!(got.contains("244"), "{got}");
}

#[test]
fn the_title_tells_who_holds_an_office() {
    let note = "# Henrik Vold\n\nDeputy conductor of the choir since 2022, from Bergen.\n";
    let got = answer("Who is the deputy conductor?", &[("henrik.md", note)]);
    assert!(got.starts_with("Henrik Vold"), "{got}");
}

#[test]
fn an_owners_attribute_is_wanted_in_questions_for_a_time_too() {
    let note = "# Books\n\nPresent from my sister Elsbeth at Easter 2024.\n";
    let model = Rated(0.6, &[("birthday", 0.2)]);
    let question = "When is my sister Elsbeth's birthday?";
    assert!(!extracted(question, &[("books.md", note)], Some(&model)).certain);
}

/// "Serial number" was once found in a sentence about a phone number.
#[test]
fn the_word_before_number_tells_which_one() {
    let note = "# Kiln\n\nThe number of the kiln's supplier hangs on the wall.\n";
    let model = Rated(0.6, &[("serial", 0.2)]);
    let question = "serial number of the kiln";
    assert!(!extracted(question, &[("kiln.md", note)], Some(&model)).certain);
}

#[test]
fn a_weekday_is_not_the_person_who_was_asked_for() {
    let note = "# Market\n\nThe market moved: now Friday 27 November, with the brass band.\n";
    abstains(
        "Who leads the brass band at the market?",
        &[("market.md", note)],
    );
}

#[test]
fn an_age_is_no_other_number() {
    let table =
        "# Contacts\n\n| Name | Phone |\n| --- | --- |\n| Ottilie Brandt | 01632 960 248 |\n";
    abstains("How old is Ottilie Brandt?", &[("contacts.md", table)]);
}

/// "Why did she move?" was once answered by the sentence that she had moved.
#[test]
fn a_sentence_that_repeats_the_question_is_no_reason() {
    let model = Rated(0.9, &[]);
    let question = "Why did Doctor Imber move to Kent?";
    let told = "# Seat\n\nThe empty seat is that of Doctor Imber, who moved to Kent in May.\n";
    assert!(!extracted(question, &[("seat.md", told)], Some(&model)).certain);
    abstains(question, &[("seat.md", told)]);
    let reason = "# Seat\n\nDoctor Imber moved to Kent because her mother is ill.\n";
    assert!(extracted(question, &[("seat.md", reason)], Some(&model)).certain);
    let behind = "# Seat\n\nDoctor Imber moved to Kent. So that her mother is not alone.\n";
    assert!(extracted(question, &[("seat.md", behind)], Some(&model)).certain);
}

/// Another fact about a person was once a "yes".
#[test]
fn yes_or_no_needs_a_word_near_each_word_of_the_question() {
    let question = "Is Tamara married?";
    let note = "# Tamara\n\nTamara and Lucy help with the fence.\n";
    let far = Rated(0.6, &[("married", 0.2)]);
    assert!(!extracted(question, &[("tamara.md", note)], Some(&far)).certain);
    let note = "# Tamara\n\nTamara is married to Lucy.\n";
    assert!(extracted(question, &[("tamara.md", note)], Some(&far)).certain);
}

#[test]
fn a_year_and_a_code_are_written_in_digits() {
    let model = Rated(0.7, &[]);
    let winch = "# Winch\n\nA hand winch, made by Skipton, two speeds.\n";
    let question = "In what year was the hand winch made?";
    assert!(!extracted(question, &[("winch.md", winch)], Some(&model)).certain);
    let winch = "# Winch\n\nA hand winch, made by Skipton in 1931.\n";
    assert!(extracted(question, &[("winch.md", winch)], Some(&model)).certain);
    let keys = "# Keys\n\nMaud keeps the flags and the defibrillator code.\n";
    for question in [
        "code for the defibrillator",
        "What is the code of the defibrillator?",
    ] {
        assert!(
            !extracted(question, &[("keys.md", keys)], Some(&model)).certain,
            "{question}"
        );
    }
    let keys = "# Keys\n\nThe defibrillator code is C159.\n";
    assert!(
        extracted(
            "code for the defibrillator",
            &[("keys.md", keys)],
            Some(&model)
        )
        .certain
    );
}

/// "K4's" was once another word than "K4", so the sentence lacked the name.
#[test]
fn a_name_with_a_digit_may_own_something() {
    let note = "# Faults\n\nThe K4's battery carries the console for 12 minutes.\n";
    let got = answer(
        "How long does the battery carry the K4?",
        &[("faults.md", note)],
    );
    assert!(got.contains("12 minutes"), "{got}");
}

/// The value that is computed, if any.
pub(super) fn computed(question: &str, notes: &[(&str, &str)]) -> Option<String> {
    extracted(question, notes, None).computed.map(|c| c.value)
}

/// A lookup that gives these notes for tasks, of `all` notes.
fn with_tasks(lookup: &Lookup<'_>, notes: &[(&str, &str)], all: usize) -> MoreNotes {
    let mut found = sources(notes);
    for note in &mut found {
        note.hits.clear();
    }
    match lookup {
        Lookup::WithTasks => MoreNotes { notes: found, all },
        _ => MoreNotes::default(),
    }
}

#[test]
fn tasks_are_counted_in_all_notes_with_tasks() {
    let question = "How many tasks are overdue?";
    let found = [("a.md", "# A\n\n- [ ] sweep the yard 📅 2026-06-01\n")];
    let others = [
        (
            "b.md",
            "# B\n\n- [ ] oil the gate 📅 2026-06-02\n- [x] mow 📅 2026-06-02\n",
        ),
        ("c.md", "# C\n\n- [ ] paint the door 📅 2026-07-02\n"),
    ];
    let all = |lookup: &Lookup<'_>| Ok(with_tasks(lookup, &others, 2));
    let answer = extracted_with(question, &found, None, &all)
        .computed
        .unwrap();
    assert_eq!(answer.arithmetic, "2 overdue tasks");
    assert_eq!((answer.count, answer.notes), (2, 2));
    let some = |lookup: &Lookup<'_>| Ok(with_tasks(lookup, &others, 600));
    let answer = extracted_with(question, &found, None, &some);
    assert_eq!(answer.computed, None, "not all notes were read");
    assert_eq!(
        answer.why.as_deref(),
        Some("Only 2 of 600 notes with tasks were read.")
    );
}

#[test]
fn only_tasks_with_every_word_of_the_question_are_counted() {
    let shed = ("projects/Shed.md", "# Shed\n\n- [ ] buy nails\n");
    let gate = (
        "projects/Gate.md",
        "# Gate\n\n- [ ] oil it\n- [ ] paint it\n",
    );
    let both = [shed, gate];
    let question = "How many open tasks are in the shed project?";
    let answer = extracted(question, &both, None).computed.unwrap();
    assert_eq!(answer.arithmetic, "1 open task");
    assert_eq!(
        computed("How many minutes does the shed task take?", &both),
        None
    );
    let done = [(
        "Shed.md",
        "# Shed\n\n- [x] a plan\n- [x] a door\n- [ ] a roof\n",
    )];
    let counts = |question: &str| {
        extracted(question, &done, None)
            .computed
            .map(|c| c.arithmetic)
    };
    let completed = Some("2 completed tasks".to_owned());
    assert_eq!(counts("How many shed tasks are completed?"), completed);
    let open = Some("1 open task".to_owned());
    assert_eq!(counts("How many shed tasks are not completed?"), open);
}

#[test]
fn a_long_list_of_tasks_says_how_many_are_shown() {
    let list: String = (0..60).map(|n| format!("- [ ] step {n}\n")).collect();
    let text = format!("# Fence\n\n{list}");
    let notes = [("Fence.md", text.as_str())];
    let found = extracted("What are the open tasks of the fence?", &notes, None);
    assert_eq!(found.why.as_deref(), Some("40 of 60 tasks are shown."));
    let found = extracted("How many open tasks has the fence?", &notes, None);
    assert_eq!(found.computed.unwrap().value, "60");
    assert_eq!(found.why.as_deref(), Some("40 of 60 tasks are shown."));
}

#[test]
fn notes_that_are_left_out_are_counted() {
    let day = |n: u32| {
        (
            format!("daily/2026-06-{n:02}.md"),
            format!("# Log\n\nDay {n} was dry.\n"),
        )
    };
    let days: Vec<(String, String)> = (1..=10).map(day).collect();
    let notes: Vec<(&str, &str)> = days.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let found = extracted("what did I do in June", &notes, None);
    assert_eq!(found.why.as_deref(), Some("7 of 10 notes are shown."));
    let plant = |n: u32| {
        let text = format!("---\nstatus: thirsty\n---\n# Plant {n}\n\nGreen.\n");
        (format!("Plants/{n}.md"), text)
    };
    let plants: Vec<(String, String)> = (1..=13).map(plant).collect();
    let notes: Vec<(&str, &str)> = plants
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    let found = extracted("Which plants are thirsty?", &notes, None);
    assert_eq!(found.why.as_deref(), Some("12 of 13 notes are shown."));
}

#[test]
fn an_age_is_that_of_the_person_in_question() {
    let family = "# Family\n\n- Anna Schmidt was born on 1980-05-03.\n- Tom Schmidt was born on 2015-08-01.\n\
        - Anna's birthday party was on 2026-05-03.\n- Bob Schmidt's brother was born on 1970-01-01.\n\
        - The wife of Karl Schmidt was born on 1950-01-01.\n- Annas Bruder wurde am 1961-02-03 geboren.\n\
        - Ida Schmidt was born on 1920-01-01 and died in 1990.\n\
        - Eva Schmidt wurde am 7. Mai 2000 geboren.\n";
    let notes = [("family.md", family)];
    let age = |question: &str| computed(question, &notes);
    assert_eq!(age("How old is Tom Schmidt?").as_deref(), Some("10 years"));
    assert_eq!(age("How old is Tom?").as_deref(), Some("10 years"));
    assert_eq!(age("How old is Anna Schmidt?").as_deref(), Some("46 years"));
    assert_eq!(
        age("Wie alt ist Anna Schmidt?").as_deref(),
        Some("46 years")
    );
    assert_eq!(age("Wie alt ist Eva Schmidt?").as_deref(), Some("26 years"));
    for question in [
        "How old is Bob Schmidt?",
        "How old is the Schmidt house?",
        "How old is Schmidt?",
        "How old is Karl Schmidt?",
        "How old is Ida Schmidt?",
        "How old was Anna Schmidt in 2010?",
        "Wie alt ist das Haus der Schmidts?",
    ] {
        assert_eq!(age(question), None, "{question}");
    }
}

#[test]
fn a_birthday_is_no_day_of_birth_unless_a_property_says_so() {
    let party = [(
        "anna.md",
        "# Anna\n\nAnna's birthday party was on 2026-05-03.\n",
    )];
    assert_eq!(computed("How old is Anna?", &party), None);
    let property = |line: &str| format!("---\n{line}\n---\n# Anna\n\nShe likes tea.\n");
    let age = |line: &str| computed("How old is Anna?", &[("anna.md", &property(line))]);
    assert_eq!(age("date_of_birth: 2025-05-03").as_deref(), Some("1 year"));
    assert_eq!(age("birthday: 2026-05-03"), None, "it may be the next one");
    assert_eq!(age("wife_birthday: 1990-05-03"), None);
}

/// A table of costs with one amount a row.
fn costs(amounts: &[&str]) -> String {
    let rows = amounts.iter().enumerate();
    let rows: String = rows
        .map(|(n, a)| format!("| Thing{} | 2 | {a} |\n", ["a", "b", "c"][n % 3]))
        .collect();
    format!("# Hive costs\n\n| Item | Pieces | Cost |\n| --- | --- | --- |\n{rows}")
}

fn total(amounts: &[&str]) -> Option<String> {
    computed(
        "What are the hive costs in total?",
        &[("Hive costs.md", &costs(amounts))],
    )
}

#[test]
fn a_total_needs_one_kind_of_unit() {
    assert_eq!(total(&["100 €", "$300", "20000 ¥"]), None);
    assert_eq!(total(&["100 €", "300 €"]).as_deref(), Some("400 €"));
    assert_eq!(total(&["100 €", "20 EUR"]).as_deref(), Some("120 €"));
    let text = costs(&["100 €", "$300", "20000 ¥"]);
    let most = "What is the highest hive cost?";
    assert_eq!(computed(most, &[("Hive costs.md", &text)]), None);
}

#[test]
fn a_negative_amount_is_subtracted() {
    assert_eq!(total(&["$80.00", "-$50.00"]).as_deref(), Some("30.00 $"));
    assert_eq!(total(&["80.00 €", "−50.00 €"]).as_deref(), Some("30.00 €"));
    assert_eq!(total(&["$80.00", "($50.00)"]), None);
}

#[test]
fn a_column_that_cannot_be_read_gives_no_total_of_another_column() {
    assert_eq!(total(&["1.250", "2.500"]), None, "1250 or 1.25");
    assert_eq!(total(&["1.250", "0.875"]).as_deref(), Some("2.125"));
    assert_eq!(total(&["12.05.2026", "13.06.2026"]), None);
    let paid = "# Hive costs\n\n| Item | Cost | Paid |\n| --- | --- | --- |\n| Wax | 5 | 12.05.2026 |\n| Frame | 7 | 13.06.2026 |\n";
    let question = "What are the hive costs in total?";
    assert_eq!(
        computed(question, &[("Hive costs.md", paid)]).as_deref(),
        Some("12")
    );
    let summed = "# Hive costs\n\n| Date | Item | Cost |\n| --- | --- | --- |\n| 2026-05-01 | Wax | 5 |\n| 2026-05-02 | Frame | 7 |\n|  | Gesamt | 12 |\n";
    assert_eq!(
        computed(question, &[("Hive costs.md", summed)]).as_deref(),
        Some("12")
    );
}

#[test]
fn a_time_between_two_dates_has_all_its_days() {
    let table = "# Costs of the yard\n\n| Date | Paid to | EUR |\n| --- | --- | --- |\n\
        | 2025-12-20 | Lindner | 1000 |\n| 2026-01-02 | Lindner | 100 |\n| 2026-02-15 | Lindner | 20 |\n\
        | 2026-03-12 | Lindner | 3 |\n| 2026-04-01 | Lindner | 5000 |\n";
    let notes = [("costs.md", table)];
    for question in [
        "How much was paid to Lindner from January 2026 to March 2026?",
        "How much was paid to Lindner from January to March 2026?",
        "How much was paid to Lindner between 2026-01-01 and 2026-03-12?",
        "Wie viel EUR gingen von Januar 2026 bis März 2026 insgesamt an Lindner?",
    ] {
        assert_eq!(
            computed(question, &notes).as_deref(),
            Some("123"),
            "{question}"
        );
    }
    for question in [
        "How much was paid to Lindner in January 2026 and March 2026?",
        "How much was paid to Lindner in total before March 2026?",
    ] {
        assert_eq!(computed(question, &notes), None, "{question}");
    }
}

#[test]
fn a_total_reads_the_whole_of_a_long_note() {
    let filler = "Nothing to see here, only words about the weather.\n\n".repeat(4000);
    let rows: String = (0..50)
        .map(|n| format!("| Part{n} {} | 10.50 |\n", "x".repeat(120)))
        .collect();
    let text = format!(
        "# Hive costs\n\n{filler}\n## Hive costs\n\n| Item | Cost |\n| --- | --- |\n{rows}"
    );
    let at = text.rfind("| Part0").unwrap();
    let mut notes = sources(&[("Hive costs.md", &text)]);
    notes[0].hits = vec![(at..at + 10, 1.0)];
    let evidence = Evidence {
        notes,
        rarity: &|_| Rarity {
            idf: 1.0,
            known: true,
        },
        meaning: None,
        more: &|_| Ok(MoreNotes::default()),
        today: Day::parse("2026-06-20").unwrap(),
    };
    let found = extract("What are the hive costs in total?", evidence).unwrap();
    assert_eq!(found.computed.map(|c| c.value).as_deref(), Some("525.00"));
}

#[test]
fn days_between_two_things_need_the_date_of_each() {
    let moved = "# Falcon\n\nThe kickoff of Falcon moved from 2026-03-01 to 2026-03-08. The launch of Falcon is on 2026-06-01.\n";
    let question = "How many days are between kickoff and launch of Falcon?";
    assert_eq!(computed(question, &[("falcon.md", moved)]), None);
    let fixed = "# Falcon\n\nThe kickoff of Falcon is on 2026-03-01. The launch of Falcon is on 2026-06-01.\n";
    assert_eq!(
        computed(question, &[("falcon.md", fixed)]).as_deref(),
        Some("92 days")
    );
    let one = "# Falcon\n\nFalcon: kickoff on 2026-03-01, launch on 2026-03-02.\n";
    assert_eq!(
        computed(question, &[("falcon.md", one)]).as_deref(),
        Some("1 day")
    );
    let other = "# Falcon\n\nThe kickoff and the launch of Falcon were planned from 2026-03-01 to 2026-03-02.\n";
    assert_eq!(computed(question, &[("falcon.md", other)]), None);
}

#[test]
fn the_next_day_is_the_nearest_and_exists() {
    let notes = [(
        "fair.md",
        "# Fair\n\nThe fair opens on 2027-03-01 and 2026-06-29.\n",
    )];
    let question = "How many days until the fair opens?";
    assert_eq!(computed(question, &notes).as_deref(), Some("9 days"));
    let notes = [("fair.md", "# Fair\n\nThe fair opens on 2026-06-31.\n")];
    assert_eq!(computed(question, &notes), None);
    let notes = [("fair.md", "# Fair\n\nThe fair opened on 12 July 2025.\n")];
    assert_eq!(computed(question, &notes), None);
}

#[test]
fn the_most_that_was_spent_is_no_sum() {
    let table =
        "# Shopping\n\n| Shop | Cost |\n| --- | --- |\n| Miller | 30 € |\n| Baker | 50 € |\n";
    let question = "At which shop did I spend the most for shopping?";
    let found = extracted(question, &[("shopping.md", table)], None);
    assert_eq!(
        found.computed.as_ref().map(|c| c.value.as_str()),
        Some("50 €")
    );
    assert!(shown(question, &[("shopping.md", table)], &found).contains("Baker"));
    let twice = format!("{table}| Miller | 40 € |\n");
    assert_eq!(computed(question, &[("shopping.md", &twice)]), None);
}

#[test]
fn the_second_value_of_a_question_is_named() {
    let wax = "# Wax costs\n\n| Item | Cost |\n| --- | --- |\n| Block | 5 € |\n| Sheet | 7 € |\n";
    let notes = [
        ("wax.md", wax),
        (
            "Anna.md",
            "---\nbirthday: 1990-07-01\n---\n# Anna\n\nShe likes tea.\n",
        ),
    ];
    let found = extracted(
        "How old is Anna and what are the wax costs in total?",
        &notes,
        None,
    );
    assert_eq!(found.computed.map(|c| c.value).as_deref(), Some("35 years"));
    let why = found.why.unwrap();
    assert!(
        why.contains("ask “what are the wax costs in total” alone"),
        "{why}"
    );
}

/// The line "Quotes" was the whole answer, which the verifier takes for no statement, so nothing was
/// shown.
#[test]
fn a_line_that_says_nothing_is_no_answer() {
    let stairlift = "# Stairlift\n\nThe grant takes 8 weeks.\n\nQuotes\n- Acorn: £2,850\n- \
                     Handicare reconditioned: £1,690\n- Stannah: £3,140\n\nMartin asks the council.\n";
    let notes = [("Stairlift.md", stairlift)];
    let question = "which stairlift quote is the cheapest?";
    let found = extracted(question, &notes, None);
    assert!(shown(question, &notes, &found).contains("£"));
}

/// The deadline of another note was shown as the phone number.
#[test]
fn a_day_is_no_phone_number() {
    let notes = [
        (
            "Priya Nair.md",
            "---\nrole: agent\n---\n# Priya Nair\n\nNew baby in summer, back since September.\n",
        ),
        (
            "New oven.md",
            "---\ndeadline: 2027-02-15\n---\n# New oven\n\nThe number of trays is open.\n",
        ),
    ];
    abstains("What is Priya Nair's phone number?", &notes);
}

/// The tasks below a sentence about a dish were shown as its recipe.
#[test]
fn tasks_are_no_steps_of_another_thing() {
    let monday = "# Lundi\n\nDéjeuner chez Thierry : gratin, Morteau, vin jaune.\n\n- [x] relever le \
                  compteur\n- [ ] envoyer le devis à Thierry\n";
    let notes = [("lundi.md", monday)];
    let question = "comment préparer le gratin de Thierry ?";
    let found = extracted(question, &notes, None);
    assert!(!shown(question, &notes, &found).contains("compteur"));
}
