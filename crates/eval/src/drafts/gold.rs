//! Drafts made from a set's marked answers. The marks determine which passage supports which
//! sentence, so nobody has to read them.
//!
//! The sentence that contains a marked answer, with a citation of the passage that contains it, is
//! a faithful draft; the same draft with one error is a faulty one. Faithful drafts repeat the text
//! word for word, so they do not measure paraphrases. They measure whether misplaced citations and
//! small changes of true sentences pass.

use std::collections::{BTreeMap, BTreeSet};

use super::{NO_FAULT, Recorded, Statement};
use crate::attacks::{AttackPassage, Edit, bare, freeze, plain_sentence, seed};
use crate::invalid;
use crate::set::{Evidence, Question};
use local_agent_text::error::Result;
use local_agent_text::evidence::EvidenceSnapshot;
use local_agent_text::markdown::sentences;

/// A document of the set, cut into passages.
#[derive(Debug, Clone)]
pub struct Document {
    /// The path below `docs/`.
    pub path: String,
    /// The whole text; marks are positions in its characters.
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

/// All drafts that can be made of the questions whose answer is in one plain sentence of one
/// passage.
///
/// `EVAL_ERROR` if no question is like that.
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
            Some((
                sentence,
                (
                    document.passages.iter().find(|p| {
                        p.start <= start && start + sentence.len() <= p.start + p.text.len()
                    })?,
                    document,
                ),
            ))
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
        Err(invalid("no answer of this set is in one plain sentence"))
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

/// The passages that the drafts of one answer cite.
struct Cast<'a> {
    /// The passage with the answer.
    own: &'a AttackPassage,
    /// Another passage of the same document; if documents are single passages, of the same folder.
    same: &'a AttackPassage,
    /// A passage of another folder.
    other: &'a AttackPassage,
    /// The answer to another question.
    stranger: &'a Answer<'a>,
}

impl<'a> Cast<'a> {
    /// The passages for `answer`, the `n`th of `answers`; `None` if the set does not have them.
    fn of(
        n: usize,
        answer: &Answer<'a>,
        answers: &'a [Answer<'a>],
        documents: &'a [Document],
    ) -> Option<Self> {
        let (own, document) = answer.own;
        let same = document
            .passages
            .iter()
            .filter(|p| lacks_sentence(answer, p))
            .min_by_key(|p| p.start.abs_diff(own.start));
        let same = same.or_else(|| {
            documents
                .iter()
                .filter(|d| d.path != document.path && group(&d.path) == group(&document.path))
                .flat_map(|d| &d.passages)
                .find(|p| lacks_sentence(answer, p))
        });
        let distant: Vec<&AttackPassage> = documents
            .iter()
            .filter(|d| group(&d.path) != group(&document.path))
            .flat_map(|d| &d.passages)
            .filter(|p| lacks_sentence(answer, p))
            .collect();
        let other = distant.get(n.checked_rem(distant.len()).unwrap_or(0));
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
        Some(Self {
            own,
            same: same?,
            other: other.copied()?,
            stranger: stranger?,
        })
    }

    /// The passages in the order of their labels, each once.
    fn passages(&self) -> Vec<&'a AttackPassage> {
        let mut passages: Vec<&AttackPassage> = Vec::new();
        for passage in [self.own, self.same, self.other, self.stranger.own.0] {
            if !passages.iter().any(|p| is_same(p, passage)) {
                passages.push(passage);
            }
        }
        passages
    }
}

/// Whether the passage does not contain the sentence of the answer.
fn lacks_sentence(answer: &Answer<'_>, passage: &AttackPassage) -> bool {
    !passage.text.contains(answer.sentence)
}

fn is_same(a: &AttackPassage, b: &AttackPassage) -> bool {
    a.path == b.path && a.start == b.start
}

/// Frozen passages and the statements that cite them.
struct Stage<'a> {
    passages: Vec<&'a AttackPassage>,
    snapshot: EvidenceSnapshot,
}

impl Stage<'_> {
    fn label(&self, passage: &AttackPassage) -> u32 {
        let at = self.passages.iter().position(|p| is_same(p, passage));
        at.and_then(|at| u32::try_from(at + 1).ok()).unwrap_or(0)
    }

    /// The labels of the passages that contain these words, each in its own set.
    fn holding(&self, words: &str) -> Vec<BTreeSet<u32>> {
        (1..)
            .zip(&self.passages)
            .filter(|(_, p)| p.text.contains(words))
            .map(|(n, _)| BTreeSet::from([n]))
            .collect()
    }

    fn cited(&self, words: &str, to: &[&AttackPassage], gold: Vec<BTreeSet<u32>>) -> Statement {
        let marks: String = to.iter().map(|p| format!("[E{}]", self.label(p))).collect();
        Statement {
            text: format!("{} {marks}.", bare(words)),
            gold,
        }
    }

    fn statement(&self, words: &str, to: &[&AttackPassage]) -> Statement {
        self.cited(words, to, self.holding(words))
    }

    fn draft(&self, fault: &str, statements: Vec<Statement>) -> Recorded {
        Recorded {
            fault: fault.to_owned(),
            snapshot: self.snapshot.clone(),
            statements,
        }
    }
}

fn of_answer(
    n: usize,
    answer: &Answer<'_>,
    answers: &[Answer<'_>],
    documents: &[Document],
) -> Vec<Recorded> {
    let Some(cast) = Cast::of(n, answer, answers, documents) else {
        return Vec::new();
    };
    let passages = cast.passages();
    let Some(snapshot) = freeze(answer.question, &passages) else {
        return Vec::new();
    };
    let stage = Stage { passages, snapshot };
    let Cast {
        own,
        same,
        other,
        stranger,
    } = cast;
    let (first, second) = (answer.sentence, stranger.sentence);
    let good = || stage.statement(first, &[own]);
    let uncited = Statement {
        text: second.to_owned(),
        gold: stage.holding(second),
    };
    let statements = [
        (NO_FAULT, vec![good()]),
        (
            "none, two sentences",
            vec![good(), stage.statement(second, &[stranger.own.0])],
        ),
        (
            "padded citation",
            vec![stage.statement(first, &[own, other])],
        ),
        (
            "cited to the same document",
            vec![stage.statement(first, &[same])],
        ),
        (
            "cited to another document",
            vec![stage.statement(first, &[other])],
        ),
        (
            "sentence of another answer",
            vec![stage.statement(second, &[own])],
        ),
        (
            "one of two misplaced",
            vec![good(), stage.statement(second, &[own])],
        ),
        ("one of two uncited", vec![good(), uncited]),
    ];
    let drafts = statements
        .into_iter()
        .map(|(fault, statements)| stage.draft(fault, statements));
    let changes = [Edit::Number, Edit::Date, Edit::Name, Edit::Negation];
    let changed = changes.into_iter().filter_map(|edit| {
        let changed = edit.apply(&bare(first), seed(first))?;
        Some(stage.draft(
            &format!("changed {}", edit.name()),
            vec![stage.cited(&changed, &[own], Vec::new())],
        ))
    });
    drafts.chain(changed).collect()
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
