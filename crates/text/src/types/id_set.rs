//! Rows of a database, as a bitmap.

/// A set of database row ids (documents or chunks) as a bitmap, such as the rows that a filter
/// allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdSet {
    words: Vec<u64>,
    len: usize,
}

impl IdSet {
    /// Adds `id`; negative ids do not exist in our tables and are ignored.
    pub fn insert(&mut self, id: i64) {
        let Ok(id) = usize::try_from(id) else { return };
        if id / 64 >= self.words.len() {
            self.words.resize(id / 64 + 1, 0);
        }
        let word = &mut self.words[id / 64];
        let bit = 1 << (id % 64);
        self.len += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Whether `id` is in the set.
    pub fn contains(&self, id: i64) -> bool {
        usize::try_from(id).is_ok_and(|id| {
            self.words
                .get(id / 64)
                .is_some_and(|w| w >> (id % 64) & 1 == 1)
        })
    }

    /// The ids, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .filter_map(move |bit| i64::try_from(at * 64 + bit).ok())
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

impl FromIterator<i64> for IdSet {
    fn from_iter<I: IntoIterator<Item = i64>>(ids: I) -> Self {
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
        let set: IdSet = [3, 64, 3, 200, -1].into_iter().collect();
        assert_eq!(set.len(), 3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 200]);
        assert!(
            set.contains(64) && !set.contains(65) && !set.contains(-1) && !set.contains(10_000)
        );
    }
}
