//! A key, and what is kept of it.

use sha2::{Digest, Sha256};

use crate::{KeyError, Plan, Quota};

/// Length of a key in hexadecimal digits.
const DIGITS: usize = 32;
/// How many digits of a key are shown to tell keys apart.
const HINT: usize = 6;

/// A key as it is on file; its text is not among it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Number of the row; the bucket of the key's quota hangs on it.
    pub id: i64,
    /// Whose key it is.
    pub owner: String,
    /// What it may do; none where the service finds the limits elsewhere.
    pub plan: Option<Plan>,
    /// The first digits of the text.
    pub hint: String,
    /// Unix second at which the text was made.
    pub created_at: i64,
    /// First Unix second at which it does not work any more.
    pub expires_at: Option<i64>,
    /// Unix second at which it was revoked.
    pub revoked_at: Option<i64>,
    /// Unix second of its last use, up to a minute late.
    pub last_used_at: Option<i64>,
}

/// Whether a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// It works.
    Live,
    /// Its time is over.
    Expired,
    /// The operator or its owner ended it.
    Revoked,
}

impl KeyState {
    /// The state as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl Key {
    /// The quota of its plan; none without a plan.
    pub fn quota(&self) -> Option<Quota> {
        self.plan.as_ref().map(Plan::quota)
    }

    /// Whether the key works at Unix second `now`.
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

/// The SHA-256 of a key's lower-cased text, which is all that is kept of it.
///
/// ```
/// let lower = auth::digest("00112233445566778899aabbccddeeff");
/// assert_eq!(lower, auth::digest("00112233445566778899AABBCCDDEEFF"));
/// ```
pub fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.to_ascii_lowercase()).into()
}

/// Whether a text has the form of a key: 32 hexadecimal digits in any case.
///
/// ```
/// assert!(auth::is_well_formed("00112233445566778899aAbBcCdDeEfF"));
/// assert!(!auth::is_well_formed("password"));
/// ```
pub fn is_well_formed(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Makes a key of 128 random bits from the operating system.
///
/// ```
/// let text = auth::new_key()?;
/// assert!(auth::is_well_formed(&text));
/// # Ok::<(), auth::KeyError>(())
/// ```
///
/// # Errors
/// [`KeyError::Random`] when the system gives no random bits.
pub fn new_key() -> Result<String, KeyError> {
    let mut bits = [0; DIGITS / 2];
    getrandom::fill(&mut bits).map_err(|error| KeyError::Random(error.to_string()))?;
    Ok(hex::encode(bits))
}

/// The part of a key that may be shown.
pub(crate) fn hint(text: &str) -> String {
    text.chars().take(HINT).collect::<String>().to_ascii_lowercase()
}
