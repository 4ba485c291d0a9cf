//! Sets of event ids, with one bit per id.

/// A set of ids.
#[derive(Clone, Debug, Default)]
pub struct EventSet {
    blocks: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl EventSet {
    /// Returns an empty set with room for ids below `end`.
    pub fn with_room(end: usize) -> EventSet {
        EventSet { blocks: vec![0; end.div_ceil(BITS)] }
    }

    /// Adds an id.
    pub fn insert(&mut self, id: u32) {
        let (block, bit) = place(id);
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, 0);
        }
        self.blocks[block] |= bit;
    }

    /// Removes an id.
    pub fn remove(&mut self, id: u32) {
        let (block, bit) = place(id);
        if let Some(block) = self.blocks.get_mut(block) {
            *block &= !bit;
        }
    }

    /// Returns whether an id is in the set.
    pub fn contains(&self, id: u32) -> bool {
        let (block, bit) = place(id);
        self.blocks.get(block).is_some_and(|block| block & bit != 0)
    }

    /// Adds the ids of another set.
    pub fn add(&mut self, other: &EventSet) {
        if self.blocks.len() < other.blocks.len() {
            self.blocks.resize(other.blocks.len(), 0);
        }
        for (own, other) in self.blocks.iter_mut().zip(&other.blocks) {
            *own |= other;
        }
    }

    /// Keeps only the ids that another set has too.
    pub fn keep(&mut self, other: &EventSet) {
        self.blocks.truncate(other.blocks.len());
        for (own, other) in self.blocks.iter_mut().zip(&other.blocks) {
            *own &= other;
        }
    }

    /// Removes the ids of another set.
    pub fn take_out(&mut self, other: &EventSet) {
        for (own, other) in self.blocks.iter_mut().zip(&other.blocks) {
            *own &= !other;
        }
    }

    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.count_ones() as usize).sum()
    }

    /// Returns the ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().enumerate().flat_map(|(at, block)| {
            let first = u32::try_from(at * BITS).unwrap_or(u32::MAX);
            let mut rest = *block;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(first + bit)
            })
        })
    }
}

impl FromIterator<u32> for EventSet {
    fn from_iter<I: IntoIterator<Item = u32>>(ids: I) -> EventSet {
        let mut set = EventSet::default();
        for id in ids {
            set.insert(id);
        }
        set
    }
}

fn place(id: u32) -> (usize, u64) {
    (id as usize / BITS, 1 << (id as usize % BITS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn ids() -> impl Strategy<Value = BTreeSet<u32>> {
        proptest::collection::btree_set(0_u32..300, 0..60)
    }

    fn set(ids: &BTreeSet<u32>) -> EventSet {
        ids.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn set_operations_match_a_btree_set(a in ids(), b in ids(), gone in 0_u32..300) {
            let list = |set: &EventSet| set.iter().collect::<BTreeSet<u32>>();
            let (one, other) = (set(&a), set(&b));
            let change = |change: fn(&mut EventSet, &EventSet)| {
                let mut changed = one.clone();
                change(&mut changed, &other);
                list(&changed)
            };
            prop_assert_eq!(change(EventSet::add), a.union(&b).copied().collect());
            prop_assert_eq!(change(EventSet::keep), a.intersection(&b).copied().collect());
            prop_assert_eq!(change(EventSet::take_out), a.difference(&b).copied().collect());
            prop_assert_eq!(one.len(), a.len());
            let mut less = one.clone();
            less.remove(gone);
            prop_assert!(!less.contains(gone));
            prop_assert_eq!(one.contains(gone), a.contains(&gone));
        }
    }
}
