//! Chooses the words of a query that are searched. Question words are left out if other words
//! remain. They stay in the index, because phrases need them.

use local_agent_text::language::tokenize::{Analyzer, Token};
use local_agent_text::language::{Language, Section, detect};

use super::Query;

/// The first character after the Latin blocks of Unicode.
const BEHIND_LATIN: char = '\u{370}';

/// The words of `query` to search, without its phrases. `languages` are the languages of the index
/// besides English.
pub(super) fn searched_words(query: &Query, languages: &[Language]) -> String {
    let shouted = !query
        .words
        .iter()
        .any(|word| word.chars().any(char::is_lowercase));
    let languages = languages_of(query, languages);
    let asks = |word: &&String| {
        let word = bare(word);
        let name = is_in_capitals(word) && !shouted;
        !name && is_question_word(&word.to_lowercase(), &languages)
    };
    let (asking, rest): (Vec<&String>, Vec<&String>) = query.words.iter().partition(asks);
    if asking.is_empty() || (query.phrases.is_empty() && !says_something(&rest)) {
        return query.words.join(" ");
    }
    let rest: Vec<&str> = rest.into_iter().map(String::as_str).collect();
    rest.join(" ")
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
        searched_words(&Query::plain(text), &[Language::German])
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
}
