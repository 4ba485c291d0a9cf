//! The service's errors with their statuses and messages.

use std::borrow::Cow;
use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use shell::{ErrorFormat, Fault, RequestInfo};
use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Object, RefOr, Response, ResponseBuilder, Type};

use crate::model::Kind;

const PLAIN_TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const ALLOW: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("30");

/// Why a range request is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `REQUIRE_USER_AGENT` is on, but the request has no `User-Agent` header.
    #[error("Access denied due to missing user-agent.")]
    MissingUserAgent,
    /// The path isn't below `/range/`.
    #[error("Invalid API query")]
    InvalidQuery,
    /// Ranges only support GET and HEAD.
    #[error("Only GET requests can be used to query ranges, but this request used the {0} verb")]
    OnlyGet(Method),
    /// The prefix isn't exactly 5 bytes long.
    #[error("The hash prefix was not in a valid format")]
    PrefixFormat,
    /// The prefix contains characters other than hex digits.
    #[error("The hash prefix was not valid hexadecimal")]
    PrefixNotHexadecimal,
    /// No corpus of this kind is loaded, or the service is busy.
    #[error("The {} corpus is not available", .0.label())]
    NotLoaded(Kind),
    /// The memory for responses is used up by other connections. Contains the number of seconds to
    /// wait before retrying.
    #[error("The service is busy")]
    Busy(u64),
    /// The bucket can't be read. The cause is in the log.
    #[error("Internal error")]
    Internal,
}

impl Error {
    pub fn status(&self) -> StatusCode {
        match self {
            Self::MissingUserAgent => StatusCode::FORBIDDEN,
            Self::InvalidQuery | Self::PrefixFormat | Self::PrefixNotHexadecimal => {
                StatusCode::BAD_REQUEST
            }
            Self::OnlyGet(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotLoaded(_) | Self::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Builds the error response.
    pub fn response(&self) -> HttpResponse {
        let mut response = plain(self.status(), self.to_string());
        match self {
            Self::OnlyGet(_) => response.headers_mut().insert(header::ALLOW, ALLOW),
            Self::NotLoaded(_) => response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER),
            Self::Busy(seconds) => {
                response.headers_mut().insert(header::RETRY_AFTER, (*seconds).into())
            }
            _ => return response,
        };
        response
    }
}

fn plain(status: StatusCode, text: impl Into<Cow<'static, str>>) -> HttpResponse {
    let mut response = match text.into() {
        Cow::Borrowed(text) => HttpResponse::build(status).body(text),
        Cow::Owned(text) => HttpResponse::build(status).body(text),
    };
    response.headers_mut().insert(header::CONTENT_TYPE, PLAIN_TEXT);
    response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    add_shared_headers(response.headers_mut());
    response
}

/// Adds the headers that all responses have.
pub fn add_shared_headers(headers: &mut HeaderMap) {
    headers.insert(header::VARY, HeaderValue::from_static("Add-Padding, Accept-Encoding"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("ETag"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// The error responses documented for every operation.
pub struct Failures;

impl IntoResponses for Failures {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let documented = [
            (Error::PrefixFormat, "The prefix is not 5 hexadecimal characters."),
            (
                Error::MissingUserAgent,
                "The service requires a `User-Agent` header, and the request does not have one.",
            ),
            (Error::OnlyGet(Method::POST), "The method is not GET, HEAD or OPTIONS."),
            (Error::Internal, "The corpus cannot be read."),
            (
                Error::NotLoaded(Kind::Ntlm),
                "No corpus of this kind is loaded, or the service is busy.",
            ),
        ];
        let responses = documented.map(|(error, description)| {
            let content = ContentBuilder::new()
                .schema(Some(Object::with_type(Type::String)))
                .example(Some(error.to_string().into()))
                .build();
            let response = ResponseBuilder::new().description(description);
            let response = response.content("text/plain", content).build();
            (error.status().as_str().to_owned(), RefOr::T(response))
        });
        responses.into()
    }
}

/// Formats errors that occur outside of handlers as plain text.
pub struct ErrorBodies;

impl ErrorFormat for ErrorBodies {
    fn respond(&self, fault: &Fault, request: &RequestInfo) -> HttpResponse {
        let error = match fault {
            Fault::MethodNotAllowed { .. } => Error::OnlyGet(request.method.clone()),
            Fault::Unavailable { retry_after, .. } => Error::Busy(*retry_after),
            Fault::Internal(_) => Error::Internal,
            _ => Error::InvalidQuery,
        };
        error.response()
    }
}
