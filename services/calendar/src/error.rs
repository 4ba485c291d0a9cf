//! All request errors, with their statuses, codes and bodies.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use database::DatabaseError;
use serde::Serialize;
use shell::{ErrorFormat, Fault, RequestInfo};

use crate::model::linked::Kind;
use crate::wire::ordered_map::OrderedMap;
use crate::wire::parameter_errors::{InvalidParameter, ParameterErrors};
use crate::wire::parameters::declared;

/// A request error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("parameters are missing or invalid")]
    Parameters(ParameterErrors),
    #[error("the body is not a JSON object")]
    InvalidJson(String),
    #[error("the media type of the body is not supported")]
    UnsupportedMediaType,
    #[error("the id belongs to another kind of resource")]
    NotAnEventId,
    #[error("the event does not exist")]
    EventNotFound,
    #[error("the page is past the end of the list")]
    NoSuchPage(&'static str),
    #[error("not readable by the caller")]
    NotAccessible(&'static str),
    #[error("the password is wrong or missing")]
    PasswordProtected,
    #[error("the event is in the trash")]
    NoLongerAvailable,
    #[error("already in the trash")]
    InTrash(&'static str),
    #[error("credentials are required")]
    Unauthorized,
    #[error("the credentials are wrong")]
    InvalidCredentials,
    #[error("the role does not allow it")]
    Forbidden,
    #[error("the author may not be changed")]
    CannotEditOthers,
    #[error("the inline data is invalid")]
    CouldNotCreate(Kind),
    #[error("the term already exists")]
    TermExists(i64),
    #[error("tags have no parents")]
    NotHierarchical,
    #[error("the slug belongs to another term")]
    DuplicateTermSlug,
    #[error("{1}")]
    CouldNotDelete(&'static str, DatabaseError),
    #[error("the route does not exist")]
    NoRoute,
    #[error("the namespace does not exist")]
    InvalidNamespace,
    #[error("too many requests")]
    TooManyRequests(u64),
    #[error("the request could not be processed")]
    Unreadable(StatusCode),
    #[error("the body is too large")]
    PayloadTooLarge(usize),
    #[error("the service is temporarily unavailable")]
    Unavailable(u64),
    #[error("the resource has changed")]
    PreconditionFailed,
    #[error("the list takes too long")]
    ListTakesTooLong,
    #[error("{0}")]
    Store(DatabaseError),
    #[error("{0}")]
    Internal(String),
}

/// The status, code and message of an error response, and any additional fields for its `data`.
struct Answer<'a> {
    status: u16,
    code: String,
    message: String,
    more: More<'a>,
    additional_data: Option<[i64; 1]>,
}

#[derive(Serialize)]
struct Body<'a> {
    code: String,
    message: String,
    data: Data<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_data: Option<[i64; 1]>,
}

#[derive(Serialize)]
struct Data<'a> {
    status: u16,
    #[serde(flatten)]
    more: More<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum More<'a> {
    Nothing {},
    InvalidJson { json_error_message: &'a str },
    Missing { params: &'a [&'static str] },
    Invalid { params: OrderedMap<&'static str, String>, details: Details },
    TermExists { term_id: i64 },
}

/// Details about invalid parameters, serialized as an empty list if there are none.
#[derive(Serialize)]
#[serde(untagged)]
enum Details {
    None([(); 0]),
    Some(OrderedMap<&'static str, Detail>),
}

#[derive(Serialize)]
struct Detail {
    code: &'static str,
    message: String,
    data: Param,
}

#[derive(Serialize)]
struct Param {
    param: &'static str,
}

fn answer<'a>(status: u16, code: impl Into<String>, message: impl Into<String>) -> Answer<'a> {
    let (code, message) = (code.into(), message.into());
    Answer { status, code, message, more: More::Nothing {}, additional_data: None }
}

/// Builds an error about a resource. Its code and message start with `kind`, e.g. `event`.
fn about<'a>(kind: &str, status: u16, code: &str, state: &str) -> Answer<'a> {
    answer(status, format!("{kind}-{code}"), format!("The {kind} {state}."))
}

impl<'a> Answer<'a> {
    fn with(self, more: More<'a>) -> Answer<'a> {
        Answer { more, ..self }
    }

    fn with_additional_data(self, additional_data: [i64; 1]) -> Answer<'a> {
        Answer { additional_data: Some(additional_data), ..self }
    }

    fn body(self) -> Body<'a> {
        let data = Data { status: self.status, more: self.more };
        let Answer { code, message, additional_data, .. } = self;
        Body { code, message, data, additional_data }
    }
}

impl Error {
    /// Returns whether the database was busy or unreachable.
    pub fn is_busy(&self) -> bool {
        matches!(self, Error::Store(cause) if cause.is_busy())
    }

    fn answer(&self) -> Answer<'_> {
        match self {
            Error::Parameters(errors) => parameters(errors),
            Error::InvalidJson(cause) => {
                answer(400, "rest_invalid_json", "The body is not valid JSON.")
                    .with(More::InvalidJson { json_error_message: cause })
            }
            Error::NotAnEventId => answer(
                400,
                "rest-invalid-event-id",
                "The id belongs to a different kind of resource.",
            ),
            Error::EventNotFound => {
                answer(404, "rest-event-not-found", "There is no event with this id or slug.")
            }
            Error::NoSuchPage(kind) => {
                let code = format!("{kind}-archive-page-not-found");
                answer(404, code, "The page is past the end of the list.")
            }
            Error::NotAccessible(kind) => about(kind, 403, "not-accessible", "is not accessible"),
            Error::PasswordProtected => {
                answer(403, "event-password-protected", "The event is protected by a password.")
            }
            Error::NoLongerAvailable => {
                answer(403, "event-no-longer-available", "The event is no longer available.")
            }
            Error::InTrash(kind) => about(kind, 410, "is-in-trash", "is already in the trash"),
            Error::Unauthorized => answer(401, "rest_forbidden", "Credentials are required."),
            Error::InvalidCredentials => {
                answer(401, "rest_invalid_credentials", "The credentials are wrong.")
            }
            Error::Forbidden => answer(403, "rest_forbidden", "You are not allowed to do this."),
            Error::CannotEditOthers => answer(
                403,
                "rest_cannot_edit_others",
                "You are not allowed to write on behalf of another user.",
            ),
            Error::CouldNotCreate(kind) => answer(
                400,
                format!("could-not-create-{}", kind.word()),
                format!("The {} cannot be created from this data.", kind.word()),
            ),
            Error::TermExists(id) => {
                answer(400, "term_exists", "A term with this name already exists.")
                    .with(More::TermExists { term_id: *id })
                    .with_additional_data([*id])
            }
            Error::NotHierarchical => {
                answer(400, "rest_taxonomy_not_hierarchical", "Tags have no parents.")
            }
            Error::DuplicateTermSlug => {
                answer(400, "duplicate_term_slug", "The slug belongs to another term.")
            }
            Error::CouldNotDelete(kind, _) => answer(
                500,
                format!("could-not-delete-{kind}"),
                format!("The {kind} could not be deleted."),
            ),
            other => other.general(),
        }
    }

    /// Returns the response to an error that doesn't concern a particular resource.
    fn general(&self) -> Answer<'_> {
        match self {
            Error::NoRoute => {
                answer(404, "rest_no_route", "No route matches this path and method.")
            }
            Error::InvalidNamespace => {
                answer(404, "rest_invalid_namespace", "There is no such namespace.")
            }
            Error::PreconditionFailed => answer(
                412,
                "rest_precondition_failed",
                "The resource has changed since it was read.",
            ),
            Error::TooManyRequests(_) => {
                answer(429, "rest_too_many_requests", "Too many requests; try again later.")
            }
            Error::Unreadable(status) => {
                let reason = status.canonical_reason().unwrap_or("Bad Request");
                let message = format!("The request could not be processed: {reason}.");
                answer(status.as_u16(), "rest_unreadable_request", message)
            }
            Error::UnsupportedMediaType => answer(
                415,
                "rest_unsupported_media_type",
                "The body's media type is not supported: check its Content-Type.",
            ),
            Error::PayloadTooLarge(limit) => answer(
                413,
                "rest_payload_too_large",
                format!("The body is larger than {limit} bytes."),
            ),
            Error::ListTakesTooLong => answer(
                503,
                "rest_unavailable",
                "The list took too long; narrow it down, or try again later.",
            ),
            Error::Unavailable(_) | Error::Store(DatabaseError::Busy) => {
                answer(503, "rest_unavailable", "The service is busy, try again shortly.")
            }
            Error::Store(DatabaseError::Storage(_)) => answer(
                503,
                "rest_unavailable",
                "Changes cannot be stored at the moment; try again later.",
            ),
            _ => answer(500, "rest_internal_error", "The request failed."),
        }
    }

    /// Converts a database error that occurred during a deletion. A busy database is still reported
    /// as such.
    pub fn while_deleting(self, kind: &'static str) -> Error {
        match self {
            Error::Store(cause) if !cause.is_temporary() => Error::CouldNotDelete(kind, cause),
            other => other,
        }
    }

    /// Returns the number of seconds after which to retry, if known.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Error::TooManyRequests(seconds) | Error::Unavailable(seconds) => Some(*seconds),
            Error::ListTakesTooLong | Error::Store(DatabaseError::Storage(_)) => Some(5),
            Error::Store(DatabaseError::Busy) => Some(1),
            _ => None,
        }
    }
}

fn parameters(errors: &ParameterErrors) -> Answer<'_> {
    if !errors.missing.is_empty() {
        let message = format!("Missing parameter(s): {}", errors.missing.join(", "));
        return answer(400, "rest_missing_callback_param", message)
            .with(More::Missing { params: &errors.missing });
    }
    let names: Vec<&str> = errors.invalid.iter().map(|problem| problem.name).collect();
    let text = |problem: &InvalidParameter| format!("{} {}.", problem.name, problem.text);
    let params = errors.invalid.iter().map(|problem| (problem.name, text(problem))).collect();
    let detail = |problem: &InvalidParameter| {
        let data = Param { param: problem.name };
        Some((problem.name, Detail { code: problem.detail?, message: text(problem), data }))
    };
    let details: OrderedMap<_, _> = errors.invalid.iter().filter_map(detail).collect();
    let details = if details.0.is_empty() { Details::None([]) } else { Details::Some(details) };
    answer(400, "rest_invalid_param", format!("Invalid parameter(s): {}", names.join(", ")))
        .with(More::Invalid { params, details })
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.answer().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        response.insert_header((header::CONTENT_TYPE, "application/json; charset=UTF-8"));
        if let Some(seconds) = self.retry_after() {
            response.insert_header((header::RETRY_AFTER, HeaderValue::from(seconds)));
        }
        response.json(self.answer().body())
    }
}

impl From<DatabaseError> for Error {
    fn from(error: DatabaseError) -> Error {
        Error::Store(error)
    }
}

impl From<ParameterErrors> for Error {
    fn from(errors: ParameterErrors) -> Error {
        Error::Parameters(errors)
    }
}

impl From<auth::AuthError> for Error {
    fn from(error: auth::AuthError) -> Error {
        match error {
            // Keeps the cause for the log.
            auth::AuthError::Store(cause @ DatabaseError::Busy) => Error::Store(cause),
            other => Error::from(&Fault::from(other)),
        }
    }
}

impl From<&Fault> for Error {
    fn from(fault: &Fault) -> Error {
        let first = |violations: &Vec<shell::Violation>| {
            let text = violations.first().map_or("", |violation| violation.message.as_str());
            Error::InvalidJson(text.to_owned())
        };
        match fault {
            Fault::NotFound | Fault::MethodNotAllowed { .. } => Error::NoRoute,
            Fault::Unauthorized(shell::Credentials::Missing) => Error::Unauthorized,
            Fault::Unauthorized(_) => Error::InvalidCredentials,
            Fault::TooManyRequests { retry_after } => Error::TooManyRequests(*retry_after),
            Fault::InvalidPath(_) => Error::NoRoute,
            Fault::InvalidQuery(violations) => {
                let named = violations.first().and_then(|violation| declared(&violation.field));
                let name = named.unwrap_or("query");
                Error::Parameters(ParameterErrors::one(name, "must be UTF-8"))
            }
            Fault::InvalidBody(violations) => first(violations),
            Fault::MalformedBody { message, .. } => Error::InvalidJson(message.clone()),
            Fault::UnsupportedMediaType => Error::UnsupportedMediaType,
            Fault::Unreadable(status) => Error::Unreadable(*status),
            Fault::PayloadTooLarge { limit } => Error::PayloadTooLarge(*limit),
            Fault::Unavailable { retry_after, .. } => Error::Unavailable(*retry_after),
            Fault::Internal(cause) => Error::Internal(cause.clone()),
        }
    }
}

/// Formats errors that occur outside the handlers.
pub struct ErrorBodies;

impl ErrorFormat for ErrorBodies {
    fn respond(&self, fault: &Fault, _: &RequestInfo) -> HttpResponse {
        Error::from(fault).error_response()
    }
}
