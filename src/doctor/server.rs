//! Checks the Ollama server, if the configuration needs one and a server may be contacted.

use std::time::Duration;

use super::codes::Code;
use super::configured_model::{for_server, start_of_ollama};
use super::{Checks, Subject, sample};
use local_agent_agent::config::{AskProvider, Config, EmbedProvider};
use local_agent_net::ollama::{is_model, ollama_tags};

/// W49: a healthy server lists its models at once; the timeout for answers does not matter here.
const PATIENCE: Duration = Duration::from_secs(2);

/// The codes with which [`check`] fails.
pub(super) const CODES: &[Code] = &[
    Code::OllamaUrlInvalid,
    Code::OllamaUnreachable,
    Code::OllamaModelMissing,
];

/// Whether the server has what the configuration needs.
pub(super) fn check(subject: &Subject<'_>, checks: &mut Checks) -> bool {
    let config = subject.config();
    let wanted = wanted(config);
    if wanted.is_empty() {
        checks.ok(
            Code::OllamaNotNeeded,
            "nothing in the configuration needs an Ollama server",
        );
        return true;
    }
    if subject.offline {
        checks.ok(
            Code::OllamaSkipped,
            format!("no server was contacted; {} is configured", sample(&wanted)),
        );
        return false;
    }
    let url = match config.llm.server() {
        Ok(url) => url.to_string(),
        Err(failure) => {
            let fix = failure
                .hint
                .unwrap_or_else(|| "local-agent config show".to_owned());
            checks.fail(Code::OllamaUrlInvalid, failure.message, fix);
            return false;
        }
    };
    let installed = match ollama_tags(&url, PATIENCE) {
        Ok(installed) => installed,
        Err(failure) => {
            let start = start_of_ollama(config);
            let fix = for_server(&failure, &start);
            checks.fail(Code::OllamaUnreachable, failure.message, fix);
            return false;
        }
    };
    let absent: Vec<String> = wanted
        .into_iter()
        .filter(|model| !installed.iter().any(|name| is_model(name, model)))
        .collect();
    if absent.is_empty() {
        checks.ok(
            Code::OllamaOk,
            format!("{url} answers and has the configured models"),
        );
    } else {
        let pulls: Vec<String> = absent
            .iter()
            .map(|model| format!("ollama pull {model}"))
            .collect();
        checks.fail(
            Code::OllamaModelMissing,
            format!("{url} does not have {}", sample(&absent)),
            pulls.join(" && "),
        );
    }
    !checks.failed(Code::OllamaModelMissing)
}

/// The models that commands would request from Ollama.
fn wanted(config: &Config) -> Vec<String> {
    let mut models = Vec::new();
    if config.embed.provider == EmbedProvider::Ollama {
        models.push(config.embed.model.clone());
    }
    if matches!(config.ask.provider, AskProvider::Auto | AskProvider::Ollama) {
        let llm = &config.llm;
        models.extend(
            [&llm.model, &llm.model_fast, &llm.model_big]
                .into_iter()
                .flatten()
                .cloned(),
        );
    }
    models.sort();
    models.dedup();
    models
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_models_that_a_command_would_ask_for_need_a_server() {
        let mut config = Config::defaults(std::path::Path::new("/nowhere")).unwrap();
        assert!(wanted(&config).is_empty());
        config.llm.model = Some("big".to_owned());
        config.llm.model_fast = Some("big".to_owned());
        assert_eq!(wanted(&config), ["big"]);
        config.ask.provider = AskProvider::Extractive;
        assert!(wanted(&config).is_empty());
        config.embed.provider = EmbedProvider::Ollama;
        config.embed.model = "all-minilm".to_owned();
        assert_eq!(wanted(&config), ["all-minilm"]);
    }
}
