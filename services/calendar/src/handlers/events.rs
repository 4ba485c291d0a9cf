//! Events.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};
use database::Db;

use super::event_write;
use super::linked_write::moment;
use super::{Id, Slug, item_routes, parse_id};
use crate::error::Error;
use crate::model::bundle::Bundle;
use crate::model::event::Event;
use crate::model::role::{self, Deed, Person};
use crate::model::slug;
use crate::reply;
use crate::request::Input;
use crate::state::{Scene, State};
use crate::store::bundle::{self, Which};
use crate::store::{entities, event_list, events, terms};
use crate::wire::decode::Problems;
use crate::wire::describe::{
    EventCreate, EventDeleteQuery, EventListQuery, EventReadQuery, EventUpdate,
};
use crate::wire::envelope::{EventListJson, frame};
use crate::wire::event::{self as json, EventJson, Extent};
use crate::wire::params::Params;
use crate::wire::{event_input, list_input};

/// How a path names an event.
enum Key {
    Id(i64),
    Slug(String),
}

impl Key {
    fn of_id(digits: String) -> Key {
        Key::Id(parse_id(&digits))
    }

    fn of_slug(text: String) -> Key {
        Key::Slug(slug::sought(&text))
    }

    fn which(&self) -> Which<'_> {
        match self {
            Key::Id(id) => Which::Id(*id),
            Key::Slug(slug) => Which::Slug(slug),
        }
    }

    /// The failure when nothing has this name; writes by slug have one of their own.
    fn missing(&self, db: &mut Db, writing: bool) -> Result<Error, Error> {
        Ok(match self {
            Key::Id(id) if entities::kind_of(db, *id)?.is_some() => Error::NotAnEventId,
            Key::Id(_) => Error::EventNotFound,
            Key::Slug(_) if writing => Error::EventNotFound,
            Key::Slug(_) => Problems::one("slug", "must be the slug of an event").into(),
        })
    }

    fn require(&self, db: &mut Db, writing: bool) -> Result<Event, Error> {
        let found = match self {
            Key::Id(id) => events::find(db, *id)?,
            Key::Slug(slug) => events::find_by_slug(db, slug)?,
        };
        match found {
            Some(event) => Ok(event),
            None => Err(self.missing(db, writing)?),
        }
    }

    /// Reads the event with what it refers to.
    fn require_whole(&self, db: &mut Db) -> Result<(Event, Bundle), Error> {
        let (mut found, bundle) = bundle::of_events(db, self.which())?;
        match found.pop() {
            Some(event) => Ok((event, bundle)),
            None => Err(self.missing(db, false)?),
        }
    }
}

/// Compares without telling by its time how much agrees.
fn same_secret(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    a.len() == b.len() && a.iter().zip(b).fold(0, |differences, (x, y)| differences | (x ^ y)) == 0
}

fn unlocked(event: &Event, params: &Params) -> bool {
    let sent = params.text("password").unwrap_or_default();
    event.password.as_ref().is_none_or(|password| same_secret(password, sent))
}

fn may_edit(person: &Person, event: &Event) -> bool {
    role::may_edit(person, &event.status, event.previous.as_ref(), event.author)
}

fn check_readable(scene: &Scene<'_>, params: &Params, event: &Event) -> Result<(), Error> {
    if event.status.is_trashed() {
        return Err(Error::NoLongerAvailable);
    }
    if !role::may_read(&scene.actor, &event.status, event.author) {
        return Err(Error::NotAccessible("event"));
    }
    let edits = params.text("context") == Some("edit")
        && scene.actor.as_ref().is_some_and(|person| may_edit(person, event));
    if unlocked(event, params) || edits { Ok(()) } else { Err(Error::PasswordProtected) }
}

fn render(scene: &mut Scene<'_>, event: &Event, extent: Extent) -> Result<EventJson, Error> {
    let (_, bundle) = bundle::of_events(scene.db, Which::Id(event.id))?;
    let bundle = bundle.readable_by(&scene.actor);
    Ok(json::event(event, &bundle, scene.view(), extent))
}

/// Creates an event from parameters; also used by the loader.
pub fn create_in(scene: &mut Scene<'_>, params: &Params) -> Result<Event, Error> {
    let person = scene.person()?;
    let change = scene
        .read_write(&person, |facts, writer| event_input::decode(params, facts, writer, None))?;
    let at = moment(scene, &person);
    event_write::create(scene.db, &scene.site.settings.site_timezone, &change, at)
}

async fn read(
    key: Key,
    input: Input,
    request: &HttpRequest,
    state: &State,
) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let (json, modified) = state
        .read(input, move |scene, params| {
            let (event, bundle) = key.require_whole(scene.db)?;
            check_readable(scene, &params, &event)?;
            let bundle = bundle.readable_by(&scene.actor);
            let linked = bundle.venues.values().chain(bundle.organizers.values());
            let modified = linked.map(|row| row.modified_utc).fold(event.modified_utc, i64::max);
            Ok((json::event(&event, &bundle, scene.view(), Extent::Single), modified))
        })
        .await?;
    reply::read(&json, Some(modified), request, fields.as_deref())
}

async fn update(key: Key, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(Deed::Change), move |scene, params| {
            let person = scene.person()?;
            let old = key.require(scene.db, true)?;
            if !may_edit(&person, &old) {
                return Err(Error::Forbidden);
            }
            let change = scene.read_write(&person, |facts, writer| {
                event_input::decode(&params, facts, writer, Some(&old))
            })?;
            let at = moment(scene, &person);
            let event = event_write::update(scene.db, &old, &change, at)?;
            render(scene, &event, Extent::Plain)
        })
        .await?;
    reply::ok(&json, fields.as_deref())
}

async fn remove(key: Key, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(Deed::Change), move |scene, _| {
            let person = scene.person()?;
            let old = key.require(scene.db, false)?;
            if !may_edit(&person, &old) {
                return Err(Error::Forbidden);
            }
            if old.status.is_trashed() {
                return Err(Error::InTrash("event"));
            }
            let event = event_write::trash(scene.db, &old, scene.now.as_second())?;
            render(scene, &event, Extent::Plain)
        })
        .await
        .map_err(|error| error.deleting("event"))?;
    reply::ok(&json, fields.as_deref())
}

/// Lists events.
///
/// Without dates the window runs from yesterday for two years and holds the events that lie inside.
#[utoipa::path(
    operation_id = "listEvents", tag = "events", path = "/calendar/events/v1/events",
    params(EventListQuery), responses((status = 200, body = EventListJson), (status = 400), (status = 404)),
)]
#[get("/calendar/events/v1/events")]
pub async fn list_events(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .read(input, |scene, params| {
            let mut list =
                scene.read_list(|facts, lister| list_input::events(&params, facts, lister))?;
            if let Some(named) = &mut list.filter.categories {
                *named = terms::with_descendants(scene.db, named)?;
            }
            let (rows, bundle, total) = event_list::whole(scene.db, &list.filter, list.paging)?;
            if rows.is_empty() && list.paging.page > 1 {
                return Err(Error::NoSuchPage("event"));
            }
            let bundle = bundle.readable_by(&scene.actor);
            let extent = |event: &Event| {
                if unlocked(event, &params) { Extent::Plain } else { Extent::Protected }
            };
            let view = scene.view();
            let events =
                rows.iter().map(|row| json::event(row, &bundle, view, extent(row))).collect();
            let collection = scene.addresses.collection("events");
            let frame = frame(&collection, list.paging, &list.query, total);
            Ok(EventListJson { events, frame })
        })
        .await?;
    reply::list(&json, &json.frame, fields.as_deref())
}

/// Creates an event.
#[utoipa::path(
    operation_id = "createEvent", tag = "events", path = "/calendar/events/v1/events",
    request_body = EventCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = EventJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/events")]
pub async fn create_event(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(Deed::Create), |scene, params| {
            let event = create_in(scene, &params)?;
            render(scene, &event, Extent::Plain)
        })
        .await?;
    reply::created(&json, json.rest_url.clone(), fields.as_deref())
}

item_routes! {
    tag: "events", body: EventJson, update: EventUpdate,
    read: EventReadQuery, remove: EventDeleteQuery,
    route: "/calendar/events/v1/events/{id:[0-9]+}",
    documented: "/calendar/events/v1/events/{id}",
    key: Key::of_id, param: Id, scope: [],
    get: get_event "getEvent", post: post_event "postEvent", put: update_event "updateEvent",
    patch: patch_event "patchEvent", delete: delete_event "deleteEvent",
}

item_routes! {
    tag: "events", body: EventJson, update: EventUpdate,
    read: EventReadQuery, remove: EventDeleteQuery,
    route: "/calendar/events/v1/events/by-slug/{slug}",
    documented: "/calendar/events/v1/events/by-slug/{slug}",
    key: Key::of_slug, param: Slug, scope: [],
    get: get_event_by_slug "getEventBySlug", post: post_event_by_slug "postEventBySlug",
    put: update_event_by_slug "updateEventBySlug",
    patch: patch_event_by_slug "patchEventBySlug",
    delete: delete_event_by_slug "deleteEventBySlug",
}
