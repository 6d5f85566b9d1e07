//! Counts the tokens of ASCII text and ideographs without creating them.
//!
//! Indexing counts every word of every file. The pieces of a lower-casing BERT vocabulary are
//! stored in two trees of letters, so that one walk from the start of a piece finds the longest one
//! that fits (Schuster and Nakajima 2012, as BERT uses it).

use std::collections::VecDeque;

use serde_json::Value;

/// A character that is neither letter nor digit; always a separate token.
const MARK: u8 = 254;
/// A byte that is not ASCII.
const FOREIGN: u8 = 255;

/// The class of each byte: 0 to 35 for letters of either case and digits; otherwise one of the
/// constants above.
const CLASSES: [u8; 256] = {
    let mut classes = [FOREIGN; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        classes[byte as usize] = match byte.to_ascii_lowercase() {
            letter @ b'a'..=b'z' => letter - b'a',
            digit @ b'0'..=b'9' => digit - b'0' + 26,
            _ => MARK,
        };
        byte += 1;
    }
    classes
};

/// The ASCII part of the vocabulary of a lower-casing BERT tokenizer.
pub(super) struct Words {
    /// Pieces that begin a word.
    starts: Tree,
    /// Pieces that continue a word, without their `##`.
    inner: Tree,
    /// Maximum length of a word; a longer one is one unknown token.
    longest_word: usize,
    /// Whether each ideograph is a separate word.
    ideographs: bool,
    /// Texts that are single tokens wherever they appear, such as `[SEP]`.
    added: Vec<String>,
}

/// Pieces of letters and digits, as a tree with one letter per level, stored in one array (Aoe
/// 1989: a double array). From the cell `i` the letter `c` leads to the cell `base + c`, if the
/// parent of that cell is `i`.
struct Tree(Vec<Cell>);

#[derive(Clone, Copy)]
struct Cell {
    parent: u32,
    /// The base of its children. [`END`]: a piece ends here.
    base: u32,
}

const END: u32 = 1 << 31;

/// The parent of an unused cell.
const NOBODY: u32 = u32::MAX;

/// Letters and digits.
const LETTERS: usize = 36;

/// An ideograph that every version of Unicode since the eighth contains, or a mark that is used
/// with them: always one token.
const fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4db5}' | '\u{4e00}'..='\u{9fd5}')
        || matches!(
            c,
            '、' | '。' | '，' | '！' | '？' | '：' | '；' | '「' | '」' | '（' | '）'
        )
}

impl Words {
    /// Reads `tokenizer.json`. `None` if the tokenizer is of another kind, so that only the
    /// tokenizer itself can count.
    pub(super) fn read<'v>(
        json: &[u8],
        vocabulary: impl Iterator<Item = &'v str>,
        added: Vec<String>,
    ) -> Option<Self> {
        let file: Value = serde_json::from_slice(json).ok()?;
        let is = |part: &str, kind: &str| file[part]["type"] == kind;
        let known = is("normalizer", "BertNormalizer") && is("pre_tokenizer", "BertPreTokenizer");
        let normal =
            file["normalizer"]["lowercase"] == true && file["normalizer"]["clean_text"] == true;
        // Added tokens are searched only at a `[` and between blanks. If one has another kind of
        // name, only the tokenizer itself can find it.
        if !known
            || !normal
            || !added
                .iter()
                .all(|added| added.starts_with('[') && added.bytes().all(|b| b.is_ascii_graphic()))
        {
            return None;
        }
        let prefix = file["model"]["continuing_subword_prefix"].as_str()?;
        let (inner, starts): (Vec<_>, Vec<_>) = vocabulary.partition(|piece| {
            piece
                .strip_prefix(prefix)
                .is_some_and(|rest| !rest.is_empty())
        });
        Some(Self {
            starts: Tree::of(starts.into_iter()),
            inner: Tree::of(
                inner
                    .into_iter()
                    .filter_map(|piece| piece.strip_prefix(prefix)),
            ),
            longest_word: usize::try_from(file["model"]["max_input_chars_per_word"].as_u64()?)
                .ok()?,
            ideographs: file["normalizer"]["handle_chinese_chars"] == true,
            added,
        })
    }

    /// The number of tokens in a stretch of text without white space; `None` when it contains other
    /// characters than ASCII and ideographs, or the name of an added token.
    pub(super) fn count(&self, stretch: &str) -> Option<usize> {
        let bytes = stretch.as_bytes();
        let (mut at, mut tokens) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            match CLASSES[usize::from(byte)] {
                FOREIGN => {
                    let sign = stretch
                        .get(at..)?
                        .chars()
                        .next()
                        .filter(|c| self.ideographs && stands_alone(*c))?;
                    tokens += 1;
                    at += sign.len_utf8();
                }
                MARK if byte == b'[' && self.is_added(&bytes[at..]) => return None,
                MARK => {
                    tokens += 1;
                    at += 1;
                }
                _ => {
                    let rest = &bytes[at..];
                    let length = rest
                        .iter()
                        .position(|b| CLASSES[usize::from(*b)] >= MARK)
                        .unwrap_or(rest.len());
                    tokens += self.word(&rest[..length]);
                    at += length;
                }
            }
        }
        Some(tokens)
    }

    /// Whether `text` may begin with the name of an added token, in either case: the tokenizer
    /// matches some of them in lower-cased text.
    fn is_added(&self, text: &[u8]) -> bool {
        self.added
            .iter()
            .any(|added| self.starts_with_added(text, added))
    }

    /// Whether the text begins with an added word, ignoring case.
    fn starts_with_added(&self, text: &[u8], added: &str) -> bool {
        text.get(..added.len())
            .is_some_and(|t| t.eq_ignore_ascii_case(added.as_bytes()))
    }

    /// The number of tokens in a word, which is not empty.
    fn word(&self, word: &[u8]) -> usize {
        if word.len() > self.longest_word {
            return 1;
        }
        let (mut at, mut tokens, mut tree) = (0, 0, &self.starts);
        while at < word.len() {
            match tree.longest(&word[at..]) {
                // No piece fits, so the whole word is one unknown token.
                0 => return 1,
                length => at += length,
            }
            tokens += 1;
            tree = &self.inner;
        }
        tokens
    }
}

impl Tree {
    /// Pieces with other characters than lower-case letters and digits are left out: no word
    /// contains them.
    fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut words: Vec<Vec<u8>> = words
            .filter(|word| is_plain_word(word))
            .map(classes_of)
            .collect();
        words.sort_unstable();
        words.dedup();
        let root = Cell {
            parent: NOBODY - 1,
            base: 0,
        };
        let mut tree = Self(vec![root]);
        let mut open = VecDeque::from([(0, &words[..], 0)]);
        let mut first_free = 1;
        while let Some((at, mut words, depth)) = open.pop_front() {
            if let Some((_, longer)) = words
                .split_first()
                .filter(|(first, _)| first.len() == depth)
            {
                tree.0[at].base |= END;
                words = longer;
            }
            if words.is_empty() {
                continue;
            }
            let groups: Vec<&[Vec<u8>]> = words.chunk_by(|a, b| a[depth] == b[depth]).collect();
            let letters: Vec<usize> = groups
                .iter()
                .map(|group| usize::from(group[0][depth]))
                .collect();
            let base = tree.room_for(&letters, &mut first_free);
            tree.0[at].base |= base as u32;
            for (letter, group) in letters.into_iter().zip(groups) {
                tree.0[base + letter] = Cell {
                    parent: at as u32,
                    base: 0,
                };
                open.push_back((base + letter, group, depth + 1));
            }
        }
        tree
    }

    /// The first base for which the cells of all `letters` are free.
    fn room_for(&mut self, letters: &[usize], first_free: &mut usize) -> usize {
        while !is_free_cell(&self.0, *first_free) {
            *first_free += 1;
        }
        let lowest = first_free.saturating_sub(letters.first().copied().unwrap_or(0));
        let fits = |base: &usize| {
            letters
                .iter()
                .all(|letter| is_free_cell(&self.0, base + letter))
        };
        let base = (lowest..).find(fits).unwrap_or(lowest);
        let free = Cell {
            parent: NOBODY,
            base: 0,
        };
        self.0.resize(self.0.len().max(base + LETTERS), free);
        base
    }

    /// The byte length of the longest piece at the beginning of `text` (letters and digits); 0 if
    /// no piece fits.
    fn longest(&self, text: &[u8]) -> usize {
        let (mut at, mut base, mut longest) = (0, self.0[0].base, 0);
        for (length, byte) in (1..).zip(text) {
            let next = (base & !END) as usize + usize::from(CLASSES[usize::from(*byte)]);
            let Some(cell) = self.0.get(next).filter(|cell| cell.parent == at) else {
                break;
            };
            (at, base) = (next as u32, cell.base);
            if base & END != 0 {
                longest = length;
            }
        }
        longest
    }
}

/// Whether the cell is unused.
fn is_free_cell(cells: &[Cell], at: usize) -> bool {
    cells.get(at).is_none_or(|cell| cell.parent == NOBODY)
}

/// The classes of a word's bytes.
fn classes_of(word: &str) -> Vec<u8> {
    word.bytes()
        .map(|b| CLASSES[usize::from(b)])
        .collect::<Vec<u8>>()
}

/// Whether the word has only small Latin letters and digits.
fn is_plain_word(word: &str) -> bool {
    word.bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn what_only_the_tokenizer_can_count_is_left_to_it() {
        let json = |normalizer: &str| {
            format!(
                r###"{{"normalizer":{{"type":"{normalizer}","lowercase":true,"clean_text":true}},
                "pre_tokenizer":{{"type":"BertPreTokenizer"}},
                "model":{{"continuing_subword_prefix":"##","max_input_chars_per_word":8}}}}"###
            )
        };
        let read = |normalizer: &str, added: &[&str]| {
            let added = added.iter().map(|text| (*text).to_owned()).collect();
            Words::read(
                json(normalizer).as_bytes(),
                ["a", "ab", "##c"].into_iter(),
                added,
            )
        };
        let words = read("BertNormalizer", &["[SEP]"]).unwrap();
        for (text, tokens) in [
            ("", Some(0)),
            ("a", Some(1)),
            ("ABcc", Some(3)),
            ("abca", Some(1)),
            ("a-ab.", Some(4)),
            ("ccccccccc", Some(1)),
            ("[sep]", None),
            ("[sea]", Some(3)),
            ("a[SEP]", None),
            ("ä", None),
            ("a\u{7}", None),
        ] {
            assert_eq!(words.count(text), tokens, "{text}");
        }
        assert!(read("Lowercase", &[]).is_none());
        assert!(read("BertNormalizer", &["<s>"]).is_none());
        assert!(read("BertNormalizer", &["[A B]"]).is_none());
    }

    proptest! {
        #[test]
        fn the_longest_piece_is_found(words in prop::collection::hash_set("[abz09]{0,4}", 0..30), text in "[abz09]{0,6}") {
            let tree = Tree::of(words.iter().map(String::as_str));
            let set: HashSet<&str> = words.iter().map(String::as_str).collect();
            let longest = (1..=text.len()).rev().find(|end| set.contains(&text[..*end])).unwrap_or(0);
            prop_assert_eq!(tree.longest(text.as_bytes()), longest);
        }
    }
}
