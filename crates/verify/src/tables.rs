//! The closed word lists of the verifier, read once from `data/`, where people can look up why a
//! word counts.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

/// How much of a thing is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// All, every, always.
    Universal,
    /// Most, usually, often.
    Mostly,
    /// Some, sometimes.
    Partial,
    /// Rarely.
    Rare,
    /// None, never.
    Nothing,
}

/// How certain or binding a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Must, required.
    Must,
    /// Should, recommended.
    Should,
    /// May, might.
    May,
    /// Can.
    Can,
    /// Will, certainly.
    Will,
    /// Likely, reportedly.
    Hedge,
}

/// The status of a plan or a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Still to be decided.
    Proposed,
    /// Decided.
    Decided,
    /// Turned down.
    Rejected,
    /// To be removed.
    Deprecated,
    /// No longer there.
    Removed,
    /// In force.
    Active,
    /// Finished.
    Done,
    /// Not finished.
    Ongoing,
}

/// A function of a word in a sentence, besides its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Carries little information: "way", "make", "instead".
    Everyday,
    /// Excludes everything else: "only".
    Restricting,
    /// Limits a statement in either direction: "only", "always", "all".
    Limiting,
    /// Narrows a statement in another way: "must", "single", "if".
    Narrowing,
    /// Excludes nothing: "any", "all".
    Freeing,
    /// Means exactly one: "single".
    Singling,
    /// Says that there are few or none: "few", "without", "missing".
    Scarce,
    /// Changes what a denial means: "unless", "only", "but".
    Bending,
    /// Takes something out: "except".
    Excepting,
    /// Means a part: "third", "half".
    Share,
    /// Puts one thing before, above or on another.
    Placing,
    /// Puts one thing before another, verbs included: "precedes".
    Ordering,
    /// Marks a position in an order: "first", "then".
    Sequence,
    /// Begins a reason.
    Causal,
    /// Begins a condition.
    Conditional,
    /// Refers to the text: "table", "section".
    Textual,
    /// Begins an indirect question.
    Asking,
}

impl Role {
    /// The role of a class of the data.
    fn of(class: &str) -> Option<Self> {
        Some(match class {
            "everyday" => Self::Everyday,
            "restricting" => Self::Restricting,
            "limiting" => Self::Limiting,
            "narrowing" => Self::Narrowing,
            "freeing" => Self::Freeing,
            "singling" => Self::Singling,
            "scarce" => Self::Scarce,
            "bending" => Self::Bending,
            "excepting" => Self::Excepting,
            "share" => Self::Share,
            "placing" => Self::Placing,
            "ordering" => Self::Ordering,
            "sequence" => Self::Sequence,
            "causal" => Self::Causal,
            "conditional" => Self::Conditional,
            "textual" => Self::Textual,
            "asking" => Self::Asking,
            _ => return None,
        })
    }
}

/// A set of roles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Roles(u32);

impl Roles {
    /// Whether a role is in the set.
    pub(crate) fn has(self, role: Role) -> bool {
        self.0 >> role as u32 & 1 == 1
    }
}

/// The properties of a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Carries no content.
    pub stop: bool,
    /// Carries little content.
    pub light: bool,
    /// Negates what follows.
    pub negates: bool,
    /// A verb or noun that negates what follows ("fails to").
    pub turns: bool,
    /// Cancels a negation before it ("not only").
    pub hollow: bool,
    /// Its other functions in a sentence.
    pub roles: Roles,
    /// May begin a number or a date.
    pub amount: bool,
    /// Its opposite says the same with giver and receiver swapped: "sell" and "buy".
    pub converse: bool,
    /// A quantity.
    pub quantity: Option<Quantity>,
    /// A mood.
    pub mood: Option<Mood>,
    /// A status.
    pub status: Option<Status>,
    /// The pairs of opposites that contain it: the number of the pair, and the side.
    pub pairs: Vec<(u16, bool)>,
}

/// The lists.
pub(crate) struct Tables {
    /// By word as written.
    words: HashMap<String, Entry>,
    /// By stem: only pairs, turning words and status, which apply to every inflected form.
    stems: HashMap<String, Entry>,
    /// Irregular form → base.
    bases: HashMap<&'static str, &'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    Tables::read(
        include_str!("data/words.txt"),
        &[
            include_str!("data/pairs.txt"),
            include_str!("data/antonyms.txt"),
            include_str!("data/opposites.txt"),
        ],
    )
});

/// A number in one word.
static AMOUNT: LazyLock<Entry> = LazyLock::new(|| Entry {
    amount: true,
    ..Entry::default()
});

/// The lists of this program.
pub(crate) fn tables() -> &'static Tables {
    &TABLES
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Tables {
    fn read(words: &'static str, pairs: &[&'static str]) -> Self {
        let mut this = Self {
            words: HashMap::new(),
            stems: HashMap::new(),
            bases: HashMap::new(),
        };
        for (class, word) in lines(words)
            .filter_map(|l| l.split_once(": "))
            .flat_map(|(c, list)| list.split_whitespace().map(move |word| (c, word)))
        {
            if class != "forms" {
                mark(this.words.entry(word.to_owned()).or_default(), class);
            }
        }
        for list in lines(words).filter_map(|l| l.strip_prefix("forms: ")) {
            let mut forms = list.split_whitespace();
            let base = forms.next().unwrap_or("");
            this.bases.extend(forms.map(|form| (form, base)));
        }
        for (class, word) in lines(words)
            .filter_map(|l| l.split_once(": "))
            .flat_map(|(c, list)| list.split_whitespace().map(move |word| (c, word)))
        {
            let inflects = matches!(
                class,
                "turning"
                    | "converse"
                    | "proposed"
                    | "decided"
                    | "rejected"
                    | "deprecated"
                    | "removed"
                    | "done"
                    | "everyday"
            );
            if inflects && word.len() > 2 {
                let key = this.stem_of(word);
                mark(this.stems.entry(key).or_default(), class);
            }
        }
        let pairs = pairs.iter().flat_map(|list| lines(list));
        for (n, (left, right)) in pairs.filter_map(|l| l.split_once(' ')).enumerate() {
            let n = u16::try_from(n).unwrap_or(u16::MAX);
            for (side, list) in [(false, left), (true, right)] {
                for word in list.split('/') {
                    let key = this.stem_of(word);
                    let known = &mut this.stems.entry(key).or_default().pairs;
                    if !known.contains(&(n, side)) {
                        known.push((n, side));
                    }
                }
            }
        }
        for word in super::atoms::words_of_amounts() {
            this.words.entry(word.to_owned()).or_default().amount = true;
        }
        // What applies to every inflected form also applies to words that are listed themselves.
        let listed: Vec<String> = this.words.keys().cloned().collect();
        for word in listed {
            let Some(more) = this.stems.get(&this.stem_of(&word)).cloned() else {
                continue;
            };
            let entry = this.words.entry(word).or_default();
            entry.turns |= more.turns;
            entry.converse |= more.converse;
            entry.roles.0 |= more.roles.0;
            entry.status = entry.status.or(more.status);
            entry.pairs.extend(more.pairs);
        }
        this
    }

    /// The stem of a lower-case word, irregular forms included.
    pub(crate) fn stem_of(&self, word: &str) -> String {
        stem(self.bases.get(word).copied().unwrap_or(word))
    }

    /// The properties of a lower-case word with this stem, if it is listed or is a number.
    pub(crate) fn entry(&'static self, word: &str, stem: &str) -> Option<&'static Entry> {
        let listed = self.words.get(word).or_else(|| self.stems.get(stem));
        listed.or_else(|| super::atoms::is_compound_numeral(word).then_some(&*AMOUNT))
    }
}

fn mark(entry: &mut Entry, class: &str) {
    match class {
        "stop" => entry.stop = true,
        "light" => entry.light = true,
        "negation" => entry.negates = true,
        "turning" => entry.turns = true,
        "hollow" => entry.hollow = true,
        "converse" => entry.converse = true,
        "amount" => entry.amount = true,
        "universal" => entry.quantity = Some(Quantity::Universal),
        "mostly" => entry.quantity = Some(Quantity::Mostly),
        "partial" => entry.quantity = Some(Quantity::Partial),
        "rare" => entry.quantity = Some(Quantity::Rare),
        "nothing" => entry.quantity = Some(Quantity::Nothing),
        "must" => entry.mood = Some(Mood::Must),
        "should" => entry.mood = Some(Mood::Should),
        "may" => entry.mood = Some(Mood::May),
        "can" => entry.mood = Some(Mood::Can),
        "will" => entry.mood = Some(Mood::Will),
        "hedge" => entry.mood = Some(Mood::Hedge),
        "proposed" => entry.status = Some(Status::Proposed),
        "decided" => entry.status = Some(Status::Decided),
        "rejected" => entry.status = Some(Status::Rejected),
        "deprecated" => entry.status = Some(Status::Deprecated),
        "removed" => entry.status = Some(Status::Removed),
        "active" => entry.status = Some(Status::Active),
        "done" => entry.status = Some(Status::Done),
        "ongoing" => entry.status = Some(Status::Ongoing),
        _ => entry.roles.0 |= Role::of(class).map_or(0, |role| 1 << role as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(word: &str) -> Entry {
        let tables = tables();
        tables
            .entry(word, &tables.stem_of(word))
            .cloned()
            .unwrap_or_default()
    }

    #[test]
    fn every_class_of_the_data_is_known() {
        for line in lines(include_str!("data/words.txt")) {
            let (class, list) = line.split_once(": ").unwrap();
            let mut one = Entry::default();
            mark(&mut one, class);
            assert!(one != Entry::default() || class == "forms", "{class}");
            assert!(
                !list.trim().is_empty() && list.to_lowercase() == list,
                "{line}"
            );
        }
    }

    #[test]
    fn opposites_hold_for_every_inflection() {
        for (a, b) in [
            ("increased", "decreases"),
            ("enabled", "disabling"),
            ("rose", "fell"),
            ("higher", "lowest"),
        ] {
            let (a, b) = (entry(a), entry(b));
            assert!(
                a.pairs
                    .iter()
                    .any(|(n, side)| b.pairs.contains(&(*n, !side)))
            );
        }
        assert!(entry("failed").turns && entry("approved").status == Some(Status::Decided));
    }
}
