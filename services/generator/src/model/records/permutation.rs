//! Pseudorandom permutations, for generating unique values without remembering earlier ones.

use crate::model::random::mixed;

/// A permutation of the numbers below a bound.
///
/// A Feistel network permutes the numbers below the next power of four. As long as the result is
/// out of bounds, it is permuted again, which takes at most four steps on average.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    bound: u64,
    half: u32,
    key: u64,
}

const ROUNDS: u64 = 6;

impl Permutation {
    /// Creates a permutation of the numbers below `bound`, which can be up to 2^62.
    pub fn new(bound: u64, key: u64) -> Self {
        let bits = 64 - bound.saturating_sub(1).leading_zeros();
        Self { bound: bound.max(1), half: bits.div_ceil(2).max(1), key }
    }

    /// Returns the image of `number` modulo the bound.
    pub fn at(&self, number: u64) -> u64 {
        // If the loop started out of bounds, it might never get back.
        let mut place = number % self.bound;
        loop {
            place = self.network(place);
            if place < self.bound {
                return place;
            }
        }
    }

    fn network(&self, number: u64) -> u64 {
        let mask = (1_u64 << self.half) - 1;
        let (mut left, mut right) = (number >> self.half, number & mask);
        for round in 0..ROUNDS {
            let key = self.key.rotate_left(7 * round as u32).wrapping_add(round);
            (left, right) = (right, (left ^ mixed(right.wrapping_add(key))) & mask);
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_occurs_once_and_the_order_depends_on_the_key() {
        for bound in [1, 2, 3, 5, 16, 17, 1_000, 65_537] {
            let order = |key| {
                let permutation = Permutation::new(bound, key);
                (0..bound).map(|number| permutation.at(number)).collect::<Vec<_>>()
            };
            let mut places = order(7);
            assert!(bound < 100 || (places != order(8) && !places.is_sorted()), "{bound}");
            places.sort_unstable();
            assert!(places.into_iter().eq(0..bound), "{bound}");
        }
    }

    #[test]
    fn positions_past_the_bound_wrap_around() {
        for (bound, key) in [(0, 1), (1, 3), (5, 2), (17, 4)] {
            let permutation = Permutation::new(bound, key);
            for number in 0..200 {
                assert_eq!(permutation.at(number), permutation.at(number % bound.max(1)));
            }
        }
    }

    #[test]
    fn permuted_positions_in_large_spaces_are_below_the_bound() {
        let bound = (1 << 62) - 57;
        let permutation = Permutation::new(bound, 3);
        assert!((0..10_000).all(|number| permutation.at(number) < bound));
    }
}
