//! Request extractors.
//!
//! Handlers wrap them in [`After`](auth::After), so the caller is charged before a violation is
//! returned.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use shell::{Fault, media, read_body};

use super::list::Made;
use super::reply;
use crate::error::Error;
use crate::model::Seed;
use crate::wire::{BodyRequest, Record, Request, Seeded};

/// Maximum length of a body in bytes.
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
    /// Converts an error for the handler.
    pub fn error(&self, error: impl Into<Error>) -> actix_web::Error {
        error.into().answered(&self.http)
    }
}

impl<R: Seeded> Input<R> {
    /// Returns the caller's seed, or a new one.
    pub fn seed(&self) -> Result<Seed, actix_web::Error> {
        match self.read.seed() {
            Some(seed) => Ok(seed.clone()),
            None => Seed::fresh().map_err(|cause| self.error(cause)),
        }
    }

    /// Returns a list of texts, each appended by `make`; see [`Made::texts`].
    pub fn texts(
        &self,
        seed: &Seed,
        count: usize,
        column: &'static str,
        make: impl FnMut(&mut String) + Unpin + 'static,
    ) -> HttpResponse {
        reply::listed(seed, Made::texts(&self.http, count, column, make))
    }

    /// Returns a list of existing texts.
    pub fn made_texts(
        &self,
        seed: &Seed,
        column: &'static str,
        texts: Vec<String>,
    ) -> HttpResponse {
        let (count, mut texts) = (texts.len(), texts.into_iter());
        self.texts(seed, count, column, move |out| out.extend(texts.next()))
    }

    /// Returns one text, or a list if a quantity was requested.
    pub fn text_or_texts(
        &self,
        seed: &Seed,
        quantity: Option<usize>,
        column: &'static str,
        mut make: impl FnMut(&mut String) + Unpin + 'static,
    ) -> HttpResponse {
        let Some(count) = quantity else {
            let mut text = String::new();
            make(&mut text);
            return reply::generated(seed, reply::json(&text));
        };
        self.texts(seed, count, column, make)
    }

    /// Returns one value, or a list if a quantity was requested.
    pub fn record_or_records<T: Record + Serialize>(
        &self,
        seed: &Seed,
        quantity: Option<usize>,
        mut make: impl FnMut() -> T + Unpin + 'static,
    ) -> HttpResponse {
        match quantity {
            None => reply::generated(seed, reply::json(&make())),
            Some(count) => self.records(seed, count, make),
        }
    }

    /// Returns a list of values.
    pub fn records<T: Record + Serialize>(
        &self,
        seed: &Seed,
        count: usize,
        make: impl FnMut() -> T + Unpin + 'static,
    ) -> HttpResponse {
        reply::listed(seed, Made::records(&self.http, count, make))
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

/// The request of an operation with a body. Violations in query and body are reported together.
pub struct BodyInput<R>(pub R);

impl<R: BodyRequest + 'static> FromRequest for BodyInput<R> {
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<Self, Self::Error>>;

    fn from_request(http: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (http, mut payload) = (http.clone(), payload.take());
        Box::pin(async move {
            let read = match json_body(&http, &mut payload).await {
                Ok(body) => R::read(http.query_string(), &body).map_err(Fault::InvalidQuery),
                Err(fault) => Err(fault),
            };
            read.map(Self).map_err(|fault| fault.into_error(&http))
        })
    }
}

/// Reads a body whose media type is JSON. An empty body needs no media type.
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
