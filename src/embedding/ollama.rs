//! Vectors from an Ollama server, for people who run one.
//!
//! The reply is checked as anything from a network is: as many vectors as texts, all of one length, all numbers
//! finite. The fingerprint holds the model's name and digest, not the address, so that the same model on another
//! machine makes vectors that can be compared.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Embedded, TEMPLATE_VERSION};
use crate::error::{ErrorCode, Failure, Result};
use crate::net::http::{Client, Limits, server_error};
use crate::net::ollama::{is_model, tags};
use crate::types::Fingerprint;

/// Room for the vectors of one request: 4,096 texts of 1,024 numbers as text.
const MAX_REPLY: usize = 64 << 20;

/// An embedding model on an Ollama server.
pub struct OllamaEmbedder {
    client: Client,
    base: String,
    model: String,
    fingerprint: Fingerprint,
    /// Length of the vectors, once the first have come.
    dim: OnceLock<usize>,
}

impl OllamaEmbedder {
    /// Looks the model up on the server at `base`; embeds nothing yet and never pulls. `timeout` bounds each request.
    ///
    /// Errors: `SERVER_UNREACHABLE`, `SERVER_ERROR`, `MODEL_NOT_FOUND` when the server does not list the model.
    pub fn connect(base: &str, model: &str, timeout: Duration) -> Result<Self> {
        let base = base.trim_end_matches('/').to_owned();
        let found = tags(&base, timeout.min(Duration::from_secs(10)))?.into_iter().find(|t| is_model(&t.name, model));
        let tag = found.ok_or_else(|| {
            Failure::new(ErrorCode::ModelNotFound, format!("The Ollama server has no model `{model}`."))
                .with_hint(format!("ollama pull {model}"))
        })?;
        let digest = tag.digest.ok_or_else(|| server_error(&base, "does not say the digest of its model"))?;
        let fields: [&[u8]; 4] = [b"ollama", tag.name.as_bytes(), digest.as_bytes(), &TEMPLATE_VERSION.to_le_bytes()];
        let fingerprint = Fingerprint::of_fields(&fields);
        let limits = Limits { connect: Duration::from_secs(5), idle: timeout, total: timeout, max_body: MAX_REPLY };
        Ok(Self { client: Client::new(limits)?, base, model: tag.name, fingerprint, dim: OnceLock::new() })
    }

    /// What decides the vectors: the model's name and digest.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Numbers of one vector, once one has come.
    pub fn dim(&self) -> Option<usize> {
        self.dim.get().copied()
    }

    /// The unit vector of a question.
    ///
    /// Errors: as [`Self::embed_passages`].
    pub fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.embed(&[text])?.into_iter().next().unwrap_or_default())
    }

    /// The unit vectors of `texts`, in one request; an input longer than the model's window is an error, not a cut.
    /// The server counts no tokens for each text, so `tokens` is 0.
    ///
    /// Errors: `SERVER_UNREACHABLE`; `SERVER_ERROR` for a status, count, length or number that is not right.
    pub fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Embedded>> {
        Ok(self.embed(texts)?.into_iter().map(|vector| Embedded { vector, tokens: 0, windows: 1 }).collect())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let url = format!("{}/api/embed", self.base);
        let request = json!({"model": self.model, "input": texts, "truncate": false});
        let reply = self.client.post(&url, &request, None)?;
        if reply.status == 404 {
            return texts.iter().map(|text| self.embed_one(text)).collect();
        }
        let reply = reply.json(&url)?;
        let vectors = reply["embeddings"].as_array().ok_or_else(|| server_error(&url, "sent no vectors"))?;
        if vectors.len() != texts.len() {
            let what = format!("sent {} vectors for {} texts", vectors.len(), texts.len());
            return Err(server_error(&url, &what));
        }
        vectors.iter().map(|vector| self.checked(&url, vector)).collect()
    }

    /// The older interface, for servers that do not know the newer one.
    fn embed_one(&self, text: &str) -> Result<Vec<f32>> {
        let url = format!("{}/api/embeddings", self.base);
        let reply = self.client.post_json(&url, &json!({"model": self.model, "prompt": text}))?;
        self.checked(&url, &reply["embedding"])
    }

    /// One vector of the reply, as a unit vector of the length that all others have.
    fn checked(&self, url: &str, vector: &Value) -> Result<Vec<f32>> {
        let numbers = vector.as_array().ok_or_else(|| server_error(url, "sent a vector that is not a list"))?;
        let number = |n: &Value| n.as_f64().map(|n| n as f32);
        let mut vector: Vec<f32> = numbers
            .iter()
            .map(number)
            .collect::<Option<_>>()
            .ok_or_else(|| server_error(url, "sent a vector that holds something else than numbers"))?;
        let dim = *self.dim.get_or_init(|| vector.len());
        if vector.len() != dim {
            return Err(server_error(url, &format!("sent vectors of {} and of {dim} numbers", vector.len())));
        }
        if !local_agent_kernels::elementwise::normalise(&mut vector) {
            return Err(server_error(url, "sent a vector without a finite length"));
        }
        Ok(vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::testing::{Server, Step, ok_json, serve};

    const WAIT: Duration = Duration::from_secs(20);

    /// A server with one model that answers `/api/embed` with `reply`.
    fn server(reply: &'static str) -> Server {
        serve(move |seen| {
            let body = match seen.path.as_str() {
                "/api/tags" => r#"{"models":[{"name":"m:latest","digest":"d1"}]}"#,
                "/api/embed" if reply.is_empty() => {
                    return vec![Step::Bytes(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n".to_vec())];
                }
                "/api/embed" => reply,
                _ => r#"{"embedding":[0,2]}"#,
            };
            vec![Step::Bytes(ok_json(body))]
        })
    }

    fn embed(reply: &'static str) -> Result<Vec<Embedded>> {
        OllamaEmbedder::connect(&server(reply).url(""), "m", WAIT).unwrap().embed_passages(&["a", "b"])
    }

    #[test]
    fn vectors_come_back_in_order_with_length_one() {
        let found = embed(r#"{"embeddings":[[3,4],[0,5]]}"#).unwrap();
        assert_eq!((&found[0].vector, &found[1].vector), (&vec![0.6, 0.8], &vec![0.0, 1.0]));
    }

    #[test]
    fn only_a_404_falls_back_to_the_older_interface() {
        let server = server("");
        let embedder = OllamaEmbedder::connect(&server.url(""), "m", WAIT).unwrap();
        assert_eq!(embedder.embed_passages(&["a", "b"]).unwrap()[1].vector, [0.0, 1.0]);
        // Tags, the refused batch, two single requests.
        assert_eq!((server.hits(), embedder.dim()), (4, Some(2)));
    }

    #[test]
    fn s39_wrong_counts_lengths_and_numbers_are_errors() {
        for reply in [
            r#"{"embeddings":[[1,2]]}"#,
            r#"{"embeddings":[[1,2],[1,2,3]]}"#,
            r#"{"embeddings":[[1,2],[1,"x"]]}"#,
            r#"{"embeddings":[[1,2],[null,1]]}"#,
            r#"{"embeddings":[[1,2],[1e300,1]]}"#,
            r#"{"embeddings":[[1,2],[0,0]]}"#,
            r#"{"embeddings":[[1,2],[]]}"#,
            r#"{"embeddings":7}"#,
            r#"[]"#,
        ] {
            assert_eq!(embed(reply).unwrap_err().code, ErrorCode::ServerError, "{reply}");
        }
    }

    #[test]
    fn a_model_that_the_server_does_not_list_is_not_pulled() {
        let server = server("{}");
        let failure = OllamaEmbedder::connect(&server.url(""), "other", WAIT).err().unwrap();
        assert_eq!((failure.code, server.hits()), (ErrorCode::ModelNotFound, 1));
    }

    #[test]
    fn w35_the_fingerprint_is_the_digest_and_not_the_address() {
        let one = OllamaEmbedder::connect(&server("{}").url(""), "m", WAIT).unwrap();
        let two = OllamaEmbedder::connect(&server("{}").url("/"), "m:latest", WAIT).unwrap();
        assert_eq!(one.fingerprint(), two.fingerprint());
        let newer = serve(|_| vec![Step::Bytes(ok_json(r#"{"models":[{"name":"m:latest","digest":"d2"}]}"#))]);
        let newer = OllamaEmbedder::connect(&newer.url(""), "m", WAIT).unwrap();
        assert_ne!(one.fingerprint(), newer.fingerprint());
    }
}
