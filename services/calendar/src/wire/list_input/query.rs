//! Decodes the parts that all list queries have in common.

use jiff::Timestamp;
use serde_json::Value;

use crate::model::geo::Unit;
use crate::model::list::{Paging, Scope, StatusFilter};
use crate::model::role::{self, Actor};
use crate::model::status::Status;
use crate::model::zone::Zone;
use crate::wire::names::Known;
use crate::wire::parameters::Declared;
use crate::wire::params::Params;
use crate::wire::reading::Errors;
use crate::wire::values::{Positive, Texts, meant};

/// The caller and the site settings for decoding list queries.
#[derive(Clone, Copy)]
pub struct ListOptions<'a> {
    pub actor: &'a Actor,
    pub zone: &'a Zone,
    pub now: Timestamp,
    pub per_page: i64,
    pub per_page_max: i64,
    pub geo_radius: f64,
    pub geo_unit: Unit,
}

/// A decoded list request.
pub struct ListRequest<F> {
    pub filter: F,
    pub paging: Paging,
    /// The effective parameters, except for `page`, to repeat in pagination links.
    pub query: Vec<(String, String)>,
}

/// Returns the requested page.
pub fn paging(
    page: Option<Positive>,
    per_page: Option<Positive>,
    options: ListOptions<'_>,
) -> Paging {
    let per_page = per_page.map_or(options.per_page, |rows| rows.0);
    Paging { page: page.map_or(1, |page| page.0), per_page: per_page.min(options.per_page_max) }
}

/// Returns the request's parameters in declaration order, for use in pagination links.
pub fn repeated<T: Declared>(params: &Params, paging: Paging) -> Vec<(String, String)> {
    let mut query = vec![("per_page".to_owned(), paging.per_page.to_string())];
    let declared = T::parameters().iter().map(|parameter| parameter.name.as_str());
    for name in declared.filter(|name| !matches!(*name, "page" | "per_page")) {
        let value = match params.get(name) {
            None => continue,
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                let texts = items.iter().map(|item| match item {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                texts.collect::<Vec<_>>().join(",")
            }
            Some(other) => other.to_string(),
        };
        query.push((name.to_owned(), value));
    }
    query
}

/// Sorts the parameters of a pagination link in declaration order.
pub fn in_order<T: Declared>(query: &mut [(String, String)]) {
    let declared = T::parameters();
    query.sort_by_key(|(name, _)| declared.iter().position(|one| one.name == *name));
}

/// Returns the scope that `status` requests. Reports an error if the caller isn't allowed to see
/// one of the statuses.
pub fn scope(errors: &mut Errors, status: Option<Texts>, actor: &Actor) -> Scope {
    let asked = statuses(errors, status);
    Scope::of(actor, asked.as_ref()).unwrap_or_else(|| {
        errors.fail("status", "must be a list of statuses that the caller may request");
        Scope::public()
    })
}

fn statuses(errors: &mut Errors, status: Option<Texts>) -> Option<StatusFilter> {
    let Texts(words) = status?;
    if words.is_empty() {
        errors.fail("status", "must not be empty");
        return None;
    }
    if words.iter().any(|word| word == "any") {
        return Some(StatusFilter::Any);
    }
    let statuses: Option<Vec<Status>> = words.iter().map(|word| Status::parse(word)).collect();
    let near = statuses.iter().flatten().find_map(Status::near_miss);
    if let Some(known) = near {
        errors.fail("status", meant(known));
    }
    if statuses.is_none() {
        errors.fail("status", "must be a list of statuses of 1 to 20 characters");
    }
    statuses.map(StatusFilter::Of)
}

/// Returns the default scope as a parameter, so that pagination links show the same list to other
/// callers. Returns `None` if the request has a status, or if the only unpublished resources that
/// the caller can see are their own.
pub fn default_status(params: &Params, actor: &Actor) -> Option<(String, String)> {
    let word = match (params.get("status"), role::sees_all(actor), role::sees_own(actor)) {
        (Some(_), ..) => return None,
        (None, true, _) => "any",
        (None, false, None) => "publish",
        (None, false, Some(_)) => return None,
    };
    Some(("status".to_owned(), word.to_owned()))
}

/// Returns the event id, or `None` if the parameter is absent. Reports an error if the event
/// doesn't exist.
pub fn existing_event(
    errors: &mut Errors,
    known: &Known,
    name: &'static str,
    id: Option<Positive>,
) -> Option<i64> {
    let Positive(id) = id?;
    if !known.events.contains(&id) {
        errors.fail(name, "must be the id of an event");
    }
    Some(id)
}
