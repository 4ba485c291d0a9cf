//! API errors with their status codes, bodies and headers.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use auth::AuthError;
use database::DatabaseError;
use shell::{Credentials, ErrorFormat, Fault, RequestInfo};

use crate::wire::{ErrorBody, MessageBody};

/// Number of seconds that clients should wait before retrying if the database is down.
const RETRY_AFTER: u64 = 5;

/// An API error. Its display text becomes the message in the response body.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid email address.
    #[error("The email address is not in an acceptable format.")]
    Email,
    /// Invalid hash prefix.
    #[error("The hash prefix must be exactly 6 hexadecimal characters.")]
    Prefix,
    /// Invalid body of a multi-prefix search.
    #[error(
        "The body must be a JSON object with an array of 1 to 1000 prefixes of exactly 6 hexadecimal characters."
    )]
    Prefixes,
    /// The request has more prefixes than a full quota covers. Contains the limit.
    #[error(
        "The subscription covers at most {} in one request.",
        counted(*.0, "prefix", "prefixes")
    )]
    TooManyPrefixes(u32),
    /// Invalid body of a bulk check.
    #[error("The body must be a JSON object with an array \"emails\" of 1 to 1000 strings.")]
    Emails,
    /// The request has more addresses than a full quota covers. Contains the limit.
    #[error(
        "The subscription covers at most {} in one request.",
        counted(*.0, "address", "addresses")
    )]
    TooManyEmails(u32),
    /// The body is too large. Contains the limit in KiB.
    #[error("The body must not be larger than {0} KiB.")]
    BodyTooLarge(usize),
    /// A boolean query parameter is neither `true` nor `false`. Contains its name.
    #[error("The value of {0} must be true or false.")]
    Boolean(String),
    /// The `since` parameter of a report is missing or invalid.
    #[error(
        "The value of since must be a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z."
    )]
    Since,
    /// Invalid domain in the path.
    #[error("The domain name is not valid.")]
    Domain,
    /// The API key is missing. Contains the name of the key header.
    #[error("Access denied due to missing {0}.")]
    KeyMissing(String),
    /// Malformed API key. Contains the name of the key header.
    #[error("Access denied due to improperly formed {0}.")]
    KeyMalformed(String),
    /// The key is unknown, revoked or expired, or a test key was used for something other than test
    /// accounts. Contains the name of the key header.
    #[error("Access denied due to invalid {0}.")]
    KeyInvalid(String),
    /// The user agent is missing.
    #[error("Access denied due to missing user-agent.")]
    UserAgent,
    /// The plan doesn't include the operation.
    #[error("Access denied, the subscription does not include this resource.")]
    NotInPlan,
    /// The subscription has ended. Contains the end date.
    #[error("Access denied, the subscription ended on {0}.")]
    Ended(String),
    /// The caller hasn't verified the domain.
    #[error("Access denied, the domain has not been verified by this subscription.")]
    NotVerified,
    /// The domain has more breached addresses than the plan covers.
    #[error(
        "Access denied, the domain has {size} breached addresses and the subscription covers {max}."
    )]
    DomainTooLarge {
        /// Number of breached addresses.
        size: i64,
        /// The plan's limit.
        max: i32,
    },
    /// The subscriber has more large domains than the plan covers.
    #[error("Access denied, the subscription allows {max} breached domains and {used} are in use.")]
    TooManyDomains {
        /// The plan's limit.
        max: i32,
        /// Number of large domains in use.
        used: i64,
    },
    /// The domain couldn't be verified.
    #[error(transparent)]
    Verification(#[from] VerificationError),
    /// A browser sent a CORS preflight for a keyed operation.
    #[error("Access denied, cross-origin requests are not accepted for this resource.")]
    CrossOrigin,
    /// Nothing was found. Sent with an empty body.
    #[error("not found")]
    NotFound,
    /// The path exists but doesn't support this method. Contains the allowed methods.
    #[error("Method not allowed.")]
    MethodNotAllowed(String),
    /// The rate limit was exceeded. Contains the number of seconds to wait.
    #[error("Rate limit is exceeded. Try again in {0} seconds.")]
    TooMany(u64),
    /// The operator has blocked this client.
    #[error("Request blocked.")]
    Blocked,
    /// The query isn't valid UTF-8, or the request isn't valid HTTP.
    #[error("The request could not be read.")]
    Unreadable,
    /// Rejected by the HTTP parser with this status.
    #[error("The request could not be read.")]
    Rejected(StatusCode),
    /// A mail server or name server is unavailable.
    #[error("The service is temporarily unavailable.")]
    Unavailable,
    /// The database is down or overloaded. The cause is logged but not sent to the client, who gets
    /// the message of [`Error::Unavailable`].
    #[error("{0}")]
    Database(DatabaseError),
    /// A bug or a corrupt database. The cause is logged but not sent to the client.
    #[error("{0}")]
    Internal(String),
}

/// Returns a number with a singular or plural noun.
fn counted(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The reason a domain wasn't verified. The display text becomes the message in the body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerificationError {
    /// The domain is invalid or can't be verified.
    #[error("The DomainName field did not contain a valid domain.")]
    DomainName,
    /// The alias isn't one of the five allowed ones.
    #[error(
        "The EmailAlias field did not contain a valid value. Acceptable values are: admin, hostmaster, info, security, webmaster."
    )]
    EmailAlias,
    /// The body isn't JSON.
    #[error("The request body is not valid JSON.")]
    NotJson,
    /// No TXT record starts with this prefix.
    #[error("No {0}-verify TXT records were found on the domain.")]
    NoRecord(String),
    /// The TXT record with this prefix has the wrong value.
    #[error("A {0}-verify TXT record was found but it does not carry the expected value.")]
    OtherRecord(String),
    /// The file at this path has the wrong content.
    #[error("The file {0} was found but it does not carry the expected value.")]
    OtherFile(String),
    /// The home page has no tag with this prefix.
    #[error("No {0}-verification meta tag was found in the head of the home page.")]
    NoTag(String),
    /// The tag with this prefix on the home page has the wrong value.
    #[error("A {0}-verification meta tag was found but it does not carry the expected value.")]
    OtherTag(String),
    /// The website couldn't be read. Contains the document and the reason.
    #[error("{0} could not be read: {1}.")]
    Website(String, String),
    /// The subscriber already has too many unverified domains.
    #[error("Access denied, too many domains await verification: verify or remove some of them.")]
    TooManyPending,
    /// The plan doesn't cover another large domain.
    #[error("Access denied, the subscription allows {max} breached domains and {used} are in use.")]
    NoRoom {
        /// The plan's limit.
        max: i32,
        /// Number of large domains in use.
        used: i64,
    },
}

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::Email
            | Self::Prefix
            | Self::Prefixes
            | Self::TooManyPrefixes(_)
            | Self::Emails
            | Self::TooManyEmails(_)
            | Self::Boolean(_)
            | Self::Since
            | Self::Domain
            | Self::Unreadable => StatusCode::BAD_REQUEST,
            Self::BodyTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Rejected(status) => *status,
            Self::KeyMissing(_) | Self::KeyMalformed(_) | Self::KeyInvalid(_) => {
                StatusCode::UNAUTHORIZED
            }
            Self::UserAgent
            | Self::NotInPlan
            | Self::Ended(_)
            | Self::NotVerified
            | Self::DomainTooLarge { .. }
            | Self::TooManyDomains { .. }
            | Self::Verification(
                VerificationError::NoRoom { .. } | VerificationError::TooManyPending,
            )
            | Self::CrossOrigin => StatusCode::FORBIDDEN,
            Self::Verification(_) => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Blocked | Self::Unavailable | Self::Database(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Converts an authentication error. The message mentions `header` as the key header.
    pub fn from_auth(error: AuthError, header: &str) -> Self {
        let header = || header.to_owned();
        match error {
            AuthError::Credentials(Credentials::Missing) => Self::KeyMissing(header()),
            AuthError::Credentials(Credentials::Malformed | Credentials::Several) => {
                Self::KeyMalformed(header())
            }
            AuthError::Credentials(Credentials::Refused) => Self::KeyInvalid(header()),
            AuthError::TooMany(error) => Self::TooMany(error.retry_after),
            AuthError::Store(error) => error.into(),
        }
    }

    /// Returns the response body. [`Error::NotFound`] is sent without one.
    pub fn body(&self) -> ErrorBody {
        let message = match self {
            Self::Internal(_) => "The service failed.".to_owned(),
            Self::Database(_) => Self::Unavailable.to_string(),
            other => other.to_string(),
        };
        ErrorBody { status_code: self.status().as_u16(), message }
    }
}

impl ResponseError for Error {
    fn status_code(&self) -> StatusCode {
        self.status()
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status());
        match self {
            Self::NotFound => return response.finish(),
            Self::TooMany(seconds) => {
                response.insert_header((header::RETRY_AFTER, seconds.to_string()));
            }
            Self::Unavailable | Self::Database(_) => {
                response.insert_header((header::RETRY_AFTER, RETRY_AFTER.to_string()));
            }
            Self::MethodNotAllowed(allow) => {
                if let Ok(allow) = HeaderValue::from_str(allow) {
                    response.insert_header((header::ALLOW, allow));
                }
            }
            Self::Verification(error) => {
                return response.json(MessageBody { message: error.to_string() });
            }
            _ => {}
        }
        response.json(self.body())
    }
}

impl From<DatabaseError> for Error {
    fn from(error: DatabaseError) -> Self {
        match error {
            error if error.is_temporary() => Self::Database(error),
            other => Self::Internal(other.to_string()),
        }
    }
}

/// Formats errors raised outside the handlers in the same way as our own.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorBodies;

impl ErrorFormat for ErrorBodies {
    fn respond(&self, fault: &Fault, _request: &RequestInfo) -> HttpResponse {
        let error = match fault {
            Fault::NotFound => Error::NotFound,
            Fault::MethodNotAllowed { allow } => Error::MethodNotAllowed(
                allow.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            ),
            Fault::TooManyRequests { retry_after } => Error::TooMany(*retry_after),
            Fault::Unavailable { .. } => Error::Unavailable,
            Fault::Internal(cause) => Error::Internal(cause.clone()),
            Fault::Unreadable(status) => Error::Rejected(*status),
            Fault::Unauthorized(_)
            | Fault::InvalidPath(_)
            | Fault::InvalidQuery(_)
            | Fault::InvalidBody(_)
            | Fault::MalformedBody { .. }
            | Fault::UnsupportedMediaType
            | Fault::PayloadTooLarge { .. } => Error::Unreadable,
        };
        error.error_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_of_one_is_singular() {
        let texts = [Error::TooManyPrefixes(1), Error::TooManyEmails(1), Error::TooManyEmails(2)]
            .map(|error| error.to_string());
        for (text, limit) in texts.iter().zip(["1 prefix", "1 address", "2 addresses"]) {
            assert_eq!(*text, format!("The subscription covers at most {limit} in one request."));
        }
    }

    #[test]
    fn busy_database_is_the_cause_in_the_log_but_not_in_the_response() {
        let error = Error::from(DatabaseError::Busy);
        assert_eq!(error.to_string(), "the database is busy or unreachable");
        assert_eq!(error.body().message, "The service is temporarily unavailable.");
        let response = error.error_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers().get(header::RETRY_AFTER).unwrap(), "5");
    }
}
