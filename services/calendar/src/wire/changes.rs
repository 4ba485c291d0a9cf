//! Change list queries and their pagination links.

use super::addresses::address;
use super::envelope::ListMeta;
use super::list_input::ListOptions;
use super::parameter_errors::ParameterErrors;
use super::parameters::{Declared, EventListParameters};
use super::params::Params;
use super::reading::read_parameters;
use crate::model::changes::{Change, ChangeFilter};
use crate::model::list::{Paging, Scope};
use crate::model::urls::Urls;

/// Parameters that can be combined with `modified_after`.
const COMBINABLE: [&str; 6] =
    ["modified_after", "after_id", "per_page", "password", "context", "_fields"];

/// A change list request.
pub struct ChangeList {
    pub filter: ChangeFilter,
    pub rows: i64,
}

/// Returns whether an event list request asks for changes.
pub fn asks_for_changes(params: &Params) -> bool {
    params.get("modified_after").is_some() || params.get("after_id").is_some()
}

/// Decodes a change list query.
///
/// # Errors
/// Returns all invalid parameters.
pub fn change_list(
    params: &Params,
    options: ListOptions<'_>,
) -> Result<ChangeList, ParameterErrors> {
    let (given, mut errors) = read_parameters::<EventListParameters>(params);
    let names = EventListParameters::parameters().iter().map(|one| one.name.as_str());
    for name in names.filter(|name| !COMBINABLE.contains(name) && params.get(name).is_some()) {
        // Accept `page=1`, because every list has a first page.
        if name != "page" || given.page.as_ref().is_some_and(|page| page.0 > 1) {
            errors.fail(name, "cannot be combined with modified_after");
        }
    }
    let moment = given.modified_after.map(|date| date.0.resolve(options.zone, options.now));
    let since = match moment.map(|moment| moment.and_then(|at| at.instant(options.zone))) {
        Some(Ok(at)) => at.as_second(),
        Some(Err(_)) => {
            errors.fail("modified_after", "must be a date");
            0
        }
        None => {
            // If `modified_after` is present, it was invalid and has already been reported.
            if params.get("modified_after").is_none() {
                errors.fail("after_id", "needs modified_after");
            }
            0
        }
    };
    let scope = Scope::of(options.actor, None).unwrap_or_else(Scope::public);
    let behind = given.after_id.map_or(0, |id| id.0);
    let per_page = given.per_page.map_or(options.per_page, |rows| rows.0);
    let rows = per_page.min(options.per_page_max);
    errors.finish(ChangeList { filter: ChangeFilter { scope, since, behind }, rows })
}

impl ChangeList {
    /// Returns the pagination links and totals, given the last change on the page.
    pub fn meta(&self, urls: &Urls, total: i64, last: Option<&Change>) -> ListMeta {
        let collection = urls.collection("events");
        let link = |since: i64, behind: i64| {
            let pair = |name: &str, value: String| (name.to_owned(), value);
            let mut pairs = vec![
                pair("per_page", self.rows.to_string()),
                pair("modified_after", format!("@{since}")),
            ];
            pairs.extend((behind > 0).then(|| pair("after_id", behind.to_string())));
            address(&collection, pairs.iter())
        };
        ListMeta {
            rest_url: link(self.filter.since, self.filter.behind),
            next_rest_url: last.filter(|_| total > self.rows).map(|last| link(last.at, last.event)),
            previous_rest_url: None,
            total,
            total_pages: Paging { page: 1, per_page: self.rows }.pages(total),
        }
    }
}
