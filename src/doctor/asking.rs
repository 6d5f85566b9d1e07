//! Checks the chat model of `ask`, if the configuration names one that must answer and a server may
//! be contacted.

use super::codes::Code;
use super::configured_model::{for_server, start_of_ollama, start_of_server};
use super::{Checks, Subject, server};
use local_agent_agent::ask;
use local_agent_agent::config::{AskProvider, Config, JudgeProvider, VerifyJudge};
use local_agent_agent::llm::Speed;
use local_agent_text::error::{Failure, Fix};

/// Timeout for a server to list its models, in seconds.
const PATIENCE_S: u64 = 5;

/// Chooses the answerer as `ask` would. What another check already says is not said again.
pub(super) fn check(subject: &Subject<'_>, checks: &mut Checks) {
    let config = subject.config();
    if subject.offline || !must_answer(config) || server::CODES.iter().any(|c| checks.failed(*c)) {
        return;
    }
    match ask::choose(&patient(config), "", Speed::Auto) {
        Ok(chosen) => checks.ok(
            Code::AskProviderOk,
            format!("`ask` can be answered: {}", chosen.why),
        ),
        Err(failure) => {
            let fix = fix(config, &failure);
            checks.fail(Code::AskProviderNotReady, failure.message, fix);
        }
    }
}

/// Whether `ask` fails if the configured chat model cannot be used.
fn must_answer(config: &Config) -> bool {
    let has_judge = config.verify_judge.model.is_some();
    match config.ask.provider {
        AskProvider::OpenAi | AskProvider::Ollama => true,
        AskProvider::Auto => has_judge && config.llm.model.is_some(),
        AskProvider::Extractive => false,
    }
}

/// The configuration with short timeouts.
fn patient(config: &Config) -> Config {
    let mut config = config.clone();
    let llm = &mut config.llm;
    for timeout in [&mut llm.timeout_s, &mut llm.timeout_s_big_second] {
        *timeout = PATIENCE_S.min(*timeout);
    }
    config
}

fn fix(config: &Config, failure: &Failure) -> String {
    let VerifyJudge { provider, model } = &config.verify_judge;
    let is_ollama = match config.ask.provider {
        AskProvider::OpenAi => model.is_some() && matches!(provider, JudgeProvider::Ollama),
        _ => true,
    };
    let start = match is_ollama {
        true => start_of_ollama(config),
        false => start_of_server(config),
    };
    let usual = for_server(failure, &start).to_owned();
    // The usual fix of such a failure is the command `doctor`.
    let other = failure.hint.clone();
    other
        .filter(|_| failure.fix != Fix::RunCommand)
        .unwrap_or(usual)
}
