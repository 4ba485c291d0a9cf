//! Extractors of requests.
//!
//! Handlers wrap them in [`After`](auth::After): the caller is charged before a violation is answered.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};
use futures_util::future::LocalBoxFuture;
use shell::{Fault, media, read_body};

use crate::error::Error;
use crate::model::Seed;
use crate::wire::{NumberRequest, Request, Seeded};

/// Largest body, in bytes.
const BODY_LIMIT: usize = 1 << 20;

/// The request of an operation without a body.
pub struct Input<R> {
    read: R,
    http: HttpRequest,
}

impl<R> Deref for Input<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.read
    }
}

impl<R> Input<R> {
    /// An error as the handler returns it.
    pub fn error(&self, error: impl Into<Error>) -> actix_web::Error {
        error.into().answered(&self.http)
    }
}

impl<R: Seeded> Input<R> {
    /// The caller's seed, or a fresh one.
    pub fn seed(&self) -> Result<Seed, actix_web::Error> {
        match self.read.seed() {
            Some(seed) => Ok(seed.clone()),
            None => Seed::fresh().map_err(|cause| self.error(cause)),
        }
    }
}

impl<R: Request> FromRequest for Input<R> {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(http: &HttpRequest, _: &mut Payload) -> Self::Future {
        let variable = http.match_info().iter().next().map_or("", |(_, value)| value);
        ready(match R::read(http.query_string(), variable) {
            Ok(read) => Ok(Self { read, http: http.clone() }),
            Err(violations) => Err(Fault::InvalidQuery(violations).into_error(http)),
        })
    }
}

/// The request of `POST /api/SocialNumber`, whose violations in query and body are answered together.
pub struct BodyInput(pub NumberRequest);

impl FromRequest for BodyInput {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(http: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (http, mut payload) = (http.clone(), payload.take());
        Box::pin(async move {
            let read = match json_body(&http, &mut payload).await {
                Ok(body) => NumberRequest::read_body(http.query_string(), &body)
                    .map_err(Fault::InvalidQuery),
                Err(fault) => Err(fault),
            };
            read.map(Self).map_err(|fault| fault.into_error(&http))
        })
    }
}

/// The bytes of a body whose media type is JSON; a request without a body needs no type.
async fn json_body(http: &HttpRequest, payload: &mut Payload) -> Result<Bytes, Fault> {
    let content_type = http.headers().get(CONTENT_TYPE);
    if content_type.is_some_and(|value| !media::is_json(value)) {
        return Err(Fault::UnsupportedMediaType);
    }
    let bytes = read_body(http, payload, BODY_LIMIT).await?;
    match (content_type, bytes.is_empty()) {
        (None, false) => Err(Fault::UnsupportedMediaType),
        _ => Ok(bytes),
    }
}
