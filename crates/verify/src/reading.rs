//! A text parsed for comparison: its words, its atoms, and the sentences that contain each stem.
//! Every item of evidence is parsed once.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use super::atoms::{Atom, CURRENCY_SIGNS, MeasureUnit, What, atoms, unit};
use super::checks::{Family, Language, Thing, families};
use super::statements::{CellVerdict, Statement, statements, verdicts};
use super::terms::{Term, parts, terms};
use super::text::{Cut, Lexicon, Sentence, Text, Token, lower_case};
use local_agent_text::markdown::BlockRole;

/// A text parsed for comparison.
#[derive(Default)]
pub(crate) struct Reading {
    /// The normalised text.
    pub normal: String,
    /// Its words.
    pub text: Text,
    /// Its atoms, in order.
    pub atoms: Vec<Atom>,
    /// Its terms, in order.
    pub terms: Vec<Term>,
    /// Stem → sentences that contain it, ascending.
    stems: Postings,
    /// First letters of a stem → sentences that contain a similar one, ascending.
    alike: Postings,
    /// The things in it that can be confused; this and the following fields are computed on first
    /// use.
    pub things: OnceCell<Vec<(Range<usize>, Thing)>>,
    /// Its language, if it is known.
    pub language: OnceCell<Option<Language>>,
    /// Of a claim: for each token, whether it is of a value that follows from the cited text in other
    /// words. Such a token needs no support by words.
    pub explained: OnceCell<Vec<bool>>,
    lower: OnceCell<String>,
    units: OnceCell<Vec<MeasureUnit>>,
    capitals: OnceCell<Capitals>,
    parts: OnceCell<Vec<u32>>,
    statements: OnceCell<Vec<Statement>>,
    families: OnceCell<Vec<Family>>,
}

/// The capitalised words of a text.
pub(crate) struct Capitals {
    /// In lower case; sorted, each once.
    pub words: Vec<String>,
    /// Their first letters, in the order of the text.
    pub letters: Vec<char>,
}

/// An index from a number to the sentences that contain it. It uses sorted lists instead of maps,
/// because one is built for every claim.
#[derive(Default)]
struct Postings {
    /// Ascending, each once.
    keys: Vec<u32>,
    /// Where the sentences of each key end in `sentences`.
    ends: Vec<u32>,
    sentences: Vec<u32>,
}

impl Postings {
    /// Builds the index from pairs of key and sentence, in any order and with repetitions.
    fn of(pairs: Vec<(u32, u32)>) -> Self {
        let mut pairs = sorted(pairs);
        pairs.dedup();
        let mut this = Self {
            sentences: pairs.iter().map(|(_, n)| *n).collect(),
            ..Self::default()
        };
        for same in pairs.chunk_by(|a, b| a.0 == b.0) {
            let before = this.ends.last().copied().unwrap_or(0);
            this.keys.extend(same.first().map(|(key, _)| *key));
            this.ends
                .push(before + u32::try_from(same.len()).unwrap_or(u32::MAX));
        }
        this
    }

    /// The sentences of a key, ascending.
    fn get(&self, key: u32) -> &[u32] {
        let Ok(at) = self.keys.binary_search(&key) else {
            return &[];
        };
        let start = at.checked_sub(1).map_or(0, |before| self.end_of(before));
        self.sentences.get(start..self.end_of(at)).unwrap_or(&[])
    }

    /// Where the sentences of the key at `at` end.
    fn end_of(&self, at: usize) -> usize {
        self.ends.get(at).map_or(0, |end| *end as usize)
    }
}

/// Sorts in ascending order. Keys are stem numbers, which are small. If there are not many more
/// keys than pairs, a counting sort is used, first by sentence, then by key.
fn sorted(mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let (keys, sentences) = (
        highest(&pairs, |pair| pair.0),
        highest(&pairs, |pair| pair.1),
    );
    if pairs.len() < 64 || keys.max(sentences) > pairs.len() * 4 {
        pairs.sort_unstable();
        return pairs;
    }
    let by_sentence = counting_sort(&pairs, |pair| pair.1, sentences);
    counting_sort(&by_sentence, |pair| pair.0, keys)
}

fn highest(pairs: &[(u32, u32)], of: fn(&(u32, u32)) -> u32) -> usize {
    pairs.iter().map(of).max().map_or(0, |most| most as usize)
}

/// Sorts by one part, which is at most `most`; pairs with the same stay in their order.
fn counting_sort(pairs: &[(u32, u32)], of: fn(&(u32, u32)) -> u32, most: usize) -> Vec<(u32, u32)> {
    let mut starts = vec![0_usize; most + 2];
    for pair in pairs {
        starts[of(pair) as usize + 1] += 1;
    }
    for key in 1..starts.len() {
        starts[key] += starts[key - 1];
    }
    let mut out = vec![(0, 0); pairs.len()];
    for pair in pairs {
        let next = &mut starts[of(pair) as usize];
        out[*next] = *pair;
        *next += 1;
    }
    out
}

/// The weight of a word that is only similar: the first five letters of the stems are the same.
pub(crate) const ALIKE: f64 = 0.8;

impl Reading {
    /// Parses `normal`, cut into sentences at `cuts`.
    pub(crate) fn of(normal: &str, cuts: &[Cut], lexicon: &mut Lexicon) -> Self {
        let text = Text::read(normal, cuts, lexicon);
        let atoms = atoms(normal, &text);
        let mut stems = Vec::with_capacity(text.tokens.len());
        for (n, sentence) in (0_u32..).zip(&text.sentences) {
            stems.extend(text.of(sentence).iter().map(|token| (token.id, n)));
        }
        let mut alike = Vec::with_capacity(stems.len());
        alike.extend(
            stems
                .iter()
                .filter_map(|(id, n)| Some((lexicon.alike(*id)?, *n))),
        );
        let terms = terms(normal, &text, &atoms, lexicon);
        for (n, sentence) in (0_u32..).zip(&text.sentences) {
            let from = terms.partition_point(|t| t.tokens.start < sentence.tokens.start);
            let to = terms.partition_point(|t| t.tokens.start < sentence.tokens.end);
            let compounds = terms.get(from..to).unwrap_or(&[]).iter();
            stems.extend(compounds.filter(|t| t.is_compound).map(|t| (t.id, n)));
        }
        let (stems, alike) = (Postings::of(stems), Postings::of(alike));
        Self {
            normal: normal.to_owned(),
            text,
            atoms,
            terms,
            stems,
            alike,
            ..Self::default()
        }
    }

    /// A claim: treated as one sentence, whatever punctuation it has.
    pub(crate) fn claim(normal: &str, lexicon: &mut Lexicon) -> Self {
        let whole = Cut {
            bytes: 0..normal.len(),
            role: BlockRole::Paragraph,
            block: 0,
        };
        Self::of(normal, &[whole], lexicon)
    }

    /// The sentences that contain this stem.
    pub(crate) fn sentences_with(&self, id: u32) -> &[u32] {
        self.stems.get(id)
    }

    /// The sentences that contain a similar stem.
    pub(crate) fn sentences_like(&self, id: u32, lexicon: &Lexicon) -> &[u32] {
        lexicon.alike(id).map_or(&[], |like| self.alike.get(like))
    }

    /// Whether the token at `at` is of a value that follows from the cited text in other words.
    pub(crate) fn is_explained(&self, at: usize) -> bool {
        let explained = self.explained.get();
        explained.and_then(|all| all.get(at)).is_some_and(|is| *is)
    }

    /// Whether the stem appears anywhere.
    pub(crate) fn has(&self, id: u32) -> bool {
        !self.stems.get(id).is_empty()
    }

    /// How well the text matches the stem: 1 for the stem itself, [`ALIKE`] for a similar one,
    /// otherwise 0.
    pub(crate) fn matches(&self, id: u32, lexicon: &Lexicon) -> f64 {
        if self.has(id) {
            1.0
        } else if self.sentences_like(id, lexicon).is_empty() {
            0.0
        } else {
            ALIKE
        }
    }

    /// The whole text in lower case.
    pub(crate) fn lower(&self) -> &str {
        self.lower.get_or_init(|| self.normal.to_lowercase())
    }

    /// The units that the text names, each once: words, units of its numbers, and currency and
    /// percent signs.
    pub(crate) fn units(&self) -> &[MeasureUnit] {
        self.units.get_or_init(|| self.find_units())
    }

    fn find_units(&self) -> Vec<MeasureUnit> {
        let words = self.text.tokens.iter().filter_map(|t| unit(self.word(t)));
        let counted = self.atoms.iter().filter_map(|a| match &a.what {
            What::Number(n) => n.unit,
            _ => None,
        });
        let mut out: Vec<MeasureUnit> = Vec::new();
        for unit in words.chain(counted).chain(self.units_of_signs()) {
            if !out.contains(&unit) {
                out.push(unit);
            }
        }
        out
    }

    /// The units of currency and percent signs.
    fn units_of_signs(&self) -> impl Iterator<Item = MeasureUnit> {
        const USUAL: [&str; 5] = ["$", "€", "£", "¥", "%"];
        // Without a usual one, the others are not looked for.
        let signs = if USUAL.iter().any(|s| self.normal.contains(s)) {
            "$€£¥%‰₹₽"
        } else {
            ""
        };
        let signs = signs.chars().filter(|c| self.normal.contains(*c));
        signs.filter_map(|c| unit(c.encode_utf8(&mut [0; 4])))
    }

    /// Its capitalised words.
    pub(crate) fn capitals(&self) -> &Capitals {
        self.capitals.get_or_init(|| self.find_capitals())
    }

    fn find_capitals(&self) -> Capitals {
        let lower = self.capital_words().map(|w| lower_case(w).into_owned());
        let mut words: Vec<String> = lower.collect();
        words.sort_unstable();
        words.dedup();
        let letters = self.capital_words().filter_map(|w| w.chars().next());
        Capitals {
            words,
            letters: letters.collect(),
        }
    }

    fn capital_words(&self) -> impl Iterator<Item = &str> {
        let capital = self.text.tokens.iter().filter(|t| t.capital);
        capital.map(|t| self.word(t))
    }

    /// Whether the stem appears as a word in lower case.
    pub(crate) fn has_uncapitalised(&self, id: u32) -> bool {
        self.text.tokens.iter().any(|t| t.id == id && !t.capital)
    }

    /// One sentence.
    pub(crate) fn sentence(&self, n: usize) -> Option<&Sentence> {
        self.text.sentences.get(n)
    }

    /// The tokens of sentence `n`.
    pub(crate) fn tokens_of(&self, n: usize) -> &[Token] {
        self.sentence(n).map_or(&[], |s| self.text.of(s))
    }

    /// The text of a token as written.
    pub(crate) fn word(&self, token: &Token) -> &str {
        self.normal.get(token.start..token.end).unwrap_or("")
    }

    /// The text of a token in lower case.
    pub(crate) fn lower_word(&self, token: &Token) -> Cow<'_, str> {
        lower_case(self.word(token))
    }

    /// An atom as written.
    pub(crate) fn shown_atom(&self, atom: &Atom) -> &str {
        self.normal.get(atom.bytes.clone()).unwrap_or("")
    }

    /// An amount as written, with the sign of its unit: `20 %`, `€ 50`.
    pub(crate) fn shown_amount(&self, atom: &Atom) -> &str {
        let What::Number(number) = &atom.what else {
            return self.shown_atom(atom);
        };
        if number.unit.is_none() {
            return self.shown_atom(atom);
        }
        let Range { start, end } = atom.bytes;
        let before = self.normal.get(..start).unwrap_or("");
        let bare = before.trim_end_matches(' ');
        let start = match bare.chars().next_back() {
            Some(sign) if CURRENCY_SIGNS.contains(&sign) => {
                let bare = bare.len() - sign.len_utf8();
                bare - letters_of_a_currency(before.get(..bare).unwrap_or(""))
            }
            _ => start,
        };
        let behind = self.normal.get(end..).unwrap_or("");
        let sign = behind.trim_start_matches(' ');
        let end = match sign.chars().next() {
            Some(one)
                if start == atom.bytes.start
                    && (matches!(one, '%' | '‰' | '°') || CURRENCY_SIGNS.contains(&one)) =>
            {
                end + behind.len() - sign.len() + one.len_utf8()
            }
            _ => end,
        };
        self.normal.get(start..end).unwrap_or("")
    }

    /// The atoms that begin in sentence `n`.
    pub(crate) fn atoms_of(&self, n: usize) -> &[Atom] {
        let Some(sentence) = self.sentence(n) else {
            return &[];
        };
        let from = self
            .atoms
            .partition_point(|a| a.tokens.start < sentence.tokens.start);
        let to = self
            .atoms
            .partition_point(|a| a.tokens.start < sentence.tokens.end);
        self.atoms.get(from..to).unwrap_or(&[])
    }

    /// The terms that begin in sentence `n`.
    pub(crate) fn terms_of(&self, n: usize) -> &[Term] {
        let Some(sentence) = self.sentence(n) else {
            return &[];
        };
        let from = self
            .terms
            .partition_point(|t| t.tokens.start < sentence.tokens.start);
        let to = self
            .terms
            .partition_point(|t| t.tokens.start < sentence.tokens.end);
        self.terms.get(from..to).unwrap_or(&[])
    }

    /// The text from the first to the last of these tokens.
    pub(crate) fn shown(&self, tokens: Range<usize>) -> &str {
        let tokens = self.text.tokens.get(tokens).unwrap_or(&[]);
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => self.normal.get(first.start..last.end).unwrap_or(""),
            _ => "",
        }
    }

    /// For every token: which part of its sentence it is in. Parts are cut at punctuation and at
    /// words that begin a new statement.
    pub(crate) fn parts(&self) -> &[u32] {
        self.parts.get_or_init(|| parts(self))
    }

    /// What the text states, in order.
    pub(crate) fn statements(&self) -> &[Statement] {
        self.statements.get_or_init(|| statements(self))
    }

    /// The labels of its rows, items, lines and sections.
    pub(crate) fn families(&self) -> &[Family] {
        self.families.get_or_init(|| families(self))
    }

    /// The cells of its tables that say yes or no.
    pub(crate) fn verdicts(&self) -> Vec<CellVerdict<'_>> {
        verdicts(self)
    }

    /// The sentence that a token is in.
    pub(crate) fn sentence_of(&self, token: usize) -> usize {
        self.text
            .sentences
            .partition_point(|s| s.tokens.end <= token)
    }
}

/// The length of the capitals before a dollar sign that are a part of it: "R$", "US$".
fn letters_of_a_currency(before_sign: &str) -> usize {
    let rest = before_sign.trim_end_matches(|c: char| c.is_ascii_uppercase());
    let letters = before_sign.get(rest.len()..).unwrap_or("");
    let is_known = (1..=2).contains(&letters.len()) && unit(&format!("{letters}$")).is_some();
    if is_known { letters.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn postings_give_each_sentence_of_a_key_once_and_in_order() {
        let postings = Postings::of(vec![(7, 2), (3, 0), (7, 0), (7, 2), (9, 5)]);
        assert_eq!(
            (postings.get(3), postings.get(7), postings.get(9)),
            (&[0][..], &[0, 2][..], &[5][..])
        );
        for missing in [0, 4, 8, 10, u32::MAX] {
            assert_eq!(postings.get(missing), &[0_u32; 0], "{missing}");
        }
        assert_eq!(Postings::of(Vec::new()).get(0), &[0_u32; 0]);
    }

    #[test]
    fn a_reading_knows_where_a_stem_and_its_like_stand() {
        let mut lexicon = Lexicon::default();
        let text = "Boats harboured here. The harbours closed. A harbourmaster left.";
        let first = text.find(" The").unwrap();
        let second = text.find(" A har").unwrap();
        let reading = Reading::of(
            text,
            &[0..first, first..second, second..text.len()].map(|bytes| Cut {
                bytes,
                role: BlockRole::Paragraph,
                block: 0,
            }),
            &mut lexicon,
        );
        let claim = Reading::claim("harbour", &mut lexicon);
        let id = claim.text.tokens[0].id;
        assert_eq!(reading.sentences_with(id), [0, 1]);
        assert_eq!(reading.sentences_like(id, &lexicon), [0, 1, 2]);
        assert!(reading.has(id) && reading.matches(id, &lexicon) == 1.0);
        let near = Reading::claim("harbourside", &mut lexicon).text.tokens[0].id;
        assert_eq!(
            (reading.has(near), reading.matches(near, &lexicon)),
            (false, ALIKE)
        );
        let strange = Reading::claim("submarine", &mut lexicon).text.tokens[0].id;
        assert_eq!(reading.matches(strange, &lexicon), 0.0);
    }

    proptest! {
        #[test]
        fn postings_are_a_map_from_keys_to_sets(pairs in prop::collection::vec((0_u32..12, 0_u32..9), 0..200)) {
            let mut map: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for (key, sentence) in &pairs {
                map.entry(*key).or_default().insert(*sentence);
            }
            let postings = Postings::of(pairs);
            for key in 0..14 {
                let wanted: Vec<u32> = map.get(&key).into_iter().flatten().copied().collect();
                prop_assert_eq!(postings.get(key), wanted.as_slice());
            }
        }
    }
}
