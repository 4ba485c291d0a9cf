//! Request credentials and rate limits.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{AUTHORIZATION, HeaderName};
use auth::{AuthError, Charge, Credential, Key, Policy, Quota, authorization_key, header_key};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Headers that can contain an API key.
pub static CREDENTIALS: [HeaderName; 2] = [AUTHORIZATION, X_API_KEY];

/// Rate limits in requests per minute. 0 disables the limit.
#[derive(Clone, Copy, Debug)]
pub struct CalendarPolicy {
    pub reads: u32,
    pub writes: u32,
}

impl CalendarPolicy {
    fn charge(&self, request: &HttpRequest) -> Charge {
        match *request.method() {
            Method::GET | Method::HEAD | Method::OPTIONS => {
                Charge::from(Quota::per_minute(self.reads)).purpose("read")
            }
            _ => Charge::from(Quota::per_minute(self.writes)).purpose("write"),
        }
    }
}

impl Policy for CalendarPolicy {
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        match authorization_key(request)? {
            Some(credential) => Ok(Some(credential)),
            None => header_key(request, &X_API_KEY),
        }
    }

    fn anonymous(&self, request: &HttpRequest) -> Option<Charge> {
        Some(self.charge(request))
    }

    fn refused(&self, request: &HttpRequest) -> Charge {
        self.charge(request)
    }

    fn keyed(&self, request: &HttpRequest, _: &Key) -> Charge {
        self.charge(request)
    }
}
