//! In-memory filter over the upper bits of a run's keys.
//!
//! Keys are hashes and therefore evenly distributed. The upper bits of a key select a bucket of
//! about 16 keys, and the 16 bits after them are compared. This takes 18 bits per key and has a
//! false positive rate of 1 in 4,000. Unlike a Bloom filter, this one keeps keys in order, so it
//! can also test ranges. For a range of six hex digits, there are no false positives once a run has
//! more than about 4,000 accounts.

use std::ops::Range;

/// Number of key bits to compare.
const COMPARED: u32 = 16;
/// Average number of keys per bucket (log2).
const BUCKET: u32 = 4;

/// The part of a filter that covers a range of keys.
#[derive(Clone, Debug)]
pub struct Place {
    /// Bucket and compared bits of the lowest key.
    first: Range<usize>,
    low: u16,
    /// Bucket and compared bits of the highest key.
    last: Range<usize>,
    high: u16,
    /// Whether both ends are in the same bucket.
    one_bucket: bool,
}

/// The keys that a run may contain.
#[derive(Debug, PartialEq, Eq)]
pub struct Filter {
    /// Number of bits that select the bucket.
    bits: u32,
    /// Start of each bucket, then the end of the last one.
    starts: Vec<u32>,
    /// Compared bits of every key, in key order.
    rests: Vec<u16>,
}

impl Filter {
    /// Builds a filter from sorted keys.
    pub fn of(keys: &[i64]) -> Self {
        let bits = keys.len().max(1).ilog2().saturating_sub(BUCKET);
        let mut filter =
            Self { bits, starts: vec![0; (1 << bits) + 1], rests: Vec::with_capacity(keys.len()) };
        for key in keys {
            let (bucket, rest) = filter.parts(*key);
            filter.rests.push(rest);
            filter.starts[bucket + 1] = filter.rests.len() as u32;
        }
        // Empty buckets start and end where the previous one ends.
        let mut last = 0;
        for start in &mut filter.starts {
            last = last.max(*start);
            *start = last;
        }
        filter
    }

    fn parts(&self, key: i64) -> (usize, u16) {
        let unsigned = key.cast_unsigned() ^ 1 << 63;
        let upper = unsigned >> (64 - COMPARED - self.bits);
        ((upper >> COMPARED) as usize, upper as u16)
    }

    /// Returns the number of keys.
    pub fn keys(&self) -> usize {
        self.rests.len()
    }

    /// Returns the lowest and highest possible value of each key.
    pub fn bounds_of_keys(&self) -> impl Iterator<Item = (i64, i64)> {
        let unknown = 64 - COMPARED - self.bits;
        let buckets = self.starts.array_windows().zip(0_u64..);
        buckets.flat_map(move |([start, end], bucket)| {
            let rests = self.rests.get(*start as usize..*end as usize).unwrap_or_default();
            rests.iter().map(move |rest| {
                let low = (bucket << COMPARED | u64::from(*rest)) << unknown;
                let key = |unsigned: u64| (unsigned ^ 1 << 63).cast_signed();
                (key(low), key(low | ((1 << unknown) - 1)))
            })
        })
    }

    /// Returns the range of a bucket in `rests`.
    fn bounds(&self, bucket: usize) -> Range<usize> {
        let bounds = self.starts.get(bucket).zip(self.starts.get(bucket + 1));
        bounds.map_or(0..0, |(start, end)| *start as usize..*end as usize)
    }

    /// Locates the keys from `low` to `high`, inclusive, for use with [`Filter::has`].
    pub fn place(&self, low: i64, high: i64) -> Place {
        let ((first, low), (last, high)) = (self.parts(low), self.parts(high));
        let (one_bucket, first, last) = (first == last, self.bounds(first), self.bounds(last));
        Place { first, low, last, high, one_bucket }
    }

    /// Returns `false` if there is definitely no key in the range at `place`.
    pub fn has(&self, place: &Place) -> bool {
        let Place { first, low, last, high, one_bucket } = place;
        let rests = |bounds: &Range<usize>| self.rests.get(bounds.clone()).unwrap_or_default();
        if *one_bucket {
            // There's no early exit so that the compiler can vectorize the loop.
            return rests(first)
                .iter()
                .fold(false, |found, rest| found | (low..=high).contains(&rest));
        }
        rests(first).iter().any(|rest| rest >= low)
            || rests(last).iter().any(|rest| rest <= high)
            || first.end < last.start
    }

    /// Returns `false` if there is definitely no key from `low` to `high`, inclusive.
    pub fn may_have(&self, low: i64, high: i64) -> bool {
        self.has(&self.place(low, high))
    }

    /// Serializes the filter.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.bits as u8];
        bytes.extend(self.starts.iter().flat_map(|start| start.to_le_bytes()));
        bytes.extend(self.rests.iter().flat_map(|rest| rest.to_le_bytes()));
        bytes
    }

    /// Deserializes a filter. Returns `None` if it's corrupt.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (bits, bytes) = bytes.split_first()?;
        let bits = u32::from(*bits);
        let buckets = 1_usize.checked_shl(bits).filter(|_| bits <= 64 - COMPARED)?;
        let (starts, rests) = bytes.split_at_checked(buckets.checked_add(1)?.checked_mul(4)?)?;
        let starts: Vec<u32> =
            starts.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let (rests, odd) = rests.as_chunks::<2>();
        let rests: Vec<u16> = rests.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
        let whole = odd.is_empty()
            && starts.is_sorted()
            && starts.last().is_some_and(|end| *end as usize == rests.len());
        whole.then_some(Self { bits, starts, rests })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spread(number: u64) -> i64 {
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15).cast_signed()
    }

    proptest! {
        #[test]
        fn filter_finds_every_key(
            keys in proptest::collection::vec(any::<i64>(), 0..400),
            more in 0..3_000_u64,
            other in any::<i64>(),
            width in 0..i64::MAX,
        ) {
            let mut keys: Vec<i64> = keys.into_iter().chain((0..more).map(spread)).collect();
            keys.sort_unstable();
            let filter = Filter::of(&keys);
            prop_assert_eq!(Filter::from_bytes(&filter.to_bytes()), Some(Filter::of(&keys)));
            for key in &keys {
                prop_assert!(filter.may_have(*key, *key));
            }
            let high = other.saturating_add(width);
            if keys.iter().any(|key| (other..=high).contains(key)) {
                prop_assert!(filter.may_have(other, high));
            }
            prop_assert_eq!(filter.may_have(i64::MIN, i64::MAX), !keys.is_empty());
        }

        #[test]
        fn damaged_filters_are_rejected_or_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), key in any::<i64>()) {
            if let Some(filter) = Filter::from_bytes(&bytes) {
                filter.may_have(key, key.saturating_add(1 << 40));
            }
        }
    }

    #[test]
    fn filter_rejects_most_other_keys_and_empty_ranges() {
        let mut keys: Vec<i64> = (0..100_000).map(spread).collect();
        keys.sort_unstable();
        let filter = Filter::of(&keys);
        let others = (200_000..300_000).map(spread).filter(|key| filter.may_have(*key, *key));
        assert!(others.count() < 100);
        // Ranges of six hex digits.
        for prefix in 0..50_000_u64 {
            let low = ((prefix * 331) << 40 ^ 1 << 63).cast_signed();
            let high = low | ((1 << 40) - 1);
            let place = keys.partition_point(|key| *key < low);
            assert_eq!(filter.may_have(low, high), keys.get(place).is_some_and(|key| *key <= high));
        }
    }
}
