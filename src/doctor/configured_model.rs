//! The model that embeds queries, for comparison with the stored vectors.

use std::time::Duration;

use super::Subject;
use local_agent_agent::config::{Config, EmbedProvider};
use local_agent_embed::embedding::{self, Encoder, QueryVector, ServerEmbedder};
use local_agent_embed::models::ModelFiles;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Fingerprint;

/// Timeout for a server to embed one word; it may have to load the model first.
const PATIENCE: Duration = Duration::from_secs(30);

/// The configured embedding model.
pub(super) enum ConfiguredModel<'a> {
    /// In this process; weights are loaded on first use.
    Local(&'a ModelFiles),
    /// A server that has answered.
    Server(Box<ServerEmbedder>),
}

/// Why vectors cannot be compared with the configuration.
pub(super) struct Unready {
    /// A clause for a message.
    pub why: String,
    /// The command that fixes it; `None` if the user asked not to try.
    pub fix: Option<String>,
}

impl ConfiguredModel<'_> {
    /// The fingerprint of its vectors.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Local(files) => embedding::fingerprint(files),
            Self::Server(server) => server.fingerprint(),
        }
    }

    /// The number of dimensions, if known without embedding.
    pub(super) fn dim(&self) -> Option<usize> {
        match self {
            Self::Local(files) => Some(files.dimensions()),
            Self::Server(server) => Some(server.dim()),
        }
    }

    /// The vector of a query.
    pub(super) fn embed(&self, text: &str) -> Result<QueryVector> {
        match self {
            Self::Local(files) => Encoder::for_questions(files)?.embed_query(text),
            Self::Server(server) => Ok(QueryVector::new(server.embed_query(text)?, text)),
        }
    }
}

fn server<'a>(config: &Config) -> Result<ConfiguredModel<'a>> {
    let spec = config.embedding_server(PATIENCE)?;
    Ok(ConfiguredModel::Server(Box::new(ServerEmbedder::connect(
        spec,
    )?)))
}

/// The configured embedding model. `reachable` says whether the server check succeeded, and
/// `server_fix` what mends it if not.
pub(super) fn configured<'a>(
    subject: &Subject<'a>,
    reachable: bool,
    server_fix: Option<String>,
) -> std::result::Result<ConfiguredModel<'a>, Unready> {
    let config = subject.config();
    match config.embed.provider {
        EmbedProvider::Candle => subject
            .model
            .as_ref()
            .map(ConfiguredModel::Local)
            .map_err(|f| unready(f, "local-agent models list")),
        _ if subject.offline => Err(Unready {
            why: "vectors come from a server and none may be contacted".to_owned(),
            fix: None,
        }),
        EmbedProvider::Ollama if !reachable => Err(Unready {
            why: "the server that makes vectors is not ready".to_owned(),
            fix: Some(server_fix.unwrap_or_else(|| start_of_ollama(config))),
        }),
        EmbedProvider::Ollama => {
            server(config).map_err(|f| unready(&f, for_server(&f, &start_of_ollama(config))))
        }
        EmbedProvider::OpenAi => {
            server(config).map_err(|f| unready(&f, for_server(&f, &start_of_server(config))))
        }
    }
}

/// How the Ollama of the configuration is started: here, or on its own machine.
pub(super) fn start_of_ollama(config: &Config) -> String {
    match config.llm.server() {
        Ok(url) if !url.is_loopback() => {
            let host = url.host();
            format!("run `ollama serve` on {host}, or correct llm.base_url")
        }
        _ => "ollama serve".to_owned(),
    }
}

/// How another server of the configuration is started.
pub(super) fn start_of_server(config: &Config) -> String {
    match config.llm.server() {
        Ok(url) if !url.is_loopback() => {
            let host = url.host();
            format!("start the server on {host}, or correct llm.base_url")
        }
        _ => "start the server at llm.base_url, or correct llm.base_url".to_owned(),
    }
}

/// The fix for a server: `start` if nothing answers; a server that answers with an error runs.
pub(super) fn for_server<'f>(failure: &Failure, start: &'f str) -> &'f str {
    match failure.code {
        ErrorCode::ServerUnreachable => start,
        _ => "look at the log of that server, then try again",
    }
}

/// The failure for a model that cannot be used, with the fix.
fn unready(failure: &Failure, fix: &str) -> Unready {
    Unready {
        why: failure.message.clone(),
        fix: Some(failure.hint.clone().unwrap_or_else(|| fix.to_owned())),
    }
}
