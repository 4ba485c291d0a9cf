//! A bit set for small integers.

use std::ops::Range;

/// A set of integers below a fixed length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
}

impl Bitmap {
    /// Creates an empty set for integers below `length`.
    pub fn new(length: u64) -> Self {
        let words = usize::try_from(length.div_ceil(64)).unwrap_or(usize::MAX);
        Self { words: vec![0; words] }
    }

    /// Adds a number. Does nothing if it is out of range.
    pub fn insert(&mut self, number: u64) {
        if let Some(word) = self.words.get_mut((number / 64) as usize) {
            *word |= 1 << (number % 64);
        }
    }

    /// Adds a range of numbers. Anything out of range is ignored.
    pub fn insert_range(&mut self, numbers: Range<u64>) {
        let (first, last) = (numbers.start / 64, numbers.end.div_ceil(64));
        let place = |word: u64| usize::try_from(word).unwrap_or(usize::MAX).min(self.words.len());
        let (first, last) = (place(first), place(last));
        for (word, place) in self.words[first..last.max(first)].iter_mut().zip(first as u64..) {
            let start = numbers.start.saturating_sub(place * 64);
            let end = (numbers.end - place * 64).min(64);
            *word |= (u64::MAX << start) & (u64::MAX >> (64 - end));
        }
    }

    /// Returns `true` if the set contains the number.
    pub fn contains(&self, number: u64) -> bool {
        self.words.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Removes `end` and everything above it.
    pub fn truncate(&mut self, end: u64) {
        let place = (end / 64) as usize;
        if let Some(word) = self.words.get_mut(place) {
            *word &= !(u64::MAX << (end % 64));
            self.words[place + 1..].fill(0);
        }
    }

    /// Returns the number of elements.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the underlying words. Number `n` is bit `n % 64` of word `n / 64`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the underlying words for modification.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Adds all elements of `other`, which must have the same length.
    pub fn union(&mut self, other: &Self) {
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Drops the elements that aren't in `other`, which must have the same length.
    pub fn intersect(&mut self, other: &Self) {
        for (word, wanted) in self.words.iter_mut().zip(&other.words) {
            *word &= wanted;
        }
    }

    /// Returns up to `limit` elements in ascending order, starting at `from` and skipping the first
    /// `skip`.
    pub fn page(&self, from: u64, skip: u64, limit: usize) -> Vec<u64> {
        let mut page = Vec::with_capacity(limit.min(1_024));
        let mut skip = skip;
        let first = (from / 64) as usize;
        for (place, &word) in self.words.iter().enumerate().skip(first) {
            let mut word = if place == first { word & (u64::MAX << (from % 64)) } else { word };
            let ones = u64::from(word.count_ones());
            if skip >= ones {
                skip -= ones;
                continue;
            }
            while word != 0 && page.len() < limit {
                let bit = word.trailing_zeros();
                word &= word - 1;
                if skip > 0 {
                    skip -= 1;
                } else {
                    page.push(place as u64 * 64 + u64::from(bit));
                }
            }
            if page.len() >= limit {
                break;
            }
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bitmap_pages_equal_pages_of_a_sorted_set(
            numbers in proptest::collection::btree_set(0u64..300, 0..80),
            from in 0u64..300, skip in 0u64..90, limit in 0usize..90,
        ) {
            let mut bitmap = Bitmap::new(300);
            numbers.iter().for_each(|&number| bitmap.insert(number));
            prop_assert_eq!(bitmap.count(), numbers.len() as u64);
            let expected: Vec<u64> =
                numbers.range(from..).copied().skip(skip as usize).take(limit).collect();
            prop_assert_eq!(bitmap.page(from, skip, limit), expected);
            let held: BTreeSet<u64> = (0..300).filter(|&number| bitmap.contains(number)).collect();
            prop_assert_eq!(held, numbers);
        }

        #[test]
        fn inserted_ranges_equal_single_inserts(start in 0u64..330, length in 0u64..330, other in 0u64..320) {
            let (mut ranged, mut single) = (Bitmap::new(300), Bitmap::new(300));
            ranged.insert_range(start..start + length);
            // The last word has room for a few numbers past the length.
            (start..start + length).take_while(|&n| n < 320).for_each(|n| single.insert(n));
            prop_assert_eq!(&ranged, &single);
            let mut one = Bitmap::new(300);
            one.insert(other);
            ranged.intersect(&one);
            prop_assert_eq!(ranged.count(), u64::from((start..start + length).contains(&other)));
        }
    }
}
