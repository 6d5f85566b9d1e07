//! Whether text that is sent to a model server stays on this machine.

use local_agent_net::ServerUrl;

/// Whether an address is a server on another machine. One that cannot be parsed is never contacted.
pub(super) fn is_far(url: &str) -> bool {
    ServerUrl::parse(url).is_ok_and(|url| !url.is_loopback())
}

/// Whether an Ollama sends the text for this model to its maker's machines, as it does for models
/// with the tag `cloud` or `…-cloud`.
pub fn is_cloud_model(model: &str) -> bool {
    let tag = model.rsplit_once(':').map_or(model, |(_, tag)| tag);
    let tag = tag.to_ascii_lowercase();
    tag == "cloud" || tag.ends_with("-cloud")
}

/// Whether the text for a model of the server at `url` stays on this machine. An address that cannot
/// be parsed counts as another machine.
pub fn stays_on_this_machine(url: &str, model: &str) -> bool {
    ServerUrl::parse(url).is_ok_and(|url| url.is_loopback()) && !is_cloud_model(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_with_a_loopback_server_that_runs_the_model_itself() {
        let here = "http://127.0.0.1:11434";
        assert!(stays_on_this_machine(here, "qwen3:8b"));
        assert!(stays_on_this_machine("http://localhost:1", "cloudy"));
        for (url, model) in [
            (here, "gpt-oss:120b-cloud"),
            (here, "glm:CLOUD"),
            ("https://example.org", "qwen3:8b"),
            ("http://0.0.0.0:11434", "qwen3:8b"),
            ("no address", "qwen3:8b"),
        ] {
            assert!(!stays_on_this_machine(url, model), "{url} {model}");
        }
    }
}
