//! The words of the configuration that name a value of a type. One list gives the words that a key
//! accepts and the value of each, so the two cannot differ.

use super::keys::Kind;
use super::{AskProvider, EmbedProvider, JudgeProvider, ToolRule};
use local_agent_embed::models::Precision;
use local_agent_files::sandbox::{FollowLinks, HardLinks};
use local_agent_index::retrieval::Fusion;
use local_agent_text::evidence::HeadingMatch;
use local_agent_text::markdown::Scheme;

/// Words, and the value that each names.
pub(super) struct Vocabulary<T: 'static> {
    words: &'static [&'static str],
    values: &'static [T],
}

impl<T: Copy> Vocabulary<T> {
    /// The type of a key that takes one of the words.
    pub(super) const fn kind(&self) -> Kind {
        Kind::OneOf(self.words)
    }

    /// The value that the word names; `None` for any other word.
    pub(super) fn value(&self, word: &str) -> Option<T> {
        let at = self.words.iter().position(|known| *known == word)?;
        self.values.get(at).copied()
    }
}

/// Declares each [`Vocabulary`] as pairs of a word and its value.
macro_rules! vocabularies {
    ($($(#[$doc:meta])* $name:ident: $type:ty { $($word:literal => $value:expr,)+ })+) => {
        $(
            $(#[$doc])*
            pub(super) const $name: Vocabulary<$type> = Vocabulary {
                words: &[$($word),+],
                values: &[$($value),+],
            };
        )+
    };
}

vocabularies! {
    /// `security.hard_links`.
    HARD_LINKS: HardLinks {
        "deny" => HardLinks::Deny,
        "allow" => HardLinks::Allow,
    }
    /// `security.follow_links`.
    FOLLOW_LINKS: FollowLinks {
        "never" => FollowLinks::Never,
        "inside" => FollowLinks::Inside,
    }
    /// `index.scheme`.
    SCHEMES: Scheme {
        "obsidian_v2" => Scheme::ObsidianV2,
        "obsidian_v1" => Scheme::ObsidianV1,
        "fixed_window_v1" => Scheme::FixedWindowV1,
    }
    /// `embed.provider`.
    EMBED_PROVIDERS: EmbedProvider {
        "candle" => EmbedProvider::Candle,
        "ollama" => EmbedProvider::Ollama,
        "openai" => EmbedProvider::OpenAi,
    }
    /// `embed.precision`.
    PRECISIONS: Precision {
        "f32" => Precision::F32,
        "bf16" => Precision::Bf16,
        "mixed" => Precision::Mixed,
        "int8" => Precision::Int8,
    }
    /// `retrieve.fusion`.
    FUSIONS: Fusion {
        "convex" => Fusion::Convex,
        "rrf" => Fusion::Rrf,
    }
    /// `ask.provider`.
    ASK_PROVIDERS: AskProvider {
        "auto" => AskProvider::Auto,
        "extractive" => AskProvider::Extractive,
        "ollama" => AskProvider::Ollama,
        "openai" => AskProvider::OpenAi,
    }
    /// `ask.heading_match`.
    HEADING_MATCHES: HeadingMatch {
        "prefix" => HeadingMatch::Prefix,
        "exact" => HeadingMatch::Exact,
        "ignore" => HeadingMatch::Ignore,
    }
    /// `verify.judge.provider`.
    JUDGE_PROVIDERS: JudgeProvider {
        "ollama" => JudgeProvider::Ollama,
        "openai" => JudgeProvider::OpenAi,
    }
    /// The keys of `tools` that are called as a tool.
    TOOL_RULES: ToolRule {
        "allow" => ToolRule::Allow,
        "ask" => ToolRule::Ask,
        "deny" => ToolRule::Deny,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unknown word became the default: a rule of a tool became `allow`.
    #[test]
    fn an_unknown_word_names_no_value() {
        assert!(TOOL_RULES.value("forbid").is_none());
        assert!(FOLLOW_LINKS.value("").is_none());
        assert!(HARD_LINKS.value("Allow").is_none());
    }

    #[test]
    fn a_value_is_printed_as_the_word_that_names_it() {
        for word in TOOL_RULES.words {
            assert_eq!(TOOL_RULES.value(word).unwrap().as_str(), *word);
        }
        for word in EMBED_PROVIDERS.words {
            assert_eq!(EMBED_PROVIDERS.value(word).unwrap().as_str(), *word);
        }
    }
}
