//! The service's errors, with their HTTP statuses and problem bodies (RFC 9457).

use std::collections::HashMap;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse};
use database::DatabaseError;
use serde::{Serialize, Serializer};
use shell::{Credentials, ErrorFormat, Fault, RequestInfo, Violation};
use utoipa::{IntoResponses, ToSchema};

use crate::model::SeedError;
use crate::model::phone::PatternError;
use crate::wire::{ABSENT, BETWEEN, DATE, DEEPEST, MEMBER_LENGTH, TOO_LONG, UNSUPPORTED};

/// Seconds that clients should wait before retrying when the database is busy or its disk is full.
const RETRY: u64 = 1;
const VALIDATION: &str = "One or more validation errors occurred.";

/// An error returned by an operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error from the shell, or an invalid parameter.
    #[error("{0}")]
    Fault(Fault),
    /// A new seed could not be generated.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// The database has failed or is busy.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A numbering plan doesn't compile.
    #[error(transparent)]
    NumberingPlan(#[from] PatternError),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Error {
    /// Converts the error to one that a handler can return. The response body includes the request
    /// ID.
    pub fn answered(self, request: &HttpRequest) -> actix_web::Error {
        let fault = match self {
            Self::Fault(fault) => fault,
            Self::Seed(cause) => Fault::Internal(cause.to_string()),
            Self::Database(cause) if cause.is_temporary() => {
                Fault::Unavailable { retry_after: RETRY, cause: cause.to_string() }
            }
            Self::Database(cause) => Fault::Internal(cause.to_string()),
            Self::NumberingPlan(cause) => Fault::Internal(cause.to_string()),
        };
        fault.into_error(request)
    }
}

/// Problem details, in the format of ASP.NET Core services.
#[derive(Serialize, ToSchema)]
pub struct Problem {
    /// URI that defines the status code.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    kind: &'static str,
    /// Short summary of the error.
    title: &'static str,
    /// HTTP status code.
    status: u16,
    /// Advice on how to fix the error, if the cause is not obvious.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    detail: Option<String>,
    /// Error messages by parameter or body member. Only present with status 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<std::collections::BTreeMap<String, Vec<String>>>, nullable = false)]
    errors: Option<Messages>,
    /// Request id, as it appears in the server log.
    #[serde(rename = "traceId")]
    #[schema(rename = "traceId")]
    trace_id: String,
}

/// The possible failures of each operation.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "documentation: its variants are never made")]
pub enum Failures {
    /// The parameters or the body are invalid. The response lists all violations.
    #[response(status = 400, content_type = "application/problem+json")]
    Invalid(#[to_schema] Problem),
    /// The key is unknown, revoked or expired, or it is missing and this server requires one.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(#[to_schema] Problem),
    /// The caller exceeded the rate limit or has too many concurrent long responses. `Retry-After`
    /// contains the time to wait.
    #[response(
        status = 429,
        content_type = "application/problem+json",
        headers(("Retry-After" = u64, description = "Number of seconds to wait before the next request"))
    )]
    TooManyRequests(#[to_schema] Problem),
}

/// The possible failures of operations with a body.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "documentation: its variants are never made")]
pub enum BodyFailures {
    /// The body is larger than 1 MiB.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(#[to_schema] Problem),
    /// The body is not sent as JSON in UTF-8.
    #[response(status = 415, content_type = "application/problem+json")]
    WrongType(#[to_schema] Problem),
}

/// The failure of operations on one saved thing.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "documentation: its variants are never made")]
pub enum Missing {
    /// The caller's key does not have a schema with this name.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(#[to_schema] Problem),
}

/// Pairs of a field and a message, one for each violation in the order in which they were found.
struct Messages(Vec<(String, String)>);

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut indexes: HashMap<&str, usize> = HashMap::new();
        for (field, message) in &self.0 {
            let index = *indexes.entry(field).or_insert(fields.len());
            if index == fields.len() {
                fields.push((field, Vec::new()));
            }
            fields[index].1.push(message);
        }
        serializer.collect_map(fields)
    }
}

/// Formats errors as problem bodies.
pub struct ErrorBodies;

impl ErrorFormat for ErrorBodies {
    fn respond(&self, fault: &Fault, request: &RequestInfo) -> HttpResponse {
        let (status, kind, title) = heading(fault);
        let id = request.id.value();
        let problem = Problem {
            kind,
            title,
            status: status.as_u16(),
            detail: detail(fault),
            errors: messages(fault).map(Messages),
            trace_id: format!("00-{id:032x}-{:016x}-00", id as u64),
        };
        let body = serde_json::to_string(&problem).unwrap_or_default();
        let mut response = HttpResponse::build(status)
            .content_type("application/problem+json; charset=utf-8")
            .insert_header(("cache-control", "no-store"))
            .body(body);
        if let Some((name, value)) = header(fault) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

fn heading(fault: &Fault) -> (StatusCode, &'static str, &'static str) {
    macro_rules! section {
        ($number:literal) => {
            concat!("https://tools.ietf.org/html/rfc9110#section-", $number)
        };
    }
    match fault {
        Fault::InvalidPath(_)
        | Fault::InvalidQuery(_)
        | Fault::InvalidBody(_)
        | Fault::MalformedBody { .. }
        | Fault::Unauthorized(Credentials::Several) => {
            (StatusCode::BAD_REQUEST, section!("15.5.1"), VALIDATION)
        }
        Fault::Unauthorized(_) => (StatusCode::UNAUTHORIZED, section!("15.5.2"), "Unauthorized"),
        Fault::NotFound => (StatusCode::NOT_FOUND, section!("15.5.5"), "Not Found"),
        Fault::MethodNotAllowed { .. } => {
            (StatusCode::METHOD_NOT_ALLOWED, section!("15.5.6"), "Method Not Allowed")
        }
        Fault::PayloadTooLarge { .. } => {
            (StatusCode::PAYLOAD_TOO_LARGE, section!("15.5.14"), "Payload Too Large")
        }
        Fault::UnsupportedMediaType => {
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, section!("15.5.16"), "Unsupported Media Type")
        }
        Fault::TooManyRequests { .. } => (
            StatusCode::TOO_MANY_REQUESTS,
            "https://tools.ietf.org/html/rfc6585#section-4",
            "Too Many Requests",
        ),
        Fault::Unavailable { .. } => {
            (StatusCode::SERVICE_UNAVAILABLE, section!("15.6.4"), "Service Unavailable")
        }
        Fault::Unreadable(status) => {
            (*status, section!("15.5"), status.canonical_reason().unwrap_or("Bad Request"))
        }
        Fault::Internal(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, section!("15.6.1"), "Internal Server Error")
        }
    }
}

fn messages(fault: &Fault) -> Option<Vec<(String, String)>> {
    match fault {
        Fault::InvalidPath(found) | Fault::InvalidQuery(found) | Fault::InvalidBody(found) => {
            Some(found.iter().map(|found| (found.field.clone(), message(found))).collect())
        }
        Fault::MalformedBody { line: 0, .. } => {
            Some(vec![("$".to_owned(), "The body could not be received.".to_owned())])
        }
        Fault::MalformedBody { line, column, .. } => {
            let message = format!("The body could not be parsed: line {line}, column {column}.");
            Some(vec![("$".to_owned(), message)])
        }
        Fault::Unauthorized(Credentials::Several) => {
            let message = "The X-Api-Key header must be sent only once.";
            Some(vec![("X-Api-Key".to_owned(), message.to_owned())])
        }
        _ => None,
    }
}

/// Converts a violation to a human-readable message.
fn message(violation: &Violation) -> String {
    let Violation { field, code, message, .. } = violation;
    let sent = violation.sent.as_deref().unwrap_or_default();
    let limit = |name: &str| violation.limit(name).map(ToString::to_string).unwrap_or_default();
    match &**code {
        "empty" => "A non-empty request body is required.".to_owned(),
        "object" => "The body must be a JSON object.".to_owned(),
        "syntax" => format!("The body is not JSON: {}.", position(violation)),
        "depth" => {
            let position = position(violation);
            format!("The body is nested deeper than {DEEPEST} levels: {position}.")
        }
        "encoding" if violation.limit("line").is_some() => {
            format!("The body is not UTF-8 text: {}.", position(violation))
        }
        "unknown" => {
            let name = field.strip_prefix("$.").unwrap_or(field);
            format!("The property '{name}' is not allowed.")
        }
        "type" => {
            let name = violation.name.as_deref().unwrap_or_default();
            format!("The property '{name}' must be a string.")
        }
        "encoding" | "boolean" | "integer" | "choice" | DATE => {
            format!("The value '{sent}' is not valid.")
        }
        "required" => format!("The {field} field is required."),
        ABSENT => format!("A value for the '{field}' parameter or property was not provided."),
        "range" => {
            format!("The field {field} must be between {} and {}.", limit("min"), limit("max"))
        }
        BETWEEN => format!("The field {field} must be between {message}."),
        TOO_LONG => format!(
            "The field {field} must be a string or array type with a maximum length of '{message}'."
        ),
        MEMBER_LENGTH => format!(
            "The field {field} must be a string with a minimum length of 1 and a maximum length of \
             {message}."
        ),
        UNSUPPORTED if message.is_empty() => format!("The value '{sent}' is not supported."),
        UNSUPPORTED => format!("The value '{sent}' is not supported. See {message}."),
        _ => message.clone(),
    }
}

/// Returns the location of a violation within the body.
fn position(violation: &Violation) -> String {
    let limit = |name: &str| violation.limit(name).map(ToString::to_string).unwrap_or_default();
    format!("line {}, column {}", limit("line"), limit("column"))
}

fn detail(fault: &Fault) -> Option<String> {
    let text = match fault {
        Fault::Unauthorized(Credentials::Missing) => "This service requires a key in X-Api-Key.",
        Fault::Unauthorized(Credentials::Malformed | Credentials::Refused) => {
            "The key in X-Api-Key is not valid."
        }
        Fault::UnsupportedMediaType => {
            "The body must be JSON in UTF-8: application/json, text/json or application/*+json."
        }
        Fault::PayloadTooLarge { limit } => {
            return Some(format!("The body must be at most {limit} bytes long."));
        }
        _ => return None,
    };
    Some(text.to_owned())
}

fn header(fault: &Fault) -> Option<(HeaderName, HeaderValue)> {
    match fault {
        Fault::Unauthorized(Credentials::Several) => None,
        Fault::Unauthorized(_) => {
            Some((WWW_AUTHENTICATE, HeaderValue::from_static("ApiKey realm=\"generator\"")))
        }
        Fault::MethodNotAllowed { allow } => {
            let names: Vec<_> = allow.iter().map(|method| method.as_str()).collect();
            Some((ALLOW, HeaderValue::from_str(&names.join(", ")).ok()?))
        }
        Fault::TooManyRequests { retry_after } | Fault::Unavailable { retry_after, .. } => {
            Some((RETRY_AFTER, HeaderValue::from(*retry_after)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_grouped_by_field_in_order_of_first_occurrence() {
        let found = [("b", "1"), ("a", "2"), ("b", "3"), ("", "4"), ("a", "5")];
        let found = found.map(|(field, message)| (field.to_owned(), message.to_owned()));
        assert_eq!(
            serde_json::to_string(&Messages(found.into())).unwrap(),
            r#"{"b":["1","3"],"a":["2","5"],"":["4"]}"#
        );
    }

    #[test]
    fn thousands_of_messages_are_written_in_one_pass() {
        // This takes minutes if it is ever quadratic.
        let many =
            Messages((0..200_000).map(|n| (format!("$.member{n}"), String::new())).collect());
        assert!(serde_json::to_vec(&many).unwrap().len() > 200_000);
    }
}
