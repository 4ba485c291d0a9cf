//! One file per resource.

pub mod account;
pub mod buckets;
pub mod files;
pub mod page;
pub mod stats;

use actix_web::HttpResponse;
use auth::Caller;
use serde::Serialize;

use crate::catalog::Catalog;
use crate::model::package::Package;

/// The package of the caller.
fn package_of(caller: &Caller, catalog: &Catalog) -> Package {
    let plan = caller.key.as_ref().and_then(|key| key.plan.as_ref());
    catalog.package(plan.map(|plan| plan.code.as_str()))
}

/// An answer in JSON with its character set.
fn json(answer: &impl Serialize) -> HttpResponse {
    match serde_json::to_string(answer) {
        Ok(text) => HttpResponse::Ok().content_type("application/json; charset=utf-8").body(text),
        Err(error) => HttpResponse::from_error(crate::error::Error::Internal(error.to_string())),
    }
}
