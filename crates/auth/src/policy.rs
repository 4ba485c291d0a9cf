//! The parts of authentication that each service implements itself.

use actix_web::HttpRequest;

use crate::{AuthError, Charge, Credential, Key, Quota};

/// Finds keys in requests and decides what to charge.
///
/// All methods are passed the request, so that the rate, cost and bucket can depend on the
/// operation. See [`Gate`](crate::Gate) for the order of the calls.
pub trait Policy: Send + Sync + 'static {
    /// Reads the key from the request, if it has one.
    ///
    /// [`header_key`](crate::header_key), [`bearer_key`](crate::bearer_key) and
    /// [`authorization_key`](crate::authorization_key) read the usual headers. The gate checks the
    /// key's format.
    ///
    /// # Errors
    /// Returns [`AuthError::Credentials`] if the value is not a key. It is then charged in the same
    /// way as a rejected key.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError>;

    /// Returns the charge for an address that didn't send a key, or `None` if a key is required.
    fn anonymous(&self, request: &HttpRequest) -> Option<Charge> {
        let _ = request;
        None
    }

    /// Returns the charge for an address that sent a rejected key. The gate raises it to at least
    /// one token, even if the operation is free.
    fn refused(&self, request: &HttpRequest) -> Charge;

    /// Returns the charge for a live key. By default, this is one token at the plan's rate, or at
    /// 60 per minute if the key doesn't have a plan.
    ///
    /// This is only called by [`Gate::admit`](crate::Gate::admit). Services that look up keys
    /// themselves put the charge into the [`Finding`](crate::Finding).
    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let _ = request;
        key.quota().unwrap_or(Quota::per_minute(60)).into()
    }
}
