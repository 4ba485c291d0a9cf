//! Which layers run around a service.

use std::borrow::Cow;

use actix_web::HttpRequest;
use actix_web::dev::ServiceRequest;
use actix_web::http::Uri;

use crate::params::Rules;
use crate::{CorsRule, Operations, PathRules};

/// Choice and rules of the layers that a service may replace or switch off.
#[derive(Clone, Copy)]
pub struct Shell {
    /// Whether answers of 1 KiB and more are compressed (gzip, brotli) when the client accepts it.
    ///
    /// A handler opts a single answer out by `Content-Encoding: identity`.
    pub compression: bool,
    /// The CORS rule for a request; none means no CORS headers and no preflight.
    pub cors: fn(&ServiceRequest) -> Option<&'static CorsRule>,
    /// Which spellings of a path are the same; without them `path` decides.
    pub paths: Option<PathRules>,
    /// Rewrites a path before routing; none leaves it as it is. Going: see `paths`.
    pub path: fn(&str) -> Option<String>,
    /// How the extractors read parameters.
    pub rules: Rules,
    /// Whether `/openapi.json` and `/docs/` are served.
    pub docs: bool,
    /// Whether a handler is dropped as soon as its client closes the connection.
    ///
    /// For services with long work; a client that only closes its sending side gets no answer then.
    pub stop_when_client_leaves: bool,
    /// What of a request target the access log may show; without it `log_path` decides.
    pub redact: Option<for<'u> fn(&Operations, &'u Uri) -> Cow<'u, str>>,
    /// What of a request target the access log may show. Going: see `redact`.
    pub log_path: fn(&Uri) -> Cow<'_, str>,
    /// What the access log adds to its word "request", such as ", padded".
    pub log_note: fn(&HttpRequest) -> &'static str,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            compression: true,
            cors: |_| None,
            paths: None,
            path: Self::trim_trailing_slash,
            rules: Rules::PLAIN,
            docs: true,
            stop_when_client_leaves: false,
            redact: None,
            log_path: Self::path_and_query,
            log_note: |_| "",
        }
    }
}

impl Shell {
    /// Drops trailing slashes, except below `/docs`, whose page needs them.
    ///
    /// ```
    /// use shell::Shell;
    ///
    /// assert_eq!(Shell::trim_trailing_slash("/events/"), Some("/events".to_owned()));
    /// assert_eq!(Shell::trim_trailing_slash("/events"), None);
    /// assert_eq!(Shell::trim_trailing_slash("/"), None);
    /// assert_eq!(Shell::trim_trailing_slash("/docs/"), None);
    /// ```
    pub fn trim_trailing_slash(path: &str) -> Option<String> {
        let trimmed = path.trim_end_matches('/');
        let kept = trimmed.len() == path.len() || trimmed.is_empty() || path.starts_with("/docs/");
        (!kept).then(|| trimmed.to_owned())
    }

    /// Leaves every path as it is.
    pub fn keep_path(_path: &str) -> Option<String> {
        None
    }

    /// The whole request target.
    pub fn path_and_query(uri: &Uri) -> Cow<'_, str> {
        uri.path_and_query().map_or(Cow::Borrowed("/"), |target| Cow::Borrowed(target.as_str()))
    }

    /// The path without its query.
    pub fn path_only(uri: &Uri) -> Cow<'_, str> {
        Cow::Borrowed(uri.path())
    }
}
