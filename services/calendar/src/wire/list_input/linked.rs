//! Decodes venue and organizer list queries.

use super::query::{self, ListOptions, ListRequest};
use crate::model::list::LinkedFilter;
use crate::model::urls::Urls;
use crate::wire::names::{Input, Known, Names};
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::parameters::LinkedListParameters;
use crate::wire::params::Params;
use crate::wire::reading::{Errors, read_parameters};

/// A venue or organizer list query.
pub struct LinkedListInput<'a> {
    params: &'a Params,
    given: LinkedListParameters,
    errors: Errors,
}

impl Input for LinkedListInput<'_> {
    fn names(&self, _: &Urls) -> Names {
        Names { events: self.given.event.iter().map(|id| id.0).collect(), ..Names::default() }
    }
}

impl<'a> LinkedListInput<'a> {
    pub fn read(params: &'a Params) -> LinkedListInput<'a> {
        let (given, errors) = read_parameters(params);
        LinkedListInput { params, given, errors }
    }

    /// Decodes the query.
    ///
    /// # Errors
    /// Returns all invalid parameters.
    pub fn decode(
        self,
        known: &Known,
        options: ListOptions<'_>,
    ) -> Result<ListRequest<LinkedFilter>, ParameterErrors> {
        decode(self, known, options)
    }
}

fn decode(
    input: LinkedListInput<'_>,
    known: &Known,
    options: ListOptions<'_>,
) -> Result<ListRequest<LinkedFilter>, ParameterErrors> {
    let LinkedListInput { params, given, mut errors } = input;
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
    let event = query::existing_event(&mut errors, known, "event", event);
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
