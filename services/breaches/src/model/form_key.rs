//! The form token key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Signs the CSRF tokens in our forms.
#[derive(Clone)]
pub struct FormKey(Vec<u8>);

impl FormKey {
    /// Creates a key from random bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the CSRF token for a visitor's secret. This is an HMAC, so it can't be forged and
    /// doesn't reveal the secret.
    pub fn token(&self, secret: &str) -> String {
        // Can't fail: HMAC accepts keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(secret.as_bytes());
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_the_hmac_with_the_key() {
        // RFC 4231, test case 2.
        let token = FormKey::new(b"Jefe".to_vec()).token("what do ya want for nothing?");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(token, expected);
    }
}
