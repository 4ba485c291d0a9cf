//! Bucket ids serialised as ranges. New buckets get consecutive ids, so a load's saved progress
//! remains small even with many buckets.

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

#[cfg(test)]
mod tests {
    use super::*;

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
