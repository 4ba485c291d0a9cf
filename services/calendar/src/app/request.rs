//! A request as the use cases take it, whatever carried it.

use crate::error::Error;
use crate::model::urls::Urls;
use crate::wire::params::Params;

/// Who asks, with which parameters.
pub struct Request {
    /// Login that the key belongs to.
    pub login: Option<String>,
    /// The parameters, or why they cannot be read; a write reports that only to callers who may
    /// write.
    pub params: Result<Params, Error>,
    /// Base URL and prefix of the request.
    pub urls: Urls,
    /// The values of `If-Match`: a write goes on only where one of them is the tag of what a read
    /// shows now.
    pub if_match: Option<Vec<String>>,
}
