//! Access control and rate limits.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderName;
use auth::{AuthError, Charge, Credential, Key, Plan, Policy, Quota, header_key};
use database::{DatabaseError, Pools};

use crate::config::Settings;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Request headers that can contain a key.
pub static CREDENTIALS: [HeaderName; 1] = [X_API_KEY];

/// Code of the default plan for keys.
pub const STANDARD: &str = "standard";

/// Returns the initial plans for a new database.
fn plans() -> [Plan; 1] {
    [Plan::new(STANDARD, "Standard", 600, 300)]
}

/// Inserts the initial plans into a new database.
///
/// # Errors
/// Returns an error if writing to the database fails.
pub fn seed_plans(pools: &Pools) -> Result<(), DatabaseError> {
    pools.write_at_start(|db| auth::seed_plans(db, &plans()))?;
    Ok(())
}

/// Reads keys from `X-Api-Key`. Requests without a key count towards the limit of the client's
/// address.
pub struct KeyPolicy(pub Settings);

impl KeyPolicy {
    fn address(&self) -> Charge {
        Quota { per_minute: self.0.anonymous_rpm, burst: self.0.anonymous_burst }.into()
    }
}

impl Policy for KeyPolicy {
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        header_key(request, &X_API_KEY)
    }

    fn anonymous(&self, _: &HttpRequest) -> Option<Charge> {
        self.0.anonymous.is_on().then(|| self.address())
    }

    fn refused(&self, _: &HttpRequest) -> Charge {
        self.address()
    }

    fn keyed(&self, _: &HttpRequest, key: &Key) -> Charge {
        key.quota().unwrap_or_else(|| plans()[0].quota()).into()
    }
}
