//! Venues.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};

use super::input::Input;
use super::item_routes::item_routes;
use super::path::{Id, Slug, parse_id};
use super::reply;
use crate::app::linked::{self, LinkedKey};
use crate::error::Error;
use crate::model::linked::Kind;
use crate::state::State;
use crate::wire::description::{VenueCreate, VenueUpdate};
use crate::wire::envelope::VenueListJson;
use crate::wire::linked::VenueJson;
use crate::wire::parameters::{ItemParameters, LinkedListParameters};

/// Lists venues, newest first.
#[utoipa::path(
    operation_id = "listVenues", tag = "venues", path = "/calendar/events/v1/venues",
    params(LinkedListParameters), responses((status = 200, body = VenueListJson), (status = 400), (status = 404)),
)]
#[get("/calendar/events/v1/venues")]
pub async fn list_venues(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = linked::list_venues(&state, input.request).await?;
    reply::list(&json, &json.meta, input.fields.as_deref())
}

/// Creates a venue, or returns the one that has the same name.
#[utoipa::path(
    operation_id = "createVenue", tag = "venues", path = "/calendar/events/v1/venues",
    request_body = VenueCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = VenueJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/venues")]
pub async fn create_venue(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let (json, location) = linked::create(&state, input.request, Kind::Venue).await?;
    reply::created(&json, location, input.fields.as_deref())
}

fn id(digits: &str) -> LinkedKey {
    LinkedKey::Id(parse_id(digits))
}

fn slug(text: &str) -> LinkedKey {
    LinkedKey::of_slug(text)
}

async fn find(
    key: LinkedKey,
    input: Input,
    request: &HttpRequest,
    state: &State,
) -> Result<HttpResponse, Error> {
    let (json, modified) = linked::find(state, input.request, Kind::Venue, key).await?;
    reply::read(&json, Some(modified), request, input.fields.as_deref())
}

async fn update(key: LinkedKey, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = linked::update(state, input.request, Kind::Venue, key).await?;
    reply::ok(&json, input.fields.as_deref())
}

async fn remove(key: LinkedKey, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = linked::trash(state, input.request, Kind::Venue, key).await?;
    reply::ok(&json, input.fields.as_deref())
}

item_routes! {
    tag: "venues", body: VenueJson, update: VenueUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/venues/{id:[0-9]+}",
    documented: "/calendar/events/v1/venues/{id}",
    key: id, param: Id,
    get: get_venue "getVenue", post: post_venue "postVenue", put: update_venue "updateVenue",
    patch: patch_venue "patchVenue", delete: delete_venue "deleteVenue",
}

item_routes! {
    tag: "venues", body: VenueJson, update: VenueUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/venues/by-slug/{slug}",
    documented: "/calendar/events/v1/venues/by-slug/{slug}",
    key: slug, param: Slug,
    get: get_venue_by_slug "getVenueBySlug", post: post_venue_by_slug "postVenueBySlug",
    put: update_venue_by_slug "updateVenueBySlug",
    patch: patch_venue_by_slug "patchVenueBySlug",
    delete: delete_venue_by_slug "deleteVenueBySlug",
}
