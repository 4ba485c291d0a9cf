//! API errors, with their status and body.

use actix_web::http::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpResponse, ResponseError};
use database::DatabaseError;
use serde::Serialize;
use shell::{Credentials, ErrorFormat, Fault, RequestInfo, Violation};
use utoipa::{IntoResponses, ToSchema};

use crate::wire::ParameterError;

/// Maximum length of the request target, in bytes.
pub const LONGEST_TARGET: usize = 32 * 1_024;

/// An error response.
#[derive(Serialize, ToSchema)]
pub struct ErrorBody {
    /// A message that explains the error.
    error: String,
    /// A machine-readable error code.
    code: &'static str,
    /// The parameter that caused the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parameter: Option<String>,
    /// The cheapest package that allows the parameter. Only present in 403 responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    package: Option<String>,
}

/// The errors that any operation may return.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "documentation: its variants are never made")]
pub enum Failures {
    /// A parameter is invalid. The code is `invalid_parameter`, `invalid_regexp`,
    /// `offset_too_large`, `scroll_expired` or `after_expired`.
    #[response(status = 400, content_type = "application/json")]
    Invalid(#[to_schema] ErrorBody),
    /// The API key is missing, unknown, revoked or expired.
    #[response(status = 401, content_type = "application/json")]
    Unauthorized(#[to_schema] ErrorBody),
    /// The package does not allow one of the parameters.
    #[response(status = 403, content_type = "application/json")]
    Package(#[to_schema] ErrorBody),
    /// The package's rate limit is exceeded. Retry after the number of seconds in the `Retry-After`
    /// header.
    #[response(status = 429, content_type = "application/json")]
    TooManyRequests(#[to_schema] ErrorBody),
    /// The service cannot process the request at the moment. The code is `search_timeout`,
    /// `search_busy` or `index_not_ready`.
    #[response(status = 503, content_type = "application/json")]
    Unavailable(#[to_schema] ErrorBody),
}

/// Additional errors of operations on a stored resource.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "documentation: its variants are never made")]
pub enum StoredFailures {
    /// The API key does not have a resource with this ID.
    #[response(status = 404, content_type = "application/json")]
    NotFound(#[to_schema] ErrorBody),
}

/// Error returned by an API operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter is invalid.
    #[error("{text}")]
    Parameter {
        /// Parameter name.
        name: &'static str,
        /// The rule that the parameter violates.
        text: String,
    },
    /// The regular expression is invalid.
    #[error("{0}")]
    Regexp(String),
    /// `start` is too large for offset paging.
    #[error(
        "start must be below 1000000; only searches of files go further, by scrolling (enterprise)"
    )]
    OffsetTooLarge,
    /// The index was rebuilt after this scroll started.
    #[error("the index has been rebuilt since the scroll started: start again without scroll-id")]
    ScrollExpired,
    /// The index has been rebuilt since the client last read this alert's files.
    #[error("the index was rebuilt, which changed the file ids: read again without after")]
    AfterExpired,
    /// The package doesn't include a parameter.
    #[error("{name} requires the package {package}")]
    Package {
        /// Parameter name.
        name: &'static str,
        /// The cheapest package that includes the parameter.
        package: String,
    },
    /// The request target is too long.
    #[error("the request target is longer than {LONGEST_TARGET} bytes")]
    TargetTooLong,
    /// The search took too long.
    #[error("the search took too long: narrow it")]
    Timeout,
    /// Too many regular expressions are being searched.
    #[error("too many regular-expression searches at once: try again")]
    Busy,
    /// Too many downloads are in progress.
    #[error("too many downloads at once: try again")]
    ManyDownloads,
    /// The resource already exists, or the package doesn't allow any more of its kind.
    #[error("{0}")]
    Conflict(String),
    /// There is no usable index.
    #[error("the index is not ready")]
    NotReady,
    /// A fault reported by the shell or an extractor.
    #[error("{0}")]
    Fault(Fault),
    /// A bug or a failed dependency.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// Creates an error for an invalid parameter.
    pub fn parameter(name: &'static str, text: impl Into<String>) -> Self {
        Self::Parameter { name, text: text.into() }
    }

    fn parts(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Parameter { .. } => (StatusCode::BAD_REQUEST, "invalid_parameter"),
            Self::Regexp(_) => (StatusCode::BAD_REQUEST, "invalid_regexp"),
            Self::OffsetTooLarge => (StatusCode::BAD_REQUEST, "offset_too_large"),
            Self::ScrollExpired => (StatusCode::BAD_REQUEST, "scroll_expired"),
            Self::AfterExpired => (StatusCode::BAD_REQUEST, "after_expired"),
            Self::Package { .. } => (StatusCode::FORBIDDEN, "package_required"),
            Self::TargetTooLong => TOO_LONG,
            Self::Timeout => (StatusCode::SERVICE_UNAVAILABLE, "search_timeout"),
            Self::Busy | Self::ManyDownloads => (StatusCode::SERVICE_UNAVAILABLE, "search_busy"),
            Self::Conflict(_) => (StatusCode::CONFLICT, "conflict"),
            Self::NotReady => (StatusCode::SERVICE_UNAVAILABLE, "index_not_ready"),
            Self::Fault(fault) => of_fault(fault),
            Self::Internal(_) => INTERNAL,
        }
    }

    fn body(&self) -> ErrorBody {
        let (_, code) = self.parts();
        let error = match self {
            Self::Internal(_) => "internal error".to_owned(),
            Self::Fault(fault) => fault_text(fault),
            other => other.to_string(),
        };
        let parameter = match self {
            Self::Parameter { name, .. } | Self::Package { name, .. } => Some((*name).to_owned()),
            Self::Regexp(_) => Some("keywords".to_owned()),
            Self::OffsetTooLarge => Some("start".to_owned()),
            Self::ScrollExpired => Some("scroll-id".to_owned()),
            Self::AfterExpired => Some("after".to_owned()),
            Self::Fault(Fault::InvalidQuery(violations) | Fault::InvalidBody(violations)) => {
                violations.first().map(parameter_of).filter(|name| !name.is_empty())
            }
            _ => None,
        };
        let package = match self {
            Self::Package { package, .. } => Some(package.clone()),
            _ => None,
        };
        ErrorBody { error, code, parameter, package }
    }

    /// Seconds to wait before retrying, if known.
    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Busy | Self::ManyDownloads | Self::NotReady => Some(1),
            Self::Fault(
                Fault::TooManyRequests { retry_after } | Fault::Unavailable { retry_after, .. },
            ) => Some((*retry_after).max(1)),
            _ => None,
        }
    }
}

const TOO_LONG: (StatusCode, &str) = (StatusCode::URI_TOO_LONG, "uri_too_long");
const INTERNAL: (StatusCode, &str) = (StatusCode::INTERNAL_SERVER_ERROR, "internal");

fn of_fault(fault: &Fault) -> (StatusCode, &'static str) {
    match fault {
        Fault::NotFound => (StatusCode::NOT_FOUND, "not_found"),
        Fault::MethodNotAllowed { .. } => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        Fault::Unauthorized(_) => (StatusCode::UNAUTHORIZED, "unauthorized"),
        Fault::TooManyRequests { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
        Fault::InvalidPath(_)
        | Fault::InvalidQuery(_)
        | Fault::InvalidBody(_)
        | Fault::MalformedBody { .. }
        | Fault::UnsupportedMediaType => (StatusCode::BAD_REQUEST, "invalid_parameter"),
        Fault::PayloadTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "invalid_parameter"),
        Fault::Unavailable { .. } => (StatusCode::SERVICE_UNAVAILABLE, "index_not_ready"),
        Fault::Unreadable(StatusCode::URI_TOO_LONG) => TOO_LONG,
        Fault::Unreadable(_) => (StatusCode::BAD_REQUEST, "invalid_parameter"),
        Fault::Internal(_) => INTERNAL,
    }
}

fn fault_text(fault: &Fault) -> String {
    let text = match fault {
        Fault::NotFound => "not found",
        Fault::MethodNotAllowed { allow } => {
            return methods_text(allow);
        }
        Fault::UnsupportedMediaType => "the body must be JSON: Content-Type: application/json",
        Fault::MalformedBody { message, line: 0, .. } => return message.clone(),
        Fault::MalformedBody { message, line, column } => {
            return format!("{message}: line {line}, column {column}");
        }
        Fault::PayloadTooLarge { limit } => {
            return format!("the body is longer than {limit} bytes");
        }
        Fault::Unauthorized(Credentials::Missing) => {
            "a key is required: Authorization: Bearer KEY, or access_token=KEY"
        }
        Fault::Unauthorized(_) => "the key is unknown, revoked or expired",
        Fault::TooManyRequests { retry_after } => {
            return format!("too many requests: try again in {} s", (*retry_after).max(1));
        }
        Fault::InvalidQuery(violations) | Fault::InvalidBody(violations) => {
            return violations.first().map_or_else(String::new, violation_text);
        }
        Fault::Unavailable { .. } => "the service is unavailable: try again",
        // actix rejects some long targets before we see them.
        Fault::Unreadable(StatusCode::URI_TOO_LONG) => return Error::TargetTooLong.to_string(),
        Fault::Internal(_) => "internal error",
        _ => "the request is malformed",
    };
    text.to_owned()
}

fn names_of(allow: &[Method]) -> Vec<&str> {
    allow.iter().map(Method::as_str).collect()
}

/// Returns the error message for an unsupported method.
fn methods_text(allow: &[Method]) -> String {
    match &names_of(allow)[..] {
        [] => "the method is not allowed".to_owned(),
        [only] => format!("only {only} is allowed"),
        [first @ .., last] => format!("only {} and {last} are allowed", first.join(", ")),
    }
}

/// Returns the name of the invalid parameter. If a list item is invalid, returns the name of the
/// list.
fn parameter_of(violation: &Violation) -> String {
    violation.field.split('[').next().unwrap_or_default().to_owned()
}

fn violation_text(violation: &Violation) -> String {
    let name = parameter_of(violation);
    match (&*violation.code, name.as_str()) {
        ("encoding", "") => violation.message.clone(),
        ("encoding", _) => format!("{name}: {}", violation.message),
        ("boolean", _) => format!("{name} must be 1, true, 0 or false"),
        ("integer", _) => format!("{name} must be a whole number of 1 to 18 digits"),
        ("choice", "types") => format!("{name} must be of {}", choices(violation).join(", ")),
        ("choice", _) => format!("{name} must be {}", choices(violation).join(" or ")),
        (_, "") => violation.message.clone(),
        _ => {
            let text = &violation.message;
            format!("{name} {}", text.strip_prefix("the value ").unwrap_or(text))
        }
    }
}

fn choices(violation: &Violation) -> Vec<&str> {
    let values = violation.limit("values").and_then(serde_json::Value::as_array);
    values.into_iter().flatten().filter_map(serde_json::Value::as_str).collect()
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        self.parts().0
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        response.content_type("application/json; charset=utf-8");
        if let Some(seconds) = self.retry_after() {
            response.insert_header((RETRY_AFTER, HeaderValue::from(seconds)));
        }
        match self {
            Self::Fault(Fault::MethodNotAllowed { allow }) => {
                response.insert_header((ALLOW, names_of(allow).join(", ")));
            }
            Self::Fault(Fault::Unauthorized(Credentials::Missing)) => {
                response.insert_header((WWW_AUTHENTICATE, r#"Bearer realm="buckets""#));
            }
            Self::Fault(Fault::Unauthorized(_)) => {
                let challenge = r#"Bearer realm="buckets", error="invalid_token""#;
                response.insert_header((WWW_AUTHENTICATE, challenge));
            }
            _ => {}
        }
        response.body(serde_json::to_string(&self.body()).unwrap_or_default())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<DatabaseError> for Error {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Busy | DatabaseError::Storage(_) => {
                Self::Fault(Fault::Unavailable { retry_after: 1, cause: error.to_string() })
            }
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<ParameterError> for Error {
    fn from(error: ParameterError) -> Self {
        match error {
            ParameterError::Rule { name, text } => Self::Parameter { name, text },
            ParameterError::Regexp(reason) => Self::Regexp(reason),
            ParameterError::OffsetTooLarge => Self::OffsetTooLarge,
        }
    }
}

/// Gives errors from outside the handlers the same kind of body as API errors.
pub struct ErrorBodies;

impl ErrorFormat for ErrorBodies {
    fn respond(&self, fault: &Fault, _: &RequestInfo) -> HttpResponse {
        Error::Fault(fault.clone()).error_response()
    }
}
