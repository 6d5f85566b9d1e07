//! Row ids of the index, one type for each table, and sets of them.

use std::fmt;
use std::marker::PhantomData;

/// The id of a row, as the database numbers it.
pub trait RowId: Copy {
    /// The id with this number.
    fn from_row(row: i64) -> Self;

    /// Its number.
    fn row(self) -> i64;
}

/// Declares the type of the ids of one table.
macro_rules! row_ids {
    ($($(#[$doc:meta])* $name:ident)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name(i64);

            impl RowId for $name {
                fn from_row(row: i64) -> Self {
                    Self(row)
                }

                fn row(self) -> i64 {
                    self.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }
        )+
    };
}

row_ids! {
    /// A row of `sources`.
    SourceId
    /// A row of `documents`.
    DocumentId
    /// A row of `chunks`.
    ChunkId
}

/// A set of row ids of one table as a bitmap, such as the rows that a filter allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdSet<T> {
    words: Vec<u64>,
    len: usize,
    ids: PhantomData<T>,
}

impl<T> Default for IdSet<T> {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            len: 0,
            ids: PhantomData,
        }
    }
}

impl<T: RowId> IdSet<T> {
    /// Adds `id`; negative ids do not exist in our tables and are ignored.
    pub fn insert(&mut self, id: T) {
        let Ok(id) = usize::try_from(id.row()) else {
            return;
        };
        if id / 64 >= self.words.len() {
            self.words.resize(id / 64 + 1, 0);
        }
        let word = &mut self.words[id / 64];
        let bit = 1 << (id % 64);
        self.len += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Whether `id` is in the set.
    pub fn contains(&self, id: T) -> bool {
        usize::try_from(id.row()).is_ok_and(|id| {
            self.words
                .get(id / 64)
                .is_some_and(|w| w >> (id % 64) & 1 == 1)
        })
    }

    /// The ids, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .filter_map(move |bit| i64::try_from(at * 64 + bit).ok().map(T::from_row))
        })
    }

    /// The number of ids.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the set is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: RowId> FromIterator<T> for IdSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(ids: I) -> Self {
        let mut set = Self::default();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_set_holds_what_was_put_in() {
        let id = ChunkId::from_row;
        let set: IdSet<ChunkId> = [3, 64, 3, 200, -1].into_iter().map(id).collect();
        assert_eq!(set.len(), 3);
        assert_eq!(set.iter().map(RowId::row).collect::<Vec<_>>(), [3, 64, 200]);
        assert!(
            set.contains(id(64))
                && !set.contains(id(65))
                && !set.contains(id(-1))
                && !set.contains(id(10_000))
        );
    }
}
