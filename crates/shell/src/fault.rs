//! Failures outside of handlers. Responses to these use the service's error format as well.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use actix_web::error::InternalError;
use actix_web::http::{Method, StatusCode, Uri};
use actix_web::{HttpRequest, HttpResponse};
use serde_json::Value;

use crate::RequestId;

/// The reason for rejecting a request's credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// Credentials are required but weren't sent.
    Missing,
    /// The credentials don't have the format of a key.
    Malformed,
    /// The key is unknown, revoked or expired.
    Refused,
    /// More than one key was sent.
    Several,
}

/// A value that breaks a rule. Services build their own messages from the code, the limits and the
/// value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// The name of the parameter or member in the API. Empty if the violation concerns the whole
    /// input.
    pub field: String,
    /// A machine-readable code, such as `range` or `required`.
    pub code: Cow<'static, str>,
    /// A human-readable message.
    pub message: String,
    /// The value that was sent, as decoded text. Values other than strings are in JSON, and values
    /// that can't be decoded are kept as sent.
    pub sent: Option<Box<str>>,
    /// The name as spelled by the client, if it was sent.
    pub name: Option<Box<str>>,
    /// The rule's limits, such as `min` and `max`.
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

    /// Looks up one of the rule's limits by name.
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

/// A failure before the handler runs, either in the shell, in an extractor or in the key check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The path has no route.
    NotFound,
    /// The path exists, but doesn't support this method.
    MethodNotAllowed {
        /// The methods that the path supports.
        allow: Vec<Method>,
    },
    /// Credentials are missing or wrong.
    Unauthorized(Credentials),
    /// The caller's quota is used up.
    TooManyRequests {
        /// Seconds until a request can succeed, at least 1.
        retry_after: u64,
    },
    /// Path parameters break a rule.
    InvalidPath(Vec<Violation>),
    /// Query parameters break a rule.
    InvalidQuery(Vec<Violation>),
    /// Members of the body break a rule.
    InvalidBody(Vec<Violation>),
    /// The body is not well-formed. Lines and columns are counted from 1, and are 0 if its transfer
    /// was interrupted.
    MalformedBody {
        /// The parser's message, or why the transfer was interrupted.
        message: String,
        /// The line of the error.
        line: usize,
        /// The column of the error.
        column: usize,
    },
    /// The operation doesn't accept the body's media type.
    UnsupportedMediaType,
    /// The body is too large.
    PayloadTooLarge {
        /// Maximum size in bytes.
        limit: usize,
    },
    /// The service can't respond right now.
    Unavailable {
        /// Number of seconds that clients should wait before they retry.
        retry_after: u64,
        /// The reason. It is only logged and never sent to the client.
        cause: String,
    },
    /// The HTTP parser couldn't read the request. The status is 400, 408, 414 or 431.
    Unreadable(StatusCode),
    /// A bug or a failed dependency. The text is only logged and never sent to the client.
    Internal(String),
}

/// The properties of a failed request that an error format might need.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// The method as sent.
    pub method: Method,
    /// The request target, either as sent or with the path rules applied.
    pub uri: Uri,
    /// The request's ID in the log.
    pub id: RequestId,
}

impl RequestInfo {
    /// Copies the properties from a request.
    pub fn of(request: &HttpRequest) -> Self {
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            id: crate::request_id(request),
        }
    }
}

/// Turns faults into responses with the service's error body.
pub trait ErrorFormat: Send + Sync {
    /// Returns the response for `fault`.
    fn respond(&self, fault: &Fault, request: &RequestInfo) -> HttpResponse;
}

/// The text for the log. It doesn't contain anything that the client sent.
impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: &str = match self {
            Self::NotFound => "the path does not exist",
            Self::MethodNotAllowed { .. } => "the path does not support the method",
            Self::Unauthorized(_) => "the credentials are missing or wrong",
            Self::TooManyRequests { .. } => "the quota is used up",
            Self::InvalidPath(_) => "the path is invalid",
            Self::InvalidQuery(_) => "the query is invalid",
            Self::InvalidBody(_) | Self::MalformedBody { .. } => "the body is invalid",
            Self::UnsupportedMediaType => "the media type of the body is not supported",
            Self::PayloadTooLarge { .. } => "the body is too large",
            Self::Unreadable(_) => "the request cannot be read",
            Self::Unavailable { cause, .. } | Self::Internal(cause) => cause,
        };
        formatter.write_str(text)
    }
}

impl Fault {
    /// Returns the response to this fault in the service's format.
    pub fn response(&self, request: &HttpRequest) -> HttpResponse {
        if let Self::Internal(cause) = self {
            log::error!(request_id = crate::request_id(request).to_string().as_str(); "{cause}");
        }
        self.formatted(request)
    }

    fn formatted(&self, request: &HttpRequest) -> HttpResponse {
        match request.app_data::<Arc<dyn ErrorFormat>>() {
            Some(format) => format.respond(self, &RequestInfo::of(request)),
            None => HttpResponse::InternalServerError().finish(),
        }
    }

    /// Converts the fault to an `actix_web::Error`, for extractors. The shell logs its cause if the
    /// status is 5xx.
    pub fn into_error(self, request: &HttpRequest) -> actix_web::Error {
        let response = self.formatted(request);
        InternalError::from_response(self.to_string(), response).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_the_log_is_the_cause_and_nothing_that_was_sent() {
        let cause = "the database is busy".to_owned();
        let unavailable = Fault::Unavailable { retry_after: 1, cause: cause.clone() };
        assert_eq!(unavailable.to_string(), cause);
        assert_eq!(Fault::Internal(cause.clone()).to_string(), cause);
        let sent = Fault::InvalidBody(vec![Violation::new("password", "length", "geheim")]);
        assert_eq!(sent.to_string(), "the body is invalid");
    }
}
