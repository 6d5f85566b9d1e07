//! The day of a note, and ranking by it: `query --recent`.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::ask::{Day, named_day, stated_day};
use local_agent_index::ids::DocumentId;
use local_agent_index::retrieval::Hit;
use local_agent_index::store::{IndexReader, StoredDay};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::RelPath;

/// Seconds in a day.
const DAY_SECONDS: i64 = 86_400;

/// Ranks newer notes before older ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recency {
    /// The age in days at which a note's score is halved; at least 1.
    pub half_life_days: u32,
    /// The day from which ages are counted.
    pub today: Day,
}

/// The greatest half-life, in days: a hundred years.
pub const LONGEST_HALF_LIFE: u32 = 36_500;

/// The day of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteDay {
    /// The day; its month or day of the month may be missing.
    pub day: Day,
    /// Whether the note states it; otherwise its file last changed on this day (UTC).
    pub is_stated: bool,
}

impl NoteDay {
    /// The day in the name of a note, in its folders or in a property; otherwise the day its file
    /// last changed.
    pub fn of(path: &RelPath, title: &str, stored: &StoredDay) -> Self {
        match named_day(path, || stated_in_properties(stored), title) {
            Some(day) => Self {
                day,
                is_stated: true,
            },
            None => Self {
                day: Day::from_number(stored.modified_unix.div_euclid(DAY_SECONDS)),
                is_stated: false,
            },
        }
    }
}

/// The day that a property of the note states.
fn stated_in_properties(stored: &StoredDay) -> Option<Day> {
    let mut dated = stored.properties.iter();
    let dated = dated.find_map(|(key, value)| stated_day(key, value));
    dated.or_else(|| Day::parse(stored.stated.as_deref()?))
}

impl Recency {
    /// The recency for the half-life that a client of a server requests; `None` if it requests
    /// none.
    ///
    /// # Errors
    /// `INVALID_ARGS` for a half-life out of bounds.
    pub fn asked(half_life_days: Option<u32>, today: fn() -> Day) -> Result<Option<Self>> {
        match half_life_days {
            None => Ok(None),
            Some(days @ 1..=LONGEST_HALF_LIFE) => Ok(Some(Self {
                half_life_days: days,
                today: today(),
            })),
            Some(_) => {
                let message = format!("`recent` is from 1 to {LONGEST_HALF_LIFE} days");
                let failure = Failure::new(ErrorCode::InvalidArgs, message);
                Err(failure.with_hint("leave `recent` out"))
            }
        }
    }

    /// The share of its score that a note of this day keeps: 1 for today and future days, a half
    /// after one half-life, a quarter after two.
    pub fn share(&self, day: Day) -> f32 {
        let age = self.age(day) as f64;
        (-age / f64::from(self.half_life_days.max(1))).exp2() as f32
    }

    /// Days from a note's day until today; 0 for a future day.
    pub fn age(&self, day: Day) -> i64 {
        (self.today.number() - day.number()).max(0)
    }

    /// Multiplies the scores of the hits by the share of their note's day, and sorts by the result;
    /// hits with the same result are sorted by day, and those of one day keep their order. The
    /// chances of relevance do not change.
    ///
    /// # Errors
    /// Those of the database.
    pub fn rank(&self, index: &IndexReader, hits: &mut [Hit]) -> Result<()> {
        let ids: Vec<DocumentId> = hits.iter().map(|hit| hit.chunk.document_id).collect();
        let stored: HashMap<DocumentId, StoredDay> = index.days_of(&ids)?;
        for hit in hits.iter_mut() {
            let Some(stored) = stored.get(&hit.chunk.document_id) else {
                continue;
            };
            let day = NoteDay::of(&hit.chunk.path, &hit.chunk.title, stored).day;
            hit.trace.age_days = Some(self.age(day));
            hit.trace.recency = Some(self.share(day));
        }
        hits.sort_by(|a, b| self.compared(RankedByAge::of(b), RankedByAge::of(a)));
        for hit in hits {
            hit.score *= hit.trace.recency.unwrap_or(1.0);
        }
        Ok(())
    }

    /// Compares two hits: by the logarithm of the score that is left, because the score of an old
    /// note may be too small for a number, and then by day.
    fn compared(&self, a: RankedByAge, b: RankedByAge) -> Ordering {
        let half_life = f64::from(self.half_life_days.max(1));
        let left = |hit: RankedByAge| f64::from(hit.score).log2() - hit.age as f64 / half_life;
        let by_score = left(a).total_cmp(&left(b));
        by_score.then_with(|| b.age.cmp(&a.age))
    }
}

/// What a hit is ranked by.
#[derive(Clone, Copy)]
struct RankedByAge {
    /// The score without its age.
    score: f32,
    /// In days; 0 if it is unknown.
    age: i64,
}

impl RankedByAge {
    fn of(hit: &Hit) -> Self {
        Self {
            score: hit.score.max(0.0),
            age: hit.trace.age_days.unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn a_half_life_halves() {
        let recency = Recency {
            half_life_days: 30,
            today: day("2026-06-30"),
        };
        for (then, share) in [
            ("2026-06-30", 1.0),
            ("2026-05-31", 0.5),
            ("2026-05-01", 0.25),
            ("2026-07-09", 1.0),
        ] {
            assert!((recency.share(day(then)) - share).abs() < 1e-6, "{then}");
        }
        assert_eq!(recency.age(day("2026-06-01")), 29);
        assert_eq!(recency.age(day("2027-01-01")), 0);
    }

    #[test]
    fn however_old_notes_are_the_newer_one_is_first() {
        let recency = Recency {
            half_life_days: 1,
            today: day("2026-06-30"),
        };
        let hit = |score, then| RankedByAge {
            score,
            age: recency.age(day(then)),
        };
        let is_first = |a, b| recency.compared(a, b) == Ordering::Greater;
        assert!(is_first(hit(0.5, "2023-02-03"), hit(0.5, "2020-01-01")));
        assert!(is_first(hit(0.0, "2023-02-03"), hit(0.0, "2020-01-01")));
        assert!(is_first(hit(0.1, "2026-06-28"), hit(0.9, "2020-01-01")));
        assert!(is_first(hit(0.9, "2026-06-29"), hit(0.1, "2026-06-30")));
    }

    #[test]
    fn the_day_is_in_the_name_or_a_property_or_is_that_of_the_file() {
        let stored = StoredDay {
            properties: vec![("Updated".to_owned(), "2026-04-05".to_owned())],
            stated: Some("2020-01-01".to_owned()),
            modified_unix: 86_400 * 3,
        };
        let of = |path: &str, title: &str, stored: &StoredDay| {
            let day = NoteDay::of(&RelPath::new(path).unwrap(), title, stored);
            (day.day.to_string(), day.is_stated)
        };
        let stated = |day: &str| (day.to_owned(), true);
        assert_eq!(of("daily/2026-02-03.md", "", &stored), stated("2026-02-03"));
        assert_eq!(of("2026/05/plan.md", "", &stored), stated("2026-04-05"));
        let created = StoredDay {
            properties: Vec::new(),
            ..stored.clone()
        };
        assert_eq!(of("plan.md", "", &created), stated("2020-01-01"));
        let none = StoredDay {
            stated: None,
            ..created
        };
        assert_eq!(of("plan.md", "Of 5 May 2025", &none), stated("2025-05-05"));
        assert_eq!(of("plan.md", "", &none), ("1970-01-04".to_owned(), false));
    }
}
