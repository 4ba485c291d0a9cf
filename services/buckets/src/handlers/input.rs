//! Parses request input.

use actix_web::HttpRequest;
use auth::{Caller, Key};
use serde::de::DeserializeOwned;
use shell::params::{Input, read_validated};
use shell::{Credentials, Fault};
use validator::Validate;

use crate::error::Error;
use crate::wire::RULES;

/// Returns the code of the caller's plan, or `None` if the caller doesn't have a plan. The package
/// has the same code.
pub(super) fn plan_of(caller: &Caller) -> Option<&str> {
    let plan = caller.key.as_ref().and_then(|key| key.plan.as_ref());
    plan.map(|plan| plan.code.as_str())
}

/// Returns the key's owner and plan code. The owner is empty if there is no key.
pub(super) fn owner_and_plan(caller: &Caller) -> (&str, Option<&str>) {
    let owner = caller.key.as_ref().map_or("", |key| key.owner.as_str());
    (owner, plan_of(caller))
}

/// Returns the caller's key, or an error if the request doesn't have one.
pub(super) fn key_of(caller: &Caller) -> Result<&Key, Error> {
    caller.key.as_deref().ok_or(Error::Fault(Fault::Unauthorized(Credentials::Missing)))
}

/// Checks the query string of an operation that doesn't have its own parameters.
pub(super) fn check_query(request: &HttpRequest) -> Result<(), Error> {
    match Input::query(request.query_string()).undecodable() {
        None => Ok(()),
        Some(violation) => Err(Fault::InvalidQuery(vec![violation]).into()),
    }
}

/// Returns the `id` in the path. If it isn't a number, the resource can't exist. Also checks the
/// query string.
pub(super) fn id_of(request: &HttpRequest) -> Result<i64, Error> {
    check_query(request)?;
    let id = request.match_info().query("id");
    let digits = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let id = id.parse().ok().filter(|_| digits);
    id.ok_or(Error::Fault(Fault::NotFound))
}

/// Parses the query parameters. Handlers call this themselves instead of using an extractor, so
/// that the key is checked first.
pub(super) fn parameters<T: DeserializeOwned + Validate>(
    request: &HttpRequest,
) -> Result<T, Error> {
    let input = Input::query(request.query_string());
    read_validated(&input, &RULES)
        .into_result()
        .map_err(|violations| Fault::InvalidQuery(violations).into())
}
