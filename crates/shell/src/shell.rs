//! The layers around a service.

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;

use crate::params::Rules;
use crate::{CorsRule, PathRules};

/// Layers that a service can configure or turn off.
#[derive(Clone, Copy)]
pub struct Shell {
    /// Whether to compress responses of 1 KiB or more for clients that accept compression.
    ///
    /// A handler can opt out with `Content-Encoding: identity`.
    pub compression: bool,
    /// Returns the CORS rule for a request. `None` means neither CORS headers nor preflight
    /// responses.
    pub cors: fn(&ServiceRequest) -> Option<&'static CorsRule>,
    /// Path rules. By default, trailing slashes are dropped.
    pub paths: PathRules,
    /// The extractors' rules for reading parameters.
    pub rules: Rules,
    /// Whether to serve `/openapi.json` and `/docs/`.
    pub docs: bool,
    /// Whether to drop a handler as soon as its client closes the connection.
    ///
    /// This is meant for services with long-running requests. The downside is that clients that
    /// only shut down their sending side don't get a response.
    pub stop_when_client_leaves: bool,
    /// Returns a suffix for the "request" message in the access log, e.g. ", padded". It must not
    /// contain anything that the client sent.
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
