//! The command that fixes a failure, if the code that failed cannot know it because it depends on
//! the configuration.

use local_agent_text::error::{ErrorCode, Failure};

/// What the fix depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Situation {
    /// Whether any source is configured; `None`: the configuration has not been read.
    pub has_sources: Option<bool>,
}

/// The failure with the command that fixes it in this situation.
pub(super) fn completed(mut failure: Failure, situation: Situation) -> Failure {
    let nothing_configured = situation.has_sources == Some(false);
    match failure.code {
        // `index` would fail too.
        ErrorCode::IndexMissing | ErrorCode::IndexError if nothing_configured => {
            failure.hint = Some("local-agent init --here".to_owned());
        }
        ErrorCode::ServerUnreachable | ErrorCode::ServerError => {
            failure
                .hint
                .get_or_insert_with(|| "local-agent doctor".to_owned());
        }
        _ => {}
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(code: ErrorCode, has_sources: Option<bool>) -> Option<String> {
        let failure = Failure::new(code, "x");
        completed(failure, Situation { has_sources }).hint
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
        let situation = Situation { has_sources: None };
        assert_eq!(completed(failure, situation).hint.unwrap(), "do this");
        assert!(hint(ErrorCode::ServerUnreachable, None).is_some());
    }
}
