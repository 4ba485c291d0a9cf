//! Seeds, which make responses reproducible.

use std::cell::RefCell;

use jiff::civil::{Date, date};
use sha2::{Digest, Sha256};

use super::random::Random;

/// Version of the algorithms and the data.
///
/// Within a version, the same seed and parameters always yield the same bytes. The version must be
/// bumped when changing a list, a pattern or the order in which random numbers are drawn.
pub const DATA_VERSION: &str = "2.14.0";

/// Default reference date for cards and people generated from a seed.
pub const SEEDED_DAY: Date = date(2030, 1, 1);

/// Maximum seed length in UTF-16 code units.
pub const MAX_SEED: usize = 64;

thread_local! {
    static SOURCE: RefCell<Option<Random>> = const { RefCell::new(None) };
}

/// A string that determines all generated values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed(String);

/// An error while creating a seed.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// The seed is empty or longer than [`MAX_SEED`].
    #[error("a seed must be 1 to {MAX_SEED} characters long")]
    Length,
    /// The operating system didn't provide any random bytes.
    #[error("the system's random source failed: {0}")]
    Source(#[from] getrandom::Error),
}

impl Seed {
    /// Validates a seed sent by a caller.
    ///
    /// # Errors
    /// Returns [`SeedError::Length`] if the seed is empty or too long.
    pub fn parse(text: &str) -> Result<Self, SeedError> {
        match text.encode_utf16().count() {
            1..=MAX_SEED => Ok(Self(text.to_owned())),
            _ => Err(SeedError::Length),
        }
    }

    /// Generates a random 128-bit seed, written as 32 lower-case hex digits.
    ///
    /// Each thread gets random bytes from the operating system only once, and expands them from
    /// then on.
    ///
    /// # Errors
    /// Returns [`SeedError::Source`] if the operating system's random source fails.
    pub fn fresh() -> Result<Self, SeedError> {
        let bits: [u8; 16] = SOURCE.with_borrow_mut(|source| match source {
            Some(source) => Ok(source.bytes()),
            None => {
                let mut key = [0; 32];
                getrandom::fill(&mut key)?;
                Ok::<_, SeedError>(source.insert(Random::from_key(key)).bytes())
            }
        })?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bits))))
    }

    /// Returns the seed as a `str`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Starts the random stream for an operation. `culture` is empty if the operation doesn't have
    /// one.
    ///
    /// The quantity isn't part of the key, so that asking for more values just extends the list.
    pub fn random(&self, operation: &str, culture: &str) -> Random {
        let key = Sha256::new()
            .chain_update(b"gen1\0")
            .chain_update(operation)
            .chain_update([0])
            .chain_update(culture)
            .chain_update([0])
            .chain_update(&self.0)
            .finalize();
        Random::from_key(key.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_the_digest_of_version_operation_culture_and_seed() {
        let mut expected = Random::from_key(Sha256::digest(b"gen1\0op\0en_US\0demo").into());
        let mut actual = Seed::parse("demo").unwrap().random("op", "en_US");
        assert_eq!(expected.bytes::<64>(), actual.bytes::<64>());
    }

    #[test]
    fn length_is_counted_in_utf16_units() {
        assert!(Seed::parse("").is_err());
        assert!(Seed::parse(&"x".repeat(64)).is_ok());
        assert!(Seed::parse(&"x".repeat(65)).is_err());
        assert!(Seed::parse(&"😀".repeat(32)).is_ok());
        assert!(Seed::parse(&"😀".repeat(33)).is_err());
    }

    #[test]
    fn fresh_seeds_are_hex_and_differ() {
        let (one, two) = (Seed::fresh().unwrap(), Seed::fresh().unwrap());
        assert_ne!(one, two);
        assert_eq!(one.as_str().len(), 32);
        assert!(one.as_str().bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
    }
}
