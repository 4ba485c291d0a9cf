//! The requests that the service answers.

mod buffer;
pub mod page;
pub mod range;

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpMessage, HttpResponse};
use domain::{HashPrefix, PrefixError};
use futures_util::future::{LocalBoxFuture, ready};
use shell::Next;
use shell::metrics::RouteLabel;

use crate::error::{Error, mark};

type Answer = LocalBoxFuture<'static, Result<ServiceResponse, actix_web::Error>>;

/// What becomes of a request.
enum Outcome {
    /// It is answered here.
    Done(HttpResponse),
    /// It asks for a page that the router knows.
    Route,
}

/// Answers every request in the order of the contract; only pages go on to the router.
pub fn around(request: ServiceRequest, next: Next, require_user_agent: bool) -> Answer {
    match outcome(&request, require_user_agent) {
        Outcome::Done(response) => Box::pin(ready(Ok(request.into_response(response)))),
        Outcome::Route => Box::pin(async move {
            let mut response = next.call(request).await?;
            mark(response.headers_mut());
            Ok(response)
        }),
    }
}

fn outcome(request: &ServiceRequest, require_user_agent: bool) -> Outcome {
    let method = request.method();
    if method == Method::OPTIONS {
        return Outcome::Done(preflight());
    }
    if require_user_agent && !names_user_agent(request) {
        return Outcome::Done(Error::MissingUserAgent.response());
    }
    let path = request.uri().path();
    let Some(text) = path.strip_prefix("/range/") else {
        let reads = method == Method::GET || method == Method::HEAD;
        return if reads && is_page(path) {
            Outcome::Route
        } else {
            Outcome::Done(Error::InvalidQuery.response())
        };
    };
    request.extensions_mut().insert(RouteLabel(range::ROUTE));
    if method != Method::GET && method != Method::HEAD {
        return Outcome::Done(Error::OnlyGet(method.clone()).response());
    }
    let answer = match HashPrefix::parse(text) {
        Ok(prefix) => range::answer(request.request(), prefix),
        Err(PrefixError::Length) => Err(Error::PrefixFormat),
        Err(PrefixError::NotHexadecimal) => Err(Error::PrefixNotHexadecimal),
    };
    Outcome::Done(answer.unwrap_or_else(|error| error.response()))
}

fn is_page(path: &str) -> bool {
    matches!(path, "/" | "/openapi.json" | "/docs")
        || path.starts_with("/docs/")
        || page::SITE.has(path)
}

fn names_user_agent(request: &ServiceRequest) -> bool {
    let value = request.headers().get(header::USER_AGENT);
    value.is_some_and(|value| !value.as_bytes().trim_ascii().is_empty())
}

fn preflight() -> HttpResponse {
    let mut response = HttpResponse::new(StatusCode::OK);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Add-Padding"),
        (header::ACCESS_CONTROL_MAX_AGE, "1728000"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    mark(headers);
    response
}
