//! Random numbers: a ChaCha12 stream, and distributions to sample from it.
//!
//! Sampling is implemented here, because seeded responses must remain byte-identical even if a
//! library changes its own sampling.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Samples numbers, choices and bytes from a keyed stream.
///
/// The same key yields the same values on every platform.
pub struct Random {
    source: Source,
}

enum Source {
    /// A keyed stream, with a substream for each item in a list.
    Key(Box<ChaCha12Rng>),
    /// The SplitMix64 state for a single value in a record. Starting a sequence costs nothing,
    /// unlike with a stream cipher, so each value can have its own.
    Row(u64),
}

/// The SplitMix64 increment.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Random {
    /// Starts a stream with a 256-bit key.
    pub fn from_key(key: [u8; 32]) -> Self {
        Self { source: Source::Key(Box::new(ChaCha12Rng::from_seed(key))) }
    }

    /// Starts the sequence for row `index` of a field. The key has 128 bits.
    pub fn of_row(key: [u64; 2], index: u64) -> Self {
        let place = mixed(key[1].wrapping_add(index.wrapping_mul(GOLDEN)));
        Self { source: Source::Row(mixed(key[0] ^ place)) }
    }

    /// Moves to the substream of a list item, so that items don't depend on earlier ones.
    pub fn seek(&mut self, index: u64) {
        match &mut self.source {
            Source::Key(stream) => {
                // In the other order, the generator would compute words that are not used.
                stream.set_word_pos(0);
                stream.set_stream(index);
            }
            Source::Row(state) => *state = mixed(index),
        }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        match &mut self.source {
            Source::Key(stream) => stream.next_u64(),
            Source::Row(state) => {
                *state = state.wrapping_add(GOLDEN);
                mixed(*state)
            }
        }
    }

    /// Samples a number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Samples uniformly from the numbers below `bound`, or returns 0 if `bound` is 0.
    ///
    /// The bound is multiplied by 64 random bits, and the result is the upper half. The few values
    /// that would introduce a bias are rejected.
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound.max(1);
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Samples a number from `low` to `high`, inclusive.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Samples an index into a list with `length` items.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Samples an item from a non-empty list.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// Samples an item from a non-empty list by weight.
    pub fn pick_weighted<'a, T>(&mut self, items: &'a [(T, u16)]) -> &'a T {
        let total: u64 = items.iter().map(|item| u64::from(item.1)).sum();
        let mut left = self.below(total);
        for (item, weight) in items {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return item,
            }
        }
        &items[0].0
    }

    /// Returns true with a probability of `percent` %.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        match &mut self.source {
            Source::Key(stream) => stream.fill_bytes(bytes),
            Source::Row(_) => {
                for part in bytes.chunks_mut(8) {
                    let bits = self.bits().to_le_bytes();
                    part.copy_from_slice(&bits[..part.len()]);
                }
            }
        }
    }

    /// Returns `N` random bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

/// The SplitMix64 output function.
pub(super) fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_rows_are_uniform_and_repeatable() {
        let first = |index| Random::of_row([1, 2], index).below(10);
        let mut seen = [0_u32; 10];
        for index in 0..100_000 {
            assert_eq!(first(index), first(index));
            seen[first(index) as usize] += 1;
        }
        // Four standard deviations of a binomial distribution.
        assert!(seen.iter().all(|count| count.abs_diff(10_000) < 380), "{seen:?}");
        let neighbours = (0..100_000).filter(|index| first(*index) == first(index + 1)).count();
        assert!(neighbours.abs_diff(10_000) < 380, "{neighbours}");
    }

    #[test]
    fn stream_is_chacha12_of_the_key() {
        let mut random = Random::from_key([0; 32]);
        let expected = "9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f";
        assert_eq!(hex::encode(random.bytes::<32>()), expected);
    }

    #[test]
    fn list_items_have_separate_streams() {
        let at = |index: u64, before: usize| {
            let mut random = Random::from_key([4; 32]);
            random.fill(&mut vec![0; before]);
            random.seek(index);
            random.bytes::<32>()
        };
        assert_eq!(at(7, 0), at(7, 1_001));
        assert_ne!(at(7, 0), at(8, 0));
        assert_eq!(at(0, 5), Random::from_key([4; 32]).bytes::<32>());
    }

    #[test]
    fn samples_are_below_the_bound_and_include_every_value() {
        let mut random = Random::from_key([1; 32]);
        for bound in [1, 2, 3, 7, 10, 97] {
            let mut seen = vec![0u32; bound as usize];
            for _ in 0..bound * 300 {
                seen[random.below(bound) as usize] += 1;
            }
            assert!(seen.iter().all(|n| *n > 100), "{bound}: {seen:?}");
        }
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn samples_with_huge_bounds_are_unbiased() {
        let mut random = Random::from_key([2; 32]);
        let bound = (1 << 63) + 1;
        let upper = (0..2_000).filter(|_| random.below(bound) > bound / 2).count();
        assert!((850..1150).contains(&upper), "{upper}");
    }

    #[test]
    fn items_are_sampled_by_weight() {
        let mut random = Random::from_key([3; 32]);
        let items = [("never", 0), ("often", 90), ("seldom", 10)];
        let often = (0..2_000).filter(|_| *random.pick_weighted(&items) == "often").count();
        assert!((1_700..1_900).contains(&often), "{often}");
        assert!((0..2_000).all(|_| *random.pick_weighted(&items) != "never"));
    }
}
