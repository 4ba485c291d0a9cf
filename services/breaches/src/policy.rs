//! Access rules that do not need the database: blocked clients, user agents, key headers, and the
//! cost of requests without a key.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use auth::{AuthError, Charge, Credential, Policy, Quota, Rate};

use crate::config::Settings;
use crate::error::Error;
use crate::model::BlockList;
use crate::model::plan::Operation;

/// The callers that may use a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Any caller, from any origin.
    Keyless,
    /// Callers with a key whose plan includes the operation.
    Keyed(Operation),
    /// A page, or a file that belongs to pages.
    Page,
    /// The documentation, which is not an operation of the API.
    Documentation,
    /// The service does not serve this path.
    Unknown,
}

/// The headers that may carry keys, and the cost of requests without a key.
///
/// The cost of a request with a key is determined when the key is looked up (`app::charge`).
#[derive(Clone, Debug)]
pub struct KeyPolicy {
    headers: Vec<String>,
    keyless: Charge,
}

impl KeyPolicy {
    /// Builds the policy from the settings.
    pub fn new(settings: &Settings) -> Self {
        let keyless = match settings.keyless_rpm_per_ip {
            0 => Charge::FREE,
            rpm => Quota::per_minute(rpm).shared_by(settings.rate_replicas).into(),
        };
        Self { headers: settings.api_key_headers.clone(), keyless: keyless.purpose("keyless") }
    }
}

impl Policy for KeyPolicy {
    /// Returns the first key header that has a value. If a header is repeated, its first line is
    /// used. Returns `None` if there is none.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        let values = self.headers.iter().filter_map(|name| request.headers().get(name.as_str()));
        // A value that is not ASCII is treated as malformed, like any other invalid key.
        let mut texts = values.map(|value| value.to_str().unwrap_or("?").trim());
        Ok(texts.find(|text| !text.is_empty()).map(Credential::from))
    }

    fn anonymous(&self, _request: &HttpRequest) -> Option<Charge> {
        Some(self.keyless.clone())
    }

    /// Returns the cost of a request with a rejected key: none, because the specification does not
    /// limit such requests.
    fn refused(&self, _request: &HttpRequest) -> Charge {
        Rate::UNLIMITED.into()
    }
}

/// Returns whether a request is a CORS preflight: `OPTIONS` with `access-control-request-method`.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Whether a request must have a user agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Requests without a user agent are rejected.
    Required,
    /// Not required, because mail programs that unsubscribe may not send one.
    Optional,
}

/// Steps 2 and 3 of the checks: the block list and the user agent.
///
/// # Errors
/// [`Error::Blocked`], [`Error::UserAgent`].
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
