//! Translates file ids during a rebuild.

use crate::engine::Bitmap;

/// Number of bitmap words between stored ranks.
const WORDS: usize = 64;

/// A set of file ids that can count the ids up to a given number. For a copied file, the count is
/// its id in the new generation.
pub(super) struct RankedIds {
    ids: Bitmap,
    /// Number of ids before each group of words.
    before: Vec<u64>,
    count: u64,
}

impl RankedIds {
    /// Indexes a set of ids.
    pub(super) fn new(ids: Bitmap) -> Self {
        let mut count = 0;
        let mut before = Vec::with_capacity(ids.words().len() / WORDS + 1);
        for group in ids.words().chunks(WORDS) {
            before.push(count);
            count += ones(group);
        }
        Self { ids, before, count }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Counts the ids up to and including a number.
    pub(super) fn up_to(&self, number: u64) -> u64 {
        let place = (number / 64) as usize;
        let words = self.ids.words();
        let Some(word) = words.get(place) else { return self.count };
        let group = place / WORDS;
        let last = word & (u64::MAX >> (63 - number % 64));
        self.before[group] + ones(&words[group * WORDS..place]) + ones(&[last])
    }
}

fn ones(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_equal_ranks_in_a_sorted_set(
            numbers in proptest::collection::btree_set(0u64..9_000, 0..200),
            asked in 0u64..9_200,
        ) {
            let mut ids = Bitmap::new(9_000);
            numbers.iter().for_each(|number| ids.insert(*number));
            let ranked = RankedIds::new(ids);
            prop_assert_eq!(ranked.count(), numbers.len() as u64);
            prop_assert_eq!(ranked.up_to(asked), numbers.range(..=asked).count() as u64);
        }
    }
}
