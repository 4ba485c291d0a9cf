//! The parts of authentication that differ between services.

use actix_web::HttpRequest;

use crate::{AuthError, Charge, Credential, Key, Quota};

/// Finds keys in requests and decides the charges.
///
/// All methods receive the request, so rate, cost and bucket can differ between operations. The
/// [`Gate`](crate::Gate) defines the order of the calls.
pub trait Policy: Send + Sync + 'static {
    /// Reads the key of the request. `None` if the request does not have a key.
    ///
    /// [`header_key`](crate::header_key), [`bearer_key`](crate::bearer_key) and
    /// [`authorization_key`](crate::authorization_key) read the usual headers. The gate checks the
    /// format of the key.
    ///
    /// # Errors
    /// Returns [`AuthError::Credentials`] if the value is not a key, which is charged like a
    /// rejected key.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError>;

    /// Returns the charge for a client address without a key. `None` if a key is required.
    fn anonymous(&self, request: &HttpRequest) -> Option<Charge> {
        let _ = request;
        None
    }

    /// Returns the charge for a client address that sent a rejected key. It costs at least one
    /// token, even if the operation is free.
    fn refused(&self, request: &HttpRequest) -> Charge;

    /// Returns the charge for a live key. By default, this is one token at the rate of its plan, or
    /// at 60 per minute if it does not have a plan.
    ///
    /// Used only by [`Gate::admit`](crate::Gate::admit). A service that looks up keys itself
    /// returns the charge in the [`Finding`](crate::Finding).
    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let _ = request;
        key.quota().unwrap_or(Quota::per_minute(60)).into()
    }
}
