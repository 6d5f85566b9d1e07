//! The vocabulary of a WordPiece tokenizer, read in one pass into three blocks of memory.
//!
//! A process that embeds one question spends most of its time on start-up, and most of that on the
//! library's model: it copies thirty thousand pieces one by one into two maps. Everything else
//! (normalisation, words, special tokens) is still done by the library; this module only does the
//! look-up and the greedy splitting of a word (Schuster and Nakajima 2012, as BERT uses it).

use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};

use foldhash::fast::RandomState;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use tokenizers::models::wordpiece::WordPieceTrainer;
use tokenizers::{Model, Token};

/// Pieces and their ids.
#[derive(Debug, Default)]
struct Vocabulary {
    /// All pieces, concatenated.
    text: String,
    /// Where each piece ends in `text`, and its id.
    pieces: Vec<(u32, u32)>,
    /// A hash table of piece numbers, counted from 1; 0 is an empty slot. Its length is a power of
    /// two, and it is at most half full.
    table: Vec<u32>,
    /// The byte length of the longest piece.
    longest: usize,
    hasher: RandomState,
}

/// The model of a WordPiece tokenizer, as in `tokenizer.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pieces {
    #[serde(rename = "type", default)]
    _type: Kind,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: Vocabulary,
}

#[derive(Debug, Default, Deserialize)]
enum Kind {
    #[default]
    WordPiece,
}

impl Vocabulary {
    /// The piece with this number, counted from 0.
    fn piece(&self, number: usize) -> &str {
        let start = if number == 0 {
            0
        } else {
            self.pieces[number - 1].0 as usize
        };
        &self.text[start..self.pieces[number].0 as usize]
    }

    /// The slot of `piece` in `table`, or the slot where it would be inserted.
    fn place(&self, piece: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hasher.hash_one(piece.as_bytes()) as usize & mask;
        while let Some(number) = (self.table[place] as usize).checked_sub(1) {
            if self.piece(number) == piece {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    fn id(&self, piece: &str) -> Option<u32> {
        if piece.len() > self.longest || self.table.is_empty() {
            return None;
        }
        let number = (self.table[self.place(piece)] as usize).checked_sub(1)?;
        Some(self.pieces[number].1)
    }

    /// Gives the text after the last piece an id. If the piece exists already, its id is replaced.
    fn insert(&mut self, start: usize, id: u32) -> Option<()> {
        if self.pieces.len() * 2 >= self.table.len() {
            self.table = vec![0; (self.table.len() * 2).max(1 << 16)];
            for number in 0..self.pieces.len() {
                let place = self.place(self.piece(number));
                self.table[place] = u32::try_from(number + 1).ok()?;
            }
        }
        let place = self.place(&self.text[start..]);
        if let Some(number) = (self.table[place] as usize).checked_sub(1) {
            self.pieces[number].1 = id;
            self.text.truncate(start);
            return Some(());
        }
        self.longest = self.longest.max(self.text.len() - start);
        self.pieces.push((u32::try_from(self.text.len()).ok()?, id));
        self.table[place] = u32::try_from(self.pieces.len()).ok()?;
        Some(())
    }
}

/// Deserializes a key by appending it to a text.
struct Append<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a piece of text")
    }

    fn visit_str<E>(self, piece: &str) -> Result<(), E> {
        self.0.push_str(piece);
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Vocabulary;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("pieces of text with their ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocabulary, A::Error> {
                // Enough capacity for most vocabularies; unused capacity costs nothing.
                let mut vocabulary = Vocabulary {
                    text: String::with_capacity(1 << 18),
                    pieces: Vec::with_capacity(1 << 15),
                    ..Vocabulary::default()
                };
                loop {
                    let start = vocabulary.text.len();
                    if map.next_key_seed(Append(&mut vocabulary.text))?.is_none() {
                        return Ok(vocabulary);
                    }
                    let id = map.next_value()?;
                    vocabulary
                        .insert(start, id)
                        .ok_or_else(|| de::Error::custom("too many pieces"))?;
                }
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// The first letter of the first script after Latin in Unicode: Greek.
const BEHIND_LATIN: char = '\u{370}';

/// The largest share of pieces with other letters at which a vocabulary counts as Latin script.
/// Vocabularies of English models contain some single letters of other scripts, a few pieces in a
/// hundred. In multilingual and Chinese ones it is more than half.
const MOST_FOREIGN: f32 = 0.2;

impl Pieces {
    /// Whether the vocabulary was made for languages of Latin script, so that it cuts words of
    /// other scripts into single letters.
    pub(super) fn is_latin(&self) -> bool {
        let all = self.vocab.pieces.len();
        let count = (0..all)
            .filter(|number| self.is_foreign_piece(*number))
            .count();
        (count as f32) < MOST_FOREIGN * all as f32
    }

    /// Whether the piece has a letter that is not Latin.
    fn is_foreign_piece(&self, number: usize) -> bool {
        let letter = |c: char| c.is_alphabetic() && c >= BEHIND_LATIN;
        self.vocab.piece(number).chars().any(letter)
    }

    fn unknown(&self, word: &str) -> tokenizers::Result<Vec<Token>> {
        let id = self
            .vocab
            .id(&self.unk_token)
            .ok_or("the vocabulary lacks its token for what is unknown")?;
        Ok(vec![Token::new(
            id,
            self.unk_token.clone(),
            (0, word.len()),
        )])
    }
}

impl Model for Pieces {
    type Trainer = WordPieceTrainer;

    /// Repeatedly takes the longest piece that fits. If no piece fits, the whole word is one
    /// unknown token.
    fn tokenize(&self, word: &str) -> tokenizers::Result<Vec<Token>> {
        if word.chars().count() > self.max_input_chars_per_word {
            return self.unknown(word);
        }
        let (mut tokens, mut start, mut key) = (Vec::new(), 0, String::new());
        while start < word.len() {
            key.clear();
            if start > 0 {
                key.push_str(&self.continuing_subword_prefix);
            }
            let before = key.len();
            key.push_str(&word[start..]);
            let found = loop {
                if key.len() == before {
                    break None;
                }
                if let Some(id) = self.vocab.id(&key) {
                    break Some(id);
                }
                key.pop();
            };
            let Some(id) = found else {
                return self.unknown(word);
            };
            let end = start + key.len() - before;
            tokens.push(Token::new(id, key.clone(), (start, end)));
            start = end;
        }
        Ok(tokens)
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.vocab.id(token)
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        let number = self.vocab.pieces.iter().position(|(_, own)| *own == id)?;
        Some(self.vocab.piece(number).to_owned())
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        self.vocab
            .pieces
            .iter()
            .enumerate()
            .map(|(n, (_, id))| (self.vocab.piece(n).to_owned(), *id))
            .collect()
    }

    fn get_vocab_size(&self) -> usize {
        self.vocab.pieces.len()
    }

    fn save(&self, _: &Path, _: Option<&str>) -> tokenizers::Result<Vec<PathBuf>> {
        Err("a vocabulary is only read here".into())
    }

    fn get_trainer(&self) -> WordPieceTrainer {
        WordPieceTrainer::builder().build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokenizers::models::wordpiece::WordPiece;
    #[cfg(feature = "embedded-model")]
    use tokenizers::{
        DecoderWrapper, ModelWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper,
        TokenizerImpl,
    };

    const MODEL: &str = r###"{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
        "max_input_chars_per_word":8,"vocab":{"[UNK]":7,"a":1,"##b":2,"ab":3,"é":4,"##é\u0301":5,"a":9,"##":6,"\"":8,"##ab":0}}"###;

    #[test]
    fn a_word_is_cut_as_the_library_cuts_it() {
        let (own, other): (Pieces, WordPiece) = (
            serde_json::from_str(MODEL).unwrap(),
            serde_json::from_str(MODEL).unwrap(),
        );
        for word in [
            "",
            "a",
            "ab",
            "abb",
            "aab",
            "abab",
            "x",
            "ax",
            "é",
            "aé\u{301}",
            "\"",
            "#",
            "##",
            "bbbbbbbb",
            "ababababa",
        ] {
            assert_eq!(
                own.tokenize(word).unwrap(),
                other.tokenize(word).unwrap(),
                "{word}"
            );
        }
        assert_eq!(
            (own.token_to_id("a"), own.token_to_id("zz")),
            (Some(9), None)
        );
        assert_eq!(
            (own.id_to_token(9).unwrap(), own.id_to_token(1)),
            ("a".to_owned(), None)
        );
        assert_eq!(
            (own.get_vocab(), own.get_vocab_size()),
            (other.get_vocab(), other.get_vocab_size())
        );
    }

    #[test]
    fn what_is_not_such_a_model_is_refused() {
        for (from, to) in [
            ("WordPiece", "BPE"),
            ("\"unk_token\":\"[UNK]\",", ""),
            (":7", ":-1"),
            (":7", ":4294967296"),
            ("\"type\"", "\"kind\""),
        ] {
            let bad = MODEL.replacen(from, to, 1);
            assert_ne!(bad, MODEL);
            assert!(serde_json::from_str::<Pieces>(&bad).is_err(), "{bad}");
        }
        // Without an unknown token, only known words can be split.
        let own: Pieces =
            serde_json::from_str(&MODEL.replacen("[UNK]\",", "[GONE]\",", 1)).unwrap();
        assert!(own.tokenize("ab").is_ok() && own.tokenize("x").is_err());
    }

    #[test]
    fn a_large_vocabulary_finds_all_of_its_pieces() {
        let mut vocabulary = Vocabulary::default();
        for id in 0..100_000_u32 {
            let start = vocabulary.text.len();
            vocabulary.text.push_str(&format!("piece {id}"));
            vocabulary.insert(start, id).unwrap();
        }
        assert!((0..100_000).all(|id| vocabulary.id(&format!("piece {id}")) == Some(id)));
        assert_eq!(vocabulary.id("piece 100000"), None);
    }

    #[cfg(feature = "embedded-model")]
    type Of<M> = TokenizerImpl<
        M,
        NormalizerWrapper,
        PreTokenizerWrapper,
        PostProcessorWrapper,
        DecoderWrapper,
    >;

    /// A text of one to twelve runs: pieces of a vocabulary, characters of one script, any
    /// characters, or one letter repeated.
    #[cfg(feature = "embedded-model")]
    fn made_up(pieces: &[String], next: &mut impl FnMut(u32) -> u32) -> String {
        const SCRIPTS: [(u32, u32); 16] = [
            (0x20, 0x7e),
            (0x00, 0x20),
            (0x7f, 0xa0),
            (0xa0, 0x24f),
            (0x300, 0x36f),
            (0x370, 0x5ff),
            (0x600, 0xdff),
            (0x1100, 0x11ff),
            (0x1e00, 0x1fff),
            (0x2000, 0x206f),
            (0x2e80, 0x30ff),
            (0x4e00, 0x9fff),
            (0xac00, 0xd7a3),
            (0xe000, 0xffff),
            (0x1f000, 0x1faff),
            (0x20000, 0x2fa1f),
        ];
        let mut text = String::new();
        for _ in 0..=next(12) {
            let kind = next(8);
            let length = if next(40) == 0 {
                60 + next(80)
            } else {
                1 + next(8)
            };
            match kind {
                0 | 1 => text
                    .push_str(pieces[next(pieces.len() as u32) as usize].trim_start_matches("##")),
                2 => text.extend((0..length).filter_map(|_| char::from_u32(next(0x11_0000)))),
                3 => text.push_str(
                    &char::from(b'a' + next(26) as u8)
                        .to_string()
                        .repeat(length as usize),
                ),
                _ => {
                    let (from, to) = SCRIPTS[next(SCRIPTS.len() as u32) as usize];
                    text.extend((0..length).filter_map(|_| char::from_u32(from + next(to - from))));
                }
            }
            if next(2) == 0 {
                text.push(' ');
            }
        }
        text
    }

    /// `LOCAL_AGENT_TEST_STRINGS` sets the number of texts. `LOCAL_AGENT_TEST_TEXT` names a file
    /// whose lines are tested first.
    #[cfg(feature = "embedded-model")]
    #[test]
    fn ids_are_those_of_the_library_on_real_and_made_up_texts() {
        let var = |name| std::env::var(name).ok();
        let count = var("LOCAL_AGENT_TEST_STRINGS").map_or(5_000, |n| n.parse().unwrap());
        let real = var("LOCAL_AGENT_TEST_TEXT").map_or_else(
            || include_str!("../../../../README.md").to_owned(),
            |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned(),
        );
        let files = crate::models::ModelFiles::embedded().unwrap();
        let mut own: Of<Pieces> = serde_json::from_slice(files.tokenizer()).unwrap();
        let mut library: Of<ModelWrapper> = serde_json::from_slice(files.tokenizer()).unwrap();
        own.with_truncation(None).unwrap().with_padding(None);
        library.with_truncation(None).unwrap().with_padding(None);
        let mut pieces: Vec<String> = library.get_vocab(true).into_keys().collect();
        pieces.sort();
        let mut state = 7_u64;
        let mut next = |below: u32| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % u64::from(below)) as u32
        };
        let mut lines = real.lines();
        let (mut tokens, mut unknown) = (0, 0);
        for _ in 0..count {
            let text = lines
                .next()
                .map_or_else(|| made_up(&pieces, &mut next), str::to_owned);
            let (own, library) = (
                own.encode_fast(text.as_str(), false).unwrap(),
                library.encode_fast(text.as_str(), false).unwrap(),
            );
            assert_eq!(own.get_ids(), library.get_ids(), "{text:?}");
            tokens += own.len();
            unknown += own.get_ids().iter().filter(|id| **id == 100).count();
        }
        println!("{count} texts, {tokens} tokens, {unknown} of them unknown");
        assert!(tokens > count && unknown > 0 && unknown < tokens * 3 / 4);
    }
}
