//! A text read for comparison: words, atoms, and where each stem stands. Made once for every item of evidence.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use super::atoms::{Atom, atoms};
use super::checks::Thing;
use super::text::{Lexicon, Sentence, Text, Token};

/// A text read for comparison.
#[derive(Default)]
pub struct Reading {
    /// The normalised text.
    pub normal: String,
    /// Its words.
    pub text: Text,
    /// Its atoms, in order.
    pub atoms: Vec<Atom>,
    /// Stem → sentences that hold it, ascending.
    stems: HashMap<u32, Vec<u32>>,
    /// First letters of a stem → sentences that hold one like it, ascending.
    alike: HashMap<u32, Vec<u32>>,
    /// What can be mixed up in it; filled when it is first asked for.
    pub things: OnceCell<Vec<(Range<usize>, Thing)>>,
}

/// How much a word counts that is only alike: the first five letters of the stems are the same.
pub const ALIKE: f64 = 0.8;

impl Reading {
    /// Reads `normal`, cut into sentences at `cuts`.
    pub fn of(normal: &str, cuts: &[Range<usize>], lexicon: &mut Lexicon) -> Self {
        let text = Text::read(normal, cuts, lexicon);
        let atoms = atoms(normal, &text);
        let mut this = Self { normal: normal.to_owned(), text, atoms, ..Self::default() };
        for (n, sentence) in this.text.sentences.iter().enumerate() {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            for token in this.text.of(sentence) {
                add(&mut this.stems, token.id, n);
                if let Some(like) = lexicon.alike(token.id) {
                    add(&mut this.alike, like, n);
                }
            }
        }
        this
    }

    /// A claim: one sentence, whatever stops it holds.
    pub fn claim(normal: &str, lexicon: &mut Lexicon) -> Self {
        Self::of(normal, std::slice::from_ref(&(0..normal.len())), lexicon)
    }

    /// The sentences that hold this stem.
    pub fn sentences_with(&self, id: u32) -> &[u32] {
        self.stems.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The sentences that hold a stem like it.
    pub fn sentences_like(&self, id: u32, lexicon: &Lexicon) -> &[u32] {
        lexicon.alike(id).and_then(|like| self.alike.get(&like)).map_or(&[], Vec::as_slice)
    }

    /// Whether the stem stands anywhere.
    pub fn has(&self, id: u32) -> bool {
        self.stems.contains_key(&id)
    }

    /// How well the stem is matched anywhere: 1, [`ALIKE`] or 0.
    pub fn matches(&self, id: u32, lexicon: &Lexicon) -> f64 {
        if self.has(id) {
            1.0
        } else if self.sentences_like(id, lexicon).is_empty() {
            0.0
        } else {
            ALIKE
        }
    }

    /// One sentence.
    pub fn sentence(&self, n: usize) -> Option<&Sentence> {
        self.text.sentences.get(n)
    }

    /// The tokens of sentence `n`.
    pub fn tokens_of(&self, n: usize) -> &[Token] {
        self.sentence(n).map_or(&[], |s| self.text.of(s))
    }

    /// The words of a token as they stand.
    pub fn word(&self, token: &Token) -> &str {
        self.normal.get(token.start..token.end).unwrap_or("")
    }

    /// The atoms that begin in sentence `n`.
    pub fn atoms_of(&self, n: usize) -> &[Atom] {
        let Some(sentence) = self.sentence(n) else { return &[] };
        let from = self.atoms.partition_point(|a| a.tokens.start < sentence.tokens.start);
        let to = self.atoms.partition_point(|a| a.tokens.start < sentence.tokens.end);
        self.atoms.get(from..to).unwrap_or(&[])
    }

    /// The sentence that a token stands in.
    pub fn sentence_of(&self, token: usize) -> usize {
        self.text.sentences.partition_point(|s| s.tokens.end <= token)
    }
}

fn add(list: &mut HashMap<u32, Vec<u32>>, key: u32, n: u32) {
    let known = list.entry(key).or_default();
    if known.last() != Some(&n) {
        known.push(n);
    }
}
