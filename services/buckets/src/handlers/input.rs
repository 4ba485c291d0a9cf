//! Reads input from requests.

use actix_web::HttpRequest;
use auth::{Caller, Key};
use serde::de::DeserializeOwned;
use shell::params::{Input, read_validated};
use shell::{Credentials, Fault};
use validator::Validate;

use crate::error::Error;
use crate::wire::RULES;

/// Returns the code of the caller's plan, which is also the code of the package. Returns `None` if
/// the caller has no plan.
pub(super) fn plan_of(caller: &Caller) -> Option<&str> {
    let plan = caller.key.as_ref().and_then(|key| key.plan.as_ref());
    plan.map(|plan| plan.code.as_str())
}

/// Returns the caller's key.
pub(super) fn key_of(caller: &Caller) -> Result<&Key, Error> {
    caller.key.as_deref().ok_or(Error::Fault(Fault::Unauthorized(Credentials::Missing)))
}

/// Returns the `id` in the path. If it is not a number, the resource does not exist.
pub(super) fn id_of(request: &HttpRequest) -> Result<i64, Error> {
    let id = request.match_info().query("id");
    let digits = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let id = id.parse().ok().filter(|_| digits);
    id.ok_or(Error::Fault(Fault::NotFound))
}

/// Parses the query parameters. Called by handlers, so that the key is checked first.
pub(super) fn parameters<T: DeserializeOwned + Validate>(
    request: &HttpRequest,
) -> Result<T, Error> {
    let input = Input::query(request.query_string());
    read_validated(&input, &RULES)
        .into_result()
        .map_err(|violations| Fault::InvalidQuery(violations).into())
}
