//! Chooses the configured model for a question.

use crate::config::Llm;

/// The speed requested on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speed {
    /// Not given: the configuration and the question decide.
    #[default]
    Auto,
    /// `--fast`.
    Fast,
    /// `--big`.
    Big,
}

/// The models of the two passes, and the limits of the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route<'a> {
    /// Chooses the file to read.
    pub first: &'a str,
    /// Writes the answer.
    pub second: &'a str,
    /// Maximum number of tokens in the second reply.
    pub max_tokens: u32,
    /// Longest wait for the second reply, in seconds.
    pub timeout_s: u64,
    /// The configuration keys of these limits.
    pub keys: BudgetKeys,
}

/// The configuration keys that limit a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetKeys {
    /// The key that sets the longest reply in tokens.
    pub max_tokens: &'static str,
    /// The key that sets the longest wait in seconds.
    pub timeout_s: &'static str,
}

impl BudgetKeys {
    /// For every model except the big one.
    pub const USUAL: Self = Self {
        max_tokens: "llm.max_tokens",
        timeout_s: "llm.timeout_s",
    };

    /// For the big model.
    pub const BIG: Self = Self {
        max_tokens: "llm.max_tokens_big_second",
        timeout_s: "llm.timeout_s_big_second",
    };
}

/// Chooses models for `question`; `None` when none is configured.
///
/// `--big` and a trigger word in the question make the big model write the answer; nothing else
/// does, unless it is the only one. Otherwise both passes use the fast model, with `prefer_fast`,
/// or the base model. `--fast`: the fast one for both, whatever the question says. A model that is
/// not configured is replaced by another one. A trigger matches any part of the lower-cased
/// question. The second pass has the larger limits if the big model or `--big` does it.
pub fn route<'a>(llm: &'a Llm, question: &str, speed: Speed) -> Option<Route<'a>> {
    let (base, fast, big) = (
        llm.model.as_deref(),
        llm.model_fast.as_deref(),
        llm.model_big.as_deref(),
    );
    let question = question.to_lowercase();
    let triggered = llm
        .big_triggers
        .iter()
        .any(|word| !word.is_empty() && question.contains(word.as_str()));
    let usual = if llm.prefer_fast {
        fast.or(base).or(big)
    } else {
        base.or(fast).or(big)
    };
    let (first, second) = match speed {
        Speed::Fast => {
            let chosen = fast.or(base).or(big);
            (chosen, chosen)
        }
        Speed::Big => (usual, big.or(usual)),
        Speed::Auto if triggered => (usual, big.or(usual)),
        Speed::Auto => (usual, usual),
    };
    let (first, second) = (first?, second?);
    let is_big = speed == Speed::Big || (big == Some(second) && speed != Speed::Fast);
    let max_tokens = if is_big {
        llm.max_tokens_big_second
    } else {
        llm.max_tokens
    };
    let timeout_s = if is_big {
        llm.timeout_s.max(llm.timeout_s_big_second)
    } else {
        llm.timeout_s
    };
    let mut keys = if is_big {
        BudgetKeys::BIG
    } else {
        BudgetKeys::USUAL
    };
    if llm.timeout_s > llm.timeout_s_big_second {
        keys.timeout_s = BudgetKeys::USUAL.timeout_s;
    }
    Some(Route {
        first,
        second,
        max_tokens,
        timeout_s,
        keys,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn llm(base: &str, fast: &str, big: &str, prefer_fast: bool) -> Llm {
        let name = |n: &str| (!n.is_empty()).then(|| n.to_owned());
        let mut llm = Config::defaults(std::path::Path::new("/nowhere"))
            .unwrap()
            .llm;
        (llm.model, llm.model_fast, llm.model_big, llm.prefer_fast) =
            (name(base), name(fast), name(big), prefer_fast);
        llm
    }

    #[test]
    fn the_table_of_models() {
        use Speed::{Auto, Big, Fast};
        let plain = "When do we meet?";
        let deep = "Give me a THOROUGH answer";
        for (base, fast, big, prefer, question, speed, expected) in [
            ("m", "", "", true, deep, Big, ("m", "m")),
            ("m", "f", "b", true, plain, Auto, ("f", "f")),
            ("m", "f", "b", true, deep, Auto, ("f", "b")),
            ("m", "f", "", true, deep, Auto, ("f", "f")),
            ("m", "", "b", true, plain, Auto, ("m", "m")),
            ("m", "", "b", true, deep, Auto, ("m", "b")),
            ("", "", "b", true, plain, Auto, ("b", "b")),
            ("m", "f", "b", false, plain, Auto, ("m", "m")),
            ("m", "f", "b", false, deep, Auto, ("m", "b")),
            ("m", "f", "", false, deep, Auto, ("m", "m")),
            ("m", "f", "b", false, plain, Fast, ("f", "f")),
            ("m", "", "b", true, deep, Fast, ("m", "m")),
            ("", "", "b", true, plain, Fast, ("b", "b")),
            ("m", "f", "b", true, plain, Big, ("f", "b")),
            ("m", "f", "", true, plain, Big, ("f", "f")),
        ] {
            let llm = llm(base, fast, big, prefer);
            let route = route(&llm, question, speed).unwrap();
            assert_eq!(
                (route.first, route.second),
                expected,
                "{base} {fast} {big} {prefer} {question} {speed:?}"
            );
        }
        assert_eq!(route(&llm("", "", "", true), deep, Big), None);
    }

    #[test]
    fn a_big_model_does_not_take_the_ordinary_questions() {
        let llm = llm("m", "", "b", true);
        let route = route(&llm, "Who is Olive?", Speed::Auto).unwrap();
        assert_eq!(
            (route.first, route.second, route.max_tokens),
            ("m", "m", llm.max_tokens)
        );
    }

    #[test]
    fn a_time_limit_is_named_by_the_key_that_sets_it() {
        let mut llm = llm("m", "f", "b", true);
        let key = |llm: &Llm| route(llm, "q", Speed::Big).unwrap().keys.timeout_s;
        assert_eq!(key(&llm), "llm.timeout_s_big_second");
        llm.timeout_s = llm.timeout_s_big_second + 1;
        assert_eq!(key(&llm), "llm.timeout_s");
    }

    #[test]
    fn w8_the_fast_model_has_the_small_budget() {
        let llm = llm("m", "f", "b", true);
        let cost = |question, speed| {
            route(&llm, question, speed)
                .map(|r| (r.max_tokens, r.timeout_s))
                .unwrap()
        };
        assert_eq!(cost("short", Speed::Auto), (800, 300));
        assert_eq!(cost("in depth", Speed::Auto), (4500, 600));
        assert_eq!(cost("short", Speed::Big), (4500, 600));
        assert_eq!(cost("in depth", Speed::Fast), (800, 300));
    }
}
