//! Request IDs, which connect a response with its log lines.

use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest};

const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of a client's ID in bytes.
const LONGEST: usize = 128;

/// A request's ID. This is the `x-request-id` from the client or a proxy if it is well-formed, and
/// 32 hex digits otherwise.
///
/// A well-formed ID is 1 to 128 characters long. It may contain ASCII letters, digits and the
/// punctuation in UUIDs, trace IDs and base64, which isn't enough to forge log lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId {
    number: u128,
    sent: Option<Arc<str>>,
}

thread_local! {
    static NEXT: Cell<u128> = Cell::new(random_start());
}

/// Returns a random ID for a worker to start with, so that IDs don't repeat in other workers or
/// after a restart.
fn random_start() -> u128 {
    let (high, low) = (RandomState::new().hash_one(0_u8), RandomState::new().hash_one(1_u8));
    u128::from(high) << 64 | u128::from(low)
}

impl RequestId {
    /// Creates a new ID. IDs are unique but not secret.
    pub fn next() -> Self {
        // An odd constant with well-distributed bits, so consecutive IDs look very different.
        const STEP: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        NEXT.with(|next| {
            let number = next.get();
            next.set(number.wrapping_add(STEP));
            Self { number, sent: None }
        })
    }

    /// Returns the client's ID, or a new one.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self::sent(headers).unwrap_or_else(Self::next)
    }

    /// Returns the client's ID if it is well-formed.
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

/// Returns an ID as a string if it is well-formed.
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

/// Returns a request's ID. The first call creates it.
pub fn request_id(request: &HttpRequest) -> RequestId {
    if let Some(id) = known(request) {
        return id;
    }
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(id.clone());
    id
}

/// Returns a request's ID if it has already been created.
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
