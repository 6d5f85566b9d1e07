//! Adds the command that fixes a failure, if the code that failed cannot know it because it depends
//! on the configuration.

use local_agent_agent::config::ApiKeyUse;
use local_agent_text::error::{ErrorCode, Failure};

/// The facts that determine the fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Situation {
    /// Whether any source is configured; `None` if the configuration has not been read.
    pub has_sources: Option<bool>,
    /// Whether the key for model servers is sent; `None` if the configuration has not been read.
    pub api_key_use: Option<ApiKeyUse>,
    /// Whether the command has the option `--wait`.
    pub takes_wait: bool,
}

/// The command that makes the index, or first of all a source to be indexed.
pub(super) const fn to_begin(has_sources: bool) -> &'static str {
    match has_sources {
        true => "local-agent index",
        false => "local-agent init --here",
    }
}

/// The failure with the command that fixes it in this situation.
pub(super) fn completed(mut failure: Failure, situation: Situation) -> Failure {
    let nothing_configured = situation.has_sources == Some(false);
    match failure.code {
        // `index` would fail too.
        ErrorCode::IndexMissing | ErrorCode::IndexError if nothing_configured => {
            failure.hint = Some(to_begin(false).to_owned());
        }
        ErrorCode::Locked if situation.takes_wait => {
            failure.hint = failure
                .hint
                .map(|hint| format!("{hint}, or pass --wait SECS"));
        }
        ErrorCode::ServerUnreachable => {
            failure
                .hint
                .get_or_insert_with(|| "local-agent doctor".to_owned());
        }
        // `doctor` only asks a server for its list of models, which this one may still give.
        ErrorCode::ServerError => {
            failure
                .hint
                .get_or_insert_with(|| "look at the log of that server, then try again".to_owned());
        }
        ErrorCode::ServerUnauthorized => {
            failure
                .hint
                .get_or_insert_with(|| key_hint(situation.api_key_use).to_owned());
        }
        _ => {}
    }
    failure
}

/// The advice for a server that requires a key.
const fn key_hint(used: Option<ApiKeyUse>) -> &'static str {
    match used {
        Some(ApiKeyUse::FileNotTrusted) => "local-agent config trust",
        Some(ApiKeyUse::AddressNotChosen) => {
            "write the address of the server into `llm.base_url` of your configuration"
        }
        Some(ApiKeyUse::Sent) => "set LOCAL_AGENT_API_KEY to a key that the server takes",
        Some(ApiKeyUse::NotSet) | None => "set LOCAL_AGENT_API_KEY",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(code: ErrorCode, has_sources: Option<bool>) -> Option<String> {
        let failure = Failure::new(code, "x");
        let situation = Situation {
            has_sources,
            api_key_use: None,
            takes_wait: false,
        };
        completed(failure, situation).hint
    }

    #[test]
    fn without_a_source_the_way_out_begins_with_one() {
        let init = Some("local-agent init --here".to_owned());
        assert_eq!(hint(ErrorCode::IndexMissing, Some(false)), init);
        assert_eq!(hint(ErrorCode::IndexMissing, Some(true)), None);
        assert_eq!(hint(ErrorCode::IndexMissing, None), None);
    }

    #[test]
    fn a_hint_that_is_there_stays() {
        let failure = Failure::new(ErrorCode::ServerError, "x").with_hint("do this");
        let situation = Situation {
            has_sources: None,
            api_key_use: None,
            takes_wait: false,
        };
        assert_eq!(completed(failure, situation).hint.unwrap(), "do this");
        assert!(hint(ErrorCode::ServerUnreachable, None).is_some());
    }

    #[test]
    fn a_server_that_fails_is_not_answered_with_doctor_which_finds_nothing() {
        let hint = hint(ErrorCode::ServerError, None).unwrap();
        assert!(hint.contains("log of that server"), "{hint}");
    }

    #[test]
    fn only_commands_that_can_wait_are_told_to() {
        let hint = |takes_wait| {
            let failure = Failure::new(ErrorCode::Locked, "x").with_hint("wait for it to end");
            let situation = Situation {
                has_sources: None,
                api_key_use: None,
                takes_wait,
            };
            completed(failure, situation).hint.unwrap()
        };
        assert_eq!(hint(false), "wait for it to end");
        assert_eq!(hint(true), "wait for it to end, or pass --wait SECS");
    }
}
