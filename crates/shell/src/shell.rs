//! The layers around a service.

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;

use crate::params::Rules;
use crate::{CorsRule, PathRules};

/// The layers that a service can configure or disable.
#[derive(Clone, Copy)]
pub struct Shell {
    /// Whether responses of 1 KiB or more are compressed (gzip, brotli) if the client accepts it.
    ///
    /// A handler opts out with `Content-Encoding: identity`.
    pub compression: bool,
    /// Returns the CORS rule for a request. `None` means no CORS headers and no preflight
    /// responses.
    pub cors: fn(&ServiceRequest) -> Option<&'static CorsRule>,
    /// The path rules. By default, trailing slashes are dropped.
    pub paths: PathRules,
    /// The rules that extractors use to read parameters.
    pub rules: Rules,
    /// Whether `/openapi.json` and `/docs/` are served.
    pub docs: bool,
    /// Whether a handler is dropped as soon as its client closes the connection.
    ///
    /// Useful for services with long-running requests. A client that closes only its sending side
    /// then does not get a response.
    pub stop_when_client_leaves: bool,
    /// Returns a suffix for the message "request" in the access log, such as ", padded". It must
    /// not contain data from the client.
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
