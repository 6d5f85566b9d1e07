//! Chooses the compiled-in model for `embed.model: auto`.
//!
//! The languages of the index decide. The choice is kept until `embed` gets a model by name,
//! because existing vectors are searched with the model that made them.

use std::collections::HashSet;

use crate::config::Config;
use local_agent_embed::embedding;
use local_agent_embed::models::{EMBEDDED_ID, MULTILINGUAL_ID, ModelFiles, all_built_in};
use local_agent_index::store::IndexReader;
use local_agent_index::vectors;
use local_agent_text::error::Result;
use local_agent_text::language::{Language, detect};

/// The value of `embed.model` that lets the program decide.
pub const AUTO: &str = "auto";

/// Number of passages that are examined.
const SAMPLE: usize = 200;

/// With this share of passages in languages other than English, the multilingual model is used.
const FOREIGN_SHARE: f64 = 0.1;

/// The first letter that is not Latin.
const BEHIND_LATIN: char = '\u{370}';

/// The choice of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// The id of a compiled-in model.
    pub id: &'static str,
    /// The reason, as a sentence without the final full stop.
    pub why: String,
}

/// Chooses the model for `config`.
///
/// Errors: those of the databases; a damaged matrix is ignored.
pub fn choose(config: &Config) -> Result<ModelChoice> {
    if let Some(id) = maker_of_vectors(config) {
        let why = "it made the vectors that are there (embed --model ID takes another)";
        return Ok(ModelChoice {
            id,
            why: why.to_owned(),
        });
    }
    // An index that this program cannot read is ignored; code that needs it reports the error.
    let texts = match IndexReader::open(&config.index.db_path) {
        Ok(Some(index)) => index.sample_texts(SAMPLE)?,
        Ok(None) | Err(_) => Vec::new(),
    };
    Ok(by_languages(&texts))
}

/// A model with the configured window, precision, instruction set, prefixes and number of
/// dimensions.
///
/// Errors: `CONFIG_ERROR` when its vectors have fewer dimensions.
pub(super) fn as_configured(config: &Config, files: ModelFiles) -> Result<ModelFiles> {
    let embed = &config.embed;
    files
        .with_window(config.embed.max_length)
        .with_precision(config.embed.precision)
        .with_instructions(config.embed.instructions)
        .with_prefixes(
            embed.query_prefix.as_deref(),
            embed.passage_prefix.as_deref(),
        )
        .with_dimensions(embed.dimensions)
}

/// The compiled-in model that computed the published vectors.
fn maker_of_vectors(config: &Config) -> Option<&'static str> {
    let stamp = vectors::stamp(&config.vectors_dir()).ok().flatten()?;
    all_built_in()
        .filter_map(|files| as_configured(config, files).ok())
        .find(|files: &ModelFiles| embedding::fingerprint(files) == stamp.fingerprint)
        .map(|files| {
            if files.id() == MULTILINGUAL_ID {
                MULTILINGUAL_ID
            } else {
                EMBEDDED_ID
            }
        })
}

fn by_languages(texts: &[String]) -> ModelChoice {
    let foreign = texts.iter().filter(|text| is_foreign(text)).count();
    let has_model = all_built_in().any(|files| files.id() == MULTILINGUAL_ID);
    let share = foreign as f64 / texts.len().max(1) as f64;
    let id = if share >= FOREIGN_SHARE && has_model {
        MULTILINGUAL_ID
    } else {
        EMBEDDED_ID
    };
    let why = match texts.len() {
        0 => "nothing is indexed yet".to_owned(),
        _ if foreign == 0 => {
            "no passage of the index is in another language than English".to_owned()
        }
        all => {
            let only = if id == EMBEDDED_ID { "only " } else { "" };
            format!(
                "{only}{foreign} of {all} passages of the index are in other languages than English"
            )
        }
    };
    ModelChoice { id, why }
}

/// Whether a text is clearly in a language other than English.
fn is_foreign(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (all, other) = letters.fold((0, 0), |(all, other), c| {
        (all + 1, other + usize::from(c >= BEHIND_LATIN))
    });
    let language = detect(&distinct_words(text));
    other * 3 > all || language.is_some_and(|language| language != Language::English)
}

/// Every word of a text once, so that "a month", said in every line of an English list, counts as
/// one word that Portuguese has too.
fn distinct_words(text: &str) -> String {
    let mut seen = HashSet::new();
    let words = text.split(|c: char| !c.is_alphabetic());
    let distinct: Vec<&str> = words
        .filter(|word| seen.insert(word.to_lowercase()))
        .collect();
    distinct.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(texts: &[&str]) -> &'static str {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        by_languages(&texts).id
    }

    /// The model for other languages than English, if it is compiled in.
    fn for_other_languages() -> &'static str {
        let is_there = all_built_in().any(|files| files.id() == MULTILINGUAL_ID);
        if is_there {
            MULTILINGUAL_ID
        } else {
            EMBEDDED_ID
        }
    }

    const ENGLISH: &str = "The proofbox holds the dough at 27 degrees, and it is closed by four.";
    const GERMAN: &str = "Der Teig ruht über Nacht, und die Öfen gehen um vier an.";

    #[test]
    fn the_languages_of_the_passages_decide() {
        assert_eq!(chosen(&[]), EMBEDDED_ID);
        assert_eq!(chosen(&[ENGLISH; 20]), EMBEDDED_ID);
        assert_eq!(chosen(&[GERMAN; 20]), for_other_languages());
        assert_eq!(
            chosen(&["面包发酵箱的温度是二十七度。"; 3]),
            for_other_languages()
        );
        assert_eq!(chosen(&[ENGLISH, ENGLISH, GERMAN]), for_other_languages());
    }

    #[test]
    fn a_word_said_in_every_line_of_a_list_is_one_word() {
        let list = "- Radio: 17.99 € a month\n- Phone, 2 cards: 25.98 € a month\n\
                    - Car sharing: 9 € a month\n- Climbing hall: 64 € a month";
        assert!(!is_foreign(list), "{list}");
        assert!(is_foreign(
            "- Der Teig: 12 Stunden\n- Die Öfen: um vier\n- Das Mehl: 3 Säcke"
        ));
    }

    #[test]
    fn one_foreign_passage_of_many_decides_nothing() {
        let mut texts = vec![ENGLISH; 30];
        texts.push(GERMAN);
        assert_eq!(chosen(&texts), EMBEDDED_ID);
    }
}
