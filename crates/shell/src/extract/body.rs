//! Request bodies: bytes within a limit, validated JSON.

use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::{Bytes, BytesMut};
use actix_web::{FromRequest, HttpRequest};
use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use validator::Validate;

use super::{violations, whole};
use crate::Fault;

/// Largest JSON body, in bytes.
const JSON_LIMIT: usize = 1 << 20;

/// A JSON body of one operation, at most 1 MiB.
///
/// Media types: `application/json`, `text/json` and every `+json`.
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: DeserializeOwned + Validate> FromRequest for Json<T> {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let read = async {
                if !is_json(&request) {
                    return Err(Fault::UnsupportedMediaType);
                }
                parse(&read_body(&request, &mut payload, JSON_LIMIT).await?)
            };
            read.await.map(Self).map_err(|fault| fault.into_error(&request))
        })
    }
}

fn is_json(request: &HttpRequest) -> bool {
    let Some(value) = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(essence.as_str(), "application/json" | "text/json") || essence.ends_with("+json")
}

fn parse<T: DeserializeOwned + Validate>(bytes: &[u8]) -> Result<T, Fault> {
    let value: T = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => Fault::InvalidBody(whole(&error)),
        _ => Fault::MalformedBody {
            message: error.to_string(),
            line: error.line(),
            column: error.column(),
        },
    })?;
    value.validate().map_err(|errors| Fault::InvalidBody(violations(&errors)))?;
    Ok(value)
}

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
