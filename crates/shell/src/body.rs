//! Reads request bodies up to a limit.

use std::io::ErrorKind;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{Bytes, BytesMut};
use futures_util::StreamExt;

use crate::Fault;

/// Reads an entire body of up to `limit` bytes.
///
/// # Errors
/// Returns [`Fault::PayloadTooLarge`] if the body is longer, [`Fault::MalformedBody`] if the
/// transfer is interrupted, [`Fault::Unreadable`] if it stalls, and [`Fault::Unavailable`] if the
/// connection uses too much memory or is too slow while memory is scarce.
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
        let chunk = chunk.map_err(|error| broken(&error))?;
        if body.len() + chunk.len() > limit {
            return Err(Fault::PayloadTooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Converts an error from the body stream to a fault.
fn broken(error: &PayloadError) -> Fault {
    match error {
        PayloadError::Io(error) if error.kind() == ErrorKind::TimedOut => {
            Fault::Unreadable(StatusCode::REQUEST_TIMEOUT)
        }
        PayloadError::Io(error) if error.kind() == ErrorKind::OutOfMemory => {
            let cause = "other connections use the memory for bodies".to_owned();
            Fault::Unavailable { retry_after: 1, cause }
        }
        PayloadError::Incomplete(_) => interrupted("the request body is incomplete".to_owned()),
        other => interrupted(format!("the request body cannot be received: {other}")),
    }
}

fn interrupted(message: String) -> Fault {
    Fault::MalformedBody { message, line: 0, column: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_transfer_is_named_without_a_position() {
        match broken(&PayloadError::Incomplete(None)) {
            Fault::MalformedBody { message, line: 0, column: 0 } => {
                assert_eq!(message, "the request body is incomplete");
            }
            other => panic!("{other:?}"),
        }
    }
}
