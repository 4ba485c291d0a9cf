//! Request IDs, which link responses to log lines.

use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest};

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length in bytes of an ID sent by a client.
const LONGEST: usize = 128;

/// The ID of a request. This is the `x-request-id` sent by the client or a proxy if it is
/// well-formed, and 32 hex digits otherwise.
///
/// A well-formed ID has 1 to 128 characters. These can be ASCII letters, digits and the punctuation
/// that occurs in UUIDs, trace IDs and base64, which isn't enough to forge log lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId {
    number: u128,
    sent: Option<Arc<str>>,
}

thread_local! {
    static NEXT: Cell<u128> = Cell::new(random_start());
}

/// Returns a random ID for a worker to start from, so that no IDs are repeated by other workers or
/// after a restart.
fn random_start() -> u128 {
    let (high, low) = (RandomState::new().hash_one(0_u8), RandomState::new().hash_one(1_u8));
    u128::from(high) << 64 | u128::from(low)
}

impl RequestId {
    /// Creates a new ID. IDs are unique but not secret.
    pub fn next() -> Self {
        // An odd constant with well-distributed bits, which makes consecutive IDs look very
        // different.
        const STEP: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        NEXT.with(|next| {
            let number = next.get();
            next.set(number.wrapping_add(STEP));
            Self { number, sent: None }
        })
    }

    /// Returns the ID sent by the client, or a new one.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self::sent(headers).unwrap_or_else(Self::next)
    }

    /// Returns the ID sent by the client, or `None` if it is missing or not well-formed.
    pub(crate) fn sent(headers: &HeaderMap) -> Option<Self> {
        let sent = headers.get(HEADER).and_then(well_formed)?;
        Some(Self { sent: Some(sent.into()), ..Self::next() })
    }

    /// Returns a number that is unique to this request, even if the client sent an ID.
    pub fn value(&self) -> u128 {
        self.number
    }

    pub(crate) fn mark(&self, headers: &mut HeaderMap) {
        let value = match &self.sent {
            Some(sent) => HeaderValue::from_str(sent),
            None => HeaderValue::from_bytes(&digits(self.number)),
        };
        if let Ok(value) = value {
            headers.insert(HEADER, value);
        }
    }
}

/// Returns an ID as a string, or `None` if it isn't well-formed.
fn well_formed(value: &HeaderValue) -> Option<&str> {
    let text = value.to_str().ok()?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:+/=@".contains(&byte);
    ((1..=LONGEST).contains(&text.len()) && text.bytes().all(allowed)).then_some(text)
}

fn digits(number: u128) -> [u8; 32] {
    let mut digits = [0; 32];
    for (place, digit) in digits.iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (4 * place)) as usize & 15];
    }
    digits
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sent {
            Some(sent) => f.write_str(sent),
            None => write!(f, "{:032x}", self.number),
        }
    }
}

/// Returns the ID of a request, creating it on the first call.
pub fn request_id(request: &HttpRequest) -> RequestId {
    if let Some(id) = known(request) {
        return id;
    }
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(id.clone());
    id
}

/// Returns the ID of a request, or `None` if it hasn't been created yet.
pub(crate) fn known(request: &HttpRequest) -> Option<RequestId> {
    request.extensions().get::<RequestId>().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_ids_are_accepted() {
        let id_of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_bytes(text.as_bytes()).unwrap());
            RequestId::of(&headers).to_string()
        };
        let longest = "a".repeat(128);
        for id in ["7", "0f8fad5b-d9cd-469f-a165-70867728950e", "Root=1-67/a+b:c@d", &longest] {
            assert_eq!(id_of(id), id);
        }
        for id in ["", "a b", "a\"b", "a,b", "{}", "\u{fc}", &"a".repeat(129)] {
            let own = id_of(id);
            assert!(own.len() == 32 && own.bytes().all(|byte| byte.is_ascii_hexdigit()), "{own}");
        }
    }

    #[test]
    fn headers_and_logs_show_the_same_id() {
        let (id, mut headers) = (RequestId::next(), HeaderMap::new());
        id.mark(&mut headers);
        assert_eq!(headers.get(HEADER).unwrap(), id.to_string().as_str());
    }
}
