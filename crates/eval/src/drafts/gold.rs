//! Drafts made from a set's marked answers: it is known which passage supports which sentence,
//! without reading either.
//!
//! The sentence that contains a marked answer, with a citation of the passage that contains it, is
//! a faithful draft; the same with one error is a faulty one. Faithful drafts repeat the text word
//! for word, so they say nothing about paraphrases: they measure whether misplaced citations and
//! small changes of true sentences get through.

use std::collections::{BTreeMap, BTreeSet};

use super::{NO_FAULT, Recorded, Statement};
use crate::attacks::{AttackPassage, Edit, bare, freeze, plain_sentence, seed};
use crate::invalid;
use crate::set::{Evidence, Question};
use local_agent_text::error::Result;
use local_agent_text::markdown::sentences;

/// A document of the set, cut into passages.
#[derive(Debug, Clone)]
pub struct Document {
    /// The path below `docs/`.
    pub path: String,
    /// The whole text; marks count its characters.
    pub text: String,
    /// The passages in order.
    pub passages: Vec<AttackPassage>,
}

/// A sentence that answers a question.
struct Answer<'a> {
    question: &'a str,
    sentence: &'a str,
    /// The passage that contains it, and its document.
    own: (&'a AttackPassage, &'a Document),
}

/// Drafts of all questions whose answer is in one plain sentence of one passage: for each, all that
/// can be made.
///
/// `EVAL_ERROR` when there is no such question.
pub fn drafts(
    documents: &[Document],
    questions: &[Question],
    evidence: &[Evidence],
) -> Result<Vec<Recorded>> {
    let by_path: BTreeMap<&str, usize> = documents
        .iter()
        .enumerate()
        .map(|(n, d)| (d.path.as_str(), n))
        .collect();
    let asked: BTreeMap<&str, &str> = questions
        .iter()
        .map(|q| (q.id.as_str(), q.text.as_str()))
        .collect();
    let cut: Vec<Vec<(usize, &str)>> = documents.iter().map(|d| plain_sentences(&d.text)).collect();
    let mut answers = Vec::new();
    for one in evidence {
        let Some(question) = asked.get(one.id.as_str()) else {
            continue;
        };
        let place = one.refs.iter().find_map(|mark| {
            let n = *by_path.get(mark.path.as_str())?;
            let document = documents.get(n)?;
            let at = byte_of(&document.text, mark.start?)?;
            let found = cut
                .get(n)?
                .iter()
                .find(|(start, words)| (*start..start + words.len()).contains(&at));
            let (start, sentence) = *found?;
            let holds = |p: &&AttackPassage| {
                p.start <= start && start + sentence.len() <= p.start + p.text.len()
            };
            Some((sentence, (document.passages.iter().find(holds)?, document)))
        });
        answers.extend(place.map(|(sentence, own)| Answer {
            question,
            sentence,
            own,
        }));
    }
    let out: Vec<Recorded> = answers
        .iter()
        .enumerate()
        .flat_map(|(n, answer)| of_answer(n, answer, &answers, documents))
        .collect();
    if out.is_empty() {
        Err(invalid(
            "no answer of this set stands in one plain sentence",
        ))
    } else {
        Ok(out)
    }
}

/// The plain sentences of a text with their byte offsets.
fn plain_sentences(text: &str) -> Vec<(usize, &str)> {
    sentences(text)
        .iter()
        .filter_map(|s| Some((s.span.start(), plain_sentence(text, s)?)))
        .collect()
}

/// The byte offset of a character.
fn byte_of(text: &str, character: u64) -> Option<usize> {
    text.char_indices()
        .nth(usize::try_from(character).ok()?)
        .map(|(at, _)| at)
}

/// The folder of a document, or the document itself when it is in no folder: documents of one
/// folder belong together.
fn group(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(folder, _)| folder)
}

fn of_answer(
    n: usize,
    answer: &Answer<'_>,
    answers: &[Answer<'_>],
    documents: &[Document],
) -> Vec<Recorded> {
    let (own, document) = answer.own;
    let lacks = |p: &&AttackPassage| !p.text.contains(answer.sentence);
    // Another passage of the same document or, if documents are single passages, of its folder.
    let same = document
        .passages
        .iter()
        .filter(lacks)
        .min_by_key(|p| p.start.abs_diff(own.start));
    let near = |d: &&Document| d.path != document.path && group(&d.path) == group(&document.path);
    let same = same.or_else(|| {
        documents
            .iter()
            .filter(near)
            .flat_map(|d| &d.passages)
            .find(lacks)
    });
    let far = |d: &&Document| group(&d.path) != group(&document.path);
    let distant: Vec<&AttackPassage> = documents
        .iter()
        .filter(far)
        .flat_map(|d| &d.passages)
        .filter(lacks)
        .collect();
    let other = distant
        .get(n.checked_rem(distant.len()).unwrap_or(0))
        .copied();
    let stranger = answers
        .iter()
        .cycle()
        .skip(n + 1)
        .take(answers.len())
        .find(|a| {
            !own.text.contains(a.sentence)
                && !a.own.0.text.contains(answer.sentence)
                && a.sentence != answer.sentence
        });
    let (Some(same), Some(other), Some(stranger)) = (same, other, stranger) else {
        return Vec::new();
    };
    let mut passages: Vec<&AttackPassage> = Vec::new();
    for passage in [own, same, other, stranger.own.0] {
        if !passages
            .iter()
            .any(|p| p.path == passage.path && p.start == passage.start)
        {
            passages.push(passage);
        }
    }
    let Some(snapshot) = freeze(answer.question, &passages) else {
        return Vec::new();
    };
    let label = |passage: &AttackPassage| {
        let at = passages
            .iter()
            .position(|p| p.path == passage.path && p.start == passage.start);
        at.and_then(|at| u32::try_from(at + 1).ok()).unwrap_or(0)
    };
    let holding = |words: &str| -> Vec<BTreeSet<u32>> {
        (1..)
            .zip(&passages)
            .filter(|(_, p)| p.text.contains(words))
            .map(|(n, _)| BTreeSet::from([n]))
            .collect()
    };
    let cited = |words: &str, to: &[&AttackPassage], gold: Vec<BTreeSet<u32>>| {
        let marks: String = to.iter().map(|p| format!("[E{}]", label(p))).collect();
        Statement {
            text: format!("{} {marks}.", bare(words)),
            gold,
        }
    };
    let statement = |words: &str, to: &[&AttackPassage]| cited(words, to, holding(words));
    let draft = |fault: &str, statements: Vec<Statement>| Recorded {
        fault: fault.to_owned(),
        snapshot: snapshot.clone(),
        statements,
    };
    let (first, second) = (answer.sentence, stranger.sentence);
    let mut out = vec![
        draft(NO_FAULT, vec![statement(first, &[own])]),
        draft(
            "none, two sentences",
            vec![
                statement(first, &[own]),
                statement(second, &[stranger.own.0]),
            ],
        ),
        draft("padded citation", vec![statement(first, &[own, other])]),
        draft(
            "cited to the same document",
            vec![statement(first, &[same])],
        ),
        draft(
            "cited to another document",
            vec![statement(first, &[other])],
        ),
        draft(
            "sentence of another answer",
            vec![statement(second, &[own])],
        ),
        draft(
            "one of two misplaced",
            vec![statement(first, &[own]), statement(second, &[own])],
        ),
        draft(
            "one of two uncited",
            vec![statement(first, &[own]), {
                Statement {
                    text: second.to_owned(),
                    gold: holding(second),
                }
            }],
        ),
    ];
    let changes = [Edit::Number, Edit::Date, Edit::Name, Edit::Negation];
    out.extend(changes.into_iter().filter_map(|edit| {
        let changed = edit.apply(&bare(first), seed(first))?;
        Some(draft(
            &format!("changed {}", edit.name()),
            vec![cited(&changed, &[own], Vec::new())],
        ))
    }));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drafts::rows;
    use crate::set;

    fn document(path: &str, text: &str, cuts: &[usize]) -> Document {
        let ends = cuts.iter().copied().chain([text.len()]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let passage = |(start, end): (usize, usize)| AttackPassage {
            start,
            ..AttackPassage::whole(path, &text[start..end])
        };
        Document {
            path: path.to_owned(),
            text: text.to_owned(),
            passages: starts.zip(ends).map(passage).collect(),
        }
    }

    #[test]
    fn the_marks_say_which_passage_supports_which_sentence() {
        let harbour = "Café Möwe opened early. The old harbour of Kiel cost 12 million euros to repair.\n\n\
                       Nobody asked the fishermen of the northern bay about it.\n";
        let cut = harbour.find("Nobody").unwrap();
        let documents = [
            document("a.md", harbour, &[cut]),
            document(
                "b.md",
                "The bakery on Main Street sells 300 loaves on a usual Monday.\n",
                &[],
            ),
        ];
        let questions =
            set::questions("{\"id\":\"1\",\"text\":\"What did it cost?\"}\n{\"id\":\"2\",\"text\":\"How many?\"}\n")
                .unwrap();
        // Characters, not bytes: "12" is at character 40.
        let at = harbour
            .chars()
            .collect::<Vec<_>>()
            .windows(2)
            .position(|w| w == ['1', '2'])
            .unwrap();
        let spans = format!(
            "{{\"id\":\"1\",\"refs\":[{{\"path\":\"a.md\",\"start\":{at},\"end\":{}}}]}}\n\
             {{\"id\":\"2\",\"refs\":[{{\"path\":\"b.md\",\"start\":32,\"end\":35}}]}}\n",
            at + 2
        );
        let evidence = set::evidence(&spans, &questions).unwrap();
        let drafts = drafts(&documents, &questions, &evidence).unwrap();
        let of = |fault: &str| drafts.iter().find(|d| d.fault == fault).unwrap();
        let one = &of(NO_FAULT).statements[0];
        assert_eq!(
            one.text,
            "The old harbour of Kiel cost 12 million euros to repair [E1]."
        );
        assert_eq!(one.gold, [BTreeSet::from([1])]);
        assert_eq!(
            of("cited to the same document").statements[0].gold,
            one.gold
        );
        assert!(of("changed number").statements[0].gold.is_empty());
        let rows = rows(&drafts);
        let row = |name: &str| rows.iter().find(|(fault, _)| fault == name).unwrap().1;
        let clean = row(NO_FAULT);
        assert_eq!(
            (clean.passed, clean.after.recall(), clean.own_after.recall()),
            (clean.drafts, Some(1.0), Some(1.0))
        );
        assert_eq!(row("none, two sentences").before.precision(), Some(1.0));
        assert_eq!(row("padded citation").before.precision(), Some(0.5));
        let faults = rows
            .iter()
            .filter(|(fault, _)| fault.starts_with("c") || fault.starts_with("s"));
        for (fault, row) in faults {
            assert_eq!((row.before.recall(), row.passed), (Some(0.0), 0), "{fault}");
        }
        assert!(drafts_of_nothing());
    }

    fn drafts_of_nothing() -> bool {
        let documents = [document("a.md", "Short.\n", &[])];
        let questions = set::questions("{\"id\":\"1\",\"text\":\"What?\"}\n").unwrap();
        let spans = "{\"id\":\"1\",\"refs\":[{\"path\":\"a.md\",\"start\":0,\"end\":3}]}\n";
        drafts(
            &documents,
            &questions,
            &set::evidence(spans, &questions).unwrap(),
        )
        .is_err()
    }
}
