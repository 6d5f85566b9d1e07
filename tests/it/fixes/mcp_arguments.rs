//! Calls over MCP whose arguments do not fit: limits, cursors, days, sources.

use super::client_calls::FailingCalls;

/// A fix that the schema of the tool must explain.
pub(super) const SCHEMA: &str = "change the argument that the message names; the tool's input schema describes \
                                 all of them";

/// Fixes that the tools offered by default tell about arguments.
pub(super) const ARGUMENTS: &[FailingCalls] = &[
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "leave `limit` out",
        next: None,
        calls: &[
            [
                "no hit is wanted",
                r#"search {"query": "oven", "limit": 0}"#,
                r#"search {"query": "oven"}"#,
            ],
            [
                "too many hits are wanted",
                r#"search {"query": "oven", "limit": 51}"#,
                r#"search {"query": "oven"}"#,
            ],
            [
                "no similar note is wanted",
                r#"similar {"note": "oven.md", "limit": 0}"#,
                r#"similar {"note": "oven.md"}"#,
            ],
            [
                "too many memories are wanted",
                r#"memory_search {"query": "bake", "limit": 51}"#,
                r#"memory_search {"query": "bake"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "leave `max_bytes` out",
        next: None,
        calls: &[
            [
                "too few bytes are wanted",
                r#"search {"query": "oven", "max_bytes": 1}"#,
                r#"search {"query": "oven"}"#,
            ],
            [
                "too few bytes are wanted",
                r#"get {"address": "oven.md", "max_bytes": 1}"#,
                r#"get {"address": "oven.md"}"#,
            ],
            [
                "too many bytes are wanted",
                r#"multi_get {"glob": "*.md", "max_bytes": 9999999}"#,
                r#"multi_get {"glob": "*.md"}"#,
            ],
            [
                "too few bytes are wanted",
                r#"ask {"question": "What is the oven made of?", "max_bytes": 1}"#,
                r#"ask {"question": "What is the oven made of?"}"#,
            ],
            [
                "too few bytes are wanted",
                r#"verify {"answer": "It is granite [oven.md:6].", "max_bytes": 1}"#,
                r#"verify {"answer": "It is granite [oven.md:6]."}"#,
            ],
        ],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "make the same call without `cursor`",
        next: None,
        calls: &[
            [
                "an invalid cursor",
                r#"search {"query": "oven", "cursor": "seven"}"#,
                r#"search {"query": "oven"}"#,
            ],
            [
                "a cursor of another call",
                r#"search {"query": "oven", "cursor": "1-0000000000000000"}"#,
                r#"search {"query": "oven"}"#,
            ],
            [
                "a cursor of another call",
                r#"get {"address": "oven.md", "cursor": "1-0000000000000000"}"#,
                r#"get {"address": "oven.md"}"#,
            ],
            [
                "a cursor of another call",
                r#"multi_get {"glob": "*.md", "cursor": "1-0000000000000000"}"#,
                r#"multi_get {"glob": "*.md"}"#,
            ],
            [
                "a cursor of another call",
                r#"verify {"answer": "It is granite [oven.md:6].", "cursor": "1-0"}"#,
                r#"verify {"answer": "It is granite [oven.md:6]."}"#,
            ],
            [
                "a cursor of another list",
                r#"resources/list {"cursor": "1-0000000000000000"}"#,
                "resources/list {}",
            ],
        ],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "leave `recent` out",
        next: None,
        calls: &[[
            "a half-life of nothing",
            r#"search {"query": "oven", "recent": 0}"#,
            r#"search {"query": "oven"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: SCHEMA,
        next: None,
        calls: &[
            [
                "an argument is missing",
                "search {}",
                r#"search {"query": "oven"}"#,
            ],
            [
                "an argument of another type",
                r#"search {"query": "oven", "limit": "three"}"#,
                r#"search {"query": "oven", "limit": 3}"#,
            ],
            [
                "an argument that the tool does not have",
                r#"search {"query": "oven", "limt": 3}"#,
                r#"search {"query": "oven", "limit": 3}"#,
            ],
            [
                "an argument that the tool does not have",
                r#"tags {"tag": "kitchen"}"#,
                "tags {}",
            ],
            [
                "an argument that the tool does not have",
                r#"grep {"patern": "oven"}"#,
                r#"grep {"pattern": "oven"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: r#"pass `after` as in "2026-01-31""#,
        next: None,
        calls: &[
            [
                "an invalid day",
                r#"search {"query": "oven", "after": "yesterday"}"#,
                r#"search {"query": "oven", "after": "2026-01-31"}"#,
            ],
            [
                "an invalid day",
                r#"ask {"question": "What is the oven made of?", "after": "2026-13-01"}"#,
                r#"ask {"question": "What is the oven made of?", "after": "2026-01-31"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "call `status` to see the names of the sources",
        next: None,
        calls: &[
            [
                "a source that does not exist",
                r#"search {"query": "oven", "source": "work"}"#,
                r#"status {} then search {"query": "oven", "source": "notes"}"#,
            ],
            [
                "a source that does not exist",
                r#"ask {"question": "What is the oven made of?", "source": "work"}"#,
                r#"status {} then ask {"question": "What is the oven made of?", "source": "notes"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "leave out either `file`, or `source`, `path`, `tag`, `after` and `before`",
        next: None,
        calls: &[
            [
                "a file is asked and limits are set",
                r#"ask {"question": "What is the oven made of?", "file": "oven.md", "tag": "x"}"#,
                r#"ask {"question": "What is the oven made of?", "file": "oven.md"}"#,
            ],
            [
                "a file is asked and limits are set",
                r#"ask {"question": "What is the oven made of?", "file": "oven.md", "path": "deep"}"#,
                r#"ask {"question": "What is the oven made of?", "path": "deep"}"#,
            ],
        ],
    },
];
