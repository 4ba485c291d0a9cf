//! Padding: chooses the number of lines in a padded response, and provides random bytes for the
//! additional ones.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::kind::Kind;

/// Minimum number of lines in a padded response.
pub const FEWEST: usize = 800;
/// Maximum number of lines in a padded response, unless the bucket itself is larger.
pub const MOST: usize = 1000;
/// Above [`MOST`], the number of lines is rounded to bands of this width.
const BAND: usize = 200;
/// Number of padding lines to generate before reseeding.
const LINES_PER_SEED: u32 = 1 << 20;

/// Returns the minimum and maximum number of lines in a padded response that has `n` real lines.
pub fn bounds(n: usize) -> (usize, usize) {
    match n {
        0..=FEWEST => (FEWEST, MOST),
        _ if n <= MOST => (n, MOST),
        _ => {
            let low = n.div_ceil(BAND) * BAND;
            (low, low + BAND)
        }
    }
}

/// The random number generator for padding: a stream cipher that is seeded by the operating system.
///
/// Clients see its output, but must not be able to predict what comes next.
pub struct Padder {
    random: ChaCha12Rng,
    lines_left: u32,
    bytes: Vec<u8>,
}

impl Padder {
    /// Seeds the generator.
    ///
    /// # Errors
    /// Returns an error if the operating system can't provide random bytes.
    pub fn new() -> Result<Self, getrandom::Error> {
        Ok(Self { random: seeded()?, lines_left: LINES_PER_SEED, bytes: Vec::new() })
    }

    /// Returns a random number of padding lines for a response with `n` real lines.
    pub fn draw(&mut self, n: usize) -> usize {
        let (low, high) = bounds(n);
        low - n + self.below((high - low + 1) as u32) as usize
    }

    /// Returns random bytes for `lines` padding lines, each consisting of a first-digit byte and a
    /// tail.
    ///
    /// # Errors
    /// Returns an error if it is time to reseed and the operating system can't provide random
    /// bytes.
    pub fn bytes(&mut self, kind: Kind, lines: usize) -> Result<&[u8], getrandom::Error> {
        let drawn = u32::try_from(lines).unwrap_or(u32::MAX);
        if self.lines_left < drawn {
            self.random = seeded()?;
            self.lines_left = LINES_PER_SEED;
        }
        self.lines_left = self.lines_left.saturating_sub(drawn);
        self.bytes.resize(lines * (kind.tail_bytes() + 1), 0);
        self.random.fill_bytes(&mut self.bytes);
        Ok(&self.bytes)
    }

    /// Returns a uniformly distributed number below `bound`, by rejection sampling.
    fn below(&mut self, bound: u32) -> u32 {
        let even = u32::MAX - (u32::MAX % bound + 1) % bound;
        loop {
            let value = self.random.next_u32();
            if value <= even {
                return value % bound;
            }
        }
    }
}

fn seeded() -> Result<ChaCha12Rng, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(ChaCha12Rng::from_seed(seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_bounds_follow_the_table() {
        let table = [
            (0, 800, 1000),
            (800, 800, 1000),
            (801, 801, 1000),
            (1000, 1000, 1000),
            (1001, 1200, 1400),
            (1200, 1200, 1400),
            (1399, 1400, 1600),
            (65_535, 65_600, 65_800),
        ];
        for (n, low, high) in table {
            assert_eq!(bounds(n), (low, high), "{n}");
        }
    }

    #[test]
    fn every_total_in_the_interval_is_sampled() {
        let mut padder = Padder::new().unwrap();
        for n in [0, 799, 800, 801, 1000, 1001, 1399] {
            let (low, high) = bounds(n);
            let mut seen = vec![false; high - low + 1];
            for _ in 0..20_000 {
                seen[n + padder.draw(n) - low] = true;
            }
            assert!(seen.iter().all(|seen| *seen), "{n}");
        }
    }

    #[test]
    fn new_seed_is_used_after_the_lines_of_the_old_one() {
        let mut padder = Padder::new().unwrap();
        padder.lines_left = 5;
        let before = padder.bytes(Kind::Sha1, 5).unwrap().to_vec();
        assert_eq!((before.len(), padder.lines_left), (90, 0));
        padder.bytes(Kind::Ntlm, 1).unwrap();
        assert_eq!(padder.lines_left, LINES_PER_SEED - 1);
    }
}
