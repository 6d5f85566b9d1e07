//! Commands and options of other programs for notes.

use super::case::{Case, Follow, Then, case};
use super::models::question_set;
use super::place::{indexed, used};

pub(super) fn cases() -> Vec<Case> {
    [commands(), options()].concat()
}

/// A line of another program, and the line that does the same here.
fn spelled(other: &'static [&'static str], ours: &'static [&'static str]) -> Case {
    case(
        "a spelling of another program",
        indexed,
        other,
        "INVALID_ARGS",
    )
    .ends(Follow::Again(ours), Then::Health)
}

fn commands() -> Vec<Case> {
    vec![
        spelled(&["add", "deep"], &["source", "add", "deep"]),
        spelled(&["cat", "oven.md"], &["get", "oven.md"]),
        spelled(&["collections"], &["source", "list"]),
        spelled(&["deep-search", "oven"], &["query", "oven"]),
        spelled(&["find", "oven"], &["query", "oven"]),
        spelled(&["grep", "oven"], &["search", "oven"]),
        spelled(&["list"], &["ls"]),
        spelled(&["open", "oven.md"], &["get", "oven.md"]),
        spelled(
            &["outline", "oven.md"],
            &["tool", "run", "outline", "--arg", "path=oven.md"],
        ),
        spelled(&["read", "oven.md"], &["get", "oven.md"]),
        spelled(&["reindex"], &["index", "--rebuild"]),
        spelled(&["show", "oven.md"], &["get", "oven.md"]),
        spelled(&["sync"], &["index"]),
        spelled(
            &["source", "exclude", "deep"],
            &["source", "add", "deep", "--exclude", "*.draft.md"],
        ),
        spelled(
            &["pull", "all-MiniLM-L6-v2"],
            &["models", "pull", "all-MiniLM-L6-v2"],
        ),
        case(
            "a spelling of another program",
            used,
            &["vector-search", "oven"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(&["vsearch", "oven"]), Then::Health),
        case(
            "a spelling of another program, and a set of questions",
            || {
                let world = indexed();
                question_set(&world);
                world
            },
            &["bench", "set"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Again(&["eval", "retrieval", "set", "--modes", "lexical"]),
            Then::Health,
        ),
        spelled(
            &["query", "granite", "-pump"],
            &["query", "--", "granite -pump"],
        ),
        spelled(&["source", "show", "notes"], &["ls", "notes"]),
        spelled(&["source", "update-cmd"], &["index"]),
    ]
}

fn options() -> Vec<Case> {
    vec![
        spelled(
            &["query", "oven", "--candidate-limit", "5"],
            &["query", "oven"],
        ),
        spelled(
            &["query", "oven", "--index", "x"],
            &["query", "oven", "-C", "."],
        ),
        spelled(&["index", "--pull"], &["index"]),
        spelled(&["index", "-c", "notes"], &["index", "--source", "notes"]),
        spelled(&["ls", "-c", "notes"], &["ls", "notes"]),
        spelled(&["ls", "--collection", "notes"], &["ls", "notes"]),
        spelled(&["multi-get", "*.md", "--csv"], &["multi-get", "*.md"]),
        spelled(&["multi-get", "*.md", "--files"], &["ls"]),
        spelled(
            &["multi-get", "*.md", "--from", "3"],
            &["get", "oven.md", "--from", "3"],
        ),
        spelled(&["multi-get", "*.md", "--md"], &["multi-get", "*.md"]),
        spelled(&["multi-get", "*.md", "--xml"], &["multi-get", "*.md"]),
        spelled(
            &["source", "add", "deep", "--pattern", "*.md"],
            &["source", "add", "deep", "--mask", "*.md"],
        ),
    ]
}
