//! Who may call, before the database is read: blocked clients, user agents, which headers carry keys,
//! and what requests without a key cost.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use auth::{AuthError, Charge, Credential, Policy, Quota, Rate};

use crate::config::Settings;
use crate::error::Error;
use crate::model::BlockList;
use crate::model::plan::Operation;

/// Who may call what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Any caller, from any origin.
    Keyless,
    /// Callers with a key whose plan includes the operation.
    Keyed(Operation),
    /// A page for people, or a file of one.
    Page,
    /// The documentation, which is no operation of the API.
    Documentation,
    /// Nothing is served there.
    Unknown,
}

/// Which headers carry keys, and what requests without a key cost.
///
/// What a key on file and a test key pay follows from their look-up (`app::charge`).
#[derive(Clone, Debug)]
pub struct KeyPolicy {
    headers: Vec<String>,
    keyless: Charge,
}

impl KeyPolicy {
    /// The policy of the settings.
    pub fn new(settings: &Settings) -> Self {
        let keyless = match settings.keyless_rpm_per_ip {
            0 => Charge::FREE,
            rpm => Quota::per_minute(rpm).shared_by(settings.rate_replicas).into(),
        };
        Self { headers: settings.api_key_headers.clone(), keyless: keyless.purpose("keyless") }
    }
}

impl Policy for KeyPolicy {
    /// The first header with a value counts, and of a repeated header the first line.
    fn credential(&self, request: &HttpRequest) -> Result<Option<Credential>, AuthError> {
        let values = self.headers.iter().filter_map(|name| request.headers().get(name.as_str()));
        // A value that is not ASCII is malformed, like any other text that is no key.
        let mut texts = values.map(|value| value.to_str().unwrap_or("?").trim());
        Ok(texts.find(|text| !text.is_empty()).map(Credential::from))
    }

    fn anonymous(&self, _request: &HttpRequest) -> Option<Charge> {
        Some(self.keyless.clone())
    }

    /// The specification knows no limit of refused keys.
    fn refused(&self, _request: &HttpRequest) -> Charge {
        Rate::UNLIMITED.into()
    }
}

/// Whether a request is a preflight: `OPTIONS` that names the method to come.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Steps 2 and 3 of the order of checks: the block list and the user agent.
///
/// # Errors
/// [`Error::Blocked`], [`Error::UserAgent`].
pub fn check_client(
    blocks: &BlockList,
    now: i64,
    client: IpAddr,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), Error> {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.map(|value| String::from_utf8_lossy(value.as_bytes()));
    if blocks.blocks(client, agent.as_deref(), now) {
        return Err(Error::Blocked);
    }
    if !is_preflight(method, headers) && agent.is_none_or(|agent| agent.trim().is_empty()) {
        return Err(Error::UserAgent);
    }
    Ok(())
}
