//! Access rules that don't require the database: blocked clients, user agents, key headers, and the
//! cost of keyless requests.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use auth::{AuthError, Charge, Credential, Policy, Quota, Rate};

use crate::config::Settings;
use crate::error::Error;
use crate::model::BlockList;
use crate::model::plan::Operation;

/// The callers that are allowed to access a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone, from any origin.
    Keyless,
    /// Callers with an API key whose plan includes the operation.
    Keyed(Operation),
    /// A web page or one of its assets.
    Page,
    /// The documentation. Not part of the API.
    Documentation,
    /// Not a path of this service.
    Unknown,
}

/// The headers that can carry an API key, and the cost of keyless requests.
///
/// The cost of a keyed request is determined after the key has been looked up; see `app::charge`.
#[derive(Clone, Debug)]
pub struct KeyPolicy {
    headers: Vec<String>,
    keyless: Charge,
}

impl KeyPolicy {
    pub fn new(settings: &Settings) -> Self {
        let keyless = match settings.keyless_rpm_per_ip {
            0 => Charge::FREE,
            rpm => Quota::per_minute(rpm).shared_by(settings.rate_replicas).into(),
        };
        Self { headers: settings.api_key_headers.clone(), keyless: keyless.purpose("keyless") }
    }
}

impl Policy for KeyPolicy {
    /// Picks the first key header with a non-empty value. If a header is repeated, only its first
    /// line counts.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        let values = self.headers.iter().filter_map(|name| request.headers().get(name.as_str()));
        // Values with non-ASCII characters become "?", which is then rejected like any other
        // malformed key.
        let mut texts = values.map(|value| value.to_str().unwrap_or("?").trim());
        Ok(texts.find(|text| !text.is_empty()).map(Credential::from))
    }

    fn anonymous(&self, _request: &HttpRequest) -> Option<Charge> {
        Some(self.keyless.clone())
    }

    /// Requests with a rejected key are free, since the spec doesn't limit them.
    fn refused(&self, _request: &HttpRequest) -> Charge {
        Rate::UNLIMITED.into()
    }
}

/// Returns whether this is a CORS preflight, i.e. `OPTIONS` with an `access-control-request-method`
/// header.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Whether a request must have a user agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Requests without one are rejected.
    Required,
    /// Optional, since email clients might not send one when they unsubscribe.
    Optional,
}

/// Checks 2 and 3: the block list and the user agent.
///
/// # Errors
/// [`Error::Blocked`] or [`Error::UserAgent`].
pub fn check_client(
    blocks: &BlockList,
    now: i64,
    client: IpAddr,
    (method, headers): (&Method, &HeaderMap),
    required: Agent,
) -> Result<(), Error> {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.map(|value| String::from_utf8_lossy(value.as_bytes()));
    if blocks.blocks(client, agent.as_deref(), now) {
        return Err(Error::Blocked);
    }
    let is_exempt = required == Agent::Optional || is_preflight(method, headers);
    if !is_exempt && agent.is_none_or(|agent| agent.trim().is_empty()) {
        return Err(Error::UserAgent);
    }
    Ok(())
}
