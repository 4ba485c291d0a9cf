//! Ids serialised as ranges. New buckets and files get consecutive ids, so a load's saved progress
//! remains small even with many of them.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::from_fn;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Joins consecutive ids with the same value into ranges. A range is the first id, the last id and
/// the value.
pub fn ranges<V: PartialEq>(
    ids: impl IntoIterator<Item = (u64, V)>,
) -> impl Iterator<Item = (u64, u64, V)> {
    let mut ids = ids.into_iter().peekable();
    from_fn(move || {
        let (first, value) = ids.next()?;
        let mut last = first;
        while let Some((id, _)) =
            ids.next_if(|(id, other)| Some(*id) == last.checked_add(1) && *other == value)
        {
            last = id;
        }
        Some((first, last, value))
    })
}

/// Expands ranges into ids with their values.
pub fn ids<V: Copy>(ranges: Vec<(u64, u64, V)>) -> impl Iterator<Item = (u64, V)> {
    ranges.into_iter().flat_map(|(first, last, value)| (first..=last).map(move |id| (id, value)))
}

/// A set of ids. Serialised as ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdSet(BTreeSet<u64>);

impl Deref for IdSet {
    type Target = BTreeSet<u64>;

    fn deref(&self) -> &BTreeSet<u64> {
        &self.0
    }
}

impl DerefMut for IdSet {
    fn deref_mut(&mut self) -> &mut BTreeSet<u64> {
        &mut self.0
    }
}

impl FromIterator<u64> for IdSet {
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> Self {
        Self(ids.into_iter().collect())
    }
}

impl Serialize for IdSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ranges(self.0.iter().map(|&id| (id, ()))))
    }
}

impl<'de> Deserialize<'de> for IdSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(ids(Vec::<(u64, u64, ())>::deserialize(deserializer)?).map(|(id, ())| id).collect())
    }
}

/// A map from ids to flags. Serialised as ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlaggedIds(BTreeMap<u64, bool>);

impl Deref for FlaggedIds {
    type Target = BTreeMap<u64, bool>;

    fn deref(&self) -> &BTreeMap<u64, bool> {
        &self.0
    }
}

impl DerefMut for FlaggedIds {
    fn deref_mut(&mut self) -> &mut BTreeMap<u64, bool> {
        &mut self.0
    }
}

impl Serialize for FlaggedIds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ranges(self.0.iter().map(|(&id, &flag)| (id, flag))))
    }
}

impl<'de> Deserialize<'de> for FlaggedIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(ids(Vec::deserialize(deserializer)?).collect()))
    }
}

/// Maximum number of ranges in [`IdRanges`].
const MOST_RANGES: usize = 10_000;

/// A set of ids that never takes much space. If it would have more than 10,000 ranges, those closest
/// to each other are joined, so the set may contain ids between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdRanges(Vec<(u64, u64)>);

impl IdRanges {
    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the set contains the id.
    pub fn contains(&self, id: u64) -> bool {
        let place = self.0.partition_point(|&(_, last)| last < id);
        self.0.get(place).is_some_and(|&(first, _)| first <= id)
    }

    /// Returns the union with another set.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.0.extend(&other.0);
        Self::joined(self.0, MOST_RANGES)
    }

    /// Joins ranges until there are at most `most`.
    fn joined(mut ranges: Vec<(u64, u64)>, most: usize) -> Self {
        ranges.sort_unstable();
        join_within(&mut ranges, 1);
        if ranges.len() > most {
            let gaps = ranges.windows(2).map(|pair| pair[1].0 - pair[0].1);
            let mut gaps: Vec<u64> = gaps.collect();
            // With the widest gaps, one fewer than `most`, the rest becomes `most` ranges.
            let (_, &mut widest_joined, _) =
                gaps.select_nth_unstable_by(most - 1, |one, other| other.cmp(one));
            join_within(&mut ranges, widest_joined);
        }
        Self(ranges)
    }
}

impl FromIterator<u64> for IdRanges {
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> Self {
        let ranges = ranges(ids.into_iter().map(|id| (id, ())));
        Self::joined(ranges.map(|(first, last, ())| (first, last)).collect(), MOST_RANGES)
    }
}

/// Joins sorted ranges that start at most `gap` after the end of the previous one.
fn join_within(ranges: &mut Vec<(u64, u64)>, gap: u64) {
    ranges.dedup_by(|next, last| {
        let joins = next.0.saturating_sub(last.1) <= gap;
        if joins {
            last.1 = last.1.max(next.1);
        }
        joins
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn joined_ranges_contain_all_ids(
            ids in proptest::collection::vec(0u64..200, 0..60),
            more in proptest::collection::vec(0u64..200, 0..60),
        ) {
            let both: BTreeSet<u64> = ids.iter().chain(&more).copied().collect();
            let union = ids.into_iter().collect::<IdRanges>().union(&more.into_iter().collect());
            for id in 0..220 {
                prop_assert_eq!(union.contains(id), both.contains(&id));
            }
            let few = IdRanges::joined(union.0.clone(), 5);
            prop_assert!(few.0.len() <= 5);
            prop_assert!(both.iter().all(|&id| few.contains(id)));
        }
    }

    #[test]
    fn ranges_with_the_narrowest_gaps_are_joined() {
        let ranges = vec![(20, 21), (1, 2), (9, 9), (5, 5), (6, 7)];
        assert_eq!(IdRanges::joined(ranges.clone(), 3).0, [(1, 2), (5, 9), (20, 21)]);
        assert_eq!(IdRanges::joined(ranges, 2).0, [(1, 9), (20, 21)]);
    }

    #[test]
    fn ids_are_written_as_ranges() {
        let set: IdSet = [1, 2, 3, 7, u64::MAX].into_iter().collect();
        let text = serde_json::to_string(&set).unwrap();
        assert_eq!(
            text,
            "[[1,3,null],[7,7,null],[18446744073709551615,18446744073709551615,null]]"
        );
        assert_eq!(serde_json::from_str::<IdSet>(&text).unwrap(), set);
        let mut flagged = FlaggedIds::default();
        flagged.extend((1..=1_000_000).map(|id| (id, false)));
        flagged.insert(9, true);
        let text = serde_json::to_string(&flagged).unwrap();
        assert_eq!(text, "[[1,8,false],[9,9,true],[10,1000000,false]]");
        assert_eq!(serde_json::from_str::<FlaggedIds>(&text).unwrap(), flagged);
    }
}
