//! Packed lists of an account's breach ids: two bytes each, little-endian, in ascending order.

/// Unpacks a list.
pub fn ids(list: &[u8]) -> impl Iterator<Item = u16> + '_ {
    list.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair))
}

/// Sorts, deduplicates and packs ids.
pub fn pack(ids: &[u16]) -> Vec<u8> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().flat_map(u16::to_le_bytes).collect()
}

/// Returns `true` if the list contains `id`.
pub fn contains(list: &[u8], id: u16) -> bool {
    ids(list).any(|each| each == id)
}

/// Adds `id` to the list. Returns `None` if it's already there.
pub fn with(list: &[u8], id: u16) -> Option<Vec<u8>> {
    let place = ids(list).position(|each| each >= id).unwrap_or(list.len() / 2);
    if list[2 * place..].starts_with(&id.to_le_bytes()) {
        return None;
    }
    let mut longer = Vec::with_capacity(list.len() + 2);
    longer.extend_from_slice(&list[..2 * place]);
    longer.extend_from_slice(&id.to_le_bytes());
    longer.extend_from_slice(&list[2 * place..]);
    Some(longer)
}

/// Merges two lists. Returns `None` if the first already contains the second.
pub fn union(list: &[u8], more: &[u8]) -> Option<Vec<u8>> {
    if ids(more).all(|id| contains(list, id)) {
        return None;
    }
    let mut union = Vec::with_capacity(list.len() + more.len());
    let (mut left, mut right) = (ids(list).peekable(), ids(more).peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => *a.min(b),
            (Some(a), None) => *a,
            (None, Some(b)) => *b,
            (None, None) => return Some(union),
        };
        left.next_if_eq(&next);
        right.next_if_eq(&next);
        union.extend_from_slice(&next.to_le_bytes());
    }
}

/// Removes `id` from the list. Returns `None` if it isn't there.
pub fn without(list: &[u8], id: u16) -> Option<Vec<u8>> {
    contains(list, id)
        .then(|| ids(list).filter(|each| *each != id).flat_map(u16::to_le_bytes).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_behave_like_sets(values in proptest::collection::vec(1u16.., 0..20), id in 1u16..) {
            let mut set: BTreeSet<u16> = values.iter().copied().collect();
            let list = pack(&values);
            prop_assert_eq!(ids(&list).collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(contains(&list, id), set.contains(&id));
            let removed = without(&list, id);
            prop_assert_eq!(removed.is_some(), set.contains(&id));
            let added = with(&list, id);
            prop_assert_eq!(added.is_none(), set.contains(&id));
            if let Some(removed) = removed {
                prop_assert!(!contains(&removed, id));
                prop_assert_eq!(with(&removed, id), Some(list.clone()));
            }
            let more = pack(&[id, 7, 300]);
            let all: BTreeSet<u16> = set.iter().copied().chain([id, 7, 300]).collect();
            let merged = union(&list, &more).unwrap_or_else(|| list.clone());
            prop_assert_eq!(ids(&merged).collect::<Vec<_>>(), all.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(union(&merged, &more), None);
            if let Some(added) = added {
                set.insert(id);
                prop_assert_eq!(ids(&added).collect::<Vec<_>>(), set.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
