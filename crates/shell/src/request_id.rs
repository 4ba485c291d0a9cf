//! Ids that tie an answer to its lines in the log.

use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use actix_web::{HttpMessage, HttpRequest};

/// Id of one request: 32 hexadecimal characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(u128);

thread_local! {
    static NEXT: Cell<u128> = Cell::new(random_start());
}

/// Starts a worker at a random place, so that ids of workers and restarts do not meet.
fn random_start() -> u128 {
    let (high, low) = (RandomState::new().hash_one(0_u8), RandomState::new().hash_one(1_u8));
    u128::from(high) << 64 | u128::from(low)
}

impl RequestId {
    /// A new id: ids are unique, not secret.
    pub fn next() -> Self {
        // An odd constant with well-spread bits keeps neighbours apart in every digit.
        const STEP: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        NEXT.with(|next| {
            let id = next.get();
            next.set(id.wrapping_add(STEP));
            Self(id)
        })
    }

    /// The id as a number.
    pub fn value(self) -> u128 {
        self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The id of a request; made at the first call.
pub fn request_id(request: &HttpRequest) -> RequestId {
    if let Some(id) = request.extensions().get::<RequestId>() {
        return *id;
    }
    let id = RequestId::next();
    request.extensions_mut().insert(id);
    id
}
