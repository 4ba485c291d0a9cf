//! Failures outside handlers. Their responses have the error format of the service.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::error::InternalError;
use actix_web::http::{Method, StatusCode, Uri};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;

use crate::RequestId;

/// The reason the credentials of a request are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// Credentials are required, but were not sent.
    Missing,
    /// They do not have the format of a key.
    Malformed,
    /// Unknown, revoked or expired.
    Refused,
    /// More than one was sent.
    Several,
}

/// A value that violates a rule. The service builds its own message from the code, the limits and
/// the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// The name of the parameter or member in the contract. Empty if the violation concerns the
    /// whole input.
    pub field: String,
    /// A machine-readable code, such as `range` or `required`.
    pub code: Cow<'static, str>,
    /// A human-readable message.
    pub message: String,
    /// The value that was sent: decoded text, JSON for other JSON values, or the raw text if it
    /// cannot be decoded.
    pub sent: Option<Box<str>>,
    /// The name that was sent, if it was sent.
    pub name: Option<Box<str>>,
    /// Limits of the rule, such as `min` and `max`.
    pub limits: Box<[(Cow<'static, str>, Value)]>,
}

impl Violation {
    /// Creates a violation without limits.
    ///
    /// ```
    /// let violation = shell::Violation::new("limit", "range", "limit must be 1 to 100");
    /// assert_eq!((&*violation.field, &*violation.code), ("limit", "range"));
    /// ```
    pub fn new(
        field: impl Into<String>,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), code: code.into(), message: message.into(), ..Self::default() }
    }

    /// Returns a limit of the rule.
    ///
    /// ```
    /// let mut violation = shell::Violation::new("limit", "range", "");
    /// violation.limits = Box::new([("max".into(), 100.into())]);
    /// assert_eq!(violation.limit("max").unwrap(), 100);
    /// ```
    pub fn limit(&self, name: &str) -> Option<&Value> {
        self.limits.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }
}

/// A failure that occurred before the handler: in the shell, in an extractor or in the key check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No route has this path.
    NotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed {
        /// The methods that this path supports.
        allow: Vec<Method>,
    },
    /// Credentials are missing or wrong.
    Unauthorized(Credentials),
    /// The caller's quota is used up.
    TooManyRequests {
        /// The number of seconds until a request can succeed, at least 1.
        retry_after: u64,
    },
    /// Path parameters violate a rule.
    InvalidPath(Vec<Violation>),
    /// Query parameters violate a rule.
    InvalidQuery(Vec<Violation>),
    /// Members of the body violate a rule.
    InvalidBody(Vec<Violation>),
    /// The body is not well-formed. Line and column are counted from 1.
    MalformedBody {
        /// The message of the parser.
        message: String,
        /// Line of the error.
        line: usize,
        /// Column of the error.
        column: usize,
    },
    /// The operation does not accept the media type of the body.
    UnsupportedMediaType,
    /// The body is larger than allowed.
    PayloadTooLarge {
        /// Maximum size in bytes.
        limit: usize,
    },
    /// The service is temporarily unable to respond.
    Unavailable {
        /// How many seconds clients should wait before they retry.
        retry_after: u64,
    },
    /// The HTTP parser could not read the request: 400, 408, 414 or 431.
    Unreadable(StatusCode),
    /// A bug or a failed dependency. The text is for the log only and is never sent to the client.
    Internal(String),
}

/// The parts of a failed request that an error format can use.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// The method that was sent.
    pub method: Method,
    /// The target that was sent, or the target after the path rules changed it.
    pub uri: Uri,
    /// The id of the request in the log.
    pub id: RequestId,
}

impl RequestInfo {
    /// Copies these parts of a request.
    pub fn of(request: &HttpRequest) -> Self {
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            id: crate::request_id(request),
        }
    }
}

/// Converts faults to responses with the error body of a service.
pub trait ErrorFormat: Send + Sync {
    /// Returns the response to `fault`: status, headers and body.
    fn respond(&self, fault: &Fault, request: &RequestInfo) -> HttpResponse;
}

impl Fault {
    /// Returns the response to this fault in the format of the service.
    pub fn response(&self, request: &HttpRequest) -> HttpResponse {
        if let Self::Internal(cause) = self {
            log::error!(request_id = crate::request_id(request).to_string().as_str(); "{cause}");
        }
        match request.app_data::<Arc<dyn ErrorFormat>>() {
            Some(format) => format.respond(self, &RequestInfo::of(request)),
            None => HttpResponse::InternalServerError().finish(),
        }
    }

    /// Converts the fault to an `actix_web::Error`, for extractors.
    pub fn into_error(self, request: &HttpRequest) -> actix_web::Error {
        let response = self.response(request);
        InternalError::from_response(format!("{self:?}"), response).into()
    }
}
