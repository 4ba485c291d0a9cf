//! What handlers read from a request.

use actix_web::HttpRequest;
use auth::Caller;
use serde::de::DeserializeOwned;
use shell::Fault;
use shell::params::{Input, read};
use validator::Validate;

use crate::error::Error;
use crate::wire::RULES;

/// Code of the caller's plan, which is its package.
pub(super) fn plan_of(caller: &Caller) -> Option<&str> {
    let plan = caller.key.as_ref().and_then(|key| key.plan.as_ref());
    plan.map(|plan| plan.code.as_str())
}

/// The query parameters; read in the handler, since the key is judged before them.
pub(super) fn parameters<T: DeserializeOwned + Validate>(
    request: &HttpRequest,
) -> Result<T, Error> {
    let input = Input::query(request.query_string());
    read(&input, &RULES).into_result().map_err(|violations| Fault::InvalidQuery(violations).into())
}
