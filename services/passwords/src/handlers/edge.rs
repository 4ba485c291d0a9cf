//! Answers requests before routing. The order of the checks is part of the API.

use std::borrow::Cow;

use actix_web::dev::ServiceRequest;
use actix_web::http::{Method, header};
use actix_web::{HttpMessage, HttpResponse};
use shell::metrics::RouteLabel;

use super::{range, reply};
use crate::error::Error;

/// Applies the API's checks in order. Returns `None` for the HTML page, leaving it to the router.
pub fn answer_first(request: &ServiceRequest, require_user_agent: bool) -> Option<HttpResponse> {
    let method = request.method();
    if method == Method::OPTIONS {
        return Some(reply::preflight());
    }
    if require_user_agent && !names_user_agent(request) {
        return Some(Error::MissingUserAgent.response());
    }
    let reads = method == Method::GET || method == Method::HEAD;
    let path = request.uri().path();
    let Some((route, prefix)) = range::route(path) else {
        let routed = reads && is_page(request, path);
        return (!routed).then(|| Error::InvalidQuery.response());
    };
    request.extensions_mut().insert(RouteLabel(Cow::Borrowed(route)));
    if !reads {
        return Some(Error::OnlyGet(method.clone()).response());
    }
    Some(if route == range::RANGE {
        range::get_password_range(request.request(), prefix)
    } else {
        range::get_ntlm_range(request.request(), prefix)
    })
}

fn is_page(request: &ServiceRequest, path: &str) -> bool {
    let operations = shell::operations(request.request());
    operations.find(path).is_some() || operations.is_documentation(path)
}

fn names_user_agent(request: &ServiceRequest) -> bool {
    let value = request.headers().get(header::USER_AGENT);
    value.is_some_and(|value| !value.as_bytes().trim_ascii().is_empty())
}
