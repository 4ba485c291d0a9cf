//! Writes responses.

use actix_web::HttpResponse;
use serde::Serialize;

use crate::error::Error;

/// Returns a JSON response with a charset.
pub(super) fn json(answer: &impl Serialize) -> Result<HttpResponse, Error> {
    let text = serde_json::to_string(answer).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(HttpResponse::Ok().content_type("application/json; charset=utf-8").body(text))
}
