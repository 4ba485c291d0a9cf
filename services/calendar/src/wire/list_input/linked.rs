//! The query of the lists of venues and organizers.

use super::query::{self, ListOptions, ListRequest};
use crate::model::list::LinkedFilter;
use crate::wire::lookup::Lookup;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::parameters::LinkedListParameters;
use crate::wire::params::Params;
use crate::wire::reading::read_parameters;

/// Decodes the query of the lists of venues and organizers.
///
/// # Errors
/// All invalid parameters.
pub fn linked(
    params: &Params,
    lookup: &mut dyn Lookup,
    options: ListOptions<'_>,
) -> Result<ListRequest<LinkedFilter>, ParameterErrors> {
    let (given, mut errors) = read_parameters::<LinkedListParameters>(params);
    let LinkedListParameters {
        page,
        per_page,
        search,
        event,
        has_events,
        only_with_upcoming,
        status,
        // Applied to the response.
        fields: _,
    } = given;
    let paging = query::paging(page, per_page, options);
    let event = query::existing_event(&mut errors, lookup, "event", event);
    let upcoming = only_with_upcoming.is_some_and(|flag| flag.0);
    let scope = query::scope(&mut errors, status, options.actor);
    let mut repeated = query::repeated::<LinkedListParameters>(params, paging);
    repeated.extend(query::default_status(params, options.actor));
    let filter = LinkedFilter {
        scope,
        actor: options.actor.clone(),
        search: search.map(|text| text.0),
        event,
        has_events: has_events.map(|flag| flag.0),
        upcoming_since: upcoming.then(|| options.now.as_second()),
    };
    errors.finish(ListRequest { filter, paging, query: repeated })
}
