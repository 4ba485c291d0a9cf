//! Secrets in mail links and sessions. Only their digests are stored.

use sha2::{Digest, Sha256};

use crate::error::Error;

/// A new secret of 256 random bits.
pub struct SecretToken {
    /// The secret, as 64 hexadecimal characters.
    pub text: String,
    /// The digest of `text`. Only the digest is stored.
    pub digest: Vec<u8>,
}

impl SecretToken {
    /// Generates a secret from the random source of the operating system.
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

/// Returns the digest of a secret.
pub fn digest(text: &str) -> Vec<u8> {
    Sha256::digest(text).to_vec()
}

/// Generates a secret that identifies a browser without a session.
///
/// # Errors
/// [`Error::Internal`] if the random source fails.
pub fn visitor_secret() -> Result<String, Error> {
    Ok(SecretToken::new()?.text)
}
