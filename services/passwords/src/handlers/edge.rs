//! Answers requests in the order of the contract, before they are routed.

use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, header};
use actix_web::{HttpMessage, HttpResponse};
use futures_util::future::{LocalBoxFuture, ready};
use shell::Next;
use shell::metrics::RouteLabel;

use super::page::SITE;
use super::{range, reply};
use crate::error::{Error, add_shared_headers};

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
            add_shared_headers(response.headers_mut());
            Ok(response)
        }),
    }
}

fn outcome(request: &ServiceRequest, require_user_agent: bool) -> Outcome {
    let method = request.method();
    if method == Method::OPTIONS {
        return Outcome::Done(reply::preflight());
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
    request.extensions_mut().insert(RouteLabel(range::RANGE));
    if method != Method::GET && method != Method::HEAD {
        return Outcome::Done(Error::OnlyGet(method.clone()).response());
    }
    Outcome::Done(range::answer(request.request(), text))
}

fn is_page(path: &str) -> bool {
    matches!(path, "/" | "/openapi.json" | "/docs") || path.starts_with("/docs/") || SITE.has(path)
}

fn names_user_agent(request: &ServiceRequest) -> bool {
    let value = request.headers().get(header::USER_AGENT);
    value.is_some_and(|value| !value.as_bytes().trim_ascii().is_empty())
}
