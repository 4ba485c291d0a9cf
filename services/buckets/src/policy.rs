//! Extracts API keys from requests, and determines the cost of a request.

use actix_web::HttpRequest;
use auth::{AuthError, Charge, Credential, Key, Policy, Quota};
use shell::params::Input;

/// Path of the caller's account. Requests to it are free.
const ACCOUNT: &str = "/api/account";

/// Access policy of this service.
pub struct KeyPolicy;

impl Policy for KeyPolicy {
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        if let Some(key) = auth::bearer_key(request)? {
            return Ok(Some(key));
        }
        let query = Input::query(request.query_string());
        // Accept the key even if some other parameter can't be decoded.
        let keys = query.texts().filter(|(name, key)| *name == "access_token" && !key.is_empty());
        Ok(keys.last().map(|(_, key)| Credential::from(key)))
    }

    fn refused(&self, _: &HttpRequest) -> Charge {
        Quota::per_minute(60).into()
    }

    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let charge = Charge::from(key.quota().unwrap_or(Quota::per_minute(60)));
        charge.cost(u32::from(request.path() != ACCOUNT))
    }
}
