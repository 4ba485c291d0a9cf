//! Extracts the path, query and body of requests.

use ::domain::{DomainName, EmailAddress};
use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use auth::AuthError;
use futures_util::future::LocalBoxFuture;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use shell::Fault;
use shell::params::{Empty, Faults, Input, Names, Rules, Undecodable, read};

use crate::app::KeyedRequest;
use crate::error::Error;
use crate::model::EmailPrefix;
use crate::policy::Access;
use crate::state::State;
use crate::wire::Body;

/// Reads the API key. The operation has already been determined by the service's middleware.
pub fn keyed_request(request: &HttpRequest, state: &State) -> Result<KeyedRequest, Error> {
    let Some(Access::Keyed(operation)) = request.extensions().get::<Access>().copied() else {
        return Err(Error::Internal("the operation does not require a key".to_owned()));
    };
    let presented = state.gate().present_key(request);
    let presented = presented.map_err(|error| auth_error(error, state))?;
    Ok(KeyedRequest::new(presented, operation))
}

/// Charges a keyless request to the client address if keyless requests are limited.
pub fn charge_keyless(request: &HttpRequest, state: &State) -> Result<(), Error> {
    match state.gate().admit_anonymous(request) {
        Ok(_) => Ok(()),
        Err(error) => Err(auth_error(error, state)),
    }
}

fn auth_error(error: AuthError, state: &State) -> Error {
    Error::from_auth(error, state.settings().key_header())
}

/// The last path segment, percent-decoded once. `+` has no special meaning. `None` if the segment
/// isn't valid UTF-8.
#[derive(Clone, Debug)]
pub struct Segment(Option<String>);

impl Segment {
    /// Reads the segment from a request.
    pub fn of(request: &HttpRequest) -> Self {
        let raw = request.uri().path().rsplit('/').next().unwrap_or_default();
        Self(percent_decode_str(raw).decode_utf8().ok().map(Into::into))
    }

    /// Returns the segment, or an empty string if it isn't valid UTF-8. All operations reject empty
    /// strings.
    pub fn text(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Parses the segment as an address.
    pub fn email(&self) -> Result<EmailAddress, Error> {
        EmailAddress::parse(self.text()).map_err(|_| Error::Email)
    }

    /// Parses the segment as a hash prefix.
    pub fn prefix(&self) -> Result<EmailPrefix, Error> {
        EmailPrefix::parse(self.text()).ok_or(Error::Prefix)
    }

    /// Parses the segment as a domain.
    pub fn domain(&self) -> Result<DomainName, Error> {
        DomainName::parse(self.text()).map_err(|_| Error::Domain)
    }
}

/// The API key and the JSON body, whatever its content type. Oversized bodies are an error. The
/// content is `None` if it's invalid. The whole body is read before the caller is looked up.
pub struct KeyedJson<B: Body>(pub KeyedRequest, pub Result<Option<B::Content>, Error>);

impl<B: Body + 'static> FromRequest for KeyedJson<B> {
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<Self, Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let state = request.app_data::<Data<State>>();
            let state = state.ok_or_else(|| Error::Internal("no state".to_owned()))?;
            let keyed = keyed_request(&request, state)?;
            Ok(Self(keyed, json_body::<B>(&request, &mut payload).await))
        })
    }
}

/// Reads a JSON body. Returns `None` if the content is invalid.
async fn json_body<B: Body>(
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<Option<B::Content>, Error> {
    match shell::read_body(request, payload, B::LIMIT).await {
        Ok(bytes) => Ok(B::parse(&bytes)),
        Err(Fault::PayloadTooLarge { limit }) => Err(Error::BodyTooLarge(limit / 1024)),
        Err(Fault::Unreadable(status)) => Err(Error::Rejected(status)),
        Err(_) => Ok(None),
    }
}

/// Rules for parsing query parameters.
const RULES: Rules = Rules {
    names: Names::IgnoringCase,
    undecodable: Undecodable::Input,
    faults: Faults::First,
    ..Rules::PLAIN
};

/// Like [`RULES`], but empty values count as missing.
const EMPTY_IS_ABSENT: Rules = Rules { empty: Empty::Absent, ..RULES };

/// Parses the query parameters.
pub fn query<T: DeserializeOwned>(request: &HttpRequest) -> Result<T, Error> {
    read_query(request, &RULES)
}

/// Parses the query parameters, ignoring empty ones.
pub fn query_without_empty<T: DeserializeOwned>(request: &HttpRequest) -> Result<T, Error> {
    read_query(request, &EMPTY_IS_ABSENT)
}

fn read_query<T: DeserializeOwned>(request: &HttpRequest, rules: &Rules) -> Result<T, Error> {
    let input = Input::query(request.query_string());
    read(&input, rules).into_result().map_err(|violations| match violations.into_iter().next() {
        Some(violation) if violation.code == "boolean" => Error::Boolean(violation.field),
        _ => Error::Unreadable,
    })
}
