//! The query of the lists of venues and organizers.

use super::query::{
    ListOptions, ListRequest, default_status, existing_event, paging, repeated, scope, search,
};
use crate::model::list::LinkedFilter;
use crate::wire::args;
use crate::wire::decode::{Decoder, ParameterErrors};
use crate::wire::lookup::Lookup;
use crate::wire::params::Params;

/// Reads the query of the lists of venues and organizers.
pub fn linked(
    params: &Params,
    lookup: &mut dyn Lookup,
    lister: ListOptions<'_>,
) -> Result<ListRequest<LinkedFilter>, ParameterErrors> {
    let mut decoder = Decoder::new(params);
    let d = &mut decoder;
    let paging = paging(d, lister);
    let search = search(d);
    let event = existing_event(d, lookup, "event");
    let has_events = d.flag("has_events");
    let upcoming = d.flag("only_with_upcoming") == Some(true);
    let scope = scope(d, lister.actor);
    let mut query = repeated(params, args::LINKED_LIST, paging);
    query.extend(default_status(params, lister.actor));
    let filter = LinkedFilter {
        scope,
        actor: lister.actor.clone(),
        search,
        event,
        has_events,
        upcoming_since: upcoming.then(|| lister.now.as_second()),
    };
    decoder.finish(ListRequest { filter, paging, query })
}
