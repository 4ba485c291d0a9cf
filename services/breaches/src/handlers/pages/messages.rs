//! Redirects, and the domain in a path.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderValue};
use domain::DomainName;

use super::failure::PageError;
use crate::error::Error;

/// Redirects to another page of the site. The shell prepends the path of `PUBLIC_URL`.
pub fn see_other(path: &str) -> HttpResponse {
    let mut response = HttpResponse::SeeOther().finish();
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, path);
    response
}

/// Parses the domain in a path.
///
/// # Errors
/// [`Error::NotFound`].
pub fn domain(text: &str) -> Result<DomainName, PageError> {
    DomainName::parse(text).map_err(|_| PageError::Api(Error::NotFound))
}
