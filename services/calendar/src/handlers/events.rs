//! Events.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};

use super::input::Input;
use super::item_routes::item_routes;
use super::path::{Id, Slug, parse_id};
use super::reply;
use crate::app::events::{self, EventKey};
use crate::error::Error;
use crate::state::State;
use crate::wire::description::{EventCreate, EventUpdate};
use crate::wire::envelope::EventListJson;
use crate::wire::event::EventJson;
use crate::wire::parameters::{EventDeleteParameters, EventListParameters, EventReadParameters};

/// Lists events.
///
/// Without dates the window runs from yesterday for two years and holds the events that lie inside.
#[utoipa::path(
    operation_id = "listEvents", tag = "events", path = "/calendar/events/v1/events",
    params(EventListParameters), responses((status = 200, body = EventListJson), (status = 400), (status = 404)),
)]
#[get("/calendar/events/v1/events")]
pub async fn list_events(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = events::list(&state, input.request).await?;
    reply::list(&json, &json.meta, input.fields.as_deref())
}

/// Creates an event.
#[utoipa::path(
    operation_id = "createEvent", tag = "events", path = "/calendar/events/v1/events",
    request_body = EventCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = EventJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/events")]
pub async fn create_event(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = events::create(&state, input.request).await?;
    let location = json.rest_url.clone();
    reply::created(&json, location, input.fields.as_deref())
}

fn id(digits: &str) -> EventKey {
    EventKey::Id(parse_id(digits))
}

fn slug(text: &str) -> EventKey {
    EventKey::of_slug(text)
}

async fn find(
    key: EventKey,
    input: Input,
    request: &HttpRequest,
    state: &State,
) -> Result<HttpResponse, Error> {
    let (json, modified) = events::find(state, input.request, key).await?;
    reply::read(&json, Some(modified), request, input.fields.as_deref())
}

async fn update(key: EventKey, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = events::update(state, input.request, key).await?;
    reply::ok(&json, input.fields.as_deref())
}

async fn remove(key: EventKey, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = events::trash(state, input.request, key).await?;
    reply::ok(&json, input.fields.as_deref())
}

item_routes! {
    tag: "events", body: EventJson, update: EventUpdate,
    read: EventReadParameters, remove: EventDeleteParameters,
    route: "/calendar/events/v1/events/{id:[0-9]+}",
    documented: "/calendar/events/v1/events/{id}",
    key: id, param: Id,
    get: get_event "getEvent", post: post_event "postEvent", put: update_event "updateEvent",
    patch: patch_event "patchEvent", delete: delete_event "deleteEvent",
}

item_routes! {
    tag: "events", body: EventJson, update: EventUpdate,
    read: EventReadParameters, remove: EventDeleteParameters,
    route: "/calendar/events/v1/events/by-slug/{slug}",
    documented: "/calendar/events/v1/events/by-slug/{slug}",
    key: slug, param: Slug,
    get: get_event_by_slug "getEventBySlug", post: post_event_by_slug "postEventBySlug",
    put: update_event_by_slug "updateEventBySlug",
    patch: patch_event_by_slug "patchEventBySlug",
    delete: delete_event_by_slug "deleteEventBySlug",
}
