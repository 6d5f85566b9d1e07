//! Parses a typed query into words, phrases, exclusions and filters. Never fails.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Filter names that always exist; frontmatter keys are added to them.
const FILTERS: &[&str] = &["path", "tag", "source", "after", "before"];

/// A parsed query, as `--json` shows it. Words, phrases and exclusions are kept as typed; search
/// analyses them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Query {
    /// Words of which any may match; more matches and rarer words rank higher.
    pub words: Vec<String>,
    /// Phrases that must all match word for word, in the chunk or in title, aliases, headings,
    /// path, tags or link texts of its document.
    pub phrases: Vec<String>,
    /// Documents that contain one of them, in any form, are left out.
    pub excluded: Vec<String>,
    /// Documents that contain one of them word for word are left out.
    pub excluded_phrases: Vec<String>,
    /// The filters. This module does not use them; they are evaluated where the rows are read.
    pub filters: Vec<Filter>,
}

/// A filter `key:value` or `-key:value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Filter {
    /// `path`, `tag`, `source`, `after`, `before`, or a frontmatter key as the index spells it.
    pub key: String,
    /// The value as typed, without quotes; not empty.
    pub value: String,
    /// Whether matching documents are left out instead of selected.
    pub negated: bool,
}

impl Query {
    /// A query of plain words, in which no character has a special meaning.
    pub fn plain(text: &str) -> Self {
        Self {
            words: text.split_whitespace().map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// The query language: `"a phrase"`; `-word`, `-"a phrase"` after white space, or at the start if
    /// the word is letters only, in addition to something positive or a filter; `key:value`,
    /// `key:"a value"` for the five filters and for `known_keys`
    /// (frontmatter keys of the index), at the start of a word, not before `:` or `/`. Everything
    /// else is words, so that every text is a valid query.
    pub fn parse(text: &str, known_keys: &BTreeSet<String>) -> Self {
        Self::parse_beside(text, known_keys).without_lone_exclusions()
    }

    /// Like [`Self::parse`], but exclusions stay exclusions if there is nothing else: for a text that
    /// is searched together with another one.
    pub fn parse_beside(text: &str, known_keys: &BTreeSet<String>) -> Self {
        let mut query = Self::default();
        let mut rest = text.trim_start();
        let mut spaced = rest.len() < text.len() || begins_with_exclusion(rest);
        while !rest.is_empty() {
            let negatable = rest
                .strip_prefix('-')
                .filter(|r| !r.starts_with(|c: char| c == '-' || c.is_whitespace()));
            let (negated, body) = match negatable.filter(|r| !r.is_empty()) {
                Some(body) => (true, body),
                None => (false, rest),
            };
            let after = if let Some((key, value, after)) = filter(body, known_keys) {
                query.filters.push(Filter {
                    key,
                    value,
                    negated,
                });
                after
            } else if let Some((phrase, after)) = quoted(body).filter(|_| !negated || spaced) {
                let list = if negated {
                    &mut query.excluded_phrases
                } else {
                    &mut query.phrases
                };
                list.extend((!phrase.trim().is_empty()).then(|| phrase.trim().to_owned()));
                after
            } else {
                let negated = negated && spaced;
                let (word, after) = word(if negated { body } else { rest });
                if negated {
                    &mut query.excluded
                } else {
                    &mut query.words
                }
                .push(word.to_owned());
                after
            };
            rest = after.trim_start();
            spaced = rest.len() < after.len();
        }
        query
    }

    /// Whether the query has neither words nor phrases to rank by.
    pub fn is_blank(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty()
    }

    /// A query with only exclusions is treated as a search for these words.
    fn without_lone_exclusions(mut self) -> Self {
        if self.is_blank() && self.filters.is_empty() {
            self.words = std::mem::take(&mut self.excluded);
            self.phrases = std::mem::take(&mut self.excluded_phrases);
        }
        self
    }
}

/// Whether a text begins with `-word` or `-"a phrase"`. An option of a program, such as `-O2` or
/// `-n`, is a word to search for: it has a digit or is one letter.
fn begins_with_exclusion(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|body| {
        let (first, _) = word(body);
        let is_letters = first
            .chars()
            .all(|c| c.is_alphabetic() || ['-', '\'', '\u{2019}'].contains(&c));
        quoted(body).is_some() || is_letters && first.chars().nth(1).is_some()
    })
}

/// The text between quotation marks at the start of `text`, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut inner = text.chars();
    let close: &[char] = match inner.next()? {
        '"' => &['"'],
        '\u{201c}' => &['\u{201d}'],
        // German ends with the mark with which English begins.
        '\u{201e}' => &['\u{201c}', '\u{201d}'],
        _ => return None,
    };
    inner.as_str().split_once(close)
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Parses `key:value` at the start of `text`: the key as the index spells it, the value, the rest.
fn filter<'a>(text: &'a str, known_keys: &BTreeSet<String>) -> Option<(String, String, &'a str)> {
    let (name, rest) = text.split_once(':')?;
    if name.is_empty() || name.contains(char::is_whitespace) || rest.starts_with([':', '/']) {
        return None;
    }
    let fixed = FILTERS
        .iter()
        .find(|f| f.eq_ignore_ascii_case(name))
        .map(|f| (*f).to_owned());
    let key = fixed
        .or_else(|| known_keys.get(name).cloned())
        .or_else(|| {
            known_keys
                .iter()
                .find(|key| key.to_lowercase() == name.to_lowercase())
                .cloned()
        })?;
    let (value, after) = quoted(rest).unwrap_or_else(|| word(rest));
    let value = value.trim();
    (!value.is_empty()).then(|| (key, value.to_owned(), after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Query {
        Query::parse(
            text,
            &BTreeSet::from([
                "status".to_owned(),
                "Due Date".to_owned(),
                "author".to_owned(),
            ]),
        )
    }

    fn shown(text: &str) -> String {
        serde_json::to_string(&parse(text)).unwrap()
    }

    #[test]
    fn words_phrases_exclusions_and_filters_are_told_apart() {
        insta::assert_snapshot!(
            shown(r#"garden "raised beds" -slugs -"copper tape" tag:food path:"my notes/" -status:done"#),
            @r#"{"words":["garden"],"phrases":["raised beds"],"excluded":["slugs"],"excluded_phrases":["copper tape"],"filters":[{"key":"tag","value":"food","negated":false},{"key":"path","value":"my notes/","negated":false},{"key":"status","value":"done","negated":true}]}"#
        );
    }

    #[test]
    fn a_hyphen_excludes_only_after_white_space_beside_something_positive() {
        assert_eq!(parse("-O2 flag").words, ["-O2", "flag"]);
        assert_eq!(parse("e-mail well-known").words, ["e-mail", "well-known"]);
        assert_eq!(parse("a - b").words, ["a", "-", "b"]);
        assert_eq!(parse("git --amend").words, ["git", "--amend"]);
        assert_eq!(parse(" -cats").words, ["cats"]);
        assert_eq!(parse("dogs -cats").excluded, ["cats"]);
    }

    #[test]
    fn an_exclusion_at_the_start_excludes() {
        let query = parse("-flour rye");
        assert_eq!(
            (query.excluded, query.words),
            (words("flour"), words("rye"))
        );
        let query = parse("-\"white flour\" rye");
        assert_eq!(query.excluded_phrases, ["white flour"]);
        assert_eq!(query.words, ["rye"]);
        assert_eq!(parse("-Blätter-Teig Brot").excluded, ["Blätter-Teig"]);
        assert_eq!(parse("-n option").words, ["-n", "option"]);
        assert_eq!(parse("-flour").words, ["flour"]);
    }

    #[test]
    fn an_exclusion_beside_a_filter_is_not_searched_for() {
        for text in ["tag:food -flour", "-flour tag:food"] {
            let query = parse(text);
            assert!(query.is_blank(), "{text}");
            assert_eq!(query.excluded, ["flour"], "{text}");
        }
        let beside = Query::parse_beside("-flour", &BTreeSet::new());
        assert_eq!(
            (beside.excluded, beside.words),
            (words("flour"), Vec::new())
        );
    }

    fn words(text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    #[test]
    fn only_known_names_filter_and_not_before_a_colon_or_slash() {
        for text in [
            "std::vector",
            "https://a.b/c",
            "path://x",
            "tag::x",
            "note:this",
            "x tag: y",
            "12:30",
            "my-tag:x:",
        ] {
            assert!(parse(text).filters.is_empty(), "{text}");
        }
        assert_eq!(parse("AFTER:2024-01-01").filters[0].key, "after");
        assert_eq!(parse("Status:open").filters[0].key, "status");
        assert_eq!(parse("xpath:a").words, ["xpath:a"]);
    }

    #[test]
    fn an_unclosed_quotation_mark_is_no_phrase() {
        assert_eq!(parse("\"open end").words, ["\"open", "end"]);
        assert_eq!(
            parse("\u{201c}smart quotes\u{201d} x").phrases,
            ["smart quotes"]
        );
        for close in ["\u{201c}", "\u{201d}"] {
            let text = format!("x \u{201e}zwei Worte{close} -\u{201e}nicht diese{close}");
            assert_eq!(parse(&text).phrases, ["zwei Worte"]);
            assert_eq!(parse(&text).excluded_phrases, ["nicht diese"]);
        }
    }

    #[test]
    fn plain_text_has_no_language() {
        let query = Query::plain("tag:x -y \"z");
        assert_eq!(query.words, ["tag:x", "-y", "\"z"]);
    }

    proptest! {
        #[test]
        fn every_text_is_a_query(text in any::<String>()) {
            let query = parse(&text);
            let json = serde_json::to_string(&query).unwrap();
            prop_assert_eq!(serde_json::from_str::<Query>(&json).unwrap(), query);
        }

        #[test]
        fn every_mixture_of_marks_is_a_query(text in "[\"\u{201c}\u{201d}a: /-]{0,24}|(tag:|-|\"|status:| |x){0,12}") {
            let query = parse(&text);
            prop_assert!(query.filters.iter().all(|f| !f.value.is_empty()));
            let is_list = !query.filters.is_empty();
            prop_assert!(!query.is_blank() || is_list || query.excluded.is_empty());
        }
    }
}
