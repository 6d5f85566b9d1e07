//! Requests to `/api` of `local-agent serve` that fail.

use super::client_calls::{ClientRow, FailingCalls, MakesCalls, ToldFailure, follow};
use super::place::used;
use crate::serve::Served;

/// The page that lists the addresses, and what each takes.
const REFERENCE: &str = include_str!("../../../docs/serve.md");

const REQUESTS: &[FailingCalls] = &[
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "add `address=…` to the query of the URL",
        next: None,
        calls: &[
            [
                "a parameter is missing",
                "GET /api/get",
                "GET /api/get?address=oven.md",
            ],
            [
                "a parameter is misspelled",
                "GET /api/get?adress=oven.md",
                "GET /api/get?address=oven.md",
            ],
        ],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "add `id=…` to the query of the URL",
        next: None,
        calls: &[[
            "a parameter is missing",
            "GET /api/run",
            "GET /api/run?id=last",
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "leave `limit` out",
        next: None,
        calls: &[[
            "an invalid number",
            "GET /api/runs?limit=three",
            "GET /api/runs",
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "leave `recent` out",
        next: None,
        calls: &[[
            "a half-life of nothing",
            r#"POST /api/search {"query": "oven", "recent": 0}"#,
            r#"POST /api/search {"query": "oven"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "ask for an earlier line",
        next: None,
        calls: &[[
            "a line after the end of the file",
            "GET /api/get?address=oven.md:900",
            "GET /api/get?address=oven.md:2",
        ]],
    },
    FailingCalls {
        code: "PATH_DENIED",
        fix: "name a file as `source:folder/file.md`",
        next: None,
        calls: &[[
            "a path that leads outside",
            "GET /api/get?address=../pump.md",
            "GET /api/get?address=notes:deep/pump.md",
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "there are POST /api/search, POST /api/ask, GET /api/get, GET /api/status, GET /api/runs, \
              GET /api/run and /mcp; people begin at /",
        next: None,
        calls: &[[
            "an address that does not exist",
            "GET /api/notes",
            "GET /api/status",
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "send the same request with GET",
        next: None,
        calls: &[[
            "another method is required",
            "POST /api/status {}",
            "GET /api/status",
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "send the same request with POST",
        next: None,
        calls: &[[
            "another method is required",
            r#"GET /api/search {"query": "oven"}"#,
            r#"POST /api/search {"query": "oven"}"#,
        ]],
    },
    FailingCalls {
        code: "RUN_NOT_FOUND",
        fix: "GET /api/runs lists the runs",
        next: None,
        calls: &[[
            "a run that does not exist",
            "GET /api/run?id=2020",
            "GET /api/runs then GET /api/run?id=last",
        ]],
    },
    FailingCalls {
        code: "FILE_NOT_FOUND",
        fix: "POST /api/search finds notes",
        next: None,
        calls: &[[
            "no such note",
            "GET /api/get?address=stove.md",
            r#"POST /api/search {"query": "oven"} then GET /api/get?address=oven.md"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_QUERY",
        fix: "give it words",
        next: None,
        calls: &[[
            "a blank query",
            r#"POST /api/search {"query": " "}"#,
            r#"POST /api/search {"query": "oven"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "leave `limit` out",
        next: None,
        calls: &[[
            "no hit is wanted",
            r#"POST /api/search {"query": "oven", "limit": 0}"#,
            r#"POST /api/search {"query": "oven"}"#,
        ]],
    },
    FailingCalls {
        code: "INVALID_ARGS",
        fix: "docs/serve.md shows what this address takes",
        next: None,
        calls: &[
            [
                "a body that is no JSON",
                "POST /api/search query=oven",
                r#"POST /api/search {"query": "oven"}"#,
            ],
            [
                "a field that the address does not have",
                r#"POST /api/search {"query": "oven", "source": ["notes"]}"#,
                r#"POST /api/search {"query": "oven", "within": {"source": ["notes"]}}"#,
            ],
            [
                "a field is missing",
                "POST /api/ask {}",
                r#"POST /api/ask {"question": "What is the oven made of?"}"#,
            ],
        ],
    },
];

pub(super) fn rows() -> Vec<ClientRow> {
    let world = used();
    let mut caller = ApiCaller(Served::start(&world, &[]));
    let mut rows = Vec::new();
    for group in REQUESTS {
        rows.extend(follow(&mut caller, group));
        if group.fix.starts_with("docs/serve.md") {
            reference_lists(group);
        }
    }
    rows
}

/// The reference names the method and the address of each request that the fix leads to.
fn reference_lists(group: &FailingCalls) {
    for [_, _, mended] in group.calls {
        let (method, path, _) = parts(mended);
        let path = path.split('?').next().unwrap_or_default();
        assert!(REFERENCE.contains(&format!("`{method} {path}")), "{mended}");
    }
}

/// Makes requests at one server with its owner's token.
struct ApiCaller(Served);

impl MakesCalls for ApiCaller {
    fn make(&mut self, call: &str) -> Option<ToldFailure> {
        let Self(served) = self;
        let (method, path, body) = parts(call);
        let headers = [
            ("Host", served.address.as_str()),
            ("Authorization", &served.bearer()),
        ];
        let answer = served.with(&format!("{method} {path}"), &headers, body);
        let is_refused = answer.status >= 400;
        is_refused.then(|| ToldFailure::in_object(&answer.json()))
    }
}

/// The method of a request, its address, and its body.
fn parts(call: &str) -> (&str, &str, &str) {
    let (method, rest) = call.split_once(' ').unwrap();
    let (path, body) = rest.split_once(' ').unwrap_or((rest, ""));
    (method, path, body)
}
