//! Where keys stand in a request, and how often which caller may ask.

use actix_web::HttpRequest;
use actix_web::http::Method;
use auth::{AuthError, Charge, Credential, Key, Policy, Quota, authorization_key, header_key};

/// The rules of the calendar; limits differ between reading and writing.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub reads: u32,
    pub writes: u32,
}

impl Access {
    fn charge(&self, request: &HttpRequest) -> Charge {
        match *request.method() {
            Method::GET | Method::HEAD | Method::OPTIONS => {
                Charge::from(Quota::per_minute(self.reads)).purpose("read")
            }
            _ => Charge::from(Quota::per_minute(self.writes)).purpose("write"),
        }
    }
}

impl Policy for Access {
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        match authorization_key(request)? {
            Some(credential) => Ok(Some(credential)),
            None => header_key(request, "x-api-key"),
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
