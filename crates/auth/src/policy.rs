//! The parts of authentication that each service decides for itself.

use actix_web::HttpRequest;

use crate::{AuthError, Charge, Credential, Key, Quota};

/// Finds keys in requests and decides what to charge.
///
/// All methods get the request, so the rate, cost and bucket can depend on the operation. See
/// [`Gate`](crate::Gate) for the order of the calls.
pub trait Policy: Send + Sync + 'static {
    /// Reads the request's key, if any.
    ///
    /// [`header_key`](crate::header_key), [`bearer_key`](crate::bearer_key) and
    /// [`authorization_key`](crate::authorization_key) read the usual headers. The gate checks the
    /// key's format.
    ///
    /// # Errors
    /// Returns [`AuthError::Credentials`] if the value is not a key. It is then charged like a
    /// rejected key.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError>;

    /// Returns the charge for an address that sent no key, or `None` if a key is required.
    fn anonymous(&self, request: &HttpRequest) -> Option<Charge> {
        let _ = request;
        None
    }

    /// Returns the charge for an address that sent a rejected key. At least one token is taken,
    /// even if the operation is free.
    fn refused(&self, request: &HttpRequest) -> Charge;

    /// Returns the charge for a live key. The default is one token at the plan's rate, or at 60 per
    /// minute if the key doesn't have a plan.
    ///
    /// Only [`Gate::admit`](crate::Gate::admit) calls this. A service that looks up keys itself
    /// puts the charge into the [`Finding`](crate::Finding).
    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let _ = request;
        key.quota().unwrap_or(Quota::per_minute(60)).into()
    }
}
