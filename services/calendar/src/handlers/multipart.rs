//! Multipart forms.

use actix_multipart::{Multipart, MultipartError};
use actix_web::http::header::HeaderMap;
use actix_web::web::Bytes;
use futures_util::{StreamExt, TryStreamExt};

use crate::error::Error;
use crate::wire::parameter_errors::ParameterErrors;

/// A named field or file in a form.
pub struct Part {
    pub name: String,
    pub file_name: Option<String>,
    pub content: Vec<u8>,
}

/// Reads all named fields and files in a form.
///
/// # Errors
/// Returns an invalid-parameter error if the body is not a form with the boundary in the headers.
pub async fn parts(headers: &HeaderMap, bytes: Bytes) -> Result<Vec<Part>, Error> {
    let stream = futures_util::stream::once(async move { Ok(bytes) }).boxed_local();
    let mut parts = Multipart::new(headers, stream);
    let broken = |error: MultipartError| {
        Error::from(ParameterErrors::one("body", &format!("must be a multipart form: {error}")))
    };
    let mut all = Vec::new();
    while let Some(mut part) = parts.try_next().await.map_err(broken)? {
        let disposition = part.content_disposition();
        let name = disposition.and_then(|it| it.get_name()).map(str::to_owned);
        let file_name = disposition.and_then(|it| it.get_filename()).map(str::to_owned);
        let mut content = Vec::new();
        while let Some(chunk) = part.try_next().await.map_err(broken)? {
            content.extend_from_slice(&chunk);
        }
        all.extend(name.map(|name| Part { name, file_name, content }));
    }
    Ok(all)
}
