//! Organizers.

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
use crate::wire::description::{OrganizerCreate, OrganizerUpdate};
use crate::wire::envelope::OrganizerListJson;
use crate::wire::linked::OrganizerJson;
use crate::wire::parameters::{ItemParameters, LinkedListParameters};

/// Lists organizers, newest first.
#[utoipa::path(
    operation_id = "listOrganizers", tag = "organizers", path = "/calendar/events/v1/organizers",
    params(LinkedListParameters), responses((status = 200, body = OrganizerListJson), (status = 400), (status = 404)),
)]
#[get("/calendar/events/v1/organizers")]
pub async fn list_organizers(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = linked::list_organizers(&state, input.request).await?;
    reply::list(&json, &json.meta, input.fields.as_deref())
}

/// Creates an organizer, or returns the one that has the same name.
#[utoipa::path(
    operation_id = "createOrganizer", tag = "organizers", path = "/calendar/events/v1/organizers",
    request_body = OrganizerCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = OrganizerJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/organizers")]
pub async fn create_organizer(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let (json, location) = linked::create(&state, input.request, Kind::Organizer).await?;
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
    let (json, modified) = linked::find(state, input.request, Kind::Organizer, key).await?;
    reply::read(&json, Some(modified), request, input.fields.as_deref())
}

async fn update(key: LinkedKey, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = linked::update(state, input.request, Kind::Organizer, key).await?;
    reply::ok(&json, input.fields.as_deref())
}

async fn remove(key: LinkedKey, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = linked::trash(state, input.request, Kind::Organizer, key).await?;
    reply::ok(&json, input.fields.as_deref())
}

item_routes! {
    tag: "organizers", body: OrganizerJson, update: OrganizerUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/organizers/{id:[0-9]+}",
    documented: "/calendar/events/v1/organizers/{id}",
    key: id, param: Id,
    get: get_organizer "getOrganizer", post: post_organizer "postOrganizer",
    put: update_organizer "updateOrganizer", patch: patch_organizer "patchOrganizer",
    delete: delete_organizer "deleteOrganizer",
}

item_routes! {
    tag: "organizers", body: OrganizerJson, update: OrganizerUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/organizers/by-slug/{slug}",
    documented: "/calendar/events/v1/organizers/by-slug/{slug}",
    key: slug, param: Slug,
    get: get_organizer_by_slug "getOrganizerBySlug",
    post: post_organizer_by_slug "postOrganizerBySlug",
    put: update_organizer_by_slug "updateOrganizerBySlug",
    patch: patch_organizer_by_slug "patchOrganizerBySlug",
    delete: delete_organizer_by_slug "deleteOrganizerBySlug",
}
