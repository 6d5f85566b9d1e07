//! Reads and checks the files of a set: `queries.jsonl`, `qrels.tsv`, `spans.jsonl`.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::invalid;
use local_agent_text::error::Result;

/// One question of a set.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// The id by which other files of the set refer to it.
    pub id: String,
    /// The text of the question.
    pub text: String,
}

/// For each question, the grade of each judged document (its path below `docs/`). A grade above 0
/// means relevant. Questions without a relevant document are left out.
pub type Judgments = BTreeMap<String, BTreeMap<String, i64>>;

/// A stretch of a document that answers a question. Characters are counted from 0 and `end` is
/// exclusive; lines are counted from 1 and `end_line` is inclusive.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Mark {
    /// The path of the document, below `docs/`.
    pub path: String,
    /// Its first character.
    pub start: Option<u64>,
    /// The position after its last character.
    pub end: Option<u64>,
    /// Its first line.
    pub start_line: Option<u64>,
    /// Its last line.
    pub end_line: Option<u64>,
}

/// The marked evidence of one question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Evidence {
    /// The id of the question.
    pub id: String,
    /// All stretches that answer it.
    pub refs: Vec<Mark>,
}

/// Parses `queries.jsonl`: one object per line with `id` and `text`; other fields are ignored.
///
/// `EVAL_ERROR`: no question at all, an invalid line, a blank question, a duplicate id.
pub fn questions(text: &str) -> Result<Vec<Question>> {
    let all: Vec<Question> = lines(text, "queries.jsonl")?;
    let mut seen = HashSet::new();
    for question in &all {
        if question.text.trim().is_empty() {
            return Err(invalid(format!(
                "queries.jsonl: the question `{}` is blank",
                question.id
            )));
        }
        if !seen.insert(&question.id) {
            return Err(invalid(format!(
                "queries.jsonl: the id `{}` comes twice",
                question.id
            )));
        }
    }
    if all.is_empty() {
        return Err(invalid(
            "queries.jsonl holds no questions, so there is nothing to measure",
        ));
    }
    Ok(all)
}

/// Parses `qrels.tsv`: question id, path, grade; tab-separated. Every judged question must be among
/// `questions`.
///
/// `EVAL_ERROR`: an invalid line, an unknown question, or no relevant document for any question.
pub fn judgments(text: &str, questions: &[Question]) -> Result<Judgments> {
    let known: HashSet<&str> = questions
        .iter()
        .map(|question| question.id.as_str())
        .collect();
    let mut all = Judgments::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [id, path, grade] = fields[..] else {
            return Err(invalid(format!(
                "qrels.tsv, line {number}: not a question, a path and a grade, tab-separated"
            )));
        };
        let Ok(grade) = grade.trim().parse() else {
            return Err(invalid(format!(
                "qrels.tsv, line {number}: `{grade}` is not a whole number"
            )));
        };
        if !known.contains(id) {
            return Err(invalid(format!(
                "qrels.tsv, line {number}: queries.jsonl has no question `{id}`"
            )));
        }
        all.entry(id.to_owned())
            .or_default()
            .insert(path.to_owned(), grade);
    }
    all.retain(|_, documents| documents.values().any(|grade| *grade > 0));
    if all.is_empty() {
        return Err(invalid(
            "qrels.tsv names no relevant document for any question",
        ));
    }
    Ok(all)
}

/// Parses `spans.jsonl`: one object per line with `id` and `refs`. Every question must be among
/// `questions`. Questions without a mark are left out.
///
/// `EVAL_ERROR`: an invalid line, an unknown question, a mark without a position, or no mark at
/// all.
pub fn evidence(text: &str, questions: &[Question]) -> Result<Vec<Evidence>> {
    let known: HashSet<&str> = questions
        .iter()
        .map(|question| question.id.as_str())
        .collect();
    let mut all: Vec<Evidence> = lines(text, "spans.jsonl")?;
    let mut seen = HashSet::new();
    for one in &all {
        if !known.contains(one.id.as_str()) {
            return Err(invalid(format!(
                "spans.jsonl: queries.jsonl has no question `{}`",
                one.id
            )));
        }
        if !seen.insert(&one.id) {
            return Err(invalid(format!(
                "spans.jsonl: the id `{}` comes twice",
                one.id
            )));
        }
        if !one.refs.iter().all(is_placed) {
            return Err(invalid(format!(
                "spans.jsonl: a mark of `{}` has neither characters nor lines",
                one.id
            )));
        }
    }
    all.retain(|one| !one.refs.is_empty());
    if all.is_empty() {
        return Err(invalid(
            "spans.jsonl marks nothing, so there is nothing to measure",
        ));
    }
    Ok(all)
}

/// Whether a mark says where it begins and ends.
fn is_placed(mark: &Mark) -> bool {
    mark.start.is_some() && mark.end.is_some()
        || mark.start_line.is_some() && mark.end_line.is_some()
}

fn lines<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>> {
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| parse_line(name, (number, line)))
        .collect()
}

/// One line of a file of the set.
fn parse_line<T: DeserializeOwned>(name: &str, (number, line): (usize, &str)) -> Result<T> {
    serde_json::from_str(line).map_err(|error| invalid(format!("{name}, line {number}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code<T: std::fmt::Debug>(result: Result<T>) -> String {
        let failure = result.unwrap_err();
        assert_eq!(failure.code.as_str(), "EVAL_ERROR");
        failure.message
    }

    /// It used to count as a question of which nothing was found.
    #[test]
    fn a_question_without_a_mark_is_left_out() {
        let asked = "{\"id\":\"1\",\"text\":\"a\"}\n{\"id\":\"2\",\"text\":\"b\"}\n";
        let marked = "{\"id\":\"1\",\"refs\":[]}\n\
            {\"id\":\"2\",\"refs\":[{\"path\":\"a.md\",\"start\":0,\"end\":1}]}\n";
        let found = evidence(marked, &questions(asked).unwrap()).unwrap();
        let ids: Vec<&str> = found.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["2"]);
    }

    #[test]
    fn a_set_that_would_measure_nothing_is_a_failure() {
        assert!(code(questions("\n")).contains("no questions"));
        assert!(code(questions("{\"id\":\"1\",\"text\":\" \"}")).contains("blank"));
        assert!(code(questions("{\"id\":\"1\"}")).contains("line 1"));
        let twice = "{\"id\":\"1\",\"text\":\"a\"}\n{\"id\":\"1\",\"text\":\"b\"}\n";
        assert!(code(questions(twice)).contains("twice"));
        let one = questions("{\"id\":\"1\",\"text\":\"a\"}").unwrap();
        assert!(code(judgments("1\ta.md\t0\n", &one)).contains("no relevant"));
        assert!(code(judgments("1\ta.md\n", &one)).contains("line 1"));
        assert!(code(judgments("1\ta.md\thigh\n", &one)).contains("whole number"));
        assert!(code(judgments("2\ta.md\t1\n", &one)).contains("no question `2`"));
        assert!(code(evidence("{\"id\":\"1\",\"refs\":[]}", &one)).contains("marks nothing"));
        assert!(
            code(evidence(
                "{\"id\":\"1\",\"refs\":[{\"path\":\"a.md\"}]}",
                &one
            ))
            .contains("neither")
        );
    }

    #[test]
    fn questions_that_nobody_judged_relevant_are_left_out() {
        let two = questions(
            "{\"id\":\"1\",\"text\":\"a\"}\n\n{\"id\":\"2\",\"text\":\"b\",\"kind\":\"x\"}\n",
        )
        .unwrap();
        let judged = judgments("1\ta.md\t0\n2\tb.md\t2\n2\tc.md\t0\n", &two).unwrap();
        assert_eq!(judged.keys().collect::<Vec<_>>(), ["2"]);
        assert_eq!(judged["2"]["c.md"], 0);
    }
}
