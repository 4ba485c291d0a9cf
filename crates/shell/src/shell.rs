//! Which layers run around a service.

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;

use crate::params::Rules;
use crate::{CorsRule, PathRules};

/// Choice and rules of the layers that a service may replace or switch off.
#[derive(Clone, Copy)]
pub struct Shell {
    /// Whether answers of 1 KiB and more are compressed (gzip, brotli) when the client accepts it.
    ///
    /// A handler opts a single answer out by `Content-Encoding: identity`.
    pub compression: bool,
    /// The CORS rule for a request; none means no CORS headers and no preflight.
    pub cors: fn(&ServiceRequest) -> Option<&'static CorsRule>,
    /// Which spellings of a path are the same; trailing slashes are dropped unless it says otherwise.
    pub paths: PathRules,
    /// How the extractors read parameters.
    pub rules: Rules,
    /// Whether `/openapi.json` and `/docs/` are served.
    pub docs: bool,
    /// Whether a handler is dropped as soon as its client closes the connection.
    ///
    /// For services with long work; a client that only closes its sending side gets no answer then.
    pub stop_when_client_leaves: bool,
    /// What the access log adds to its word "request", such as ", padded". It must hold nothing that the
    /// client chose.
    pub log_note: fn(&HttpRequest) -> &'static str,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            compression: true,
            cors: |_| None,
            paths: PathRules::NO_TRAILING_SLASH,
            rules: Rules::PLAIN,
            docs: true,
            stop_when_client_leaves: false,
            log_note: |_| "",
        }
    }
}
