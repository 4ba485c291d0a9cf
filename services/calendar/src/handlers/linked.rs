//! Venues and organizers.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};
use database::Db;
use serde::Serialize;

use super::linked_write::{self, may_edit, moment};
use super::{Id, Slug, item_routes, parse_id};
use crate::error::Error;
use crate::model::bundle::Bundle;
use crate::model::linked::{Kind, Linked};
use crate::model::list::LinkedFilter;
use crate::model::role::{self, Deed};
use crate::model::slug;
use crate::reply;
use crate::request::Input;
use crate::state::{Scene, State};
use crate::store::{bundle, linked};
use crate::wire::decode::Problems;
use crate::wire::describe::{
    ItemQuery, LinkedListQuery, OrganizerCreate, OrganizerUpdate, VenueCreate, VenueUpdate,
};
use crate::wire::envelope::{OrganizerListJson, VenueListJson, frame};
use crate::wire::linked::{self as json, OrganizerJson, VenueJson};
use crate::wire::linked_input;
use crate::wire::list_input::{self, ListRequest};
use crate::wire::params::Params;

/// How a path names a row.
enum Key {
    Id(i64),
    Slug(String),
}

impl Key {
    fn of_id(digits: String) -> Key {
        Key::Id(parse_id(&digits))
    }

    fn require(&self, db: &mut Db, kind: Kind) -> Result<Linked, Error> {
        let (found, name) = match self {
            Key::Id(id) => (linked::find(db, kind, *id)?, "id"),
            Key::Slug(text) => (linked::find_by_slug(db, kind, &slug::sought(text))?, "slug"),
        };
        found.ok_or_else(|| Problems::one(name, &format!("must name a {}", kind.word())).into())
    }
}

/// Either kind of answer.
#[derive(Serialize)]
#[serde(untagged)]
enum Json {
    Venue(Box<VenueJson>),
    Organizer(Box<OrganizerJson>),
}

fn render(scene: &mut Scene<'_>, row: &Linked, single: bool) -> Result<Json, Error> {
    let bundle = bundle::of_linked(scene.db, std::slice::from_ref(row))?;
    let view = scene.view();
    Ok(match row.kind {
        Kind::Venue => Json::Venue(Box::new(json::venue(row, &bundle, view, single))),
        Kind::Organizer => Json::Organizer(Box::new(json::organizer(row, &bundle, view, single))),
    })
}

/// Creates a row from parameters; also used by the loader.
pub fn create_in(scene: &mut Scene<'_>, kind: Kind, params: &Params) -> Result<Linked, Error> {
    let person = scene.person()?;
    let change = scene.read_write(&person, |facts, writer| {
        linked_input::decode(params, facts, kind, writer, true)
    })?;
    let at = moment(scene, &person);
    linked_write::create(scene.db, kind, &change, at)
}

async fn create(kind: Kind, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let (json, location) = state
        .write(input.to(Deed::Create), move |scene, params| {
            let row = create_in(scene, kind, &params)?;
            let location = scene.addresses.item(kind.collection(), row.id);
            Ok((render(scene, &row, false)?, location))
        })
        .await?;
    reply::created(&json, location, fields.as_deref())
}

async fn read(
    kind: Kind,
    key: Key,
    input: Input,
    request: &HttpRequest,
    state: &State,
) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let (json, modified) = state
        .read(input, move |scene, _| {
            let row = key.require(scene.db, kind)?;
            if !role::may_read(&scene.actor, &row.status, row.author) {
                return Err(Error::NotAccessible(kind.word()));
            }
            Ok((render(scene, &row, true)?, row.modified_utc))
        })
        .await?;
    reply::read(&json, Some(modified), request, fields.as_deref())
}

async fn update(kind: Kind, key: Key, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(Deed::Change), move |scene, params| {
            let person = scene.person()?;
            let row = key.require(scene.db, kind)?;
            if !may_edit(&person, &row) {
                return Err(Error::Forbidden);
            }
            let change = scene.read_write(&person, |facts, writer| {
                linked_input::decode(&params, facts, kind, writer, false)
            })?;
            let at = moment(scene, &person);
            let row = linked_write::update(scene.db, row, &change, at)?;
            render(scene, &row, false)
        })
        .await?;
    reply::ok(&json, fields.as_deref())
}

async fn remove(kind: Kind, key: Key, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(Deed::Change), move |scene, _| {
            let person = scene.person()?;
            let row = key.require(scene.db, kind)?;
            if !may_edit(&person, &row) {
                return Err(Error::Forbidden);
            }
            if row.status.is_trashed() {
                return Err(Error::InTrash(kind.word()));
            }
            let row = linked_write::trash(scene.db, row, scene.now.as_second())?;
            render(scene, &row, false)
        })
        .await
        .map_err(|error| error.deleting(kind.word()))?;
    reply::ok(&json, fields.as_deref())
}

type Page = (Vec<Linked>, i64, Bundle, ListRequest<LinkedFilter>);

fn page(scene: &mut Scene<'_>, kind: Kind, params: &Params) -> Result<Page, Error> {
    let list = scene.read_list(|facts, lister| list_input::linked_rows(params, facts, lister))?;
    let (rows, total) = linked::page(scene.db, kind, &list.filter, list.paging)?;
    if rows.is_empty() && list.paging.page > 1 {
        return Err(Error::NoSuchPage(kind.word()));
    }
    let bundle = bundle::of_linked(scene.db, &rows)?;
    Ok((rows, total, bundle, list))
}

/// Lists venues, newest first.
#[utoipa::path(
    operation_id = "listVenues", tag = "venues", path = "/calendar/events/v1/venues",
    params(LinkedListQuery), responses((status = 200, body = VenueListJson), (status = 400), (status = 404)),
)]
#[get("/calendar/events/v1/venues")]
pub async fn list_venues(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .read(input, |scene, params| {
            let (rows, total, bundle, list) = page(scene, Kind::Venue, &params)?;
            let view = scene.view();
            let venues = rows.iter().map(|row| json::venue(row, &bundle, view, false)).collect();
            let collection = scene.addresses.collection("venues");
            Ok(VenueListJson { venues, frame: frame(&collection, list.paging, &list.query, total) })
        })
        .await?;
    reply::list(&json, &json.frame, fields.as_deref())
}

/// Creates a venue, or returns the one that has the same name.
#[utoipa::path(
    operation_id = "createVenue", tag = "venues", path = "/calendar/events/v1/venues",
    request_body = VenueCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = VenueJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/venues")]
pub async fn create_venue(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    create(Kind::Venue, input, &state).await
}

item_routes! {
    tag: "venues", body: VenueJson, update: VenueUpdate,
    read: ItemQuery, remove: ItemQuery,
    route: "/calendar/events/v1/venues/{id:[0-9]+}",
    documented: "/calendar/events/v1/venues/{id}",
    key: Key::of_id, param: Id, scope: [Kind::Venue],
    get: get_venue "getVenue", post: post_venue "postVenue", put: update_venue "updateVenue",
    patch: patch_venue "patchVenue", delete: delete_venue "deleteVenue",
}

item_routes! {
    tag: "venues", body: VenueJson, update: VenueUpdate,
    read: ItemQuery, remove: ItemQuery,
    route: "/calendar/events/v1/venues/by-slug/{slug}",
    documented: "/calendar/events/v1/venues/by-slug/{slug}",
    key: Key::Slug, param: Slug, scope: [Kind::Venue],
    get: get_venue_by_slug "getVenueBySlug", post: post_venue_by_slug "postVenueBySlug",
    put: update_venue_by_slug "updateVenueBySlug",
    patch: patch_venue_by_slug "patchVenueBySlug",
    delete: delete_venue_by_slug "deleteVenueBySlug",
}

/// Lists organizers, newest first.
#[utoipa::path(
    operation_id = "listOrganizers", tag = "organizers", path = "/calendar/events/v1/organizers",
    params(LinkedListQuery), responses((status = 200, body = OrganizerListJson), (status = 400), (status = 404)),
)]
#[get("/calendar/events/v1/organizers")]
pub async fn list_organizers(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .read(input, |scene, params| {
            let (rows, total, bundle, list) = page(scene, Kind::Organizer, &params)?;
            let view = scene.view();
            let organizers =
                rows.iter().map(|row| json::organizer(row, &bundle, view, false)).collect();
            let collection = scene.addresses.collection("organizers");
            let frame = frame(&collection, list.paging, &list.query, total);
            Ok(OrganizerListJson { organizers, frame })
        })
        .await?;
    reply::list(&json, &json.frame, fields.as_deref())
}

/// Creates an organizer, or returns the one that has the same name.
#[utoipa::path(
    operation_id = "createOrganizer", tag = "organizers", path = "/calendar/events/v1/organizers",
    request_body = OrganizerCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = OrganizerJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/organizers")]
pub async fn create_organizer(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    create(Kind::Organizer, input, &state).await
}

item_routes! {
    tag: "organizers", body: OrganizerJson, update: OrganizerUpdate,
    read: ItemQuery, remove: ItemQuery,
    route: "/calendar/events/v1/organizers/{id:[0-9]+}",
    documented: "/calendar/events/v1/organizers/{id}",
    key: Key::of_id, param: Id, scope: [Kind::Organizer],
    get: get_organizer "getOrganizer", post: post_organizer "postOrganizer",
    put: update_organizer "updateOrganizer", patch: patch_organizer "patchOrganizer",
    delete: delete_organizer "deleteOrganizer",
}

item_routes! {
    tag: "organizers", body: OrganizerJson, update: OrganizerUpdate,
    read: ItemQuery, remove: ItemQuery,
    route: "/calendar/events/v1/organizers/by-slug/{slug}",
    documented: "/calendar/events/v1/organizers/by-slug/{slug}",
    key: Key::Slug, param: Slug, scope: [Kind::Organizer],
    get: get_organizer_by_slug "getOrganizerBySlug",
    post: post_organizer_by_slug "postOrganizerBySlug",
    put: update_organizer_by_slug "updateOrganizerBySlug",
    patch: patch_organizer_by_slug "patchOrganizerBySlug",
    delete: delete_organizer_by_slug "deleteOrganizerBySlug",
}
