//! Lists the models of an Ollama server: to choose a provider, for `doctor`, and for fingerprints.

use std::time::Duration;

use serde_json::Value;

use super::http::{Client, Limits, server_error};
use local_agent_text::error::Result;

/// One installed model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The name in the server's list, with its tag (`llama3.2:latest`).
    pub name: String,
    /// The digest of its files, if the server reports it.
    pub digest: Option<String>,
}

/// The models of the server at `base`, in the server's order. Waits at most `timeout`. Never pulls
/// a model.
///
/// Errors: `SERVER_UNREACHABLE`, `SERVER_ERROR`.
pub fn tags(base: &str, timeout: Duration) -> Result<Vec<Tag>> {
    let url = format!("{}/api/tags", base.trim_end_matches('/'));
    let reply = Client::new(Limits::probe(timeout))?.get_json(&url)?;
    let models = reply["models"]
        .as_array()
        .ok_or_else(|| server_error(&url, "sent no list of models"))?;
    Ok(models.iter().filter_map(tag).collect())
}

/// The names of the models that the server at `base` has.
///
/// Errors: see [`tags`].
pub fn ollama_tags(base: &str, timeout: Duration) -> Result<Vec<String>> {
    Ok(tags(base, timeout)?
        .into_iter()
        .map(|tag| tag.name)
        .collect())
}

/// Whether `wanted` names the installed model `name`. A name without a tag means `:latest`.
pub fn is_model(name: &str, wanted: &str) -> bool {
    name == wanted || (!wanted.contains(':') && name.strip_suffix(":latest") == Some(wanted))
}

fn tag(model: &Value) -> Option<Tag> {
    let name = model["name"]
        .as_str()
        .or(model["model"].as_str())?
        .to_owned();
    Some(Tag {
        name,
        digest: model["digest"].as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::server::{Step, ok_json, serve};
    use local_agent_text::error::ErrorCode;

    const WAIT: Duration = Duration::from_secs(20);

    #[test]
    fn tags_are_listed_with_their_digests() {
        let server = serve(|seen| {
            assert_eq!(seen.path, "/api/tags");
            vec![Step::Bytes(ok_json(
                r#"{"models":[{"name":"a:latest","digest":"d1"},{"model":"b:7b"},{}]}"#,
            ))]
        });
        let found = tags(&server.url("/"), WAIT).unwrap();
        assert_eq!(
            found[0],
            Tag {
                name: "a:latest".into(),
                digest: Some("d1".into())
            }
        );
        assert_eq!(
            ollama_tags(&server.url(""), WAIT).unwrap(),
            ["a:latest", "b:7b"]
        );
    }

    #[test]
    fn a_server_of_another_kind_is_an_error() {
        let server = serve(|_| vec![Step::Bytes(ok_json("[]"))]);
        assert_eq!(
            tags(&server.url(""), WAIT).unwrap_err().code,
            ErrorCode::ServerError
        );
    }

    #[test]
    fn a_name_without_a_tag_means_latest() {
        assert!(is_model("a:latest", "a") && is_model("a:7b", "a:7b"));
        assert!(
            !is_model("a:7b", "a") && !is_model("a:latest", "a:7b") && !is_model("ab:latest", "a")
        );
    }
}
