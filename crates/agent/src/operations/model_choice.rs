//! Chooses the compiled-in model for `embed.model: auto`.
//!
//! The languages of the index decide. The choice is kept until `embed` gets a model by name,
//! because existing vectors are searched with the model that made them; that may be a pulled one.
//! `embed --model auto` lets the languages decide again.

use std::collections::HashSet;
use std::path::Path;

use super::library::Library;
use super::setup::is_chosen;
use crate::config::Config;
use local_agent_embed::embedding;
use local_agent_embed::models::{EMBEDDED_ID, MULTILINGUAL_ID, ModelFiles, all_built_in};
use local_agent_index::retrieval::Stale;
use local_agent_index::store::{EmbeddingStore, IndexReader};
use local_agent_index::vectors;
use local_agent_text::error::Result;
use local_agent_text::language::{
    Language, Section, detect, is_common_english_word, languages_of_question,
};

/// The value of `embed.model` that lets the program decide.
pub const AUTO: &str = "auto";

/// Number of passages that are examined.
const SAMPLE: usize = 200;

/// With this share of passages in languages other than English, the multilingual model is used.
const FOREIGN_SHARE: f64 = 0.1;

/// Lists are in another language than English with so many words of another language,
const LEAST_FOREIGN_WORDS: usize = 3;

/// with such a share of these words,
const LEAST_FOREIGN_WORD_SHARE: f64 = 0.05;

/// and with a smaller share of English ones.
const MOST_ENGLISH_WORDS: f64 = 0.33;

/// Words by which the language of a list is known.
const KNOWN_WORDS: [Section; 5] = [
    Section::Common,
    Section::Stop,
    Section::QuestionStop,
    Section::Months,
    Section::Weekdays,
];

/// The first letter that is not Latin.
const BEHIND_LATIN: char = '\u{370}';

/// The choice of a model by the languages of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ModelChoice {
    /// The id of a compiled-in model.
    id: &'static str,
    /// The reason, as a sentence without the final full stop.
    why: String,
}

/// The files of the model for `config`: the one that made the published vectors, as long as it is
/// there, otherwise the one that the languages of the index call for. `models_dir` is the folder of
/// downloaded models.
///
/// Errors: those of the databases; a damaged matrix is ignored.
pub(super) fn chosen_files(config: &Config, models_dir: Option<&Path>) -> Result<ModelFiles> {
    if let Some(files) = maker_of_vectors(config, models_dir) {
        return Ok(files);
    }
    let files = ModelFiles::built_in(by_languages(&sampled_texts(config)?).id)?;
    as_configured(config, files)
}

/// The id of the compiled-in model that the languages of the index call for, whatever made its
/// vectors.
///
/// Errors: those of the database.
pub fn model_by_languages(config: &Config) -> Result<&'static str> {
    Ok(by_languages(&sampled_texts(config)?).id)
}

/// Why `embed.model: auto` uses the model `used`, as a sentence without the final full stop. If the
/// languages of the index call for another one by now, it names the command that takes it.
///
/// Errors: those of the database.
pub(super) fn reason_for(config: &Config, used: &str) -> Result<String> {
    let choice = by_languages(&sampled_texts(config)?);
    Ok(if choice.id == used {
        choice.why
    } else {
        format!(
            "it made the vectors that are there; `local-agent embed --model {AUTO}` would take \
             {} now, because {}",
            choice.id, choice.why
        )
    })
}

/// What is missing from a search that found nothing good, because the model reads English only and
/// the question is in another language; `None` if the model reads it, or vectors are not searched.
pub(super) fn question_in_another_language(
    config: &Config,
    library: &Library,
    question: &str,
) -> Option<Stale> {
    let has_other = all_built_in().any(|files| files.id() == MULTILINGUAL_ID);
    let is_english_only = library
        .model()
        .is_some_and(|model| !model.is_server() && model.id() == EMBEDDED_ID);
    let languages = languages_of_question(question);
    if !has_other || !is_english_only || languages.is_empty() {
        return None;
    }
    let language = match languages.as_slice() {
        all if all.contains(&Language::English) => return None,
        [one] => one.name(),
        _ => "another language",
    };
    Some(Stale {
        what: "meaning",
        why: format!(
            "the model {EMBEDDED_ID} reads English only, and the question is in {language}"
        ),
        fix: if is_chosen(config) {
            "local-agent embed --model multilingual-e5-small"
        } else {
            "set embed.model to multilingual-e5-small, then run `local-agent embed`"
        },
    })
}

/// Texts of the index, for the choice.
fn sampled_texts(config: &Config) -> Result<Vec<String>> {
    // An index that this program cannot read is ignored; code that needs it reports the error.
    match IndexReader::open(&config.index.db_path) {
        Ok(Some(index)) => Ok(index.sample_texts(SAMPLE)?),
        Ok(None) | Err(_) => Ok(Vec::new()),
    }
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

/// The model that computed the published vectors, if this program has it: compiled in or pulled.
fn maker_of_vectors(config: &Config, models_dir: Option<&Path>) -> Option<ModelFiles> {
    let stamp = vectors::stamp(&config.vectors_dir()).ok().flatten()?;
    let made_them = |files: &ModelFiles| embedding::fingerprint(files) == stamp.fingerprint;
    let built_in = all_built_in()
        .filter_map(|files| as_configured(config, files).ok())
        .find(made_them);
    built_in.or_else(|| {
        let store = EmbeddingStore::open_read(&config.embed.db_path).ok()??;
        let id = store.model_of(&stamp.fingerprint).ok()??;
        let files = ModelFiles::find(&id, models_dir?).ok()?;
        as_configured(config, files).ok().filter(made_them)
    })
}

fn by_languages(texts: &[String]) -> ModelChoice {
    let foreign = texts.iter().filter(|text| is_foreign(text)).count();
    let has_model = all_built_in().any(|files| files.id() == MULTILINGUAL_ID);
    let share = foreign as f64 / texts.len().max(1) as f64;
    if share < FOREIGN_SHARE && has_model && are_foreign_lists(texts) {
        return ModelChoice {
            id: MULTILINGUAL_ID,
            why: "the notes have no sentences, and their words are not English".to_owned(),
        };
    }
    let id = if share >= FOREIGN_SHARE && has_model {
        MULTILINGUAL_ID
    } else {
        EMBEDDED_ID
    };
    let why = match texts.len() {
        0 => "nothing is indexed yet".to_owned(),
        all if foreign == 0 && all >= SAMPLE => {
            format!(
                "none of {all} passages of the index, taken at random, is in another language than English"
            )
        }
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

/// Whether texts without sentences, such as lists, are in another language than English: their
/// words have letters that English does not have or are known of another language, and few are
/// English. An English list with a few foreign names has mostly English words.
fn are_foreign_lists(texts: &[String]) -> bool {
    let clear = texts.iter().filter(|text| detect(text).is_some()).count();
    if clear as f64 >= FOREIGN_SHARE * texts.len() as f64 {
        return false;
    }
    let all = distinct_words(&texts.join("\n"));
    let words: Vec<String> = all.split_whitespace().map(str::to_lowercase).collect();
    let share = |count: usize| count as f64 / words.len().max(1) as f64;
    let english = words.iter().filter(|word| is_english_word(word)).count();
    let foreign = words.iter().filter(|word| is_foreign_word(word)).count();
    foreign >= LEAST_FOREIGN_WORDS
        && share(foreign) >= LEAST_FOREIGN_WORD_SHARE
        && share(english) < MOST_ENGLISH_WORDS
}

fn is_english_word(lower: &str) -> bool {
    is_common_english_word(lower) || is_known_word(Language::English, lower)
}

/// Whether a word in lower case has a letter that English does not have, or is a common word of
/// another language and not of English.
fn is_foreign_word(lower: &str) -> bool {
    let mut others = Language::ALL.iter().skip(1);
    !lower.is_ascii() || !is_english_word(lower) && others.any(|other| is_known_word(*other, lower))
}

/// Whether a word in lower case is a function word, a month or a day of the week of `language`.
fn is_known_word(language: Language, lower: &str) -> bool {
    KNOWN_WORDS
        .iter()
        .any(|section| language.lexicon().contains(*section, lower))
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
    fn lists_of_words_are_known_by_their_letters_and_by_few_english_words() {
        let german = [
            "- Milch\n- Brot\n- Butter\n- Käse\n- Kartoffeln",
            "- Möhren säen\n- Rosen schneiden\n- Rasen mähen",
            "- Montag Schwimmen\n- Dienstag Elternabend",
        ];
        assert_eq!(chosen(&german), for_other_languages());
        let english = [
            "- crème fraîche\n- jalapeño\n- butter\n- rye flour\n- two lemons",
            "- purée the carrots\n- roast duck\n- café with Zoë\n- dentist on Monday",
            "- hammer\n- screwdriver\n- drill\n- pliers\n- new garden hose",
        ];
        assert_eq!(chosen(&english), EMBEDDED_ID);
        let code = [
            "- foo_bar\n- sshd\n- nginx\n- kubectl",
            "- grep\n- awk\n- xargs",
        ];
        assert_eq!(chosen(&code), EMBEDDED_ID);
    }

    #[test]
    fn one_foreign_passage_of_many_decides_nothing() {
        let mut texts = vec![ENGLISH; 30];
        texts.push(GERMAN);
        assert_eq!(chosen(&texts), EMBEDDED_ID);
    }
}
