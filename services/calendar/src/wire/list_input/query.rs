//! What the queries of all lists have in common.

use jiff::Timestamp;
use serde_json::Value;

use crate::model::geo::Unit;
use crate::model::list::{Paging, Scope, StatusFilter};
use crate::model::role::{self, Actor};
use crate::model::status::Status;
use crate::model::zone::Zone;
use crate::wire::args::Arg;
use crate::wire::decode::{Decoder, text};
use crate::wire::lookup::Lookup;
use crate::wire::params::Params;

/// What a list needs to know of the site and the caller.
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

/// A list request: what to filter, which page, and the query that repeats it.
pub struct ListRequest<F> {
    pub filter: F,
    pub paging: Paging,
    /// The parameters in effect without `page`.
    pub query: Vec<(String, String)>,
}

pub fn paging(d: &mut Decoder<'_>, lister: ListOptions<'_>) -> Paging {
    let page = d.positive("page").unwrap_or(1);
    let per_page = d.positive("per_page").unwrap_or(lister.per_page).min(lister.per_page_max);
    Paging { page, per_page }
}

/// Repeats the given parameters in the order of their declaration.
pub fn repeated(params: &Params, declared: &[Arg], paging: Paging) -> Vec<(String, String)> {
    let mut query = vec![("per_page".to_owned(), paging.per_page.to_string())];
    for arg in declared.iter().filter(|arg| !matches!(arg.name, "page" | "per_page")) {
        let value = match params.get(arg.name) {
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
        query.push((arg.name.to_owned(), value));
    }
    query
}

pub fn search(d: &mut Decoder<'_>) -> Option<String> {
    d.filled_text("search")
}

/// Reads `status`; what the caller may not ask for is invalid.
pub fn scope(d: &mut Decoder<'_>, actor: &Actor) -> Scope {
    let asked = statuses(d);
    Scope::of(actor, asked.as_ref()).unwrap_or_else(|| {
        d.fail("status", "must be a list of statuses that the caller may ask for");
        Scope::public()
    })
}

pub fn statuses(d: &mut Decoder<'_>) -> Option<StatusFilter> {
    let words = d.words("status")?;
    if words.is_empty() {
        d.fail("status", "must not be empty");
        return None;
    }
    if words.iter().any(|word| word == "any") {
        return Some(StatusFilter::Any);
    }
    let statuses: Option<Vec<Status>> = words.iter().map(|word| Status::parse(word)).collect();
    if statuses.is_none() {
        d.fail("status", "must be a list of statuses of 1 to 20 characters");
    }
    statuses.map(StatusFilter::Of)
}

/// Names the default scope, so that following a link shows the same list.
pub fn default_status(params: &Params, actor: &Actor) -> Option<(String, String)> {
    let word = match (params.get("status"), role::sees_all(actor), role::sees_own(actor)) {
        (Some(_), ..) => return None,
        (None, true, _) => "any",
        (None, false, None) => "publish",
        (None, false, Some(_)) => return None,
    };
    Some(("status".to_owned(), word.to_owned()))
}

pub fn existing_event(
    d: &mut Decoder<'_>,
    lookup: &mut dyn Lookup,
    name: &'static str,
) -> Option<i64> {
    let id = d.positive(name)?;
    if !lookup.event(id) {
        d.fail(name, "must be the id of an event");
    }
    Some(id)
}

pub fn descending(d: &mut Decoder<'_>) -> bool {
    let read = d.check("order", |value| match text(value)?.to_ascii_lowercase().as_str() {
        "asc" | "ascending" => Ok(false),
        "desc" | "descending" => Ok(true),
        _ => Err("must be asc or desc"),
    });
    read.unwrap_or(false)
}
