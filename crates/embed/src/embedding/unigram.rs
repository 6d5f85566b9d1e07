//! A Unigram tokenizer that is searched in its file, so that only the needed parts are read.
//!
//! Finds the most probable way of cutting a word into pieces (Kudo 2018, "Subword Regularization"),
//! like the library `tokenizers`. The file `tokenizer.unigram` is little-endian and has these parts
//! in order:
//!
//! | part | bytes |
//! | --- | --- |
//! | `LAUNIGR1` | 8 |
//! | pieces n, bytes of their text t, ids of first, last and unknown token, mapped characters, bytes m of the map: u32 each | 28 |
//! | length of each piece, pieces sorted by their bytes | n |
//! | id of each piece, u32 | 4 n |
//! | log probability of each piece, f32 | 4 n |
//! | text of all pieces | t |
//! | map: character u32, count u8, that many characters u32; sorted | m |

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

/// The first bytes of the file.
pub(super) const MAGIC: &[u8; 8] = b"LAUNIGR1";

const HEADER: usize = 8 + 7 * 4;

/// The mark at the start of every word, in place of the blank.
const WORD_START: char = '\u{2581}';

/// The log probability of an unknown character is smaller by this much than that of the least
/// probable piece. The library uses the same constant.
const UNKNOWN_PENALTY: f64 = 10.0;

/// A vocabulary in its file.
pub(super) struct Unigram {
    data: Cow<'static, [u8]>,
    pieces: usize,
    /// The positions at which the parts begin.
    ids: usize,
    scores: usize,
    text: usize,
    /// The end of each piece, counted from `text`.
    ends: Vec<u32>,
    /// The map, by character.
    map: Vec<(u32, Vec<char>)>,
    first: u32,
    last: u32,
    unknown: u32,
    unknown_score: f64,
}

/// The best way to reach a position in a word.
#[derive(Debug, Clone, Copy)]
struct Step {
    score: f64,
    from: usize,
    id: u32,
}

impl Unigram {
    /// Reads the file; `None` if it is damaged.
    pub(super) fn read(data: Cow<'static, [u8]>) -> Option<Self> {
        if !data.starts_with(MAGIC) {
            return None;
        }
        let (pieces, bytes) = (field(&data, 0)? as usize, field(&data, 1)? as usize);
        let (mapped, map_bytes) = (field(&data, 5)? as usize, field(&data, 6)? as usize);
        let ids = HEADER + pieces;
        let scores = ids + 4 * pieces;
        let text = scores + 4 * pieces;
        let map = data.get(text + bytes..)?;
        let mut end = 0;
        let ends: Vec<u32> = data
            .get(HEADER..ids)?
            .iter()
            .map(|length| {
                end += u32::from(*length);
                end
            })
            .collect();
        if end as usize != bytes || map.len() != map_bytes {
            return None;
        }
        let least = (0..pieces)
            .map(|piece| score(&data, scores, piece))
            .fold(f64::INFINITY, f64::min);
        Some(Self {
            pieces,
            ids,
            scores,
            text,
            ends,
            map: read_map(map, mapped)?,
            first: field(&data, 2)?,
            last: field(&data, 3)?,
            unknown: field(&data, 4)?,
            unknown_score: least - UNKNOWN_PENALTY,
            data,
        })
    }

    /// The tokens before and after every input.
    pub(super) fn frame(&self) -> (u32, u32) {
        (self.first, self.last)
    }

    /// The ids of `text`, without the tokens around it.
    pub(super) fn ids(&self, text: &str) -> Vec<u32> {
        let (mut ids, mut word, mut steps) = (Vec::new(), String::new(), Vec::new());
        for part in self.normal(text).split_whitespace() {
            word.clear();
            word.push(WORD_START);
            word.push_str(part);
            self.cut(&word, &mut steps, &mut ids);
        }
        ids
    }

    /// Maps equivalent characters to the same characters, composed where that is possible.
    fn normal(&self, text: &str) -> String {
        let mut normal = String::with_capacity(text.len());
        if text.is_ascii() {
            text.chars()
                .for_each(&mut |c| self.push_normal(&mut normal, c));
        } else {
            text.nfc()
                .for_each(&mut |c| self.push_normal(&mut normal, c));
        }
        normal
    }

    /// Appends the characters to which the model's table maps `c`.
    fn push_normal(&self, normal: &mut String, c: char) {
        if c.is_ascii_graphic() || c == ' ' {
            normal.push(c);
            return;
        }
        match self
            .map
            .binary_search_by_key(&u32::from(c), |(from, _)| *from)
        {
            Ok(at) => normal.extend(self.map.get(at).into_iter().flat_map(|(_, to)| to)),
            Err(_) => normal.push(c),
        }
    }

    /// Appends the ids of the most probable way of cutting `word`.
    fn cut(&self, word: &str, steps: &mut Vec<Option<Step>>, ids: &mut Vec<u32>) {
        let bytes = word.as_bytes();
        steps.clear();
        steps.resize(bytes.len() + 1, None);
        for (at, c) in word.char_indices() {
            // Every position that begins a character is reachable: by a piece or as unknown.
            let before = if at == 0 {
                0.0
            } else {
                steps[at].map_or(0.0, |step| step.score)
            };
            let next = at + c.len_utf8();
            let mut whole = false;
            self.each_piece(&bytes[at..], |length, piece| {
                whole |= at + length == next;
                let score = before + score(&self.data, self.scores, piece);
                let id = number(&self.data, self.ids + 4 * piece).unwrap_or(self.unknown);
                better(&mut steps[at + length], score, at, id);
            });
            if !whole {
                better(
                    &mut steps[next],
                    before + self.unknown_score,
                    at,
                    self.unknown,
                );
            }
        }
        let begin = ids.len();
        let mut at = bytes.len();
        while let Some(step) = steps[at].filter(|_| at > 0) {
            // Several unknown characters in a row are one token.
            if step.id != self.unknown || ids[begin..].last() != Some(&self.unknown) {
                ids.push(step.id);
            }
            at = step.from;
        }
        ids[begin..].reverse();
    }

    /// Calls `take` with the length and number of every piece that is a prefix of `rest`, shortest
    /// first.
    fn each_piece(&self, rest: &[u8], mut take: impl FnMut(usize, usize)) {
        let (mut low, mut high) = (0, self.pieces);
        for (depth, byte) in rest.iter().enumerate() {
            // All pieces from low to high begin with the first `depth` bytes of `rest`.
            let byte_of = |piece: usize| self.piece(piece).get(depth).copied();
            low = first_where(low, high, |piece| byte_of(piece) >= Some(*byte));
            high = first_where(low, high, |piece| byte_of(piece) > Some(*byte));
            if low == high {
                return;
            }
            if self.piece(low).len() == depth + 1 {
                take(depth + 1, low);
            }
        }
    }

    /// The bytes of the piece with this number.
    fn piece(&self, piece: usize) -> &[u8] {
        let end = self.ends.get(piece).copied().unwrap_or_default() as usize;
        let before = piece
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or_default() as usize;
        self.data
            .get(self.text + start..self.text + end)
            .unwrap_or_default()
    }
}

/// A number of the header.
fn field(data: &[u8], at: usize) -> Option<u32> {
    number(data, 8 + 4 * at)
}

/// The first number from `low` to `high` for which `holds` is true; it must be true for all later
/// ones too.
fn first_where(mut low: usize, mut high: usize, holds: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

fn better(step: &mut Option<Step>, score: f64, from: usize, id: u32) {
    if step.is_none_or(|known| score > known.score) {
        *step = Some(Step { score, from, id });
    }
}

/// The u32 at `at`.
fn number(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..)?
        .first_chunk()
        .copied()
        .map(u32::from_le_bytes)
}

/// The log probability of the piece with this number.
fn score(data: &[u8], scores: usize, piece: usize) -> f64 {
    f64::from(f32::from_bits(
        number(data, scores + 4 * piece).unwrap_or_default(),
    ))
}

fn read_map(mut bytes: &[u8], count: usize) -> Option<Vec<(u32, Vec<char>)>> {
    let mut map = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        let from = number(bytes, 0)?;
        let many = usize::from(*bytes.get(4)?);
        let to = (0..many)
            .map(|at| number(bytes, 5 + 4 * at).and_then(char::from_u32))
            .collect::<Option<Vec<char>>>()?;
        map.push((from, to));
        bytes = bytes.get(5 + 4 * many..)?;
    }
    let sorted = map.is_sorted_by(|a, b| a.0 < b.0);
    (sorted && bytes.is_empty()).then_some(map)
}

#[cfg(all(test, feature = "multilingual-model"))]
mod tests {
    use super::*;
    use crate::models::{MULTILINGUAL_ID, ModelFiles};
    use proptest::prelude::*;
    use std::sync::OnceLock;
    use tokenizers::Model as _;
    use tokenizers::models::unigram;

    fn own() -> &'static Unigram {
        static OWN: OnceLock<Unigram> = OnceLock::new();
        OWN.get_or_init(|| {
            let files = ModelFiles::built_in(MULTILINGUAL_ID).unwrap();
            Unigram::read(Cow::Owned(files.tokenizer().to_vec())).unwrap()
        })
    }

    /// The library's model of the same pieces: ids are positions in its list.
    fn library() -> &'static unigram::Unigram {
        static LIBRARY: OnceLock<unigram::Unigram> = OnceLock::new();
        LIBRARY.get_or_init(|| {
            let own = own();
            let pieces = (0..own.pieces).map(|piece| {
                let text = String::from_utf8(own.piece(piece).to_vec()).unwrap();
                (text, score(&own.data, own.scores, piece))
            });
            let mut vocabulary = vec![("<unk>".to_owned(), 0.0)];
            vocabulary.extend(pieces);
            unigram::Unigram::from(vocabulary, Some(0), false).unwrap()
        })
    }

    fn same(text: &str) {
        let own = own();
        let mut wanted = Vec::new();
        for part in own.normal(text).split_whitespace() {
            for token in library().tokenize(&format!("{WORD_START}{part}")).unwrap() {
                let id = match token.id {
                    0 => own.unknown,
                    place => number(&own.data, own.ids + 4 * (place as usize - 1)).unwrap(),
                };
                wanted.push(id);
            }
        }
        assert_eq!(own.ids(text), wanted, "{text:?}");
    }

    #[test]
    fn ids_are_those_of_the_library() {
        for text in [
            "",
            "How long does the dough rest?",
            "Der Teig ruht über Nacht, u\u{308}ber Nacht.",
            "朝の仕込みは四時に始まる。面包发酵箱",
            "Тесто отдыхает ночью",
            "العجين يرتاح طوال الليل",
            "naïve ﬁne ½ ①\u{a0}x\t\r\ny \u{0}\u{7}z <s> </s> <mask>",
            "\u{1F35E}\u{1F35E} bread \u{10FFFF}\u{10FFFE}x",
        ] {
            same(text);
        }
    }

    #[test]
    fn texts_become_the_ids_that_the_model_was_trained_with() {
        // "query: how" with the ids of the published model.
        assert_eq!(own().ids("query: how"), [41, 1294, 12, 3642]);
        assert_eq!(own().frame(), (0, 2));
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let whole = own().data.to_vec();
        assert!(Unigram::read(Cow::Owned(whole[..whole.len() - 1].to_vec())).is_none());
        assert!(Unigram::read(Cow::Owned(b"LAUNIGR1".to_vec())).is_none());
        assert!(Unigram::read(Cow::Owned(Vec::new())).is_none());
    }

    proptest! {
        #[test]
        fn any_text_has_the_ids_of_the_library(text in "(\\PC|[a-zA-Zäöüßéа-яא-ת一-龥 .,]){0,60}") {
            same(&text);
        }
    }
}
