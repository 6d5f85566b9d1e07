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

const MAGNITUDES: &[(&[&str], f64)] = &[
    (&["hundred", "hundert"], 1e2),
    (&["thousand", "thousands", "tausend", "k"], 1e3),
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
    lists
        .flat_map(|(names, value)| names.iter().map(|name| (*name, *value)))
        .collect()
});

/// The factor that a word after a number multiplies it by.
pub(crate) fn magnitude(word: &str) -> Option<f64> {
    if word.len() > 10 {
        return None;
    }
    MAGNITUDE_OF.get(&*lower_case(word)).copied()
}
