//! Units and currencies of numbers. Equal amounts in different units of one kind are equal ("1.5 s"
//! and "1500 ms"). Amounts of different kinds are never equal, and currencies are not converted.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::Language;
use super::lexicon::{Section, items_without_false_friends};
use super::vocabulary::is_common_english_word;

macro_rules! kinds {
    ($($(#[$doc:meta])+ $name:ident = $key:literal,)+) => {
        /// The measured quantity. Two numbers can be equal only within one kind.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum UnitKind {
            $($(#[$doc])+ $name,)+
        }

        impl UnitKind {
            fn from_key(key: &str) -> Option<Self> {
                match key {
                    $($key => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// In seconds.
    Time = "time",
    /// In months, whose length varies.
    Calendar = "calendar",
    /// In bytes.
    Data = "data",
    /// In metres.
    Length = "length",
    /// In square metres.
    Area = "area",
    /// In grams.
    Mass = "mass",
    /// In litres.
    Volume = "volume",
    /// Temperature, in degrees Celsius.
    Celsius = "celsius",
    /// Temperature, in degrees Fahrenheit.
    Fahrenheit = "fahrenheit",
    /// Angle, in degrees.
    Angle = "angle",
    /// In kelvins.
    Kelvin = "kelvin",
    /// In per cent.
    Percent = "percent",
    /// In percentage points.
    Points = "points",
    /// In watts.
    Power = "power",
    /// In joules.
    Energy = "energy",
    /// In volts.
    Volt = "volt",
    /// In amperes.
    Ampere = "ampere",
    /// In hertz.
    Frequency = "frequency",
    /// In kilometres per hour.
    Speed = "speed",
    /// In pascals.
    Pressure = "pressure",
    /// In pixels.
    Pixels = "pixels",
    /// In multiples ("3 times").
    Times = "times",
    /// A currency.
    Dollar = "dollar",
    /// A currency.
    Euro = "euro",
    /// A currency.
    Pound = "pound",
    /// A currency.
    Yen = "yen",
    /// A currency.
    Franc = "franc",
    /// Currencies with that name.
    Krone = "krone",
    /// A currency.
    Rupee = "rupee",
    /// A currency.
    Yuan = "yuan",
    /// A currency.
    Ruble = "ruble",
    /// A currency.
    Real = "real",
    /// A currency.
    Zloty = "zloty",
    /// A currency.
    Koruna = "koruna",
    /// A currency.
    Forint = "forint",
    /// A currency.
    Leu = "leu",
    /// A currency.
    Lira = "lira",
    /// A currency.
    Won = "won",
    /// A currency.
    Hryvnia = "hryvnia",
    /// A currency.
    Shekel = "shekel",
    /// A currency.
    Baht = "baht",
}

/// A unit: the kinds that its name can mean, each with the size of one unit.
pub type Unit = &'static [(UnitKind, f64)];

struct Table {
    exact: HashMap<&'static str, Unit, RandomState>,
    any_case: HashMap<&'static str, Unit, RandomState>,
    longest_name: usize,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table {
        exact: HashMap::default(),
        any_case: HashMap::default(),
        longest_name: 0,
    };
    table.read(include_str!("data/units.txt"));
    for (language, row, name) in items_without_false_friends(Section::Units) {
        let Some(unit) = table.symbol(row.key) else {
            continue;
        };
        if !is_english_word(language, name) {
            table.longest_name = table.longest_name.max(name.len());
            table.any_case.entry(name).or_insert(unit);
        }
    }
    table
});

/// Whether a unit of a language is another word in English: Danish "time", an hour. All units of
/// German are read, whatever the language of a text.
fn is_english_word(language: Language, name: &str) -> bool {
    !matches!(language, Language::English | Language::German) && is_common_english_word(name)
}

impl Table {
    fn read(&mut self, data: &'static str) {
        let mut exact = false;
        for line in data.lines().map(str::trim) {
            if line.starts_with('[') {
                exact = line == "[exact-case]";
            }
            let Some((symbols, kinds)) = line.split_once(" = ") else {
                continue;
            };
            if line.starts_with('#') {
                continue;
            }
            // Read once and kept while the program runs.
            let unit: Unit = kinds.split(',').filter_map(kind).collect::<Vec<_>>().leak();
            for symbol in symbols.split(',').map(str::trim) {
                self.longest_name = self.longest_name.max(symbol.len());
                let into = if exact {
                    &mut self.exact
                } else {
                    &mut self.any_case
                };
                into.entry(symbol).or_insert(unit);
            }
        }
    }

    fn symbol(&self, symbol: &str) -> Option<Unit> {
        let exact = self.exact.get(symbol);
        exact.or_else(|| self.any_case.get(symbol)).copied()
    }
}

fn kind(text: &str) -> Option<(UnitKind, f64)> {
    let (key, size) = text.trim().split_once(' ')?;
    Some((UnitKind::from_key(key)?, size.parse().ok()?))
}

/// The unit with this name or symbol. Case matters only if two symbols differ by it: `MW` and `mW`.
pub fn unit(name: &str) -> Option<Unit> {
    let table = &*TABLE;
    if name.len() > table.longest_name {
        return None;
    }
    if let Some(unit) = table.symbol(name) {
        return Some(unit);
    }
    let has_upper_case = name
        .bytes()
        .any(|b| b.is_ascii_uppercase() || !b.is_ascii());
    has_upper_case
        .then(|| table.any_case.get(name.to_lowercase().as_str()).copied())
        .flatten()
}

/// The kinds that are currencies.
const CURRENCIES: [UnitKind; 19] = [
    UnitKind::Dollar,
    UnitKind::Euro,
    UnitKind::Pound,
    UnitKind::Yen,
    UnitKind::Franc,
    UnitKind::Krone,
    UnitKind::Rupee,
    UnitKind::Yuan,
    UnitKind::Ruble,
    UnitKind::Real,
    UnitKind::Zloty,
    UnitKind::Koruna,
    UnitKind::Forint,
    UnitKind::Leu,
    UnitKind::Lira,
    UnitKind::Won,
    UnitKind::Hryvnia,
    UnitKind::Shekel,
    UnitKind::Baht,
];

/// Whether the unit is a currency.
pub fn is_currency(unit: Unit) -> bool {
    unit.iter().any(|(kind, _)| CURRENCIES.contains(kind))
}

/// Whether two names can mean units of one kind.
pub fn same_kind(a: Unit, b: Unit) -> bool {
    a.iter()
        .any(|(kind, _)| b.iter().any(|(other, _)| kind == other))
}

/// Whether `x` of unit `a` is the same amount as `y` of unit `b`.
pub fn equal_amounts(x: f64, a: Unit, y: f64, b: Unit) -> bool {
    a.iter().any(|(kind, one)| {
        b.iter()
            .any(|(other, size)| kind == other && same(x * one, y * size))
    })
}

/// Whether two numbers are equal to one part in 10⁹. They may have rounding errors from one or two
/// multiplications.
pub fn same(x: f64, y: f64) -> bool {
    x == y || (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_data_is_a_unit() {
        for line in include_str!("data/units.txt").lines() {
            let Some((_, kinds)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) else {
                continue;
            };
            assert!(kinds.split(',').all(|text| kind(text).is_some()), "{line}");
        }
        for language in Language::ALL {
            for row in language.lexicon().rows(Section::Units) {
                assert!(TABLE.symbol(row.key).is_some(), "{} {language:?}", row.key);
            }
        }
    }

    #[test]
    fn amounts_are_compared_within_their_kind() {
        let equal = |x: f64, a: &str, y: f64, b: &str| {
            equal_amounts(x, unit(a).unwrap(), y, unit(b).unwrap())
        };
        assert!(equal(1.5, "s", 1500.0, "ms") && equal(2.0, "Stunden", 120.0, "minutes"));
        assert!(equal(2.0, "years", 24.0, "months") && equal(1.0, "GiB", 1024.0, "MiB"));
        assert!(!equal(12.0, "MB", 12.0, "MiB") && !equal(5.0, "€", 5.0, "$"));
        assert!(!equal(43.0, "°C", 43.0, "°F") && !equal(0.7, "%", 0.7, "pp"));
        assert!(equal(35.0, "£", 35.0, "pounds") && !equal(1.0, "MW", 1.0, "mW"));
        assert!(equal(1.0, "bar", 100.0, "kPa") && equal(3.0, "times", 3.0, "fold"));
        assert!(unit("a").is_none() && unit("X").is_none() && unit("x").is_some());
    }

    #[test]
    fn a_unit_is_known_by_its_name_in_every_language() {
        for (name, symbol) in [
            ("Stunden", "h"),
            ("heures", "h"),
            ("kilómetros", "km"),
            ("часов", "h"),
            ("分钟", "min"),
            ("天", "d"),
            ("秒", "s"),
            ("円", "¥"),
            ("ساعات", "h"),
            ("시간", "h"),
            ("wks", "week"),
            ("zł", "pln"),
        ] {
            assert_eq!(unit(name), unit(symbol), "{name}");
            assert!(unit(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_unit_that_is_another_word_elsewhere_is_none() {
        for word in ["time", "nap", "ore", "an", "mes", "metro"] {
            assert_eq!(unit(word), None, "{word}");
        }
    }
}
