//! Webhook signatures as defined by the Standard Webhooks specification.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

const PREFIX: &str = "whsec_";
/// Length in bytes of a new secret. The specification requires 24 to 64.
const BYTES: usize = 32;
/// Prefix of an HMAC-SHA-256 signature.
const VERSION: &str = "v1,";

/// The shared secret of a webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Vec<u8>);

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret")
    }
}

impl WebhookSecret {
    /// Generates a random secret.
    ///
    /// # Errors
    /// Returns an error if the operating system's random number generator fails.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = vec![0; BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Parses a secret in the format returned by [`WebhookSecret::text`].
    ///
    /// ```
    /// use outbound::WebhookSecret;
    ///
    /// let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    /// assert_eq!(WebhookSecret::parse(text).unwrap().text(), text);
    /// assert!(WebhookSecret::parse("whsec_").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (24..=64).contains(&bytes.len()).then_some(Self(bytes))
    }

    /// Returns the secret as `whsec_` followed by Base64.
    pub fn text(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(&self.0))
    }

    /// Signs a message, given its ID, the Unix time of the attempt and the exact body.
    ///
    /// ```
    /// use outbound::{Signature, WebhookSecret};
    ///
    /// let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    /// let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    /// let signature = secret.sign(id, 1_614_265_330, br#"{"test": 2432232314}"#);
    /// assert_eq!(signature.as_str(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    /// ```
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> Signature {
        // This can't happen, because HMAC accepts keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return Signature(String::new());
        };
        mac.update(id.as_bytes());
        mac.update(format!(".{timestamp}.").as_bytes());
        mac.update(body);
        Signature(format!("{VERSION}{}", STANDARD.encode(mac.finalize().into_bytes())))
    }

    /// Returns whether `header` contains the signature of a message. For use by receivers.
    pub fn verifies(&self, header: &str, id: &str, timestamp: i64, body: &[u8]) -> bool {
        let expected = self.sign(id, timestamp, body);
        let expected = expected.as_str().as_bytes();
        let mut signatures = header.split(' ').map(str::as_bytes);
        !expected.is_empty() && signatures.any(|signature| signature.ct_eq(expected).into())
    }
}

/// The value of a `webhook-signature` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(String);

impl Signature {
    /// Returns the signature as `v1,` followed by Base64.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_valid_only_for_its_message() {
        let (one, other) = (WebhookSecret::generate().unwrap(), WebhookSecret::generate().unwrap());
        let signature = one.sign("msg_1", 5, b"{}");
        let header = format!("v1,AAAA {}", signature.as_str());
        assert!(one.verifies(&header, "msg_1", 5, b"{}"));
        assert!(!other.verifies(&header, "msg_1", 5, b"{}"));
        assert!(!one.verifies(&header, "msg_2", 5, b"{}"));
        assert!(!one.verifies(&header, "msg_1", 6, b"{}"));
        assert!(!one.verifies(&header, "msg_1", 5, b"{ }"));
        assert!(!one.verifies("", "msg_1", 5, b"{}"));
    }

    #[test]
    fn secrets_are_long_and_random_and_hidden_in_debug_output() {
        let secret = WebhookSecret::generate().unwrap();
        assert_ne!(secret, WebhookSecret::generate().unwrap());
        assert_eq!(WebhookSecret::parse(&secret.text()), Some(secret.clone()));
        assert_eq!(format!("{secret:?}"), "WebhookSecret");
        for text in ["", "abc", "whsec_!", "whsec_c2hvcnQ="] {
            assert!(WebhookSecret::parse(text).is_none(), "{text}");
        }
    }
}
