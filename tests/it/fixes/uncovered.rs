//! Every code has a case, or a reason why it has none.

use std::collections::BTreeSet;

const ERROR: &str = "## Errors";
const DOCTOR: &str = "## Doctor";
const RUNS: &str = "## Records of runs";

/// Codes without a case, by reason.
const WITHOUT_CASE: &[(&str, &[&str])] = &[
    (
        "a client of `serve` or `mcp` gets it and sends another request",
        &[
            "ACCESS_DENIED",
            "CANCELLED",
            "REQUEST_TOO_LARGE",
            "SERVER_BUSY",
        ],
    ),
    (
        "there is no network file system in a test",
        &["DOCTOR_STATE_ON_NETWORK"],
    ),
    (
        "a check before it finds such a damage first, by the checksum or a constraint of the table",
        &[
            "DOCTOR_CHUNK_KEY_MISSING",
            "DOCTOR_EMBED_DIM_MISMATCH_REQUIRE_PHASE3",
            "DOCTOR_EMBED_DIM_MISMATCH_WARN",
        ],
    ),
    (
        "it says that two things that were recorded differ; a person has to look at both",
        &["REPLAY_MISMATCH"],
    ),
    ("a bug in the program", &["INTERNAL_ERROR"]),
    (
        "it gives information, and no fix",
        &[
            "DOCTOR_CHECK_SKIPPED",
            "DOCTOR_CONFIG_WARNING",
            "DOCTOR_CONFINEMENT",
            "DOCTOR_INDEX_NONEMPTY",
            "DOCTOR_CHUNKER_SIG_MATCH",
            "DOCTOR_JOB_RUNNING",
            "DOCTOR_MEMORY_DB_MISSING_WARN",
            "DOCTOR_MEMORY_DISABLED_WARN",
            "DOCTOR_OLLAMA_NOT_NEEDED",
            "DOCTOR_OLLAMA_SKIPPED",
            "DOCTOR_PHASE3_RETRIEVAL_SMOKE_SKIPPED",
            "DOCTOR_PHASE3_RETRIEVAL_SMOKE_SKIPPED_NO_OLLAMA",
            "DOCTOR_RUNS_NONE_YET",
            "DOCTOR_SKIPPED_FILES",
        ],
    ),
];

#[test]
fn every_code_has_a_case_or_a_reason_why_it_has_none() {
    let cases: BTreeSet<&str> = super::cases().iter().map(|case| case.code).collect();
    let reasons: Vec<&str> = WITHOUT_CASE
        .iter()
        .flat_map(|(_, codes)| codes.iter().copied())
        .collect();
    let excused: BTreeSet<&str> = reasons.iter().copied().collect();
    assert_eq!(excused.len(), reasons.len(), "a code has two reasons");
    let codes = codes();
    let missing: Vec<&String> = codes
        .iter()
        .filter(|code| !cases.contains(code.as_str()) && !excused.contains(code.as_str()))
        .collect();
    assert!(missing.is_empty(), "neither case nor reason: {missing:?}");
    let needless: Vec<&&str> = excused
        .iter()
        .filter(|code| cases.contains(**code) || !codes.contains(**code))
        .collect();
    assert!(
        needless.is_empty(),
        "a reason that is not needed: {needless:?}"
    );
}

/// The codes of failures, of doctor, and of `runs verify` that are no good news.
fn codes() -> BTreeSet<String> {
    let page = include_str!("../../../docs/codes.md");
    let mut codes = BTreeSet::new();
    let mut heading = "";
    for line in page.lines() {
        // The codes of the Python version are names for other codes.
        if line.starts_with("## ") || line.starts_with("Codes of the Python version") {
            heading = line;
        }
        if [ERROR, DOCTOR, RUNS].contains(&heading)
            && let Some(code) = line
                .strip_prefix("| `")
                .and_then(|rest| rest.split('`').next())
            && !code.ends_with("_OK")
        {
            codes.insert(code.to_owned());
        }
    }
    assert!(codes.len() > 100, "{codes:?}");
    codes
}
