//! Selects the top K results.

use std::mem;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::model::file_query::SortKey;

/// Number of sort keys that a segment adds to a [`SharedTopK`] at a time.
const BATCH: usize = 1_024;

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

    /// Returns the cut-off, above which keys are dropped. `None` until enough keys have been added.
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

/// A selection shared by all segments of a search. If every segment had its own, a deep page in a
/// large index would take hundreds of megabytes.
#[derive(Clone, Debug)]
pub(super) struct SharedTopK(Arc<Mutex<TopK>>);

impl SharedTopK {
    pub(super) fn new(keep: usize) -> Self {
        Self(Arc::new(Mutex::new(TopK::new(keep))))
    }

    /// Starts a segment's part.
    pub(super) fn part(&self) -> TopKPart {
        let last = self.0.lock().last();
        TopKPart { shared: self.clone(), waiting: Vec::new(), last }
    }

    /// Takes the selection, leaving an empty one.
    pub(super) fn take(&self) -> TopK {
        let mut shared = self.0.lock();
        let empty = TopK::new(shared.keep);
        mem::replace(&mut *shared, empty)
    }
}

/// A segment's part of a [`SharedTopK`].
#[derive(Debug)]
pub(super) struct TopKPart {
    shared: SharedTopK,
    /// Sort keys that aren't in the selection yet.
    waiting: Vec<(i64, u64)>,
    last: Option<(i64, u64)>,
}

impl TopKPart {
    /// Adds a sort key.
    #[inline]
    pub(super) fn push(&mut self, place: (i64, u64)) {
        if self.last.is_some_and(|last| place > last) {
            return;
        }
        self.waiting.push(place);
        if self.waiting.len() >= BATCH {
            self.flush();
        }
    }

    /// Returns the selection's cut-off. See [`TopK::last`].
    #[inline]
    pub(super) fn last(&self) -> Option<(i64, u64)> {
        self.last
    }

    /// Adds the remaining sort keys to the selection.
    pub(super) fn flush(&mut self) {
        let mut shared = self.shared.0.lock();
        self.waiting.drain(..).for_each(|place| shared.push(place));
        self.last = shared.last();
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
            let mut best = TopK::new(keep);
            values.iter().for_each(|&place| best.push(place));
            let mut expected = values.clone();
            expected.sort_unstable();
            expected.truncate(keep);
            let expected = expected.split_off(skip.min(expected.len()));
            prop_assert_eq!(best.into_sorted(skip), expected);
        }

        #[test]
        fn parts_share_a_selection(
            values in proptest::collection::vec((-5i64..5, 0u64..100_000), 0..6_000),
            keep in 1usize..1_200,
        ) {
            let shared = SharedTopK::new(keep);
            let mut parts = [(); 3].map(|()| shared.part());
            for (at, &place) in values.iter().enumerate() {
                parts[at % 3].push(place);
            }
            parts.iter_mut().for_each(TopKPart::flush);
            let mut expected = values;
            expected.sort_unstable();
            expected.truncate(keep);
            prop_assert_eq!(shared.take().into_sorted(0), expected);
        }
    }

    #[test]
    fn parts_take_the_memory_of_one_selection() {
        const KEEP: usize = 10_000;
        const PARTS: usize = 20;
        let shared = SharedTopK::new(KEEP);
        let mut parts: Vec<TopKPart> = (0..PARTS).map(|_| shared.part()).collect();
        // Every key is smaller than all earlier ones.
        for id in (0..400_000).rev() {
            parts[id as usize % PARTS].push((0, id));
        }
        assert!(parts.iter().all(|part| part.waiting.len() < BATCH));
        assert!(shared.take().places.len() < 2 * KEEP);
    }
}
