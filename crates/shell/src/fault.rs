//! Failures outside handlers, in the body format of the service.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::error::InternalError;
use actix_web::http::{Method, StatusCode, Uri};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;

use crate::RequestId;

/// What is wrong with the credentials of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// None were sent where some are needed.
    Missing,
    /// They do not have the form of a key.
    Malformed,
    /// Unknown, revoked or expired.
    Refused,
    /// More than one was sent.
    Several,
}

/// One value that breaks a rule; the service writes its own text from code, limits and value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// Name of the parameter or member as the contract spells it; empty for the whole.
    pub field: String,
    /// A word for machines, such as `range` or `required`.
    pub code: Cow<'static, str>,
    /// A sentence for people.
    pub message: String,
    /// The value as it was sent: a text decoded, another JSON value as JSON, and what cannot be
    /// decoded as it stands in the request.
    pub sent: Option<Box<str>>,
    /// The name as it was sent.
    pub name: Option<Box<str>>,
    /// Numbers and texts of the rule, such as `min` and `max`.
    pub limits: Box<[(Cow<'static, str>, Value)]>,
}

impl Violation {
    /// A violation without limits.
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

    /// A number or text of the rule.
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

/// A failure that the shell, an extractor or the key check met before a handler could answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No route has this path.
    NotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed {
        /// Methods that the path has.
        allow: Vec<Method>,
    },
    /// Credentials are missing or wrong.
    Unauthorized(Credentials),
    /// The caller's quota is used up.
    TooManyRequests {
        /// Whole seconds until a request can succeed, at least 1.
        retry_after: u64,
    },
    /// Path parameters break a rule.
    InvalidPath(Vec<Violation>),
    /// Query parameters break a rule.
    InvalidQuery(Vec<Violation>),
    /// Members of the body break a rule.
    InvalidBody(Vec<Violation>),
    /// The body is not well-formed; line and column count from 1.
    MalformedBody {
        /// What the parser met.
        message: String,
        /// Line of the fault.
        line: usize,
        /// Column of the fault.
        column: usize,
    },
    /// The media type of the body is not one that the operation reads.
    UnsupportedMediaType,
    /// The body is larger than allowed.
    PayloadTooLarge {
        /// Largest size in bytes.
        limit: usize,
    },
    /// The service cannot answer now.
    Unavailable {
        /// Whole seconds after which a new try makes sense.
        retry_after: u64,
    },
    /// The HTTP parser could not read the request: 400, 408, 414 or 431.
    Unreadable(StatusCode),
    /// A bug or a broken dependency; the text is for the log, never for the client.
    Internal(String),
}

/// What an error format may use of the request that failed.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// Method as sent.
    pub method: Method,
    /// Target as sent or, behind the path rule, as rewritten.
    pub uri: Uri,
    /// Id of the request in the log.
    pub id: RequestId,
}

impl RequestInfo {
    /// Takes the facts from a request.
    pub fn of(request: &HttpRequest) -> Self {
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            id: crate::request_id(request),
        }
    }
}

/// Turns faults into answers with the error body of one service.
pub trait ErrorFormat: Send + Sync {
    /// The answer to `fault`: status, headers and body.
    fn respond(&self, fault: &Fault, request: &RequestInfo) -> HttpResponse;
}

impl Fault {
    /// The answer in the format of the service that `request` reached.
    pub fn response(&self, request: &HttpRequest) -> HttpResponse {
        if let Self::Internal(cause) = self {
            log::error!(request_id = crate::request_id(request).to_string().as_str(); "{cause}");
        }
        match request.app_data::<Arc<dyn ErrorFormat>>() {
            Some(format) => format.respond(self, &RequestInfo::of(request)),
            None => HttpResponse::InternalServerError().finish(),
        }
    }

    /// The fault as an error that an extractor can return.
    pub fn into_error(self, request: &HttpRequest) -> actix_web::Error {
        let response = self.response(request);
        InternalError::from_response(format!("{self:?}"), response).into()
    }
}
