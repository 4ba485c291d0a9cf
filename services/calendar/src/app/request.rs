//! The input of a use case, independent of HTTP.

use crate::error::Error;
use crate::model::urls::Urls;
use crate::wire::params::Params;

/// The caller and the parameters.
pub struct Request {
    /// Login of the key's owner.
    pub login: Option<String>,
    /// The parameters, or the error from parsing them. Writes report that error only to callers who
    /// may write.
    pub params: Result<Params, Error>,
    /// Base URL and prefix of the request.
    pub urls: Urls,
    /// The values of `If-Match`. A write proceeds only if one of them is the tag of the current
    /// state.
    pub if_match: Option<Vec<String>>,
}
