//! Bitmap of the key prefixes in all runs. Most lookups only have to read one word of it and don't
//! need the filters at all.

use super::filter::Filter;

/// Minimum prefix length in bits. This is enough for searches by six hex digits.
const FEWEST_BITS: u32 = 24;
/// Number of possible prefixes per key (log2). It may be half of that due to rounding.
const SPARSE: u32 = 4;
/// Maximum number of prefixes to test. Larger ranges are assumed to contain a key.
const WIDEST: u64 = 256;

/// Prefixes of the keys in a set of filters.
#[derive(Debug)]
pub struct KeyMap {
    /// Prefix length in bits.
    bits: u32,
    words: Vec<u64>,
}

impl KeyMap {
    /// Builds a bitmap of the keys in `filters`.
    pub fn of<'f>(filters: impl Iterator<Item = &'f Filter> + Clone) -> Self {
        let keys: usize = filters.clone().map(Filter::keys).sum();
        let bits = (keys.max(1).ilog2() + SPARSE).max(FEWEST_BITS);
        let mut map = Self { bits, words: vec![0; 1 << (bits - u64::BITS.ilog2())] };
        for filter in filters {
            for (low, high) in filter.bounds_of_keys() {
                for prefix in map.prefix(low)..=map.prefix(high) {
                    if let Some(word) = map.words.get_mut((prefix / 64) as usize) {
                        *word |= 1 << (prefix % 64);
                    }
                }
            }
        }
        map
    }

    fn prefix(&self, key: i64) -> u64 {
        (key.cast_unsigned() ^ 1 << 63) >> (u64::BITS - self.bits)
    }

    /// Returns `false` if there is definitely no key from `low` to `high`, inclusive.
    pub fn may_have(&self, low: i64, high: i64) -> bool {
        let (low, high) = (self.prefix(low), self.prefix(high));
        let has = |prefix: u64| {
            let word = self.words.get((prefix / 64) as usize).copied().unwrap_or_default();
            word >> (prefix % 64) & 1 == 1
        };
        high.wrapping_sub(low) >= WIDEST || (low..=high).any(has)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spread(number: u64) -> i64 {
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15).cast_signed()
    }

    fn filter(keys: &[i64]) -> Filter {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        Filter::of(&keys)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn map_finds_every_key_of_every_filter(
            few in proptest::collection::vec(any::<i64>(), 0..40),
            many in 0..9_000_u64,
            width in 0..i64::MAX,
        ) {
            let many: Vec<i64> = (0..many).map(spread).collect();
            let filters = [filter(&few), filter(&many)];
            let map = KeyMap::of(filters.iter());
            for key in few.iter().chain(&many) {
                prop_assert!(map.may_have(*key, *key));
                prop_assert!(map.may_have(key.saturating_sub(width), key.saturating_add(width)));
            }
        }
    }

    #[test]
    fn map_rejects_most_other_keys_and_empty_ranges() {
        let keys: Vec<i64> = (0..100_000).map(spread).collect();
        let filters = [filter(&keys[..70_000]), filter(&keys[70_000..])];
        let map = KeyMap::of(filters.iter());
        let others = (200_000..300_000).map(spread).filter(|key| map.may_have(*key, *key));
        assert!(others.count() < 1_500);
        let ranges = (0..50_000_u64).filter(|prefix| {
            let low = ((prefix * 331) << 40 ^ 1 << 63).cast_signed();
            map.may_have(low, low | ((1 << 40) - 1))
        });
        assert!(ranges.count() < 750);
        assert!(!KeyMap::of([].iter()).may_have(7, 7));
    }
}
