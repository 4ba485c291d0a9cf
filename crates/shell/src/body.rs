//! Request bodies within a limit.

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{Bytes, BytesMut};
use futures_util::StreamExt;

use crate::Fault;

/// Reads a whole body of at most `limit` bytes.
///
/// # Errors
/// [`Fault::PayloadTooLarge`], or [`Fault::MalformedBody`] when the transfer breaks.
pub async fn read_body(
    request: &HttpRequest,
    payload: &mut Payload,
    limit: usize,
) -> Result<Bytes, Fault> {
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if announced
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: u64| length > limit as u64)
    {
        return Err(Fault::PayloadTooLarge { limit });
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| Fault::MalformedBody {
            message: error.to_string(),
            line: 1,
            column: 1,
        })?;
        if body.len() + chunk.len() > limit {
            return Err(Fault::PayloadTooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}
