//! What differs from service to service in telling callers apart.

use actix_web::HttpRequest;
use actix_web::http::header;
use shell::Credentials;

use crate::{AuthError, Key, Quota, Rate};

/// Where a service finds keys in a request, and what it grants to whom.
///
/// All methods see the request, so that limits may differ by operation.
pub trait Policy: Send + Sync + 'static {
    /// The text of the key that the request carries; none when it carries none.
    ///
    /// [`header_key`] and [`bearer_key`] read the usual places.
    ///
    /// # Errors
    /// [`AuthError::Credentials`] when it carries something else in the key's place; that is
    /// charged like a refused key.
    fn credentials(&self, request: &HttpRequest) -> Result<Option<String>, AuthError>;

    /// What a client address may do without a key; none when a key is needed.
    fn anonymous(&self, request: &HttpRequest) -> Option<Quota> {
        let _ = request;
        None
    }

    /// How often a client address may present keys that are refused, before it gets 429 for 401.
    fn refused(&self, request: &HttpRequest) -> Quota;

    /// The limit of a key without a plan.
    fn fallback_quota(&self, request: &HttpRequest) -> Quota {
        let _ = request;
        Quota::per_minute(60)
    }

    /// The limit of a key: that of its plan, else [`fallback_quota`](Self::fallback_quota).
    fn quota(&self, request: &HttpRequest, key: &Key) -> Rate {
        key.plan.as_ref().map_or_else(|| self.fallback_quota(request), |plan| plan.quota()).into()
    }

    /// Names the buckets of this request where a service has several per caller, such as reading
    /// and writing.
    fn purpose(&self, request: &HttpRequest) -> &'static str {
        let _ = request;
        ""
    }

    /// How many tokens the request costs; 0 for free.
    fn cost(&self, request: &HttpRequest) -> u32 {
        let _ = request;
        1
    }
}

/// The key in a header of its own; absent and empty are none.
///
/// # Errors
/// `Several` when the header stands on more than one line, `Malformed` when it is not ASCII.
pub fn header_key(request: &HttpRequest, name: &str) -> Result<Option<String>, AuthError> {
    let mut lines = request.headers().get_all(name);
    let Some(line) = lines.next() else { return Ok(None) };
    if lines.next().is_some() {
        return Err(AuthError::Credentials(Credentials::Several));
    }
    let text = line.to_str().map_err(|_| AuthError::Credentials(Credentials::Malformed))?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned))
}

/// The key in `Authorization: Bearer KEY`, the scheme in any case; another scheme is none.
///
/// # Errors
/// `Several` when the header stands on more than one line, `Malformed` when it is not ASCII.
pub fn bearer_key(request: &HttpRequest) -> Result<Option<String>, AuthError> {
    let Some(text) = header_key(request, header::AUTHORIZATION.as_str())? else { return Ok(None) };
    Ok(text
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, key)| key.trim().to_owned())
        .filter(|key| !key.is_empty()))
}
