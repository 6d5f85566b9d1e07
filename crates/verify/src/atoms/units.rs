//! Units, currencies and magnitudes of numbers. Equal amounts in different units of one kind are
//! equal ("1.5 s" and "1500 ms"). Amounts of different kinds are never equal, and currencies are
//! not converted.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use crate::text::lower_case;
use local_agent_text::language::Language;
use local_agent_text::language::lexicon::Section;

/// What is measured. Two numbers can be equal only within one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// Seconds to weeks, which have a fixed length.
    Time,
    /// Months and years, which vary in length.
    Calendar,
    /// Bits and bytes.
    Data,
    /// Metres, miles and the like.
    Length,
    /// Square metres, hectares and the like.
    Area,
    /// Grams, pounds and the like.
    Mass,
    /// Litres, cups and the like.
    Volume,
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit.
    Fahrenheit,
    /// Degrees of an angle.
    Angle,
    /// Kelvin.
    Kelvin,
    /// Percent.
    Percent,
    /// Percentage points and basis points.
    Points,
    /// Watts and the like.
    Power,
    /// Joules, watt hours, calories.
    Energy,
    /// Volts.
    Volt,
    /// Amperes.
    Ampere,
    /// Hertz.
    Frequency,
    /// Length per time.
    Speed,
    /// Pascals, bars and the like.
    Pressure,
    /// Dots of a screen.
    Pixels,
    /// Multiples: "three times as much".
    Times,
    /// Dollars of any country.
    Dollar,
    /// Euros and cents.
    Euro,
    /// Pounds sterling.
    Pound,
    /// Yen.
    Yen,
    /// Francs of any country.
    Franc,
    /// Crowns of any country.
    Krone,
    /// Rupees of any country.
    Rupee,
    /// Yuan.
    Yuan,
    /// Rubles.
    Ruble,
}

/// A unit: the kinds that its name can mean, each with the size of one unit.
pub(crate) type MeasureUnit = &'static [(UnitKind, f64)];

use UnitKind::*;

const UNITS: &[(&[&str], MeasureUnit)] = &[
    (&["ns", "nanosecond", "nanoseconds"], &[(Time, 1e-9)]),
    (
        &["µs", "μs", "us", "microsecond", "microseconds"],
        &[(Time, 1e-6)],
    ),
    (
        &["ms", "millisecond", "milliseconds", "msec"],
        &[(Time, 1e-3)],
    ),
    (
        &[
            "s", "sec", "secs", "second", "seconds", "sekunde", "sekunden",
        ],
        &[(Time, 1.0)],
    ),
    (
        &["min", "mins", "minute", "minutes", "minuten"],
        &[(Time, 60.0)],
    ),
    (
        &["h", "hr", "hrs", "hour", "hours", "stunde", "stunden"],
        &[(Time, 3600.0)],
    ),
    (
        &["d", "day", "days", "tag", "tage", "tagen"],
        &[(Time, 86_400.0)],
    ),
    (
        &["week", "weeks", "woche", "wochen", "fortnight"],
        &[(Time, 604_800.0)],
    ),
    (
        &["month", "months", "monat", "monate", "monaten"],
        &[(Calendar, 1.0)],
    ),
    (&["quarter", "quarters"], &[(Calendar, 3.0)]),
    (
        &["year", "years", "yr", "yrs", "jahr", "jahre", "jahren"],
        &[(Calendar, 12.0)],
    ),
    (&["decade", "decades"], &[(Calendar, 120.0)]),
    (&["century", "centuries"], &[(Calendar, 1200.0)]),
    (&["bit", "bits"], &[(Data, 0.125)]),
    (&["byte", "bytes", "b"], &[(Data, 1.0)]),
    (&["kb", "kilobyte", "kilobytes"], &[(Data, 1e3)]),
    (&["mb", "megabyte", "megabytes"], &[(Data, 1e6)]),
    (&["gb", "gigabyte", "gigabytes"], &[(Data, 1e9)]),
    (&["tb", "terabyte", "terabytes"], &[(Data, 1e12)]),
    (&["kib", "kibibyte", "kibibytes"], &[(Data, 1024.0)]),
    (&["mib", "mebibyte", "mebibytes"], &[(Data, 1_048_576.0)]),
    (
        &["gib", "gibibyte", "gibibytes"],
        &[(Data, 1_073_741_824.0)],
    ),
    (&["tib"], &[(Data, 1_099_511_627_776.0)]),
    (&["nm"], &[(Length, 1e-9)]),
    (&["µm", "μm"], &[(Length, 1e-6)]),
    (
        &[
            "mm",
            "millimetre",
            "millimetres",
            "millimeter",
            "millimeters",
        ],
        &[(Length, 1e-3)],
    ),
    (
        &[
            "cm",
            "centimetre",
            "centimetres",
            "centimeter",
            "centimeters",
        ],
        &[(Length, 1e-2)],
    ),
    (
        &["m", "metre", "metres", "meter", "meters", "metern"],
        &[(Length, 1.0)],
    ),
    (
        &[
            "km",
            "kilometre",
            "kilometres",
            "kilometer",
            "kilometers",
            "kilometern",
        ],
        &[(Length, 1e3)],
    ),
    (&["inch", "inches"], &[(Length, 0.0254)]),
    (&["ft", "foot", "feet"], &[(Length, 0.3048)]),
    (&["yard", "yards", "yd"], &[(Length, 0.9144)]),
    (&["mi", "mile", "miles"], &[(Length, 1609.344)]),
    (&["mm²"], &[(Area, 1e-6)]),
    (&["cm²"], &[(Area, 1e-4)]),
    (&["m²", "sqm"], &[(Area, 1.0)]),
    (&["km²"], &[(Area, 1e6)]),
    (&["ha", "hectare", "hectares"], &[(Area, 1e4)]),
    (&["acre", "acres"], &[(Area, 4_046.856_422_4)]),
    (&["µg", "μg", "mcg"], &[(Mass, 1e-6)]),
    (&["mg", "milligram", "milligrams"], &[(Mass, 1e-3)]),
    (&["g", "gram", "grams", "gramm"], &[(Mass, 1.0)]),
    (
        &["kg", "kilo", "kilos", "kilogram", "kilograms", "kilogramm"],
        &[(Mass, 1e3)],
    ),
    (&["t", "tonne", "tonnes", "tonnen"], &[(Mass, 1e6)]),
    (&["ton", "tons"], &[(Mass, 1e6)]),
    (&["lb", "lbs"], &[(Mass, 453.592_37)]),
    (&["oz", "ounce", "ounces"], &[(Mass, 28.349_523_125)]),
    (
        &[
            "ml",
            "millilitre",
            "millilitres",
            "milliliter",
            "milliliters",
        ],
        &[(Volume, 1e-3)],
    ),
    (&["cl"], &[(Volume, 1e-2)]),
    (
        &["l", "litre", "litres", "liter", "liters"],
        &[(Volume, 1.0)],
    ),
    (&["gallon", "gallons"], &[(Volume, 3.785_411_784)]),
    (&["°c", "celsius", "centigrade"], &[(Celsius, 1.0)]),
    (&["°f", "fahrenheit"], &[(Fahrenheit, 1.0)]),
    (&["kelvin"], &[(Kelvin, 1.0)]),
    (
        &["°", "degree", "degrees", "grad"],
        &[(Celsius, 1.0), (Fahrenheit, 1.0), (Angle, 1.0)],
    ),
    (&["%", "percent", "prozent", "pct"], &[(Percent, 1.0)]),
    (&["‰"], &[(Percent, 0.1)]),
    (&["pp", "ppt"], &[(Points, 1.0)]),
    (&["bps"], &[(Points, 0.01)]),
    (&["bar", "bars"], &[(Pressure, 1e5)]),
    (&["mbar", "millibar", "hpa"], &[(Pressure, 1e2)]),
    (&["kpa", "kilopascal"], &[(Pressure, 1e3)]),
    (&["mpa", "megapascal"], &[(Pressure, 1e6)]),
    (&["psi"], &[(Pressure, 6_894.757)]),
    (&["mw"], &[(Power, 1e6), (Power, 1e-3)]),
    (&["w", "watt", "watts"], &[(Power, 1.0)]),
    (&["kw", "kilowatt", "kilowatts"], &[(Power, 1e3)]),
    (&["megawatt", "megawatts"], &[(Power, 1e6)]),
    (&["gw", "gigawatt", "gigawatts"], &[(Power, 1e9)]),
    (&["wh"], &[(Energy, 3600.0)]),
    (&["kwh"], &[(Energy, 3.6e6)]),
    (&["mwh"], &[(Energy, 3.6e9)]),
    (&["j", "joule", "joules"], &[(Energy, 1.0)]),
    (&["kj"], &[(Energy, 1e3)]),
    (&["kcal", "calories", "calorie"], &[(Energy, 4184.0)]),
    (&["v", "volt", "volts"], &[(Volt, 1.0)]),
    (&["mv"], &[(Volt, 1e-3)]),
    (&["kv"], &[(Volt, 1e3)]),
    (&["ma"], &[(Ampere, 1e-3)]),
    (&["amp", "amps", "ampere", "amperes"], &[(Ampere, 1.0)]),
    (&["hz", "hertz"], &[(Frequency, 1.0)]),
    (&["khz"], &[(Frequency, 1e3)]),
    (&["mhz"], &[(Frequency, 1e6)]),
    (&["ghz"], &[(Frequency, 1e9)]),
    (&["km/h", "kmh", "kph"], &[(Speed, 1.0)]),
    (&["mph"], &[(Speed, 1.609_344)]),
    (&["px", "pixel", "pixels"], &[(Pixels, 1.0)]),
    (&["times", "fold", "x"], &[(Times, 1.0)]),
    (&["$", "us$", "usd", "dollar", "dollars"], &[(Dollar, 1.0)]),
    (&["cents", "cent"], &[(Dollar, 0.01), (Euro, 0.01)]),
    (&["€", "eur", "euro", "euros"], &[(Euro, 1.0)]),
    (&["£", "gbp"], &[(Pound, 1.0)]),
    (&["pound", "pounds"], &[(Pound, 1.0), (Mass, 453.592_37)]),
    (&["¥", "yen", "jpy"], &[(Yen, 1.0)]),
    (&["chf", "franc", "francs", "franken"], &[(Franc, 1.0)]),
    (
        &[
            "kr", "krone", "kroner", "kronor", "krona", "sek", "nok", "dkk",
        ],
        &[(Krone, 1.0)],
    ),
    (&["₹", "inr", "rupee", "rupees"], &[(Rupee, 1.0)]),
    (&["cny", "yuan", "rmb"], &[(Yuan, 1.0)]),
    (&["₽", "ruble", "rubles", "rub"], &[(Ruble, 1.0)]),
];

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

/// Maps every name in a list to its value; for a name listed twice, the first.
fn by_name<T: Copy>(list: &[(&[&'static str], T)]) -> HashMap<&'static str, T, RandomState> {
    let mut out = HashMap::default();
    for (names, value) in list {
        for name in *names {
            out.entry(*name).or_insert(*value);
        }
    }
    out
}

static UNIT_OF: LazyLock<HashMap<&'static str, MeasureUnit, RandomState>> =
    LazyLock::new(|| by_name(UNITS));
static MAGNITUDE_OF: LazyLock<HashMap<&'static str, f64, RandomState>> = LazyLock::new(|| {
    let mut known = by_name(MAGNITUDES);
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

/// The unit with this name. Only `MW` and `mW` differ by case.
pub fn unit(name: &str) -> Option<MeasureUnit> {
    match name {
        "MW" => return Some(&[(Power, 1e6)]),
        "mW" => return Some(&[(Power, 1e-3)]),
        "K" => return Some(&[(Kelvin, 1.0)]),
        "A" => return Some(&[(Ampere, 1.0)]),
        "Mb" | "Mbit" => return Some(&[(Data, 125_000.0)]),
        "Gb" | "Gbit" => return Some(&[(Data, 125_000_000.0)]),
        "a" | "X" => return None,
        _ => {}
    }
    if name.len() > 14 {
        return None;
    }
    UNIT_OF.get(&*lower_case(name)).copied()
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

/// Whether the unit is a currency.
pub(super) fn is_currency(unit: MeasureUnit) -> bool {
    unit.iter().any(|(kind, _)| {
        matches!(
            kind,
            Dollar | Euro | Pound | Yen | Franc | Krone | Rupee | Yuan | Ruble
        )
    })
}

/// Whether two names can mean units of one kind.
pub(crate) fn same_kind(a: MeasureUnit, b: MeasureUnit) -> bool {
    a.iter()
        .any(|(kind, _)| b.iter().any(|(other, _)| kind == other))
}

/// Whether `x` of unit `a` is the same amount as `y` of unit `b`.
pub(crate) fn equal_amounts(x: f64, a: MeasureUnit, y: f64, b: MeasureUnit) -> bool {
    a.iter().any(|(kind, one)| {
        b.iter()
            .any(|(other, size)| kind == other && same(x * one, y * size))
    })
}

/// Whether two numbers are equal apart from the rounding errors of one or two multiplications.
pub(crate) fn same(x: f64, y: f64) -> bool {
    x == y || (x - y).abs() <= 1e-9 * x.abs().max(y.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_compared_within_their_kind() {
        let equal = |x: f64, a: &str, y: f64, b: &str| {
            equal_amounts(x, unit(a).unwrap(), y, unit(b).unwrap())
        };
        assert!(
            equal(1.5, "s", 1500.0, "ms")
                && equal(2.0, "years", 24.0, "months")
                && equal(1.0, "GiB", 1024.0, "MiB")
        );
        assert!(
            !equal(12.0, "MB", 12.0, "MiB")
                && !equal(5.0, "€", 5.0, "$")
                && !equal(43.0, "°C", 43.0, "°F")
        );
        assert!(!equal(0.7, "%", 0.7, "pp") && equal(35.0, "£", 35.0, "pounds"));
    }
}
