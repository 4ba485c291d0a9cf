//! Where keys stand in a request, and how often which caller may ask.

use actix_web::HttpRequest;
use actix_web::http::Method;
use auth::{AuthError, Policy, Quota, bearer_key, header_key};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use shell::Credentials;

/// The rules of the calendar; limits differ between reading and writing.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub reads: u32,
    pub writes: u32,
}

/// Login and key of `Authorization: Basic`.
pub struct Basic {
    pub login: String,
    pub key: String,
}

/// Reads `Authorization: Basic`; blanks inside the key are dropped, as keys are shown in groups.
pub fn basic(request: &HttpRequest) -> Result<Option<Basic>, AuthError> {
    let malformed = || AuthError::Credentials(Credentials::Malformed);
    let Some(text) = header_key(request, "authorization")? else { return Ok(None) };
    let Some((scheme, encoded)) = text.split_once(' ') else { return Err(malformed()) };
    if !scheme.eq_ignore_ascii_case("basic") {
        let known = scheme.eq_ignore_ascii_case("bearer");
        return if known { Ok(None) } else { Err(malformed()) };
    }
    let decoded = STANDARD.decode(encoded.trim()).map_err(|_| malformed())?;
    let decoded = String::from_utf8(decoded).map_err(|_| malformed())?;
    let (login, key) = decoded.split_once(':').ok_or_else(malformed)?;
    let key = key.chars().filter(|c| !c.is_whitespace()).collect();
    Ok(Some(Basic { login: login.to_owned(), key }))
}

fn writes(request: &HttpRequest) -> bool {
    !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
}

impl Access {
    fn limit(&self, request: &HttpRequest) -> Quota {
        Quota::per_minute(if writes(request) { self.writes } else { self.reads })
    }
}

impl Policy for Access {
    fn credentials(&self, request: &HttpRequest) -> Result<Option<String>, AuthError> {
        if let Some(basic) = basic(request)? {
            return Ok(Some(basic.key));
        }
        match bearer_key(request)? {
            Some(key) => Ok(Some(key)),
            None => header_key(request, "x-api-key"),
        }
    }

    fn anonymous(&self, request: &HttpRequest) -> Option<Quota> {
        Some(self.limit(request))
    }

    fn refused(&self, request: &HttpRequest) -> Quota {
        self.limit(request)
    }

    fn fallback_quota(&self, request: &HttpRequest) -> Quota {
        self.limit(request)
    }

    fn purpose(&self, request: &HttpRequest) -> &'static str {
        if writes(request) { "write" } else { "read" }
    }
}
