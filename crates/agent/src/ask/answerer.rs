//! Chooses the component that writes the answer. The choice is made once, before any evidence is
//! read, and never changes afterwards.

use std::time::Duration;

use crate::config::{AskProvider, Config};
use crate::config::{JudgeProvider, VerifyJudge};
use crate::llm::{BudgetKeys, Chat, OllamaChat, OpenAiChat, Route, Sampling, Speed, route};
use local_agent_net::http::is_server_failure;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// How long `auto` waits for an Ollama server: a user without one should not notice the check.
const AUTO: Duration = Duration::from_millis(300);

/// How long a server that was configured by name may take to list its models.
const NAMED: Duration = Duration::from_secs(10);

/// The component that answers.
#[derive(Debug)]
pub enum Answerer {
    /// The extractive answerer, which quotes the best sentences; no text leaves this program.
    Extractive,
    /// A chat model.
    Chat(Box<ChatAnswerer>),
    /// A chat model that was named and cannot be used now: nobody answers in its place, and the
    /// question fails with this, after the search.
    Unusable(Failure),
}

/// A chat model, and the limits for its answer.
#[derive(Debug)]
pub struct ChatAnswerer {
    /// Writes the answer.
    pub chat: Chat,
    /// Chooses the file when a question names one; `None`: `chat` does.
    pub first: Option<Chat>,
    /// The length limit and temperature of each of its replies.
    pub sampling: Sampling,
    /// The configuration keys that limit a reply.
    pub keys: BudgetKeys,
    /// Gives second opinions.
    pub judge: Option<Judge>,
}

/// A model that is asked whether the cited text supports a claim.
#[derive(Debug)]
pub struct Judge {
    pub chat: Chat,
}

/// The answerer and the reason for it.
#[derive(Debug)]
pub struct Chosen {
    /// Who will answer.
    pub answerer: Answerer,
    /// One plain sentence.
    pub why: String,
    /// Why the configured chat model cannot answer, if it is the reason for another answerer.
    pub unavailable: Option<Failure>,
}

impl Chosen {
    /// The answerer that needs no model, and the reason for choosing it.
    pub fn extractive(why: impl Into<String>) -> Self {
        Self {
            answerer: Answerer::Extractive,
            why: why.into(),
            unavailable: None,
        }
    }
}

/// As [`choose`]; a server that fails becomes an answerer whose question still finds passages.
///
/// # Errors
/// As [`choose`], without those of the server.
pub fn choose_or_search(config: &Config, question: &str, speed: Speed) -> Result<Chosen> {
    match choose(config, question, speed) {
        Err(failure) if is_of_server(&failure) => Ok(Chosen {
            why: failure.message.clone(),
            unavailable: None,
            answerer: Answerer::Unusable(failure),
        }),
        chosen => chosen,
    }
}

/// Whether a failure is one of a model's server.
pub(super) fn is_of_server(failure: &Failure) -> bool {
    is_server_failure(failure) || failure.code == ErrorCode::ModelNotFound
}

/// Chooses the answerer according to `ask.provider`. `auto` means Ollama if a chat model is
/// configured and the server lists it quickly, otherwise the extractive answerer; models are never
/// pulled.
///
/// Errors: `CONFIG_ERROR` for an invalid address, if it would be used; for a provider that was set
/// explicitly also `PHASE3_ASK_ERROR` (no model is configured), `MODEL_NOT_FOUND`,
/// `SERVER_UNREACHABLE`, `SERVER_ERROR`; the same, also for `auto`, if a chat model answers and the
/// model of `verify.judge` cannot be asked.
pub fn choose(config: &Config, question: &str, speed: Speed) -> Result<Chosen> {
    let mut chosen = without_judge(config, question, speed)?;
    if let Answerer::Chat(chat) = &mut chosen.answerer {
        let judge = judge(config).map_err(of_judge)?;
        chat.judge = judge.map(|judge| Judge {
            chat: judge.chat.with_window_of(&chat.chat),
        });
    }
    Ok(chosen)
}

/// Adds to a failure that it concerns the second opinion and not the answer.
fn of_judge(failure: Failure) -> Failure {
    Failure {
        message: format!("`verify.judge` gives no opinions: {}", failure.message),
        ..failure
    }
}

/// Like [`choose`], but without second opinions.
fn without_judge(config: &Config, question: &str, speed: Speed) -> Result<Chosen> {
    let route = route(&config.llm, question, speed);
    match (config.ask.provider, route) {
        (AskProvider::Extractive, _) => Ok(Chosen::extractive("`ask.provider` is `extractive`")),
        (AskProvider::Auto, None) => Ok(Chosen::extractive("no chat model is configured")),
        (AskProvider::Auto, Some(route)) => match ollama(config, &route, AUTO) {
            Ok(chat) => {
                let why = format!(
                    "the Ollama server has the configured model `{}`",
                    route.second
                );
                Ok(Chosen {
                    answerer: chat,
                    why,
                    unavailable: None,
                })
            }
            Err(failure) if failure.code == ErrorCode::ConfigError => Err(failure),
            Err(failure) => {
                let why = format!(
                    "`{}` is configured and not available: {}",
                    route.second,
                    failure.message.trim_end_matches('.')
                );
                Ok(Chosen {
                    unavailable: Some(failure),
                    ..Chosen::extractive(why)
                })
            }
        },
        (AskProvider::Ollama, None) => {
            let message = "`ask.provider` is `ollama`, and no chat model is configured.";
            Err(Failure::new(ErrorCode::AskError, message)
                .with_fix(Fix::ChangeSetting, "set llm.model"))
        }
        (AskProvider::Ollama, Some(route)) => Ok(Chosen {
            answerer: ollama(config, &route, NAMED)?,
            why: "`ask.provider` is `ollama`".to_owned(),
            unavailable: None,
        }),
        (AskProvider::OpenAi, route) => Ok(Chosen {
            answerer: openai(config, route)?,
            why: "`ask.provider` is `openai`".to_owned(),
            unavailable: None,
        }),
    }
}

/// The model for `chat`: always `llm.model`, never a fast or a big one. Has the errors of
/// [`choose`].
pub fn choose_for_chat(config: &Config, prompt: &str) -> Result<Chosen> {
    let mut config = config.clone();
    (config.llm.model_fast, config.llm.model_big) = (None, None);
    choose(&config, prompt, Speed::Auto)
}

fn ollama(config: &Config, route: &Route<'_>, look: Duration) -> Result<Answerer> {
    let base = config.llm.server()?.to_string();
    let timeout = Duration::from_secs(route.timeout_s);
    let connect = |model: &str| {
        OllamaChat::connect(&base, model, look, timeout).map(|chat| in_memory(config, chat))
    };
    let chat = connect(route.second)?;
    let first = if route.first == route.second {
        None
    } else {
        Some(connect(route.first)?)
    };
    answerer(config, chat, first, (route.max_tokens, route.keys))
}

/// The model with the configured window and time in memory.
fn in_memory(config: &Config, chat: OllamaChat) -> Chat {
    let llm = &config.llm;
    let chat = chat.with_memory(llm.num_ctx, llm.keep_alive.as_deref());
    Chat::Ollama(Box::new(chat))
}

fn openai(config: &Config, route: Option<Route<'_>>) -> Result<Answerer> {
    let llm = &config.llm;
    let base = llm.server()?.to_string();
    let timeout = Duration::from_secs(route.as_ref().map_or(llm.timeout_s, |r| r.timeout_s));
    let connect = |model: Option<&str>| {
        OpenAiChat::connect(&base, model, llm.api_key.as_ref(), timeout)
            .map(|c| Chat::OpenAi(Box::new(c)))
    };
    let chat = connect(route.as_ref().map(|r| r.second))?;
    let first = match &route {
        Some(route) if route.first != route.second => Some(connect(Some(route.first))?),
        _ => None,
    };
    let budget = route.map_or((llm.max_tokens, BudgetKeys::USUAL), |r| {
        (r.max_tokens, r.keys)
    });
    answerer(config, chat, first, budget)
}

fn answerer(
    config: &Config,
    chat: Chat,
    first: Option<Chat>,
    (max_tokens, keys): (u32, BudgetKeys),
) -> Result<Answerer> {
    let sampling = Sampling {
        max_tokens,
        temperature: config.llm.temperature,
    };
    Ok(Answerer::Chat(Box::new(ChatAnswerer {
        chat: chat.with_keys(keys),
        first: first.map(|chat| chat.with_keys(keys)),
        sampling,
        keys,
        judge: None,
    })))
}

/// The model that `verify.judge` names; `None` if it names none. A server that does not have the
/// model is an error: a requested second opinion is never skipped silently.
fn judge(config: &Config) -> Result<Option<Judge>> {
    let VerifyJudge { provider, model } = &config.verify_judge;
    let Some(model) = model else {
        return Ok(None);
    };
    let base = config.llm.server()?.to_string();
    let timeout = Duration::from_secs(config.llm.timeout_s);
    let chat = match provider {
        JudgeProvider::Ollama => {
            in_memory(config, OllamaChat::connect(&base, model, NAMED, timeout)?)
        }
        JudgeProvider::OpenAi => {
            let key = config.llm.api_key.as_ref();
            Chat::OpenAi(Box::new(OpenAiChat::connect(
                &base,
                Some(model),
                key,
                timeout,
            )?))
        }
    };
    Ok(Some(Judge {
        chat: chat.with_keys(BudgetKeys::USUAL),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::server::{Server, Step, ok_json, serve};

    fn config(provider: AskProvider, model: Option<&str>, base: &str) -> Config {
        let mut config = Config::defaults(std::path::Path::new("/nowhere")).unwrap();
        config.ask.provider = provider;
        config.llm.model = model.map(str::to_owned);
        config.llm.base_url = base.to_owned();
        config
    }

    fn ollama_with(model: &'static str) -> Server {
        serve(move |seen| match seen.path.as_str() {
            "/api/tags" => {
                let body = format!(r#"{{"models":[{{"name":"{model}:latest","digest":"d"}}]}}"#);
                vec![Step::Bytes(ok_json(&body))]
            }
            _ => vec![Step::Bytes(ok_json("{}"))],
        })
    }

    fn provider(chosen: &Chosen) -> &'static str {
        match &chosen.answerer {
            Answerer::Extractive => "extractive",
            Answerer::Chat(chat) => chat.chat.model().provider,
            Answerer::Unusable(_) => "unusable",
        }
    }

    #[test]
    fn auto_is_ollama_only_when_the_model_is_there() {
        use AskProvider::Auto;
        let server = ollama_with("m");
        let choose =
            |model, base: &str| choose(&config(Auto, model, base), "q", Speed::Auto).unwrap();
        assert_eq!(provider(&choose(Some("m"), &server.url(""))), "ollama");
        let absent = choose(Some("other"), &server.url(""));
        assert_eq!(provider(&absent), "extractive");
        assert!(
            absent.why.contains("has no model `other`"),
            "{}",
            absent.why
        );
        let free = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let nobody = choose(Some("m"), &format!("http://{free}"));
        assert!(
            provider(&nobody) == "extractive" && nobody.why.contains("cannot be reached"),
            "{}",
            nobody.why
        );
        let before = server.hits();
        assert_eq!(
            choose(None, &server.url("")).why,
            "no chat model is configured"
        );
        assert_eq!(server.hits(), before, "no model, no question");
    }

    #[test]
    fn a_judge_that_cannot_be_asked_is_named_and_not_dropped() {
        let server = ollama_with("m");
        let mut config = config(AskProvider::Auto, Some("m"), &server.url(""));
        config.verify_judge.model = Some("checker".to_owned());
        let failure = choose(&config, "q", Speed::Auto).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ModelNotFound);
        assert!(
            failure
                .message
                .starts_with("`verify.judge` gives no opinions")
                && failure.message.contains("checker"),
            "{failure}"
        );
        // An opinion needs a chat model whose answer it judges.
        config.llm.model = Some("other".to_owned());
        let chosen = choose(&config, "q", Speed::Auto).unwrap();
        assert_eq!(provider(&chosen), "extractive");
    }

    #[test]
    fn a_provider_that_was_named_is_never_replaced() {
        use AskProvider::{Ollama, OpenAi};
        let server = ollama_with("m");
        let code = |p, model, base: &str| {
            choose(&config(p, model, base), "q", Speed::Auto)
                .unwrap_err()
                .code
        };
        assert_eq!(
            code(Ollama, Some("other"), &server.url("")),
            ErrorCode::ModelNotFound
        );
        assert_eq!(code(Ollama, None, &server.url("")), ErrorCode::AskError);
        let free = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        assert_eq!(
            code(Ollama, Some("m"), &format!("http://{free}")),
            ErrorCode::ServerUnreachable
        );
        assert_eq!(
            code(OpenAi, Some("m"), &format!("http://{free}")),
            ErrorCode::ServerUnreachable
        );
        assert_eq!(
            code(AskProvider::Auto, Some("m"), "http://h/../path"),
            ErrorCode::ConfigError
        );
    }
}
