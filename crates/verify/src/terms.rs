//! The terms of a text: the units that can be related to each other or swapped with each other.

use std::ops::Range;

use super::atoms::{Atom, What};
use super::reading::Reading;
use super::text::{Lexicon, Text, Token};

/// The kind of a term; only terms of one kind can replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermKind {
    /// A word of the language.
    Word,
    /// A proper name or an abbreviation.
    Name,
    /// An identifier, path, key or option.
    Code,
    /// A number, date or version.
    Number,
    /// A word inside an identifier.
    Part,
}

/// One term.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// Its stem, or an identifier as a whole.
    pub id: u32,
    /// Its tokens.
    pub tokens: Range<usize>,
    /// Its kind.
    pub kind: TermKind,
    /// Whether it is an identifier of several tokens.
    pub is_compound: bool,
}

/// Maximum number of bytes of an identifier.
const LONGEST: usize = 120;

/// The terms of a text, in the order of their first tokens; an identifier before its parts.
pub(crate) fn terms(normal: &str, text: &Text, atoms: &[Atom], lexicon: &mut Lexicon) -> Vec<Term> {
    let tokens = &text.tokens;
    let mut counted = vec![false; tokens.len()];
    for atom in atoms {
        if matches!(atom.what, What::Number(_) | What::Date(_) | What::Time(_)) {
            let first = atom.tokens.start;
            counted.get_mut(first).into_iter().for_each(|c| *c = true);
        }
    }
    let mut out = Vec::with_capacity(tokens.len() / 2);
    let mut inside = 0;
    for (i, token) in tokens.iter().enumerate() {
        if i >= inside
            && let Some((end, name)) = compound(normal, tokens, i)
        {
            out.push(Term {
                id: lexicon.intern(&name),
                tokens: i..end,
                kind: TermKind::Code,
                is_compound: true,
            });
            inside = end;
        }
        if !(token.is_content() || token.number) {
            continue;
        }
        let word = normal.get(token.start..token.end).unwrap_or("");
        let is_counted = counted.get(i).copied().unwrap_or(false);
        let kind = if i < inside {
            TermKind::Part
        } else if token.number || is_counted {
            TermKind::Number
        } else {
            kind_of(token, word)
        };
        out.push(Term {
            id: token.id,
            tokens: i..i + 1,
            kind,
            is_compound: false,
        });
    }
    out
}

fn kind_of(token: &Token, word: &str) -> TermKind {
    let digit = word.contains(|c: char| c.is_ascii_digit());
    let capital_inside = word.chars().skip(1).any(char::is_uppercase);
    let small = word.contains(char::is_lowercase);
    if digit || capital_inside && small {
        TermKind::Code
    } else if token.capital && !token.first || capital_inside {
        TermKind::Name
    } else {
        TermKind::Word
    }
}

/// The identifier that begins at token `i`: its end, and its name in lower case. A symbol before it
/// is part of the name: `/MT` and `_MT` are different.
fn compound(normal: &str, tokens: &[Token], i: usize) -> Option<(usize, String)> {
    let first = tokens.get(i)?;
    let mut end = i + 1;
    let mut last = first;
    let mut signs = false;
    while let Some(next) = tokens.get(end) {
        let gap = normal.get(last.end..next.start)?;
        let joins = gap.is_empty() || gap.chars().all(is_joint);
        if !joins || next.end - first.start > LONGEST {
            break;
        }
        signs |= !gap.is_empty() && gap != "-" && gap != "'";
        last = next;
        end += 1;
    }
    let name = normal.get(first.start..last.end)?;
    let digits = name.contains(|c: char| c.is_ascii_digit());
    let letters = name.contains(char::is_alphabetic);
    let sign = sign_before(normal, first.start);
    let is_one = letters && (end > i + 1 && (signs || digits) || !sign.is_empty());
    is_one.then(|| (end, format!("{sign}{}", name.to_lowercase())))
}

/// Characters that join the parts of an identifier.
fn is_joint(c: char) -> bool {
    matches!(
        c,
        '_' | '.' | ':' | '/' | '\\' | '-' | '#' | '@' | '=' | '+' | '$' | '*'
    )
}

/// The symbol that begins an identifier at byte `start`: `/x`, `--x`, `.x`.
fn sign_before(normal: &str, start: usize) -> &str {
    let before = normal.get(..start).unwrap_or("");
    let bare = before.trim_end_matches(['/', '_', '.', '#', '@', '$', '-']);
    let sign = before.get(bare.len()..).unwrap_or("");
    let begins = bare.is_empty()
        || bare.ends_with(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | '[' | '|' | ','));
    if begins && sign.len() <= 2 { sign } else { "" }
}

/// Words that begin a new statement inside a sentence.
const OPENERS: [&str; 23] = *list!("terms.openers");

/// For every token of a reading: the number of its part of the sentence.
pub(crate) fn parts(reading: &Reading) -> Vec<u32> {
    let mut out = Vec::with_capacity(reading.text.tokens.len());
    let mut part = 0;
    for sentence in &reading.text.sentences {
        part += 1;
        let mut before: Option<&Token> = None;
        let mut has_content = false;
        for token in reading.text.of(sentence) {
            let gap = before.map_or("", |b| reading.normal.get(b.end..token.start).unwrap_or(""));
            let sign = gap.contains([';', '—', '(', ')', '|', '；', '：'])
                || gap.contains(" – ")
                || gap.contains(" - ")
                || gap.contains(": ");
            // "It was not, she wrote it": the correction comes after the comma.
            let word = reading.lower_word(token);
            let ends = gap.contains(',') || matches!(&*word, "and" | "und");
            let denial = !has_content && ends && before.is_some_and(Token::negates);
            if before.is_some() && (sign || denial || OPENERS.contains(&&*word)) {
                part += 1;
                has_content = false;
            }
            has_content |= token.is_content();
            out.push(part);
            before = Some(token);
        }
    }
    out
}
