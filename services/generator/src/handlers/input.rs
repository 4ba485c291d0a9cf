//! Request extractors.
//!
//! Handlers wrap these in [`After`](auth::After), so callers are charged even for invalid requests.

use std::future::{Ready, ready};
use std::ops::Deref;

use actix_web::body::BoxBody;
use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Bytes, Data};
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use auth::Caller;
use futures_util::future::{Either, LocalBoxFuture};
use serde::Serialize;
use shell::{Fault, media, read_body};

use super::list::{self, Build, Made, Next, Sent, Span};
use super::{chunks, reply, stream};
use crate::error::Error;
use crate::metrics::{self, Kind};
use crate::model::{Random, Seed};
use crate::state::State;
use crate::wire::{BodyRequest, Extent, Form, Record, Request, Seeded, Series, read_for_json};

/// Maximum body size in bytes.
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
    /// Converts an error to one that a handler can return.
    pub fn error(&self, error: impl Into<Error>) -> actix_web::Error {
        error.into().answered(&self.http)
    }

    /// Sends a list. Workbooks and long lists each take up one of the caller's stream slots.
    fn listed<'a>(
        &'a self,
        seed: &'a Seed,
        made: Made<impl Next, impl Build>,
        is_long: bool,
    ) -> Answer<'a> {
        let (form, body) = match made {
            Made::Parts(form, next) if !is_long => (form, list::short(next)),
            Made::Book(None) => (Form::Xlsx, chunks::unmade()),
            Made::Parts(form, next) => {
                return Either::Right(Box::pin(async move {
                    let (caller, state) = self.caller().await?;
                    let body = stream::body(&self.http, &caller, &state, next);
                    self.sent(seed, form, body)
                }));
            }
            Made::Book(Some(build)) => {
                return Either::Right(Box::pin(async move {
                    let (caller, state) = self.caller().await?;
                    let book = stream::apart(&self.http, &caller, &state, build).await;
                    self.sent(seed, Form::Xlsx, book.map(BoxBody::new))
                }));
            }
        };
        at_once(reply::listed(seed, Sent { form, body }))
    }

    fn sent(
        &self,
        seed: &Seed,
        form: Form,
        body: Result<BoxBody, impl Into<Error>>,
    ) -> Result<HttpResponse, actix_web::Error> {
        let body = body.map_err(|fault| self.error(fault))?;
        Ok(reply::listed(seed, Sent { form, body }))
    }

    async fn caller(&self) -> Result<(Caller, Data<State>), actix_web::Error> {
        let caller = Caller::extract(&self.http).await?;
        Ok((caller, Data::<State>::extract(&self.http).await?))
    }
}

impl<R: Seeded> Input<R> {
    /// Returns the caller's seed, or generates one.
    pub fn seed(&self) -> Result<Seed, actix_web::Error> {
        match self.read.seed() {
            Some(seed) => Ok(seed.clone()),
            None => Seed::fresh().map_err(|cause| self.error(cause)),
        }
    }

    /// Responds with a list of strings that have already been generated.
    pub fn made_texts<'a>(
        &'a self,
        kind: Kind,
        seed: &'a Seed,
        column: &'static str,
        texts: Vec<String>,
    ) -> Answer<'a> {
        let (count, mut texts) = (texts.len(), texts.into_iter());
        let make = move |_, out: &mut String| out.extend(texts.next());
        let span = Span::of(&self.http, kind, count, Extent::default());
        self.listed(seed, list::texts(span, column, make), false)
    }
}

impl<R: Series> Input<R> {
    /// Responds with a list of strings, or with a single one if no quantity was requested. `make`
    /// appends one string per call.
    pub fn texts<'a>(
        &'a self,
        kind: Kind,
        seed: &'a Seed,
        mut random: Random,
        column: &'static str,
        mut make: impl FnMut(&mut Random, &mut String) + Send + Unpin + 'static,
    ) -> Answer<'a> {
        let Some(quantity) = self.read.quantity() else {
            let mut text = String::new();
            random.seek(self.read.extent().offset);
            make(&mut random, &mut text);
            return at_once(single(kind, seed, &text));
        };
        let made = list::texts(self.span(kind, quantity), column, move |index, out| {
            random.seek(index);
            make(&mut random, out);
        });
        self.listed(seed, made, self.read.is_long())
    }

    /// Responds with a list of values, or with a single one if no quantity was requested. `make`
    /// receives the index of each value.
    pub fn records<'a, T: Record + Serialize>(
        &'a self,
        kind: Kind,
        seed: &'a Seed,
        mut random: Random,
        mut make: impl FnMut(u64, &mut Random) -> T + Send + Unpin + 'static,
    ) -> Answer<'a> {
        let Some(quantity) = self.read.quantity() else {
            let index = self.read.extent().offset;
            random.seek(index);
            return at_once(single(kind, seed, &make(index, &mut random)));
        };
        let made = list::records(self.span(kind, quantity), move |index| {
            random.seek(index);
            make(index, &mut random)
        });
        self.listed(seed, made, self.read.is_long())
    }

    fn span(&self, kind: Kind, quantity: usize) -> Span {
        Span::of(&self.http, kind, quantity, self.read.extent())
    }
}

/// A response that is usually ready at once. The generators, which are large, are not part of the
/// future of a handler, since `actix_web` allocates memory for this future in each request.
type Answer<'a> = Either<
    Ready<Result<HttpResponse, actix_web::Error>>,
    LocalBoxFuture<'a, Result<HttpResponse, actix_web::Error>>,
>;

fn at_once(response: HttpResponse) -> Answer<'static> {
    Either::Left(ready(Ok(response)))
}

/// Responds with a single value.
fn single(kind: Kind, seed: &Seed, value: &impl Serialize) -> HttpResponse {
    metrics::made(kind, 1);
    reply::generated(seed, reply::json(value))
}

impl<R: Request> FromRequest for Input<R> {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(http: &HttpRequest, _: &mut Payload) -> Self::Future {
        let variable = http.match_info().iter().next().map_or("", |(_, value)| value);
        let read = match list::form(http) {
            Form::Json | Form::Xlsx => read_for_json(http.query_string(), variable),
            Form::Csv | Form::Ndjson => R::read(http.query_string(), variable),
        };
        ready(match read {
            Ok(read) => Ok(Self { read, http: http.clone() }),
            Err(violations) => Err(Fault::InvalidQuery(violations).into_error(http)),
        })
    }
}

/// The request of an operation with a body. Reports violations in the query and the body together.
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

/// Reads a JSON body. An empty body doesn't need a `Content-Type`.
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
