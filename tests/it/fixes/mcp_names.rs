//! Calls over MCP that name a note, a folder, a run or a pattern that cannot be used.

use super::client_calls::FailingCalls;

/// Fixes that the tools offered by default tell about names.
pub(super) const NAMES: &[FailingCalls] = &[
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "ask for an earlier line",
        next: None,
        calls: &[[
            "a line after the end of the file",
            r#"get {"address": "oven.md:900"}"#,
            r#"get {"address": "oven.md:2"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "call `search`: each hit has its `chunk_key`",
        next: None,
        calls: &[[
            "an invalid key",
            r##"get {"address": "#granite"}"##,
            r##"search {"query": "granite"} then get {"address": "#<key>"}"##,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "name a file as `source:folder/file.md`",
        next: None,
        calls: &[[
            "a blank address",
            r#"get {"address": ""}"#,
            r#"get {"address": "notes:deep/pump.md"}"#,
        ]],
    },
    FailingCalls {
        code: "PATH_DENIED",
        fix: "name a file as `source:folder/file.md`",
        next: None,
        calls: &[
            [
                "a path that leads outside",
                r#"get {"address": "../pump.md"}"#,
                r#"get {"address": "notes:deep/pump.md"}"#,
            ],
            [
                "a path that leads outside",
                r#"links {"note": "/etc/pump.md"}"#,
                r#"links {"note": "notes:deep/pump.md"}"#,
            ],
            [
                "a path that leads outside",
                r#"outline {"path": "../pump.md"}"#,
                r#"outline {"path": "notes:deep/pump.md"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "FILE_NOT_FOUND",
        fix: "call `search` with words of the note",
        next: None,
        calls: &[
            [
                "no such note",
                r#"get {"address": "stove.md"}"#,
                r##"search {"query": "granite"} then get {"address": "#<key>"}"##,
            ],
            [
                "no such note",
                r#"get {"address": "stove.md"}"#,
                r#"search {"query": "oven"} then get {"address": "notes:oven.md"}"#,
            ],
            [
                "no such note",
                r#"links {"note": "stove"}"#,
                r#"search {"query": "oven"} then links {"note": "oven"}"#,
            ],
            [
                "no such note",
                r#"similar {"note": "stove.md"}"#,
                r#"search {"query": "oven"} then similar {"note": "oven.md"}"#,
            ],
            [
                "no such note",
                r#"ask {"question": "What is the oven made of?", "file": "stove.md"}"#,
                r#"search {"query": "oven"} then ask {"question": "What is the oven made of?", "file": "oven.md"}"#,
            ],
            [
                "a key that no chunk has",
                r##"get {"address": "#00000000000000000000000000000000"}"##,
                r##"search {"query": "granite"} then get {"address": "#<key>"}"##,
            ],
            [
                "no such note",
                r#"outline {"path": "stove.md"}"#,
                r#"search {"query": "oven"} then outline {"path": "oven.md"}"#,
            ],
            [
                "no such note",
                r#"resources/read {"uri": "note://notes/stove.md"}"#,
                r#"search {"query": "oven"} then resources/read {"uri": "note://notes/oven.md"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "FILE_NOT_FOUND",
        fix: "name a folder as `source:folder`, or a whole source as `source:`",
        next: None,
        calls: &[
            [
                "no such folder",
                r#"list_dir {"path": "kitchen"}"#,
                r#"list_dir {"path": "notes:deep"} then list_dir {"path": "notes:"}"#,
            ],
            [
                "a note instead of a folder",
                r#"list_dir {"path": "notes:oven.md"}"#,
                r#"list_dir {"path": "notes:"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "FILE_NOT_FOUND",
        fix: "make the same call with one of these names",
        next: None,
        calls: &[
            [
                "a name with a wrong letter",
                r#"get {"address": "ovn.md"}"#,
                r#"get {"address": "notes:oven.md"}"#,
            ],
            [
                "a name with a wrong letter",
                r#"links {"note": "ovn"}"#,
                r#"links {"note": "notes:oven.md"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "PATH_IS_DIRECTORY",
        fix: "call `list_dir`",
        next: None,
        calls: &[
            [
                "a folder instead of a note",
                r#"get {"address": "deep"}"#,
                r#"list_dir {"path": "deep"} then get {"address": "notes:deep/pump.md"}"#,
            ],
            [
                "a folder instead of a note",
                r#"links {"note": "deep"}"#,
                r#"list_dir {"path": "deep"} then links {"note": "notes:deep/pump.md"}"#,
            ],
            [
                "a folder instead of a note",
                r#"outline {"path": "deep"}"#,
                r#"list_dir {"path": "deep"} then outline {"path": "notes:deep/pump.md"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "AMBIGUOUS_PATH",
        fix: "make the same call with one of these names",
        next: None,
        calls: &[
            [
                "two notes of one name",
                r#"get {"address": "pump"}"#,
                r#"get {"address": "notes:deep/pump.md"}"#,
            ],
            [
                "two notes of one name",
                r#"links {"note": "pump"}"#,
                r#"links {"note": "notes:pump.md"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "SYMBOL_NOT_FOUND",
        fix: "make the same call with a name that the message lists, or without what is after `#`",
        next: None,
        calls: &[
            [
                "a heading that a note does not have",
                r#"get {"address": "[[oven#Stove]]"}"#,
                r#"get {"address": "[[oven#Oven]]"} then get {"address": "[[oven]]"}"#,
            ],
            [
                "a block that a note does not have",
                r#"get {"address": "[[oven#^heat]]"}"#,
                r#"get {"address": "[[oven]]"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "RUN_NOT_FOUND",
        fix: "call `ask`, and verify with the `run_id` that it gives",
        next: None,
        calls: &[[
            "a run that does not exist",
            r#"verify {"answer": "It is granite [E1].", "run_id": "2020"}"#,
            r#"ask {"question": "What is the oven made of?"} then verify {"answer": "It is granite [E1].", "run_id": "<run>"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "use `fixed` to find the words themselves",
        next: None,
        calls: &[[
            "a pattern that cannot be read",
            r#"grep {"pattern": "("}"#,
            r#"grep {"pattern": "(", "fixed": true}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "search for one of its lines",
        next: None,
        calls: &[[
            "a pattern of two lines",
            r#"grep {"pattern": "Oven\nThe oven"}"#,
            r#"grep {"pattern": "The oven"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "name a markdown file",
        next: None,
        calls: &[[
            "a file that is no note",
            r#"related_files {"path": "plain.txt"}"#,
            r#"related_files {"path": "oven.md"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "`resources/list` gives the addresses",
        next: None,
        calls: &[
            [
                "an invalid address",
                r#"resources/read {"uri": "oven.md"}"#,
                r#"resources/list {} then resources/read {"uri": "note://notes/oven.md"}"#,
            ],
            [
                "an invalid address",
                r#"resources/subscribe {"uri": "oven.md"}"#,
                r#"resources/list {} then resources/subscribe {"uri": "note://notes/oven.md"}"#,
            ],
        ],
    },
    FailingCalls {
        code: "FILE_TOO_LARGE",
        fix: "call `get`, which reads in pages",
        next: None,
        calls: &[[
            "a note of more than 1 MiB",
            r#"resources/read {"uri": "note://notes/long.md"}"#,
            r#"get {"address": "long.md"} then get {"address": "long.md", "cursor": "<cursor>"}"#,
        ]],
    },
];
