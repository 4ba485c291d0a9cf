//! Reads API keys from requests.

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use shell::Credentials;

use crate::AuthError;

/// An API key sent with a request, before it is checked.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// The key as sent by the client.
    pub key: String,
    /// The login that came with the key. The key is rejected if it belongs to another owner.
    pub login: Option<String>,
}

impl<T: Into<String>> From<T> for Credential {
    fn from(key: T) -> Self {
        Self { key: key.into(), login: None }
    }
}

/// Leaves out the key, which must never be logged.
impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential").field("login", &self.login).finish_non_exhaustive()
    }
}

fn malformed() -> AuthError {
    AuthError::Credentials(Credentials::Malformed)
}

/// Reads a header that must not be repeated. Returns `None` if it is missing or empty.
fn text<'r>(request: &'r HttpRequest, name: &HeaderName) -> Result<Option<&'r str>, AuthError> {
    let mut lines = request.headers().get_all(name);
    let Some(line) = lines.next() else { return Ok(None) };
    if lines.next().is_some() {
        return Err(AuthError::Credentials(Credentials::Several));
    }
    let text = line.to_str().map_err(|_| malformed())?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()))
}

/// Reads the key from a dedicated header such as `X-Api-Key`. Returns `None` if the header is
/// missing or empty.
///
/// ```
/// use actix_web::http::header::HeaderName;
/// use actix_web::test::TestRequest;
///
/// const NAME: HeaderName = HeaderName::from_static("x-api-key");
///
/// let request = TestRequest::default().insert_header((NAME, "abc")).to_http_request();
/// assert_eq!(auth::header_key(&request, &NAME)?, Some("abc".into()));
/// # Ok::<(), auth::AuthError>(())
/// ```
///
/// # Errors
/// Returns `Several` if the header is repeated, and `Malformed` if it is not ASCII.
pub fn header_key(
    request: &HttpRequest,
    name: &HeaderName,
) -> Result<Option<Credential>, AuthError> {
    Ok(text(request, name)?.map(Credential::from))
}

/// Reads the key from `Authorization: Bearer KEY`, where the scheme is case-insensitive. Returns
/// `None` for other schemes.
///
/// ```
/// use actix_web::test::TestRequest;
///
/// let request = TestRequest::default().insert_header(("authorization", "Bearer abc"));
/// assert_eq!(auth::bearer_key(&request.to_http_request())?, Some("abc".into()));
/// # Ok::<(), auth::AuthError>(())
/// ```
///
/// # Errors
/// Returns `Several` if the header is repeated, and `Malformed` if it is not ASCII.
pub fn bearer_key(request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
    let Some(text) = text(request, &header::AUTHORIZATION)? else { return Ok(None) };
    Ok(text
        .split_once(' ')
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, key)| key.trim())
        .filter(|key| !key.is_empty())
        .map(Credential::from))
}

/// Reads the key from `Authorization`, either as `Bearer KEY` or as `Basic` with a login and the
/// key.
///
/// Spaces in a `Basic` key are dropped, since keys are displayed in groups of digits.
///
/// ```
/// use actix_web::test::TestRequest;
///
/// // "alice:ab c"
/// let request = TestRequest::default().insert_header(("authorization", "Basic YWxpY2U6YWIgYw=="));
/// let credential = auth::authorization_key(&request.to_http_request())?;
/// let credential = credential.ok_or("no key")?;
/// assert_eq!((credential.login.as_deref(), credential.key.as_str()), (Some("alice"), "abc"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns `Several` if the header is repeated, and `Malformed` for other schemes and for `Basic`
/// values that can't be decoded.
pub fn authorization_key(request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
    let Some(text) = text(request, &header::AUTHORIZATION)? else { return Ok(None) };
    let (scheme, value) = text.split_once(' ').ok_or_else(malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Ok(Some(Credential::from(value.trim())));
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed());
    }
    let decoded = STANDARD.decode(value.trim()).map_err(|_| malformed())?;
    let decoded = String::from_utf8(decoded).map_err(|_| malformed())?;
    let (login, key) = decoded.split_once(':').ok_or_else(malformed)?;
    let key = key.chars().filter(|c| !c.is_whitespace()).collect();
    Ok(Some(Credential { key, login: Some(login.to_owned()) }))
}
