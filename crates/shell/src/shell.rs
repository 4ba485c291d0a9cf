//! The layers around a service.

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;

use crate::params::Rules;
use crate::{CorsRule, PathRules};

/// Layers that a service can configure or turn off.
#[derive(Clone, Copy)]
pub struct Shell {
    /// Whether to compress responses of 1 KiB or more if the client accepts it.
    ///
    /// A handler opts out with `Content-Encoding: identity`.
    pub compression: bool,
    /// Returns a request's CORS rule. `None` means no CORS headers and no preflight responses.
    pub cors: fn(&ServiceRequest) -> Option<&'static CorsRule>,
    /// Path rules. The default drops trailing slashes.
    pub paths: PathRules,
    /// Rules for reading parameters in extractors.
    pub rules: Rules,
    /// Whether to serve `/openapi.json` and `/docs/`.
    pub docs: bool,
    /// Whether to drop a handler as soon as its client closes the connection.
    ///
    /// This is for services with long-running requests. The downside is that clients that only
    /// close their sending side don't get a response.
    pub stop_when_client_leaves: bool,
    /// Returns a suffix for the "request" message in the access log, such as ", padded". It must
    /// not contain anything the client sent.
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
