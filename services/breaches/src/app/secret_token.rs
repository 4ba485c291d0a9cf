//! Secrets for email links and sessions. Only their digests are stored.

use sha2::{Digest, Sha256};

use crate::error::Error;

/// A new 256-bit random secret.
pub struct SecretToken {
    /// The secret itself (64 hex digits).
    pub text: String,
    /// Digest of `text`, which is safe to store.
    pub digest: Vec<u8>,
}

impl SecretToken {
    /// Generates a secret from the system's random source.
    ///
    /// # Errors
    /// [`Error::Internal`] if the random source fails.
    pub fn new() -> Result<Self, Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| Error::Internal(error.to_string()))?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let digest = digest(&text);
        Ok(Self { text, digest })
    }
}

/// Hashes a secret for storage or lookup.
pub fn digest(text: &str) -> Vec<u8> {
    Sha256::digest(text).to_vec()
}

/// Generates a secret that identifies a browser that doesn't have a session.
///
/// # Errors
/// [`Error::Internal`] if the system's random source fails.
pub fn visitor_secret() -> Result<String, Error> {
    Ok(SecretToken::new()?.text)
}
