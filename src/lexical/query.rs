//! What a person typed → words, phrases, exclusions and filters. Never fails.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Filter names that always exist; frontmatter keys come on top.
const FILTERS: &[&str] = &["path", "tag", "source", "after", "before"];

/// A parsed query, as `--json` shows it. Words, phrases and exclusions stand as they were typed; search analyses them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Any of them may match; the more and the rarer, the better.
    pub words: Vec<String>,
    /// Each must stand in the chunk, or in title, aliases, headings, path, tags or link texts of its document, word for
    /// word.
    pub phrases: Vec<String>,
    /// Documents that hold one of them, in any of its forms, are left out.
    pub excluded: Vec<String>,
    /// Documents that hold one of them word for word are left out.
    pub excluded_phrases: Vec<String>,
    /// Not looked at by this room: they are evaluated where the rows are.
    pub filters: Vec<Filter>,
}

/// `key:value`, or `-key:value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// `path`, `tag`, `source`, `after`, `before`, or a frontmatter key as the index spells it.
    pub key: String,
    /// As typed, without quotes; not empty.
    pub value: String,
    pub negated: bool,
}

impl Query {
    /// Plain words: nothing in `text` has a special meaning.
    pub fn plain(text: &str) -> Self {
        Self { words: text.split_whitespace().map(str::to_owned).collect(), ..Self::default() }
    }

    /// The query language: `"a phrase"`; `-word`, `-"a phrase"` after white space, beside something positive;
    /// `key:value`, `key:"a value"` for the five filters and for `known_keys` (frontmatter keys of the index), at a
    /// word's start, not before `:` or `/`. Everything else is words, so that every text is a query.
    pub fn parse(text: &str, known_keys: &BTreeSet<String>) -> Self {
        let mut query = Self::default();
        let mut rest = text.trim_start();
        let mut spaced = rest.len() < text.len();
        while !rest.is_empty() {
            let negatable = rest.strip_prefix('-').filter(|r| !r.starts_with(|c: char| c == '-' || c.is_whitespace()));
            let (negated, body) = match negatable.filter(|r| !r.is_empty()) {
                Some(body) => (true, body),
                None => (false, rest),
            };
            let after = if let Some((key, value, after)) = filter(body, known_keys) {
                query.filters.push(Filter { key, value, negated });
                after
            } else if let Some((phrase, after)) = quoted(body).filter(|_| !negated || spaced) {
                let list = if negated { &mut query.excluded_phrases } else { &mut query.phrases };
                list.extend((!phrase.trim().is_empty()).then(|| phrase.trim().to_owned()));
                after
            } else {
                let negated = negated && spaced;
                let (word, after) = word(if negated { body } else { rest });
                if negated { &mut query.excluded } else { &mut query.words }.push(word.to_owned());
                after
            };
            rest = after.trim_start();
            spaced = rest.len() < after.len();
        }
        query.without_lone_exclusions()
    }

    /// Whether there is nothing to rank by.
    pub fn is_blank(&self) -> bool {
        self.words.is_empty() && self.phrases.is_empty()
    }

    /// An exclusion from nothing is meant as a search.
    fn without_lone_exclusions(mut self) -> Self {
        if self.is_blank() {
            self.words = std::mem::take(&mut self.excluded);
            self.phrases = std::mem::take(&mut self.excluded_phrases);
        }
        self
    }
}

/// The text between quotation marks at the start of `text`, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let close = match text.chars().next()? {
        '"' => '"',
        '\u{201c}' | '\u{201e}' => '\u{201d}',
        _ => return None,
    };
    let mut inner = text.chars();
    inner.next();
    inner.as_str().split_once(close)
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// `key:value` at the start of `text`: the key as the index spells it, the value, what follows.
fn filter<'a>(text: &'a str, known_keys: &BTreeSet<String>) -> Option<(String, String, &'a str)> {
    let (name, rest) = text.split_once(':')?;
    if name.is_empty() || name.contains(char::is_whitespace) || rest.starts_with([':', '/']) {
        return None;
    }
    let fixed = FILTERS.iter().find(|f| f.eq_ignore_ascii_case(name)).map(|f| (*f).to_owned());
    let folded = || name.to_lowercase();
    let key = fixed
        .or_else(|| known_keys.get(name).cloned())
        .or_else(|| known_keys.iter().find(|key| key.to_lowercase() == folded()).cloned())?;
    let (value, after) = quoted(rest).unwrap_or_else(|| word(rest));
    let value = value.trim();
    (!value.is_empty()).then(|| (key, value.to_owned(), after))
}
