//! API keys and the data we store for them.

use sha2::{Digest, Sha256};

use crate::{KeyError, Plan, Quota};

/// Number of hex digits in a key.
const DIGITS: usize = 32;
/// Number of digits in a hint, which lets owners tell their keys apart.
const HINT: usize = 6;

/// A stored key, represented by its digest. The key itself is never stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The row ID, which also identifies the quota bucket.
    pub id: i64,
    /// The key's owner.
    pub owner: String,
    /// The key's plan. `None` if the service doesn't get its limits from plans.
    pub plan: Option<Plan>,
    /// The first digits of the key.
    pub hint: String,
    /// When the key was issued or last rotated, in Unix seconds.
    pub created_at: i64,
    /// When the key expires, in Unix seconds. `None` if it never expires.
    pub expires_at: Option<i64>,
    /// When the key was revoked, in Unix seconds. `None` if it hasn't been revoked.
    pub revoked_at: Option<i64>,
    /// When the key was last used, in Unix seconds. Written at most once a minute, so the latest
    /// use can be pending until a key is used again or the server stops.
    pub last_used_at: Option<i64>,
}

/// Whether a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// The key works.
    Live,
    /// The key has expired.
    Expired,
    /// The operator or the owner revoked the key.
    Revoked,
}

impl KeyState {
    /// Returns the name of the state.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl Key {
    /// Returns the quota of the key's plan, or `None` if the key doesn't have a plan.
    pub fn quota(&self) -> Option<Quota> {
        self.plan.as_ref().map(Plan::quota)
    }

    /// Returns the state at the time `now`, in Unix seconds.
    pub fn state(&self, now: i64) -> KeyState {
        if self.revoked_at.is_some() {
            KeyState::Revoked
        } else if self.expires_at.is_some_and(|end| end <= now) {
            KeyState::Expired
        } else {
            KeyState::Live
        }
    }
}

/// Returns the SHA-256 of the lowercased key. This is stored instead of the key itself.
///
/// ```
/// let lower = auth::digest("00112233445566778899aabbccddeeff");
/// assert_eq!(lower, auth::digest("00112233445566778899AABBCCDDEEFF"));
/// ```
pub fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.to_ascii_lowercase()).into()
}

/// Returns whether a string has the format of a key, which is 32 hex digits in either case.
///
/// ```
/// assert!(auth::is_well_formed("00112233445566778899aAbBcCdDeEfF"));
/// assert!(!auth::is_well_formed("password"));
/// ```
pub fn is_well_formed(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Generates a key from 128 random bits provided by the operating system.
///
/// # Errors
/// Returns [`KeyError::Random`] if the system fails to provide random bits.
pub(crate) fn new_key() -> Result<String, KeyError> {
    let mut bits = [0; DIGITS / 2];
    getrandom::fill(&mut bits).map_err(|error| KeyError::Random(error.to_string()))?;
    Ok(hex::encode(bits))
}

/// Returns the first few digits of a key, which are safe to show.
pub(crate) fn hint(text: &str) -> String {
    text.chars().take(HINT).collect::<String>().to_ascii_lowercase()
}
