//! By-domain index of a run. Its entries are sorted, delta-encoded and packed into blocks.

use super::block::{Block, SIZE, push_number, take_number};

/// The sign bit. Flipping it maps signed keys to unsigned numbers that sort in the same order.
const TOP: u64 = 1 << 63;

/// An index entry: a domain id followed by the upper half of an account's key. That's enough to
/// find the block that contains the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub u64);

impl Place {
    /// Returns the entry for the account with key `k`.
    pub fn of(domain_id: i32, k: i64) -> Self {
        Self(Self::first_of(domain_id).0 | (k.cast_unsigned() ^ TOP) >> 32)
    }

    /// Returns the lowest possible entry for a domain.
    pub fn first_of(domain_id: i32) -> Self {
        Self(u64::from(domain_id.cast_unsigned()) << 32)
    }

    pub fn domain_id(self) -> i32 {
        ((self.0 >> 32) as u32).cast_signed()
    }

    /// Returns the lowest and highest key of the accounts that this entry can refer to.
    pub fn keys(self) -> (i64, i64) {
        let low = self.0 << 32;
        let key = |value: u64| (value ^ TOP).cast_signed();
        (key(low), key(low | u64::from(u32::MAX)))
    }

    /// Converts the entry to the database's integer type. Domain ids are positive, so the order
    /// stays the same.
    pub fn stored(self) -> i64 {
        self.0.cast_signed()
    }
}

/// Packs sorted entries into blocks.
pub fn blocks(places: &[Place]) -> impl Iterator<Item = Block> {
    let mut rest = places;
    std::iter::from_fn(move || {
        let (first, others) = rest.split_first()?;
        let (mut data, mut last, mut taken) = (Vec::with_capacity(SIZE), first.0, 0);
        for place in others {
            if data.len() + 10 > SIZE {
                break;
            }
            push_number(&mut data, place.0 - last);
            last = place.0;
            taken += 1;
        }
        rest = &others[taken..];
        Some(Block { first: first.stored(), data })
    })
}

/// Decodes a block's entries. Returns `None` if it's corrupt.
pub fn places(first: i64, mut data: &[u8]) -> Option<Vec<Place>> {
    let mut last = first.cast_unsigned();
    let mut places = vec![Place(last)];
    while !data.is_empty() {
        last = last.checked_add(take_number(&mut data)?)?;
        places.push(Place(last));
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn encoded_places_decode_to_equal_places(mut accounts in proptest::collection::vec((0..2_000_i32, any::<i64>()), 0..2_000)) {
            accounts.sort_unstable();
            let all: Vec<Place> = accounts.iter().map(|(domain, k)| Place::of(*domain, *k)).collect();
            let read: Vec<Place> = blocks(&all)
                .flat_map(|block| places(block.first, &block.data).unwrap())
                .collect();
            prop_assert_eq!(&read, &all);
            for ((domain, k), place) in accounts.iter().zip(all) {
                let (low, high) = place.keys();
                prop_assert!(low <= *k && *k <= high);
                prop_assert_eq!(place.domain_id(), *domain);
            }
        }
    }
}
