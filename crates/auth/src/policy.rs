//! The part of authentication that differs between services.

use actix_web::HttpRequest;

use crate::{AuthError, Charge, Credential, Key, Quota};

/// Finds keys in requests and sets the charges.
///
/// All methods get the request, so rate, cost and bucket can differ by operation. The
/// [`Gate`](crate::Gate) defines the order of the calls.
pub trait Policy: Send + Sync + 'static {
    /// Reads the key of the request; `None` if there is no key.
    ///
    /// [`header_key`](crate::header_key), [`bearer_key`](crate::bearer_key) and
    /// [`authorization_key`](crate::authorization_key) read the usual places. The gate checks the
    /// form of the key.
    ///
    /// # Errors
    /// [`AuthError::Credentials`] if the value is not a key, which is charged like a refused key.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError>;

    /// Returns the charge of a client address without a key; `None` if a key is required.
    fn anonymous(&self, request: &HttpRequest) -> Option<Charge> {
        let _ = request;
        None
    }

    /// Returns the charge of a client address for a refused key. It costs at least one token, even if the
    /// operation is free.
    fn refused(&self, request: &HttpRequest) -> Charge;

    /// Returns the charge of a live key: by default one token at the rate of its plan, or at 60 a minute
    /// without a plan.
    ///
    /// Only for [`Gate::admit`](crate::Gate::admit): a service that looks keys up itself returns the
    /// charge in the [`Finding`](crate::Finding).
    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let _ = request;
        key.quota().unwrap_or(Quota::per_minute(60)).into()
    }
}
