//! Units, currencies and magnitudes of numbers. The units of all languages are those of
//! [`local_agent_text::language::units`].

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

pub(crate) use local_agent_text::language::units::{
    Unit as MeasureUnit, equal_amounts, is_currency, same, same_kind,
};
pub use local_agent_text::language::units::{UnitKind, unit};

use crate::text::lower_case;
use local_agent_text::language::Language;
use local_agent_text::language::lexicon::Section;

/// The signs of currencies.
pub(crate) const CURRENCY_SIGNS: [char; 11] =
    ['$', '€', '£', '¥', '₹', '₽', '₺', '₩', '₴', '₪', '฿'];

const MAGNITUDES: &[(&[&str], f64)] = &[
    (&["hundred", "hundert"], 1e2),
    (&["thousand", "thousands", "tausend", "tsd", "k"], 1e3),
    (&["lakh"], 1e5),
    (
        &["million", "millions", "mn", "mln", "mio", "millionen"],
        1e6,
    ),
    (&["crore"], 1e7),
    (
        &[
            "billion",
            "billions",
            "bn",
            "bln",
            "mrd",
            "milliarde",
            "milliarden",
        ],
        1e9,
    ),
    (&["trillion", "trillions", "trn", "billionen"], 1e12),
];

static MAGNITUDE_OF: LazyLock<HashMap<&'static str, f64, RandomState>> = LazyLock::new(|| {
    let lists = MAGNITUDES.iter();
    let mut known: HashMap<&'static str, f64, RandomState> = lists
        .flat_map(|(names, value)| names.iter().map(|name| (*name, *value)))
        .collect();
    for (name, value) in foreign_magnitudes() {
        known.entry(name).or_insert(value);
    }
    known
});

/// The magnitudes of all languages from a thousand on. Short words in Latin letters are left out:
/// they have other meanings elsewhere.
fn foreign_magnitudes() -> impl Iterator<Item = (&'static str, f64)> {
    let languages = Language::ALL.iter();
    let rows = languages.flat_map(|language| language.lexicon().rows(Section::Magnitudes));
    rows.filter_map(|row| Some((row, row.key.parse::<f64>().ok().filter(|by| *by >= 1e3)?)))
        .flat_map(|(row, by)| row.items.iter().map(move |name| (*name, by)))
        .filter(|(name, _)| !name.is_ascii() || name.len() > 3)
}

/// Maximum length of the word for a magnitude, in bytes.
const LONGEST_MAGNITUDE: usize = 24;

/// The factor that a word after a number multiplies it by.
pub(crate) fn magnitude(word: &str) -> Option<f64> {
    if word.len() > LONGEST_MAGNITUDE {
        return None;
    }
    MAGNITUDE_OF.get(&*lower_case(word)).copied()
}
