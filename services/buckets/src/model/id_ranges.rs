//! Serialises ids as ranges. New buckets and files get consecutive ids, so a load's saved progress
//! remains small even if it adds a lot of them.

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

/// A set of ids that never takes much space. Beyond 10,000 ranges, it stops tracking ids and
/// behaves as if it contained all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdRanges(Option<Vec<(u64, u64)>>);

impl Default for IdRanges {
    fn default() -> Self {
        Self(Some(Vec::new()))
    }
}

impl IdRanges {
    /// Creates a set from ascending ids, each with a flag that says whether it belongs to the set.
    /// Ids that aren't given can end up in the set.
    pub fn of_flagged(ids: impl IntoIterator<Item = (u64, bool)>) -> Self {
        Self::at_most(MOST_RANGES, ids)
    }

    fn at_most(most: usize, ids: impl IntoIterator<Item = (u64, bool)>) -> Self {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut extends = false;
        for (id, belongs) in ids {
            if belongs {
                if extends && let Some(last) = ranges.last_mut() {
                    last.1 = id;
                } else if ranges.len() < most {
                    ranges.push((id, id));
                } else {
                    return Self(None);
                }
            }
            extends = belongs;
        }
        Self(Some(ranges))
    }

    /// Returns `true` if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns `false` if there were too many ranges to know which ids the set contains.
    pub fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// Returns `true` if the set contains `id` or might contain it.
    pub fn contains(&self, id: u64) -> bool {
        let Some(ranges) = &self.0 else { return true };
        let place = ranges.partition_point(|&(_, last)| last < id);
        ranges.get(place).is_some_and(|&(first, _)| first <= id)
    }

    /// Returns the union with another set.
    #[must_use]
    pub fn union(self, other: &Self) -> Self {
        let (Some(mut ranges), Some(more)) = (self.0, &other.0) else { return Self(None) };
        ranges.extend(more);
        Self::joined(ranges, MOST_RANGES)
    }

    /// Joins overlapping and adjacent ranges. If more than `most` ranges remain, stops tracking
    /// ids.
    fn joined(mut ranges: Vec<(u64, u64)>, most: usize) -> Self {
        ranges.sort_unstable();
        ranges.dedup_by(|next, last| {
            let joins = next.0 <= last.1.saturating_add(1);
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        Self(Some(ranges).filter(|ranges| ranges.len() <= most))
    }
}

impl FromIterator<u64> for IdRanges {
    fn from_iter<I: IntoIterator<Item = u64>>(ids: I) -> Self {
        Self::joined(ids.into_iter().map(|id| (id, id)).collect(), MOST_RANGES)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_contain_the_ids_of_both_sets_or_are_unknown(
            ids in proptest::collection::vec(0u64..200, 0..60),
            more in proptest::collection::vec(0u64..200, 0..60),
        ) {
            let both: BTreeSet<u64> = ids.iter().chain(&more).copied().collect();
            let union = ids.into_iter().collect::<IdRanges>().union(&more.into_iter().collect());
            prop_assert!(union.is_known());
            for id in 0..220 {
                prop_assert_eq!(union.contains(id), both.contains(&id));
            }
            let ranges = union.0.clone().unwrap_or_default();
            let few = IdRanges::joined(ranges.clone(), 5);
            prop_assert_eq!(few.is_known(), ranges.len() <= 5);
            prop_assert!(both.iter().all(|&id| few.contains(id)));
        }
    }

    #[test]
    fn ranges_end_only_at_ids_that_do_not_belong_to_them() {
        let ids =
            [(2, true), (5, true), (7, false), (8, true), (9, false), (11, false), (20, true)];
        let ranges = Some(vec![(2, 5), (8, 8), (20, 20)]);
        assert_eq!(IdRanges::at_most(3, ids).0, ranges);
        let unknown = IdRanges::at_most(2, ids);
        assert!(!unknown.is_known() && !unknown.is_empty());
        assert!([1, 7, 20].iter().all(|&id| unknown.contains(id)));
        let text = serde_json::to_string(&unknown).unwrap();
        assert_eq!(serde_json::from_str::<IdRanges>(&text).unwrap(), unknown);
        assert!(!unknown.clone().union(&IdRanges::default()).is_known());
        assert!(!IdRanges::default().union(&unknown).is_known());
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
