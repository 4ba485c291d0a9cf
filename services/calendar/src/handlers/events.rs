//! Events.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};

use super::input::Input;
use super::item_routes::{item_routes, list_routes};
use super::path::{Id, Slug, parse_id};
use super::reply;
use super::reuse::{Lasting, Reuse};
use crate::app::ReadList;
use crate::app::events::{self, EventKey};
use crate::error::Error;
use crate::state::State;
use crate::wire::description::{EventCreate, EventUpdate};
use crate::wire::envelope::EventListJson;
use crate::wire::event::EventJson;
use crate::wire::parameters::{EventDeleteParameters, EventListParameters, EventReadParameters};

fn id(digits: &str) -> EventKey {
    EventKey::Id(parse_id(digits))
}

fn slug(text: &str) -> EventKey {
    EventKey::of_slug(text)
}

struct EventItems;

impl EventItems {
    async fn create(self, input: Input, state: &State) -> Result<HttpResponse, Error> {
        let json = events::create(state, input.request).await?;
        let location = json.rest_url.clone();
        reply::created(&json, location, input.fields.as_deref())
    }

    async fn find(
        self,
        key: EventKey,
        input: Input,
        request: &HttpRequest,
        state: &State,
    ) -> Result<HttpResponse, Error> {
        let (json, modified) = events::find(state, input.request, key).await?;
        reply::read(&json, Some(modified), request, input.fields.as_deref())
    }

    async fn update(
        self,
        key: EventKey,
        input: Input,
        state: &State,
    ) -> Result<HttpResponse, Error> {
        let json = events::update(state, input.request, key).await?;
        reply::ok(&json, input.fields.as_deref())
    }

    async fn remove(
        self,
        key: EventKey,
        input: Input,
        state: &State,
    ) -> Result<HttpResponse, Error> {
        let json = events::remove(state, input.request, key).await?;
        reply::ok(&json, input.fields.as_deref())
    }
}

list_routes! {
    items: EventItems, tag: "events", path: "/calendar/events/v1/events",
    /// List events
    ///
    /// By default, returns the events from yesterday at 00:00 until two years from now.
    list: list_events "listEvents", page: EventListJson, params: EventListParameters, errors: [400, 404, 503],
    use_case: events::list, lasting: Lasting::of_events,
    /// Create an event
    create: create_event "createEvent", body: EventJson, fields: EventCreate,
}

item_routes! {
    items: EventItems, tag: "events", noun: "an event",
    body: EventJson, update: EventUpdate,
    read: EventReadParameters, remove: EventDeleteParameters,
    route: "/calendar/events/v1/events/{id:[0-9]+}",
    documented: "/calendar/events/v1/events/{id}",
    key: id, param: Id,
    get: get_event "getEvent", post: post_event "postEvent", put: update_event "updateEvent",
    patch: patch_event "patchEvent", delete: delete_event "deleteEvent",
}

item_routes! {
    items: EventItems, tag: "events", noun: "an event",
    body: EventJson, update: EventUpdate,
    read: EventReadParameters, remove: EventDeleteParameters,
    route: "/calendar/events/v1/events/by-slug/{slug}",
    documented: "/calendar/events/v1/events/by-slug/{slug}",
    key: slug, param: Slug,
    get: get_event_by_slug "getEventBySlug", post: post_event_by_slug "postEventBySlug",
    put: update_event_by_slug "updateEventBySlug",
    patch: patch_event_by_slug "patchEventBySlug",
    delete: delete_event_by_slug "deleteEventBySlug",
}
