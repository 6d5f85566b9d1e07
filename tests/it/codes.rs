//! Every stable error code is raised by some test.

use std::fs;
use std::path::Path;

use local_agent_text::error::ErrorCode;

/// Code, file, test. The one code without a test is the one that only a mistake of ours can raise.
const RAISED_BY: &[(ErrorCode, &str, &str)] = &[
    (ErrorCode::ConfigError, "tests/it/config.rs", "w51_unknown_keys_and_wrong_values_are_named_with_file_and_line"),
    (
        ErrorCode::ConfigUntrusted,
        "tests/it/config.rs",
        "c31_a_found_configuration_opens_nothing_outside_before_it_is_trusted",
    ),
    (ErrorCode::InvalidArgs, "tests/it/filters.rs", "a_source_or_a_day_that_is_none_is_a_failure"),
    (
        ErrorCode::InvalidQuery,
        "tests/it/reference.rs",
        "w47_every_command_line_of_the_ancestor_does_its_job_and_keeps_its_fields",
    ),
    (ErrorCode::PathDenied, "tests/it/get.rs", "every_refusal_has_its_code"),
    (ErrorCode::FileNotFound, "tests/it/get.rs", "every_refusal_has_its_code"),
    (ErrorCode::PathIsDirectory, "tests/it/get.rs", "every_refusal_has_its_code"),
    (ErrorCode::AmbiguousPath, "tests/it/get.rs", "every_refusal_has_its_code"),
    (ErrorCode::FileReadError, "tests/it/get.rs", "every_refusal_has_its_code"),
    (ErrorCode::FileTooLarge, "tests/it/get.rs", "every_refusal_has_its_code"),
    (ErrorCode::IndexMissing, "tests/it/query.rs", "w47_without_an_index_there_is_a_failure_and_nothing_is_made"),
    (
        ErrorCode::SourceEmpty,
        "tests/it/emptied.rs",
        "a_source_that_shows_nothing_any_more_is_kept_and_the_others_go_on",
    ),
    (ErrorCode::IndexError, "tests/it/index.rs", "nothing_to_index_is_an_error_with_a_remedy"),
    (ErrorCode::QueryError, "tests/it/query.rs", "meaning_alone_needs_vectors"),
    (
        ErrorCode::EmbedError,
        "crates/index/src/vectors/quant.rs",
        "s39_only_finite_unit_vectors_of_the_right_width_are_rows",
    ),
    (ErrorCode::AskError, "tests/it/ask_model.rs", "an_address_that_is_none_is_refused_before_anything_is_read"),
    (ErrorCode::AskCitationInvalid, "crates/agent/src/ask/gate.rs", "strict_mode_refuses_instead"),
    (ErrorCode::SnapshotTampered, "tests/it/ask.rs", "the_snapshot_that_is_written_can_be_read_and_not_be_changed"),
    (ErrorCode::RunNotFound, "tests/it/runs.rs", "every_refusal_has_its_code_and_a_way_out"),
    (ErrorCode::RunTampered, "tests/it/runs.rs", "every_refusal_has_its_code_and_a_way_out"),
    (ErrorCode::RunNewer, "tests/it/runs.rs", "every_refusal_has_its_code_and_a_way_out"),
    (ErrorCode::RunIncomplete, "tests/it/runs.rs", "every_refusal_has_its_code_and_a_way_out"),
    (ErrorCode::LedgerBroken, "tests/it/runs.rs", "s31_a_cut_tail_is_seen_and_nothing_is_asked_on_top_of_it"),
    (ErrorCode::ReplayEvidenceGone, "tests/it/runs.rs", "a_replay_gives_the_same_report_or_says_why_it_cannot"),
    (ErrorCode::ReplayRedacted, "tests/it/runs.rs", "s30_w46_secrets_and_whole_texts_are_not_recorded"),
    (ErrorCode::ReplayMismatch, "tests/it/runs.rs", "a_record_that_was_changed_is_seen_twice"),
    (ErrorCode::MemoryDisabled, "tests/it/memory.rs", "memory_that_is_switched_off_is_neither_read_nor_written"),
    (ErrorCode::MemoryError, "tests/it/memory.rs", "w52_keys_are_checked_and_links_know_what_became_of_their_text"),
    (
        ErrorCode::DurableMissing,
        "tests/it/memory.rs",
        "a_lost_database_is_said_by_everybody_and_begun_again_only_when_told",
    ),
    (ErrorCode::DbForeign, "tests/it/ancestor.rs", "databases_of_the_ancestor_are_recognised_and_stay_as_they_are"),
    (ErrorCode::DbNewer, "tests/it/index.rs", "databases_of_others_and_of_newer_versions_are_not_touched"),
    (ErrorCode::DbCorrupt, "tests/it/index.rs", "a_damaged_index_is_said_to_be_damaged_and_can_be_made_again"),
    (ErrorCode::DbError, "tests/it/readers.rs", "an_index_of_an_older_version_is_named_and_made_again"),
    (ErrorCode::Locked, "tests/it/index.rs", "s36_a_second_job_is_told_who_holds_the_lock_and_can_wait"),
    (ErrorCode::NotFresh, "tests/it/watch.rs", "waiting_for_what_nobody_does_ends_with_what_is_behind"),
    (ErrorCode::ModelNotFound, "tests/it/embed.rs", "models_that_are_missing_or_broken_are_named"),
    (ErrorCode::ModelInvalid, "tests/it/embed.rs", "models_that_are_missing_or_broken_are_named"),
    (
        ErrorCode::ModelChecksum,
        "crates/embed/src/models/tests.rs",
        "verify_records_hashes_once_and_sees_damage_afterwards",
    ),
    (ErrorCode::ModelPull, "crates/embed/src/models/pull_tests.rs", "an_interrupted_pull_goes_on_in_the_next_process"),
    (ErrorCode::ServerUnreachable, "crates/net/src/http.rs", "s41_a_slow_drip_ends_at_the_total_limit"),
    (ErrorCode::ServerError, "crates/net/src/http.rs", "s41_a_redirect_to_another_origin_is_not_followed"),
    (
        ErrorCode::ContextTruncated,
        "crates/agent/src/llm/protocol_tests.rs",
        "every_servers_word_for_a_prompt_that_is_too_long_is_known",
    ),
    (ErrorCode::EvidenceNotAcquired, "tests/it/ask_file.rs", "what_pass_one_can_get_wrong_has_a_code_each"),
    (ErrorCode::EvidenceInvalid, "tests/it/ask_file.rs", "what_pass_one_can_get_wrong_has_a_code_each"),
    (ErrorCode::EvidenceTruncated, "tests/it/ask_file.rs", "an_empty_file_and_one_that_is_too_long_are_said"),
    (ErrorCode::FileEmpty, "tests/it/ask_file.rs", "an_empty_file_and_one_that_is_too_long_are_said"),
    (ErrorCode::ToolError, "tests/it/ask_file.rs", "what_pass_one_can_get_wrong_has_a_code_each"),
    (ErrorCode::ToolDenied, "tests/it/tools.rs", "the_configuration_can_deny_a_tool"),
    (ErrorCode::ToolLimit, "tests/it/chat.rs", "calls_without_end_are_a_typed_stop"),
    (ErrorCode::SymbolNotFound, "tests/it/tools.rs", "failures_are_typed_and_say_what_to_do"),
    (
        ErrorCode::WriteConflict,
        "crates/agent/src/tools/propose_write.rs",
        "what_changed_while_the_person_read_is_not_overwritten",
    ),
    (ErrorCode::WriteDenied, "tests/it/tools.rs", "only_the_controlling_terminal_can_say_yes"),
    (ErrorCode::UnexpectedToolCall, "tests/it/ask_file.rs", "what_pass_two_can_get_wrong_has_a_code_each"),
    (ErrorCode::FormatViolation, "tests/it/ask_file.rs", "what_pass_two_can_get_wrong_has_a_code_each"),
    (ErrorCode::EvalError, "tests/it/eval.rs", "nothing_to_measure_is_a_failure_and_not_a_zero"),
    (ErrorCode::Cancelled, "tests/it/mcp.rs", "a_call_that_is_taken_back_ends_and_its_record_says_so"),
    (ErrorCode::WriteError, "tests/it/index.rs", "a_state_folder_that_cannot_be_written_is_a_write_error"),
];

/// Only a mistake in the program raises it; a test of it would be a test of the mistake.
const OUR_OWN_MISTAKES: &[ErrorCode] = &[ErrorCode::InternalError];

#[test]
fn every_code_is_raised_by_a_test() {
    for code in ErrorCode::ALL {
        let entries = RAISED_BY.iter().filter(|(one, ..)| one == code).count();
        let expected = usize::from(!OUR_OWN_MISTAKES.contains(code));
        assert_eq!(entries, expected, "{code}: one test that raises it, in the table above");
    }
    for (code, file, test) in RAISED_BY {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let start = text.find(&format!("fn {test}(")).unwrap_or_else(|| panic!("{file} has no test `{test}`"));
        assert!(text[..start].trim_end().ends_with("#[test]"), "{file}: `{test}` is no test");
        let (name, variant) = (format!("\"{code}\""), format!("ErrorCode::{code:?}"));
        assert!(text.contains(&name) || text.contains(&variant), "{file} does not name {code}");
    }
}
