//! The layers around a service.

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;

use crate::params::Rules;
use crate::{CorsRule, PathRules};

/// The layers that a service can configure or turn off.
#[derive(Clone, Copy)]
pub struct Shell {
    /// Whether answers of 1 KiB or more are compressed (gzip, brotli) if the client accepts it.
    ///
    /// A handler opts out by `Content-Encoding: identity`.
    pub compression: bool,
    /// Returns the CORS rule for a request. `None` means no CORS headers and no preflight
    /// responses.
    pub cors: fn(&ServiceRequest) -> Option<&'static CorsRule>,
    /// The path rules. By default, trailing slashes are dropped.
    pub paths: PathRules,
    /// The rules by which extractors read parameters.
    pub rules: Rules,
    /// Whether `/openapi.json` and `/docs/` are served.
    pub docs: bool,
    /// Whether a handler is dropped as soon as its client closes the connection.
    ///
    /// For services with long requests. A client that closes only its sending side then gets no
    /// response.
    pub stop_when_client_leaves: bool,
    /// Returns the suffix of the message "request" in the access log, such as ", padded". It must not contain data
    /// of the client.
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
