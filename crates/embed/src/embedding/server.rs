//! Vectors from a server: `/api/embed` of an Ollama (on 404: `/api/embeddings`, for older ones), or
//! `/v1/embeddings` of any OpenAI-compatible server.
//!
//! Replies from the network are checked: as many vectors as texts, all of the same length, all
//! numbers finite. The fingerprint contains the model's name, its digest if the server reports one,
//! the length of its vectors and the prefixes, but not the address, so that vectors of the same
//! model on another machine can be compared. A server without digests can change its model under
//! the same name; we cannot detect that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Embedded, TEMPLATE_VERSION};
use local_agent_net::ApiKey;
use local_agent_net::http::{Client, Limits, server_error};
use local_agent_net::ollama::{is_model, tags};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::Fingerprint;

/// Size limit for the vectors of one request: 4,096 texts of 1,024 numbers as text.
const MAX_REPLY: usize = 64 << 20;

/// The text that is embedded once to find the length of the vectors.
const PROBE: &str = "dimension";

/// The interface of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `/api/embed`.
    Ollama,
    /// `/v1/embeddings`.
    OpenAi,
}

/// A model on a server, and how to send requests to it.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// The format of its requests and replies.
    pub wire: Wire,
    /// Scheme, host and port.
    pub base: String,
    /// The server's name for the model.
    pub model: String,
    /// The key; sent only to an OpenAI-compatible server.
    pub key: Option<ApiKey>,
    /// The prefix of a question.
    pub query_prefix: String,
    /// The prefix of a passage.
    pub passage_prefix: String,
    /// The time limit of each request.
    pub timeout: Duration,
}

/// An embedding model on a server.
pub struct ServerEmbedder {
    client: Client,
    spec: ServerSpec,
    fingerprint: Fingerprint,
    /// Length of the vectors.
    dim: usize,
    /// Whether the server only supports the older interface.
    older: AtomicBool,
}

impl ServerEmbedder {
    /// Looks up the model on its server and embeds one word, to learn the length of its vectors. It
    /// never pulls a model.
    ///
    /// Errors: `SERVER_UNREACHABLE`, `SERVER_ERROR`, `MODEL_NOT_FOUND` when an Ollama does not list
    /// the model.
    pub fn connect(spec: ServerSpec) -> Result<Self> {
        let base = spec.base.trim_end_matches('/').to_owned();
        let (name, digest) = match spec.wire {
            Wire::Ollama => listed(&base, &spec)?,
            Wire::OpenAi => (spec.model.clone(), String::new()),
        };
        let limits = Limits {
            connect: Duration::from_secs(5),
            idle: spec.timeout,
            total: spec.timeout,
            max_body: MAX_REPLY,
        };
        let spec = ServerSpec {
            base,
            model: name,
            ..spec
        };
        let fingerprint = Fingerprint::of_fields(&[]);
        let mut this = Self {
            client: Client::new(limits)?,
            spec,
            fingerprint,
            dim: 0,
            older: AtomicBool::new(false),
        };
        this.dim = this
            .request(&[PROBE.to_owned()])?
            .first()
            .map_or(0, Vec::len);
        let wire: &[u8] = match this.spec.wire {
            Wire::Ollama => b"ollama",
            Wire::OpenAi => b"openai",
        };
        this.fingerprint = Fingerprint::of_fields(&[
            wire,
            this.spec.model.as_bytes(),
            digest.as_bytes(),
            &(this.dim as u64).to_le_bytes(),
            this.spec.query_prefix.as_bytes(),
            this.spec.passage_prefix.as_bytes(),
            &TEMPLATE_VERSION.to_le_bytes(),
        ]);
        Ok(this)
    }

    /// The fingerprint: the model's name and digest, the vector length, the prefixes.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Length of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The unit vector of a question.
    ///
    /// Errors: see [`Self::embed_passages`].
    pub fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let texts = [format!("{}{text}", self.spec.query_prefix)];
        Ok(self.embed(&texts)?.into_iter().next().unwrap_or_default())
    }

    /// The unit vectors of `texts`, in one request. An Ollama reports an input longer than the
    /// model's window as an error instead of cutting it. The server does not count the tokens of
    /// each text, so `tokens` is 0.
    ///
    /// Errors: `SERVER_UNREACHABLE`; `SERVER_ERROR` for a wrong status, count, length or number.
    pub fn embed_passages(&self, texts: &[&str]) -> Result<Vec<Embedded>> {
        let texts: Vec<String> = texts
            .iter()
            .map(|text| format!("{}{text}", self.spec.passage_prefix))
            .collect();
        Ok(self
            .embed(&texts)?
            .into_iter()
            .map(|vector| Embedded {
                vector,
                tokens: 0,
                windows: 1,
            })
            .collect())
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let vectors = self.request(texts)?;
        match vectors.iter().find(|vector| vector.len() != self.dim) {
            Some(other) => {
                let what = format!(
                    "sent vectors of {} and of {} numbers",
                    other.len(),
                    self.dim
                );
                Err(server_error(&self.spec.base, &what))
            }
            None => Ok(vectors),
        }
    }

    /// Requests the unit vectors of texts, in the same order, all of the same length.
    fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = match self.spec.wire {
            Wire::Ollama => self.ollama(texts)?,
            Wire::OpenAi => self.openai(texts)?,
        };
        let url = &self.spec.base;
        if vectors.len() != texts.len() {
            return Err(server_error(
                url,
                &format!("sent {} vectors for {} texts", vectors.len(), texts.len()),
            ));
        }
        let vectors = vectors
            .iter()
            .map(|vector| unit(url, vector))
            .collect::<Result<Vec<_>>>()?;
        match vectors
            .windows(2)
            .find(|pair| pair[0].len() != pair[1].len())
        {
            Some(pair) => Err(server_error(
                url,
                &format!(
                    "sent vectors of {} and of {} numbers",
                    pair[0].len(),
                    pair[1].len()
                ),
            )),
            None => Ok(vectors),
        }
    }

    fn ollama(&self, texts: &[String]) -> Result<Vec<Value>> {
        if self.older.load(Ordering::Relaxed) {
            return self.older_ollama(texts);
        }
        let ServerSpec { base, model, .. } = &self.spec;
        let url = format!("{base}/api/embed");
        let request = json!({"model": model, "input": texts, "truncate": false});
        let reply = self.client.post(&url, &request, None)?;
        if reply.status != 404 {
            let vectors = reply.json(&url)?["embeddings"].as_array().cloned();
            return vectors.ok_or_else(|| server_error(&url, "sent no vectors"));
        }
        // A newer server answers 404, too, if it lacks the model. Only a server whose older
        // interface works is taken to be an older one.
        let vectors = self.older_ollama(texts)?;
        self.older.store(true, Ordering::Relaxed);
        Ok(vectors)
    }

    /// The vectors of an Ollama from before `/api/embed`, one request per text.
    fn older_ollama(&self, texts: &[String]) -> Result<Vec<Value>> {
        let url = format!("{}/api/embeddings", self.spec.base);
        texts
            .iter()
            .map(|text| self.older_vector(&url, text))
            .collect()
    }

    fn older_vector(&self, url: &str, text: &str) -> Result<Value> {
        let model = &self.spec.model;
        let request = json!({"model": model, "prompt": text});
        let reply = self.client.post(url, &request, None)?;
        if reply.status == 404 {
            return Err(no_such_model(model));
        }
        let reply = reply.json(url)?;
        // Indexing a JSON value to read it never panics, whatever its type; indexing it to write
        // would.
        Ok(reply["embedding"].clone())
    }

    fn openai(&self, texts: &[String]) -> Result<Vec<Value>> {
        let ServerSpec {
            base, model, key, ..
        } = &self.spec;
        let url = format!("{base}/v1/embeddings");
        let request = json!({"model": model, "input": texts, "encoding_format": "float"});
        let reply = self
            .client
            .post(&url, &request, key.as_ref().map(ApiKey::expose))?;
        let status = reply.status;
        let reply = reply
            .json(&url)
            .map_err(|failure| refusal(failure, status))?;
        let data = reply["data"]
            .as_array()
            .ok_or_else(|| server_error(&url, "sent no vectors"))?;
        // Each vector states the index of its text. If a server does not state it, the vectors are
        // in order.
        let mut out = vec![Value::Null; data.len()];
        for (at, one) in data.iter().enumerate() {
            let slot = place_of((at, one))
                .and_then(|i| out.get_mut(i))
                .filter(|slot| slot.is_null());
            *slot.ok_or_else(|| server_error(&url, "sent vectors that belong to no text"))? =
                one["embedding"].clone();
        }
        Ok(out)
    }
}

/// The index that an entry states, or its position in the list.
fn place_of((at, one): (usize, &Value)) -> Option<usize> {
    match &one["index"] {
        Value::Null => Some(at),
        index => index.as_u64().and_then(|i| usize::try_from(i).ok()),
    }
}

/// Explains the status with which an OpenAI-compatible server refused, with advice.
fn refusal(failure: Failure, status: u16) -> Failure {
    match status {
        404 => Failure::new(ErrorCode::ModelNotFound, failure.message).with_fix(
            Fix::ChangeSetting,
            "set embed.model to an embedding model that the server has",
        ),
        _ => failure,
    }
}

/// The failure for a model that an Ollama does not have.
fn no_such_model(model: &str) -> Failure {
    let message = format!("The Ollama server has no model `{model}`.");
    Failure::new(ErrorCode::ModelNotFound, message).with_hint(format!("ollama pull {model}"))
}

/// Name and digest of the model as an Ollama lists it.
fn listed(base: &str, spec: &ServerSpec) -> Result<(String, String)> {
    let found = tags(base, spec.timeout.min(Duration::from_secs(10)))?.into_iter();
    let tag = found
        .into_iter()
        .find(|t| is_model(&t.name, &spec.model))
        .ok_or_else(|| no_such_model(&spec.model))?;
    let digest = tag
        .digest
        .ok_or_else(|| server_error(base, "does not say the digest of its model"))?;
    Ok((tag.name, digest))
}

/// One vector of a reply, as a unit vector.
fn unit(url: &str, vector: &Value) -> Result<Vec<f32>> {
    let numbers = vector
        .as_array()
        .ok_or_else(|| server_error(url, "sent a vector that is not a list"))?;
    let mut vector: Vec<f32> = numbers
        .iter()
        .map(|n| n.as_f64().map(|n| n as f32))
        .collect::<Option<_>>()
        .ok_or_else(|| server_error(url, "sent a vector that holds something else than numbers"))?;
    if !local_agent_kernels::elementwise::normalise(&mut vector) {
        return Err(server_error(url, "sent a vector without a finite length"));
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use local_agent_testing::server::{Seen, Server, Step, ok_json, serve};

    fn spec(wire: Wire, server: &Server, model: &str) -> ServerSpec {
        ServerSpec {
            wire,
            base: server.url("/"),
            model: model.to_owned(),
            key: ApiKey::new("sk-1"),
            query_prefix: "q: ".to_owned(),
            passage_prefix: "p: ".to_owned(),
            timeout: Duration::from_secs(20),
        }
    }

    fn inputs(seen: &Seen) -> Vec<String> {
        let body: Value = serde_json::from_str(&seen.body).unwrap();
        body["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t.as_str().unwrap().to_owned())
            .collect()
    }

    fn missing() -> Vec<Step> {
        vec![Step::Bytes(
            b"HTTP/1.1 404 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec(),
        )]
    }

    /// An Ollama with one model of this digest. All requests but the probe get `reply`; if it is
    /// empty, the server is of the older kind.
    fn ollama(digest: &'static str, reply: &'static str) -> Server {
        serve(move |seen| {
            let body = match seen.path.as_str() {
                "/api/tags" => {
                    format!(r#"{{"models":[{{"name":"m:latest","digest":"{digest}"}}]}}"#)
                }
                "/api/embed" if reply.is_empty() => return missing(),
                "/api/embed" if inputs(seen) == [PROBE] => r#"{"embeddings":[[1,0]]}"#.to_owned(),
                "/api/embed" => reply.to_owned(),
                _ => r#"{"embedding":[0,2]}"#.to_owned(),
            };
            vec![Step::Bytes(ok_json(&body))]
        })
    }

    /// A similar server with the other interface.
    fn openai(reply: &'static str) -> Server {
        serve(move |seen| {
            assert_eq!(
                (seen.path.as_str(), seen.header("authorization")),
                ("/v1/embeddings", Some("Bearer sk-1"))
            );
            let probe = r#"{"data":[{"index":0,"embedding":[1,0]}]}"#;
            vec![Step::Bytes(ok_json(if inputs(seen) == [PROBE] {
                probe
            } else {
                reply
            }))]
        })
    }

    fn embed(wire: Wire, server: &Server) -> Result<Vec<Embedded>> {
        ServerEmbedder::connect(spec(wire, server, "m"))
            .unwrap()
            .embed_passages(&["a", "b"])
    }

    #[test]
    fn vectors_come_back_in_order_with_length_one() {
        let in_order = ollama("d", r#"{"embeddings":[[3,4],[0,5]]}"#);
        let shuffled =
            openai(r#"{"data":[{"index":1,"embedding":[0,5]},{"index":0,"embedding":[3,4]}]}"#);
        let unnumbered = openai(r#"{"data":[{"embedding":[3,4]},{"embedding":[0,5]}]}"#);
        for (wire, server) in [
            (Wire::Ollama, in_order),
            (Wire::OpenAi, shuffled),
            (Wire::OpenAi, unnumbered),
        ] {
            let found = embed(wire, &server).unwrap();
            assert_eq!(
                (&found[0].vector, &found[1].vector),
                (&vec![0.6, 0.8], &vec![0.0, 1.0])
            );
        }
    }

    #[test]
    fn prefixes_stand_before_questions_and_passages() {
        let server = serve(|seen| match seen.path.as_str() {
            "/api/tags" => vec![Step::Bytes(ok_json(
                r#"{"models":[{"name":"m","digest":"d"}]}"#,
            ))],
            _ if inputs(seen) == [PROBE] => vec![Step::Bytes(ok_json(r#"{"embeddings":[[1,0]]}"#))],
            _ if inputs(seen) == ["q: a"] => {
                vec![Step::Bytes(ok_json(r#"{"embeddings":[[1,0]]}"#))]
            }
            _ if inputs(seen) == ["p: a"] => {
                vec![Step::Bytes(ok_json(r#"{"embeddings":[[0,1]]}"#))]
            }
            _ => missing(),
        });
        let embedder = ServerEmbedder::connect(spec(Wire::Ollama, &server, "m")).unwrap();
        assert_eq!(embedder.embed_query("a").unwrap(), [1.0, 0.0]);
        assert_eq!(
            embedder.embed_passages(&["a"]).unwrap()[0].vector,
            [0.0, 1.0]
        );
    }

    #[test]
    fn only_a_404_falls_back_to_the_older_interface() {
        let server = ollama("d", "");
        let embedder = ServerEmbedder::connect(spec(Wire::Ollama, &server, "m")).unwrap();
        assert_eq!(
            embedder.embed_passages(&["a", "b"]).unwrap()[1].vector,
            [0.0, 1.0]
        );
        // Tags, the refused batch, the probe, two single requests.
        assert_eq!((server.hits(), embedder.dim()), (5, 2));
    }

    /// The first 404 used to make it an older server for the rest of the process.
    #[test]
    fn a_server_that_lacks_the_model_for_a_moment_is_no_older_one() {
        let asked = AtomicUsize::new(0);
        let server = serve(move |seen| match seen.path.as_str() {
            "/api/tags" => vec![Step::Bytes(ok_json(
                r#"{"models":[{"name":"m","digest":"d"}]}"#,
            ))],
            "/api/embed" if asked.fetch_add(1, Ordering::Relaxed) == 1 => missing(),
            "/api/embed" => vec![Step::Bytes(ok_json(r#"{"embeddings":[[1,0]]}"#))],
            _ => missing(),
        });
        let embedder = ServerEmbedder::connect(spec(Wire::Ollama, &server, "m")).unwrap();
        let refused = embedder.request(&["a".to_owned()]).unwrap_err();
        assert_eq!(refused.code, ErrorCode::ModelNotFound);
        assert_eq!(refused.hint.as_deref(), Some("ollama pull m"));
        assert_eq!(embedder.embed_query("a").unwrap(), [1.0, 0.0]);
    }

    #[test]
    fn s39_wrong_counts_lengths_and_numbers_are_errors() {
        for reply in [
            r#"{"embeddings":[[1,2]]}"#,
            r#"{"embeddings":[[1,2],[1,2,3]]}"#,
            r#"{"embeddings":[[1,2,3],[1,2,3]]}"#,
            r#"{"embeddings":[[1,2],[1,"x"]]}"#,
            r#"{"embeddings":[[1,2],[null,1]]}"#,
            r#"{"embeddings":[[1,2],[1e300,1]]}"#,
            r#"{"embeddings":[[1,2],[0,0]]}"#,
            r#"{"embeddings":[[1,2],[]]}"#,
            r#"{"embeddings":7}"#,
            r#"[]"#,
        ] {
            let code = embed(Wire::Ollama, &ollama("d", reply)).unwrap_err().code;
            assert_eq!(code, ErrorCode::ServerError, "{reply}");
        }
        for reply in [
            r#"{"data":[{"index":0,"embedding":[1,2]}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,2]},{"index":9,"embedding":[1,2]}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,2]},{"index":-1,"embedding":[1,2]}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":"AAAA"}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}"#,
            r#"{"data":{}}"#,
            r#"{"error":{"message":"no"}}"#,
        ] {
            let code = embed(Wire::OpenAi, &openai(reply)).unwrap_err().code;
            assert_eq!(code, ErrorCode::ServerError, "{reply}");
        }
    }

    #[test]
    fn a_model_that_the_server_does_not_list_is_not_pulled() {
        let server = ollama("d", "{}");
        let failure = ServerEmbedder::connect(spec(Wire::Ollama, &server, "other"))
            .err()
            .unwrap();
        assert_eq!((failure.code, server.hits()), (ErrorCode::ModelNotFound, 1));
    }

    #[test]
    fn w35_the_fingerprint_is_digest_length_and_prefixes_and_not_the_address() {
        let of = |spec: ServerSpec| ServerEmbedder::connect(spec).unwrap().fingerprint();
        let (one, two, newer) = (ollama("d1", "{}"), ollama("d1", "{}"), ollama("d2", "{}"));
        let first = of(spec(Wire::Ollama, &one, "m"));
        assert_eq!(first, of(spec(Wire::Ollama, &two, "m:latest")));
        assert_ne!(first, of(spec(Wire::Ollama, &newer, "m")));
        assert_ne!(
            first,
            of(ServerSpec {
                query_prefix: String::new(),
                ..spec(Wire::Ollama, &one, "m")
            })
        );
        assert_ne!(
            first,
            of(ServerSpec {
                passage_prefix: String::new(),
                ..spec(Wire::Ollama, &one, "m")
            })
        );
        let wide = serve(|_| vec![Step::Bytes(ok_json(r#"{"data":[{"embedding":[1,0,0]}]}"#))]);
        let (narrow, other) = (openai("{}"), openai("{}"));
        assert_eq!(
            of(spec(Wire::OpenAi, &narrow, "m")),
            of(spec(Wire::OpenAi, &other, "m"))
        );
        assert_ne!(
            of(spec(Wire::OpenAi, &narrow, "m")),
            of(spec(Wire::OpenAi, &wide, "m"))
        );
    }
}
