//! Event use cases: list, read, create, change and remove.

use database::Db;

use super::changes;
use super::context::RequestContext;
use super::list_permit::{ListPermit, ReadList};
use super::passwords::is_shown;
use super::request::Request;
use super::transactions::{read, write};
use super::{erasure, event_writes, series_creation, series_removal, series_writes};
use crate::error::Error;
use crate::model::event::Event;
use crate::model::included::Included;
use crate::model::role::{self, Action, User};
use crate::model::series::Reach;
use crate::model::slug;
use crate::state::State;
use crate::store::event_index::IndexAccess;
use crate::store::included::EventSelector;
use crate::store::{entities, event_list, events, included, series, terms};
use crate::wire::changes::asks_for_changes;
use crate::wire::envelope::{EventListJson, list_meta};
use crate::wire::event::{self as json, EventJson, Extent};
use crate::wire::event_input::EventInput;
use crate::wire::list_input::EventListInput;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::parameters::{is_forced, reach_of};
use crate::wire::params::Params;

/// Identifies an event in a URL path.
pub enum EventKey {
    Id(i64),
    /// The stored slug.
    Slug(String),
}

impl EventKey {
    /// Parses a slug from a path.
    pub fn of_slug(text: &str) -> EventKey {
        EventKey::Slug(slug::lookup_form(text))
    }

    fn selector(&self) -> EventSelector<'_> {
        match self {
            EventKey::Id(id) => EventSelector::Id(*id),
            EventKey::Slug(slug) => EventSelector::Slug(slug),
        }
    }

    /// Returns the error to report if no event matches. It depends on whether this was a write
    /// request.
    fn missing(&self, db: &mut Db, writing: bool) -> Result<Error, Error> {
        Ok(match self {
            EventKey::Id(id) if entities::kind_of(db, *id)?.is_some() => Error::NotAnEventId,
            EventKey::Id(_) => Error::EventNotFound,
            EventKey::Slug(_) if writing => Error::EventNotFound,
            EventKey::Slug(_) => {
                ParameterErrors::one("slug", "must be the slug of an event").into()
            }
        })
    }

    fn require(&self, db: &mut Db, writing: bool) -> Result<Event, Error> {
        let found = match self {
            EventKey::Id(id) => events::find(db, *id)?,
            EventKey::Slug(slug) => events::find_by_slug(db, slug)?,
        };
        match found {
            Some(event) => Ok(event),
            None => Err(self.missing(db, writing)?),
        }
    }

    /// Reads the event and its included resources.
    fn require_with_included(&self, db: &mut Db) -> Result<(Event, Included), Error> {
        let (mut found, included) = included::of_events(db, self.selector())?;
        match found.pop() {
            Some(event) => Ok((event, included)),
            None => Err(self.missing(db, false)?),
        }
    }
}

fn may_edit(user: &User, event: &Event) -> bool {
    role::may_edit(user, &event.status, event.previous.as_ref(), event.author)
}

fn check_readable(
    context: &RequestContext<'_>,
    params: &Params,
    event: &Event,
) -> Result<(), Error> {
    if event.status.is_trashed() {
        return Err(Error::NoLongerAvailable);
    }
    if !role::may_read(&context.actor, &event.status, event.author) {
        return Err(Error::NotAccessible("event"));
    }
    match is_shown(&context.actor, params, event) {
        true => Ok(()),
        false => Err(Error::PasswordProtected),
    }
}

fn render(context: &mut RequestContext<'_>, event: &Event) -> Result<EventJson, Error> {
    let (_, included) = included::of_events(context.db, EventSelector::Id(event.id))?;
    let included = included.readable_by(&context.actor);
    Ok(json::event(event, &included, context.render(), Extent::Plain))
}

/// Creates an event.
pub async fn create(state: &State, request: Request) -> Result<EventJson, Error> {
    write(state, request, Action::Create, |context, params| {
        let user = context.user()?;
        let input = EventInput::read(params, true);
        let change = context.decode_write(&user, input, |input, known, options| {
            input.decode(known, options, None)
        })?;
        let event = series_creation::create(context, &user, &change)?;
        Ok(render(context, &event)?)
    })
    .await
}

/// Renders an event for a single-event response.
fn single(context: &RequestContext<'_>, event: &Event, included: &Included) -> EventJson {
    json::event(event, included, context.render(), Extent::Single)
}

/// Fails if the request has an `If-Match` header that no longer matches the event.
fn check_unchanged(
    context: &mut RequestContext<'_>,
    params: &Params,
    event: &Event,
) -> Result<(), Error> {
    context.check_unchanged(params, |context| {
        let (_, included) = included::of_events(context.db, EventSelector::Id(event.id))?;
        Ok(single(context, event, &included.readable_by(&context.actor)))
    })
}

/// Reads an event. Also returns when the event, or any venue or organizer it links to, last
/// changed.
pub async fn find(
    state: &State,
    request: Request,
    key: EventKey,
) -> Result<(EventJson, i64), Error> {
    read(state, request, move |context, params| {
        let (event, included) = key.require_with_included(context.db)?;
        check_readable(context, params, &event)?;
        let included = included.readable_by(&context.actor);
        let linked = included.venues.values().chain(included.organizers.values());
        let modified = linked.map(|row| row.modified_utc).fold(event.modified_utc, i64::max);
        Ok((single(context, &event, &included), modified))
    })
    .await
}

/// Changes the given fields of an event.
pub async fn update(state: &State, request: Request, key: EventKey) -> Result<EventJson, Error> {
    write(state, request, Action::Change, move |context, params| {
        let user = context.user()?;
        let old = key.require(context.db, true)?;
        if !may_edit(&user, &old) {
            return Err(Error::Forbidden.into());
        }
        check_unchanged(context, params, &old)?;
        let input = EventInput::read(params, false);
        let change = context.decode_write(&user, input, |input, known, options| {
            input.decode(known, options, Some(&old))
        })?;
        let event = series_writes::update(context, &user, &old, &change)?;
        Ok(render(context, &event)?)
    })
    .await
}

/// Moves an event to the trash, or erases it if the request is forced.
pub async fn remove(state: &State, request: Request, key: EventKey) -> Result<EventJson, Error> {
    let removed = write(state, request, Action::Change, move |context, params| {
        let user = context.user()?;
        let old = key.require(context.db, false)?;
        if !may_edit(&user, &old) {
            return Err(Error::Forbidden.into());
        }
        let is_forced = is_forced(params)?;
        if old.status.is_trashed() && !is_forced {
            return Err(Error::InTrash("event").into());
        }
        check_unchanged(context, params, &old)?;
        let now = context.now.as_second();
        let place = series::of_event(context.db, old.id)?;
        let reach = reach_of(params)?;
        if let Some(place) = place.filter(|_| reach != Reach::This) {
            let json = render(context, &old)?;
            series_removal::remove(context.db, &user, (&place, reach, is_forced), now)?;
            return match events::find(context.db, old.id)? {
                Some(event) => Ok((render(context, &event)?, is_forced)),
                None => Ok((json, true)),
            };
        }
        if is_forced {
            let json = render(context, &old)?;
            erasure::event(context.db, old, now)?;
            return Ok((json, true));
        }
        let event = event_writes::trash(context.db, &old, now)?;
        Ok((render(context, &event)?, false))
    });
    let (json, is_erased) = removed.await.map_err(|error| error.while_deleting("event"))?;
    if is_erased {
        erasure::finish(state).await;
    }
    Ok(json)
}

/// Lists events.
pub async fn list(state: &State, request: Request) -> Result<ReadList<EventListJson>, Error> {
    let permit = ListPermit::acquire(state, &request).await?;
    let index = state.index.clone();
    let page = move |context: &mut RequestContext<'_>, params: &Params, permit: &ListPermit| {
        if asks_for_changes(params) {
            return changes::list(context, params, &index, permit);
        }
        let mut list = context.decode_list(EventListInput::read(params), EventListInput::decode)?;
        if let Some(named) = &mut list.filter.categories {
            *named = terms::with_descendants(context.db, named)?;
        }
        let access = IndexAccess { index: &index, deadline: permit.deadline };
        let room = permit.page_bytes();
        let (rows, included, total) =
            event_list::page_with_included(context.db, access, &list.filter, list.paging, room)?;
        if rows.is_empty() && list.paging.page > 1 {
            return Err(Error::NoSuchPage("event").into());
        }
        let included = included.readable_by(&context.actor);
        let actor = &context.actor;
        let extent = |event: &Event| match is_shown(actor, params, event) {
            true => Extent::Plain,
            false => Extent::Protected,
        };
        let render = context.render();
        // Rows can be long, so drop each row as soon as it has been converted to JSON.
        let event = |row: Event| json::event(&row, &included, render, extent(&row));
        let events = rows.into_iter().map(event).collect();
        let collection = context.urls.collection("events");
        let meta = list_meta(&collection, list.paging, &list.query, total);
        Ok(EventListJson { events, deleted: None, meta })
    };
    permit.list(state, request, page).await
}
