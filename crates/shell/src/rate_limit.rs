//! The `RateLimit-*` headers.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

/// The state of a rate limit, as reported in the `RateLimit-*` headers.
///
/// ```
/// use actix_web::http::header::HeaderMap;
/// use shell::RateLimit;
///
/// let mut headers = HeaderMap::new();
/// RateLimit { limit: 60, remaining: 59, reset: 1 }.mark(&mut headers);
/// assert_eq!(headers.get("ratelimit-remaining").unwrap(), "59");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Maximum burst of requests.
    pub limit: u32,
    /// Number of requests left.
    pub remaining: u32,
    /// Seconds until the full limit is available again.
    pub reset: u64,
}

impl RateLimit {
    /// The names of the headers, for documentation.
    pub const NAMES: [&'static str; 3] =
        ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

    /// Adds the three headers to a response.
    pub fn mark(&self, headers: &mut HeaderMap) {
        for (name, value) in [
            ("ratelimit-limit", u64::from(self.limit)),
            ("ratelimit-remaining", u64::from(self.remaining)),
            ("ratelimit-reset", self.reset),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}
