//! Adds the command that fixes a failure, if the code that failed cannot know it because it depends
//! on the configuration.

use std::path::Path;
use std::sync::OnceLock;

use super::args::Global;
use local_agent_agent::config::ApiKeyUse;
use local_agent_files::state::quoted;
use local_agent_index::store::WAIT_FOR_JOB;
use local_agent_text::error::{ErrorCode, Failure, Fix};

/// The facts that determine the fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Situation {
    /// The command that adds a first source; `None` if there is one, or if the configuration has not
    /// been read.
    pub first_step: Option<&'static str>,
    /// Whether the key for model servers is sent; `None` if the configuration has not been read.
    pub api_key_use: Option<ApiKeyUse>,
    /// Whether the command has the option `--wait`.
    pub takes_wait: bool,
}

/// The options of this command line that say which folder and configuration are meant. They are set
/// once, at the start of the process.
static OPTIONS: OnceLock<Options> = OnceLock::new();

/// Options as they are written in a command, each with a blank before it.
#[derive(Debug, Default)]
struct Options {
    /// `-C` and `--workroot`.
    folder: String,
    /// `--config`. `init` writes a configuration and reads none.
    config: String,
}

/// Keeps the options that a printed command needs to act on the same folder and configuration.
pub(super) fn keep_options(global: &Global) {
    let folder = option("-C", global.directory.as_deref())
        + &option("--workroot", global.workroot.as_deref());
    let config = option("--config", global.config.as_deref());
    let _ = OPTIONS.set(Options { folder, config });
}

fn option(name: &str, path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| format!(" {name} {}", quoted(path)))
}

/// Advice whose commands act on the folder and the configuration of this command line.
pub(super) fn here(advice: &str) -> String {
    match OPTIONS.get() {
        Some(options) => with_options(advice, options),
        None => advice.to_owned(),
    }
}

/// What is before a command inside an advice; a file may have the name of this program in its own.
const BEFORE_COMMANDS: &[&str] = &["&& ", "`", "(", "; ", ": ", "run ", "or "];

/// Adds `options` to each command of this program. A command that begins with an option of its own
/// is complete.
fn with_options(advice: &str, options: &Options) -> String {
    const PROGRAM: &str = "local-agent ";
    let mut out = String::with_capacity(advice.len());
    let mut rest = advice;
    while let Some(at) = rest.find(PROGRAM) {
        let (before, command) = rest.split_at(at);
        let after = command.get(PROGRAM.len()..).unwrap_or("");
        let is_command = after.starts_with(|c: char| c.is_ascii_lowercase())
            && (out.is_empty() && before.is_empty()
                || BEFORE_COMMANDS.iter().any(|words| before.ends_with(words)));
        out.push_str(before);
        out.push_str(PROGRAM.trim_end());
        if is_command {
            out.push_str(&options.folder);
        }
        if is_command && !after.starts_with("init") {
            out.push_str(&options.config);
        }
        out.push(' ');
        rest = after;
    }
    out + rest
}

/// The failure with the command that fixes it in this situation.
pub(super) fn completed(mut failure: Failure, situation: Situation) -> Failure {
    match failure.code {
        // `index` would fail too.
        ErrorCode::IndexMissing | ErrorCode::IndexError if situation.first_step.is_some() => {
            failure.hint = situation.first_step.map(str::to_owned);
        }
        ErrorCode::Locked if situation.takes_wait && failure.fix == Fix::WaitForJob => {
            failure.hint = Some(format!("{WAIT_FOR_JOB}, or pass --wait SECS"));
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
    failure.hint = failure.hint.map(|hint| here(&hint));
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

    fn hint(code: ErrorCode, first_step: Option<&'static str>) -> Option<String> {
        let failure = Failure::new(code, "x");
        let situation = Situation {
            first_step,
            api_key_use: None,
            takes_wait: false,
        };
        completed(failure, situation).hint
    }

    #[test]
    fn without_a_source_the_way_out_begins_with_one() {
        let init = "local-agent init --here";
        let said = hint(ErrorCode::IndexMissing, Some(init));
        assert_eq!(said.as_deref(), Some(init));
        assert_eq!(hint(ErrorCode::IndexMissing, None), None);
    }

    #[test]
    fn a_command_acts_on_the_folder_and_the_configuration_of_the_command_line() {
        for (advice, expected) in [
            ("local-agent index", "local-agent -C ../a index"),
            (
                "run `local-agent index && local-agent embed`",
                "run `local-agent -C ../a index && local-agent -C ../a embed`",
            ),
            (
                "local-agent -C / source list",
                "local-agent -C / source list",
            ),
            (
                "local-agent get 'my local-agent note'",
                "local-agent -C ../a get 'my local-agent note'",
            ),
            (
                "the log of ~/local-agent now",
                "the log of ~/local-agent now",
            ),
            ("ollama serve", "ollama serve"),
        ] {
            let options = Options {
                folder: " -C ../a".to_owned(),
                ..Options::default()
            };
            assert_eq!(with_options(advice, &options), expected);
            assert_eq!(with_options(advice, &Options::default()), advice);
        }
        let options = Options {
            config: " --config b.yaml".to_owned(),
            ..Options::default()
        };
        assert_eq!(
            with_options("local-agent init && local-agent index", &options),
            "local-agent init && local-agent --config b.yaml index"
        );
    }

    #[test]
    fn a_hint_that_is_there_stays() {
        let failure = Failure::new(ErrorCode::ServerError, "x").with_hint("do this");
        let situation = Situation {
            first_step: None,
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
    fn only_commands_that_can_wait_for_a_job_are_told_to() {
        let hint = |takes_wait, fix: Fix, hint: &str| {
            let failure = Failure::new(ErrorCode::Locked, "x").with_fix(fix, hint);
            let situation = Situation {
                first_step: None,
                api_key_use: None,
                takes_wait,
            };
            completed(failure, situation).hint.unwrap()
        };
        assert_eq!(hint(false, Fix::WaitForJob, WAIT_FOR_JOB), WAIT_FOR_JOB);
        assert_eq!(
            hint(true, Fix::WaitForJob, WAIT_FOR_JOB),
            "wait for it to end, or pass --wait SECS"
        );
        // `--wait` does not wait for a reader of a database.
        let of_reader = "wait for it to end, and run it again";
        assert_eq!(hint(true, Fix::Words, of_reader), of_reader);
    }
}
