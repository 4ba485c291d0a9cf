//! Reproducible random numbers.

/// A random number generator whose output depends only on its seed (SplitMix64).
///
/// ```
/// let (mut one, mut other) = (testkit::Random::new(7), testkit::Random::new(7));
/// assert_eq!(one.number(), other.number());
/// assert!(one.below(6) < 6);
/// assert!(["a", "b"].contains(one.pick(&["a", "b"])));
/// ```
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a random 64-bit number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    /// Returns a random element of `list`.
    ///
    /// # Panics
    /// Panics if `list` is empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.below(list.len() as u64)).unwrap_or_default()]
    }
}
