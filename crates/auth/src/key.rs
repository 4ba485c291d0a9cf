//! API keys and the data stored for them.

use sha2::{Digest, Sha256};

use crate::{KeyError, Plan, Quota};

/// The length of a key in hexadecimal digits.
const DIGITS: usize = 32;
/// The number of digits of a key that are shown to tell keys apart.
const HINT: usize = 6;

/// A stored key. The text of the key itself is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The id of the row. It also identifies the quota bucket.
    pub id: i64,
    /// The owner of the key.
    pub owner: String,
    /// The plan. `None` if the service takes the limits from elsewhere.
    pub plan: Option<Plan>,
    /// The first digits of the text.
    pub hint: String,
    /// When the current text was created, in Unix seconds.
    pub created_at: i64,
    /// When the key expires, in Unix seconds. `None` if it does not.
    pub expires_at: Option<i64>,
    /// When the key was revoked, in Unix seconds. `None` if it was not.
    pub revoked_at: Option<i64>,
    /// When the key was last used, in Unix seconds. Recorded with a delay of up to a minute.
    pub last_used_at: Option<i64>,
}

/// The state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// The key works.
    Live,
    /// It has expired.
    Expired,
    /// Revoked by the operator or the owner.
    Revoked,
}

impl KeyState {
    /// Returns the state as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl Key {
    /// Returns the quota of the key's plan. `None` if it does not have a plan.
    pub fn quota(&self) -> Option<Quota> {
        self.plan.as_ref().map(Plan::quota)
    }

    /// Returns the state at Unix time `now`.
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

/// Returns the SHA-256 of a key in lower case, which is stored instead of the key.
///
/// ```
/// let lower = auth::digest("00112233445566778899aabbccddeeff");
/// assert_eq!(lower, auth::digest("00112233445566778899AABBCCDDEEFF"));
/// ```
pub fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.to_ascii_lowercase()).into()
}

/// Returns whether a string has the format of a key: 32 hexadecimal digits in any case.
///
/// ```
/// assert!(auth::is_well_formed("00112233445566778899aAbBcCdDeEfF"));
/// assert!(!auth::is_well_formed("password"));
/// ```
pub fn is_well_formed(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Creates a key from 128 random bits of the operating system.
///
/// # Errors
/// Returns [`KeyError::Random`] if the system provides no random bits.
pub(crate) fn new_key() -> Result<String, KeyError> {
    let mut bits = [0; DIGITS / 2];
    getrandom::fill(&mut bits).map_err(|error| KeyError::Random(error.to_string()))?;
    Ok(hex::encode(bits))
}

/// Returns the first digits of a key, which may be shown.
pub(crate) fn hint(text: &str) -> String {
    text.chars().take(HINT).collect::<String>().to_ascii_lowercase()
}
