//! Selects the top K results.

use crate::model::file_query::SortKey;

/// Keeps the `keep` smallest sort keys, by value and then id.
#[derive(Debug)]
pub(super) struct TopK {
    keep: usize,
    places: Vec<(i64, u64)>,
    last: Option<(i64, u64)>,
}

impl TopK {
    pub(super) fn new(keep: usize) -> Self {
        Self { keep, places: Vec::new(), last: None }
    }

    /// Adds a sort key.
    #[inline]
    pub(super) fn push(&mut self, place: (i64, u64)) {
        if self.last.is_some_and(|last| place > last) || self.keep == 0 {
            return;
        }
        self.places.push(place);
        if self.places.len() >= self.keep.max(512).saturating_mul(2) {
            self.shrink();
        }
    }

    /// Returns the cut-off: larger keys are dropped. `None` until enough keys have been added.
    #[inline]
    pub(super) fn last(&self) -> Option<(i64, u64)> {
        self.last
    }

    fn shrink(&mut self) {
        if self.places.len() > self.keep {
            let (_, last, _) = self.places.select_nth_unstable(self.keep - 1);
            self.last = Some(*last);
            self.places.truncate(self.keep);
        }
    }

    /// Merges another selection into this one.
    pub(super) fn absorb(&mut self, other: Self) {
        for place in other.places {
            self.push(place);
        }
    }

    /// Returns the sort keys in order, skipping the first `skip`.
    pub(super) fn into_sorted(mut self, skip: usize) -> Vec<(i64, u64)> {
        if self.keep == 0 {
            return Vec::new();
        }
        self.shrink();
        let skip = skip.min(self.places.len());
        if skip > 0 && skip < self.places.len() {
            self.places.select_nth_unstable(skip);
        }
        let mut rest = self.places.split_off(skip);
        rest.sort_unstable();
        rest
    }
}

/// Maps a value to a rank. Lower ranks come first.
#[inline]
pub(super) fn rank(value: i64, descending: bool) -> i64 {
    // Unlike `-`, `!` can't overflow.
    if descending { !value } else { value }
}

/// Converts a sort key to a rank.
pub(super) fn ranked(place: SortKey, descending: bool) -> (i64, u64) {
    (rank(place.value, descending), place.id)
}

/// Converts a rank back to a sort key.
pub(super) fn unranked((rank, id): (i64, u64), descending: bool) -> SortKey {
    SortKey { value: if descending { !rank } else { rank }, id }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn top_k_equals_sorting(
            values in proptest::collection::vec((-5i64..5, 0u64..100_000), 0..3_000),
            keep in 0usize..1_200, skip in 0usize..1_200,
        ) {
            let (front, back) = values.split_at(values.len() / 2);
            let mut best = TopK::new(keep);
            let mut other = TopK::new(keep);
            front.iter().for_each(|&place| best.push(place));
            back.iter().for_each(|&place| other.push(place));
            best.absorb(other);
            let mut expected = values.clone();
            expected.sort_unstable();
            expected.truncate(keep);
            let expected = expected.split_off(skip.min(expected.len()));
            prop_assert_eq!(best.into_sorted(skip), expected);
        }
    }
}
