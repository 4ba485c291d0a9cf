//! A use case's input, independent of HTTP.

use crate::error::Error;
use crate::model::urls::Urls;
use crate::wire::params::Params;

/// The caller and the parameters.
pub struct Request {
    /// The login that owns the API key.
    pub login: Option<String>,
    /// The parameters, or the error from parsing them. For writes, the error is only reported to
    /// callers who are allowed to write.
    pub params: Result<Params, Error>,
    /// The request's base URL and prefix.
    pub urls: Urls,
    /// The `If-Match` values. A write request only proceeds if one of them is the current entity
    /// tag.
    pub if_match: Option<Vec<String>>,
}
