//! Chooses the words of a query that are searched. Question words are left out if other words
//! remain. They stay in the index, because phrases need them.

use local_agent_text::language::tokenize::{Analyzer, Token};
use local_agent_text::language::{Language, Section, detect, languages_of_question};

use super::{Query, Reader};

/// The first character after the Latin blocks of Unicode.
const BEHIND_LATIN: char = '\u{370}';

/// Operators of other search engines, which are no names.
const OPERATORS: [&str; 3] = ["AND", "OR", "NOT"];

/// The words of a query that are searched.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SearchedWords {
    /// The words, separated by blanks.
    pub text: String,
    /// Those in capitals that are words of grammar in lower case, so that they may be names (IT,
    /// WHO, US), in lower case.
    pub names: Vec<String>,
}

/// The words of `query` to search, without its phrases. `languages` are the languages of the index
/// besides English.
pub(super) fn searched_words(query: &Query, languages: &[Language]) -> SearchedWords {
    let languages = languages_of(query, languages);
    let rest = words_besides_question_words(query, &languages);
    let words: Vec<&str> = match &rest {
        Some(rest) => rest.iter().map(|word| word.as_str()).collect(),
        None => query.words.iter().map(String::as_str).collect(),
    };
    SearchedWords {
        text: words.join(" "),
        names: names_in(query),
    }
}

impl Reader {
    /// The words of a query that only ask, in the languages of the index or of the query; empty if
    /// nothing else remains. They are neither completed nor missed.
    pub fn question_words(&self, query: &Query) -> Vec<String> {
        let mut languages = languages_of(query, &self.languages);
        languages.extend(languages_of_question(&query.words.join(" ")));
        let rest = words_besides_question_words(query, &languages);
        let asks = |word: &&String| rest.as_ref().is_some_and(|rest| !rest.contains(word));
        query.words.iter().filter(asks).cloned().collect()
    }
}

/// The words of `query` without its question words; `None` if there are none, or nothing else
/// remains.
fn words_besides_question_words<'q>(
    query: &'q Query,
    languages: &[Language],
) -> Option<Vec<&'q String>> {
    let shouted = is_shouted(query);
    let asks = |word: &&String| {
        let word = bare(word);
        let name = is_in_capitals(word) && !shouted;
        !name && is_question_word(&word.to_lowercase(), languages)
    };
    let (asking, rest): (Vec<&String>, Vec<&String>) = query.words.iter().partition(asks);
    let says = says_something(&rest) || !names_in(query).is_empty();
    let nothing_else = query.phrases.is_empty() && !says;
    (!asking.is_empty() && !nothing_else).then_some(rest)
}

/// The words of grammar that a query writes in capitals among words in lower case.
fn names_in(query: &Query) -> Vec<String> {
    if is_shouted(query) {
        return Vec::new();
    }
    let words = query.words.iter().map(|word| bare(word));
    let names =
        words.filter(|word| is_in_capitals(word) && !OPERATORS.contains(word) && is_grammar(word));
    names.map(str::to_lowercase).collect()
}

/// Whether no word of a query has a letter in lower case, so that capitals say nothing.
fn is_shouted(query: &Query) -> bool {
    !query
        .words
        .iter()
        .any(|word| word.chars().any(char::is_lowercase))
}

/// Whether a word is nothing but a stop word.
fn is_grammar(word: &str) -> bool {
    !says_something(&[&word.to_owned()])
}

/// English, the languages of the index, and the question's own language if its letters identify it.
fn languages_of(query: &Query, index: &[Language]) -> Vec<Language> {
    let mut languages = vec![Language::English];
    languages.extend(index);
    if query
        .words
        .iter()
        .any(|word| word.chars().any(|c| c.is_alphabetic() && c >= BEHIND_LATIN))
    {
        languages.extend(detect(&query.words.join(" ")));
    }
    languages
}

/// `word` without surrounding punctuation and without what follows an apostrophe.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.split_once(['\'', '\u{2019}'])
        .map_or(word, |(before, _)| before)
}

/// Whether a word is in capitals, so that it may be a name: WHO, US, IT.
fn is_in_capitals(word: &str) -> bool {
    word.chars().count() > 1 && word.chars().all(char::is_uppercase)
}

fn is_question_word(lower: &str, languages: &[Language]) -> bool {
    languages
        .iter()
        .any(|language| language.lexicon().contains(Section::QuestionStop, lower))
}

/// Whether `words` contains more than stop words.
fn says_something(words: &[&String]) -> bool {
    let mut analyzer = Analyzer::default();
    let mut says = false;
    for word in words {
        analyzer.analyze(word, &mut |token| {
            says |= !matches!(token, Token::Word { stop: true, .. });
        });
    }
    says
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(text: &str) -> String {
        searched_words(&Query::plain(text), &[Language::German]).text
    }

    #[test]
    fn words_that_only_ask_are_left_out() {
        assert_eq!(searched("What does the proofbox do?"), "proofbox");
        assert_eq!(searched("what's a levain"), "levain");
        assert_eq!(searched("Wie lange ruht der Teig?"), "lange ruht Teig?");
        assert_eq!(searched("что такое закваска"), "такое закваска");
    }

    #[test]
    fn they_stay_when_nothing_else_is_there() {
        assert_eq!(searched("who are you"), "who are you");
    }

    #[test]
    fn names_in_capitals_stay() {
        assert_eq!(searched("What did WHO say about IT?"), "WHO say IT?");
        assert_eq!(searched("WHO OWNS THE OVEN"), "OWNS OVEN");
    }

    #[test]
    fn a_name_that_is_a_word_of_grammar_in_lower_case_is_enough_to_search_for() {
        let names = |text: &str| searched_words(&Query::plain(text), &[]).names;
        assert_eq!(searched("what is IT"), "IT");
        assert_eq!(names("what is IT?"), ["it"]);
        assert!(searched("what does the WHO say").contains("WHO"));
        assert_eq!(
            names("what is NATO"),
            Vec::<String>::new(),
            "no word of grammar"
        );
        assert_eq!(
            names("WHAT IS IT"),
            Vec::<String>::new(),
            "all is in capitals"
        );
        assert_eq!(names("what is it"), Vec::<String>::new());
        assert_eq!(names("rye OR spelt"), Vec::<String>::new());
    }
}
