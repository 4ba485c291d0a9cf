//! How many lines a padded answer has, and unpredictable bytes for the lines that fill it.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::kind::Kind;

/// The fewest lines of a padded answer.
pub const FEWEST: usize = 800;
/// The most lines of a padded answer whose bucket allows it.
pub const MOST: usize = 1000;
/// Above [`MOST`], answers are rounded to bands of this many lines.
const BAND: usize = 200;
/// A new seed is taken after this many padding lines.
const LINES_PER_SEED: u32 = 1 << 20;

/// The smallest and largest number of lines of a padded answer over `n` real ones.
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

/// The source of padding: a cipher keyed by the operating system.
///
/// A client sees what the generator puts out, so earlier output must not tell later output.
pub struct Padder {
    random: ChaCha12Rng,
    lines_left: u32,
    bytes: Vec<u8>,
}

impl Padder {
    /// Seeds a generator.
    ///
    /// # Errors
    /// The operating system gives no random bytes.
    pub fn new() -> Result<Self, getrandom::Error> {
        Ok(Self { random: seeded()?, lines_left: LINES_PER_SEED, bytes: Vec::new() })
    }

    /// Draws the number of padding lines for an answer over `n` real ones.
    pub fn draw(&mut self, n: usize) -> usize {
        let (low, high) = bounds(n);
        low - n + self.below((high - low + 1) as u32) as usize
    }

    /// Random bytes for `lines` padding lines: a digit byte and a tail for each.
    ///
    /// # Errors
    /// The operating system gives no random bytes for the new seed that is due.
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

    /// A number below `bound`, each equally likely: values of the uneven rest are drawn again.
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
    fn bounds_follow_the_table() {
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
    fn every_total_of_the_interval_is_drawn() {
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
    fn a_new_seed_is_taken_when_the_lines_are_used_up() {
        let mut padder = Padder::new().unwrap();
        padder.lines_left = 5;
        let before = padder.bytes(Kind::Sha1, 5).unwrap().to_vec();
        assert_eq!((before.len(), padder.lines_left), (90, 0));
        padder.bytes(Kind::Ntlm, 1).unwrap();
        assert_eq!(padder.lines_left, LINES_PER_SEED - 1);
    }
}
