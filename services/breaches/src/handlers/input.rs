//! Path and query as this API reads them.

use ::domain::{DomainName, EmailAddress};
use actix_web::HttpRequest;
use auth::AuthError;
use percent_encoding::percent_decode_str;
use shell::Pairs;

use crate::app::KeyedRequest;
use crate::error::Error;
use crate::model::EmailPrefix;
use crate::model::plan::Operation;
use crate::state::State;

/// Reads the key of a request to a keyed operation.
pub fn keyed_request(
    request: &HttpRequest,
    state: &State,
    operation: Operation,
) -> Result<KeyedRequest, Error> {
    let presented = state.gate().present_key(request);
    let presented = presented.map_err(|error| auth_error(error, state))?;
    Ok(KeyedRequest::new(presented, operation))
}

/// Charges a request to an operation that needs no key to the client address, where there is a
/// limit.
pub fn charge_keyless(request: &HttpRequest, state: &State) -> Result<(), Error> {
    match state.gate().admit_anonymous(request) {
        Ok(_) => Ok(()),
        Err(error) => Err(auth_error(error, state)),
    }
}

fn auth_error(error: AuthError, state: &State) -> Error {
    Error::from_auth(error, state.settings().key_header())
}

/// The last path segment, percent-decoded once; a `+` stays one. None when it is not UTF-8.
#[derive(Clone, Debug)]
pub struct Segment(Option<String>);

impl Segment {
    /// Takes it from a request.
    pub fn of(request: &HttpRequest) -> Self {
        let raw = request.uri().path().rsplit('/').next().unwrap_or_default();
        Self(percent_decode_str(raw).decode_utf8().ok().map(Into::into))
    }

    /// The text; empty when it is not UTF-8, which no operation accepts.
    pub fn text(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The text as an address.
    pub fn email(&self) -> Result<EmailAddress, Error> {
        EmailAddress::parse(self.text()).map_err(|_| Error::Email)
    }

    /// The text as a hash prefix.
    pub fn prefix(&self) -> Result<EmailPrefix, Error> {
        EmailPrefix::parse(self.text()).ok_or(Error::Prefix)
    }

    /// The text as a domain.
    pub fn domain(&self) -> Result<DomainName, Error> {
        DomainName::parse(self.text()).map_err(|_| Error::Domain)
    }
}

/// The query of a request; names are compared ignoring case, the first of a repeated one counts.
pub struct Query(Pairs);

impl Query {
    /// Decodes a query string.
    pub fn parse(query: &str) -> Result<Self, Error> {
        Pairs::parse(query).map(Self).map_err(|_| Error::Unreadable)
    }

    /// A text; an empty one counts as none.
    pub fn text(&self, name: &'static str) -> Option<&str> {
        self.0.first_ignoring_case(name).filter(|text| !text.is_empty())
    }

    /// A boolean, `true` or `false` in any case.
    pub fn boolean(&self, name: &'static str) -> Result<Option<bool>, Error> {
        match self.0.first_ignoring_case(name) {
            None => Ok(None),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(_) => Err(Error::Boolean(name)),
        }
    }
}
