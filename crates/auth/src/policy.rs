//! What differs from service to service in telling callers apart.

use actix_web::HttpRequest;

use crate::{AuthError, Charge, Credential, Key, Quota};

/// Where a service finds keys in a request, and what a request costs whom.
///
/// All methods see the request, so that rate, cost and bucket may differ by operation. The order in
/// which they are asked is that of the [`Gate`](crate::Gate).
pub trait Policy: Send + Sync + 'static {
    /// The key that the request presents; none when it presents none.
    ///
    /// [`header_key`](crate::header_key), [`bearer_key`](crate::bearer_key) and
    /// [`authorization_key`](crate::authorization_key) read the usual places. The form of the key
    /// is checked by the gate.
    ///
    /// # Errors
    /// [`AuthError::Credentials`] when something else stands in the key's place; that is charged
    /// like a refused key.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError>;

    /// What a client address pays without a key; none when a key is needed.
    fn anonymous(&self, request: &HttpRequest) -> Option<Charge> {
        let _ = request;
        None
    }

    /// What a client address pays for a key that is refused, before it gets 429 for 401. It costs
    /// at least one token, however cheap the operation is.
    fn refused(&self, request: &HttpRequest) -> Charge;

    /// What a live key pays: by default one token at the rate of its plan, or at 60 a minute for
    /// one without a plan.
    ///
    /// Asked only by [`Gate::admit`](crate::Gate::admit); a look-up of the service brings its own
    /// charge in the [`Finding`](crate::Finding).
    fn keyed(&self, request: &HttpRequest, key: &Key) -> Charge {
        let _ = request;
        key.quota().unwrap_or(Quota::per_minute(60)).into()
    }
}
