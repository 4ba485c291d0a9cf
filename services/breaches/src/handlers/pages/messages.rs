//! Redirects, and parsing of domains in paths.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderValue};
use domain::DomainName;

use super::failure::PageError;
use crate::error::Error;

/// Redirects to another page of the site. The shell adds the path of `PUBLIC_URL`.
pub fn see_other(path: &str) -> HttpResponse {
    let mut response = HttpResponse::SeeOther().finish();
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(header::LOCATION, path);
    response
}

/// Parses a domain from a path.
///
/// # Errors
/// [`Error::NotFound`] if it isn't a domain.
pub fn domain(text: &str) -> Result<DomainName, PageError> {
    DomainName::parse(text).map_err(|_| PageError::Api(Error::NotFound))
}
