//! Who may call, as far as it does not depend on the database: blocked clients, missing user agents,
//! the form of keys, and the limit of callers without a key.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use auth::{Quota, QuotaId};

use crate::config::Settings;
use crate::error::Error;
use crate::state::State;

/// Whether a request is a preflight: `OPTIONS` that names the method to come.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Steps 2 and 3 of the order of checks: the block list and the user agent.
///
/// # Errors
/// [`Error::Blocked`], [`Error::UserAgent`].
pub fn check_client(
    state: &State,
    client: IpAddr,
    method: &Method,
    headers: &HeaderMap,
) -> Result<(), Error> {
    let agent = headers.get(header::USER_AGENT);
    let agent = agent.map(|value| String::from_utf8_lossy(value.as_bytes()));
    if state.snapshot().blocks.blocks(client, agent.as_deref(), state.clock().unix()) {
        return Err(Error::Blocked);
    }
    if !is_preflight(method, headers) && agent.is_none_or(|agent| agent.trim().is_empty()) {
        return Err(Error::UserAgent);
    }
    Ok(())
}

/// The key of a request, if it has the form of one.
///
/// # Errors
/// [`Error::KeyMissing`], [`Error::KeyMalformed`].
pub fn key(request: &HttpRequest, settings: &Settings) -> Result<String, Error> {
    let names = settings.api_key_headers.iter();
    let value = names
        .filter_map(|name| request.headers().get(name.as_str()))
        .map(|value| value.to_str().unwrap_or("?").trim())
        .find(|value| !value.is_empty());
    match value {
        None => Err(Error::KeyMissing(settings.key_header().to_owned())),
        Some(text) if auth::is_well_formed(text) => Ok(text.to_owned()),
        Some(_) => Err(Error::KeyMalformed(settings.key_header().to_owned())),
    }
}

/// Charges a request without a key to its address, where there is a limit.
///
/// # Errors
/// [`Error::TooMany`].
pub fn charge_keyless(request: &HttpRequest, state: &State) -> Result<(), Error> {
    let settings = state.settings();
    if settings.keyless_rpm_per_ip > 0 {
        let rate = Quota::per_minute(settings.keyless_rpm_per_ip).shared_by(settings.rate_replicas);
        let id = QuotaId::Address(shell::client_ip(request)).purpose("keyless");
        state.quotas().check(id, rate, 1)?;
    }
    Ok(())
}
