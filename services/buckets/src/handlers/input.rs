//! Reads input from requests.

use actix_web::HttpRequest;
use auth::Caller;
use serde::de::DeserializeOwned;
use shell::Fault;
use shell::params::{Input, read_validated};
use validator::Validate;

use crate::error::Error;
use crate::wire::RULES;

/// Returns the plan of the caller, which is also the code of the package.
pub(super) fn plan_of(caller: &Caller) -> Option<&str> {
    let plan = caller.key.as_ref().and_then(|key| key.plan.as_ref());
    plan.map(|plan| plan.code.as_str())
}

/// Parses the query parameters. Handlers call it, because the key is checked first.
pub(super) fn parameters<T: DeserializeOwned + Validate>(
    request: &HttpRequest,
) -> Result<T, Error> {
    let input = Input::query(request.query_string());
    read_validated(&input, &RULES)
        .into_result()
        .map_err(|violations| Fault::InvalidQuery(violations).into())
}
