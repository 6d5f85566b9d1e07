//! The text envelope in which a model calls a tool if its server has no native format:
//! `{"type":"tool_call","name":…,"args":{…}}`, as the whole reply or its beginning.

use serde_json::Value;

/// Number of characters of ignored text that are kept for the record.
const KEPT: usize = 200;

/// A call and the text after it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Envelope {
    /// The JSON object as received.
    pub call: Value,
    /// The beginning of the text after the call, which is ignored.
    pub trailing: Option<String>,
}

/// The call that a reply consists of or begins with; one code fence around it is removed. A reply
/// with text before the call has no call.
pub(super) fn parse(reply: &str) -> Option<Envelope> {
    let text = unfenced(reply);
    // First the strict form: the whole reply is one object.
    if let Ok(call) =
        serde_json::from_str::<Value>(text.trim_end().trim_end_matches("```").trim_end())
    {
        return is_call(&call).then_some(Envelope {
            call,
            trailing: None,
        });
    }
    if !text.starts_with('{') {
        return None;
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let call = stream.next()?.ok()?;
    let rest = text
        .get(stream.byte_offset()..)
        .unwrap_or_default()
        .trim()
        .trim_start_matches("```")
        .trim();
    let trailing = (!rest.is_empty()).then(|| rest.chars().take(KEPT).collect());
    is_call(&call).then_some(Envelope { call, trailing })
}

/// Whether a reply was meant to be a call but cannot be parsed.
pub(super) fn is_broken(reply: &str) -> bool {
    let text = unfenced(reply);
    text.starts_with('{') && text.contains("\"tool_call\"") && parse(reply).is_none()
}

fn unfenced(reply: &str) -> &str {
    let text = reply.trim_start();
    text.strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .unwrap_or(text)
        .trim_start()
}

fn is_call(value: &Value) -> bool {
    value["type"].as_str() == Some("tool_call")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CALL: &str = r#"{"type":"tool_call","name":"grep","args":{"pattern":"x"}}"#;

    #[test]
    fn a_call_is_the_whole_reply_or_its_beginning_and_the_rest_is_kept_in_part() {
        for reply in [
            CALL.to_owned(),
            format!(" \n{CALL}\n"),
            format!("```json\n{CALL}\n```"),
        ] {
            assert_eq!(parse(&reply).unwrap().trailing, None, "{reply}");
        }
        let long = format!("{CALL} I will now {}", "x".repeat(500));
        assert_eq!(
            parse(&long).unwrap().trailing.unwrap().chars().count(),
            KEPT
        );
        assert_eq!(
            parse(&format!("{CALL}{CALL}")).unwrap().trailing.unwrap(),
            CALL
        );
        for reply in [
            &format!("Sure: {CALL}"),
            "It is 5.",
            "{\"type\":\"answer\"}",
            "",
            "[1]",
        ] {
            assert!(parse(reply).is_none() && !is_broken(reply), "{reply}");
        }
        for reply in [
            "{\"type\":\"tool_call\",\"name\":",
            "{\"type\": \"tool_call\" name}",
        ] {
            assert!(is_broken(reply), "{reply}");
        }
    }

    proptest! {
        #[test]
        fn no_reply_makes_it_panic(text in any::<String>(), cut in 0usize..60) {
            let _ = (parse(&text), is_broken(&text));
            let half = &CALL[..cut.min(CALL.len())];
            let _ = (parse(half), is_broken(half));
        }
    }
}
