//! What an operation is asked, read with all faults at once.

use std::fmt::Display;
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::{FromRequest, HttpRequest};
use auth::Caller;
use futures_util::future::LocalBoxFuture;
use shell::{Fault, read_body};

use crate::model::seed::Seed;
use crate::wire::{Body, Draw, Input, Operation, Query};

/// Largest body, in bytes.
const BODY_LIMIT: usize = 1 << 20;

/// The parameters (and body) of one operation, asked by a caller who may.
///
/// It lets the [`Caller`] in itself, for extractors of one handler run side by side: a fault of the
/// parameters would be answered before the key is looked up, and cost nothing.
pub struct Ask<T> {
    operation: T,
    http: HttpRequest,
}

impl<T> Ask<T> {
    /// The request itself.
    pub fn http(&self) -> &HttpRequest {
        &self.http
    }

    /// The failure of something that cannot be the caller's fault.
    pub fn broken(&self, cause: impl Display) -> actix_web::Error {
        Fault::Internal(cause.to_string()).into_error(&self.http)
    }

    /// The caller's seed, or a fresh one.
    pub fn seed(&self, draw: &Draw) -> Result<Seed, actix_web::Error> {
        match &draw.seed {
            Some(seed) => Ok(seed.clone()),
            None => Seed::fresh().map_err(|cause| self.broken(cause)),
        }
    }
}

impl<T> Deref for Ask<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.operation
    }
}

impl<T: Operation> FromRequest for Ask<T> {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (http, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            Caller::from_request(&http, &mut Payload::None).await?;
            match read(&http, &mut payload).await {
                Ok(operation) => Ok(Self { operation, http }),
                Err(fault) => Err(fault.into_error(&http)),
            }
        })
    }
}

async fn read<T: Operation>(http: &HttpRequest, payload: &mut Payload) -> Result<T, Fault> {
    let body = match T::MEMBERS {
        [] => None,
        members => Some(Body::read(&body_bytes(http, payload).await?, members)),
    };
    let query = Query::parse(http.query_string());
    let path = http.match_info().iter().next().map_or("", |(_, value)| value);
    Input::new(&query, path, body.as_ref()).finish().map_err(Fault::InvalidQuery)
}

/// The bytes of a body whose media type is JSON; a request without a body needs no type.
async fn body_bytes(
    http: &HttpRequest,
    payload: &mut Payload,
) -> Result<actix_web::web::Bytes, Fault> {
    let kind = http.headers().get(CONTENT_TYPE);
    if kind.is_some_and(|kind| !kind.to_str().is_ok_and(is_json)) {
        return Err(Fault::UnsupportedMediaType);
    }
    let bytes = read_body(http, payload, BODY_LIMIT).await?;
    match (kind, bytes.is_empty()) {
        (None, false) => Err(Fault::UnsupportedMediaType),
        _ => Ok(bytes),
    }
}

fn is_json(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let json = matches!(essence.as_str(), "application/json" | "text/json")
        || essence.strip_prefix("application/").is_some_and(|rest| rest.ends_with("+json"));
    let foreign = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            !value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => false,
    };
    json && !parts.any(foreign)
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn media_types_are_those_of_the_contract() {
        for kind in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json-patch+json",
            "text/json;charset=\"utf-8\"",
            "application/vnd.example+json",
        ] {
            assert!(is_json(kind), "{kind}");
        }
        for kind in ["text/plain", "application/json; charset=latin1", "text/x+json", "", "json"] {
            assert!(!is_json(kind), "{kind}");
        }
    }
}
