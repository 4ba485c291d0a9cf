//! Venues.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};

use super::input::Input;
use super::item_routes::{item_routes, list_routes};
use super::linked::{Items, id, slug};
use super::path::{Id, Slug};
use super::reply;
use super::reuse::{Lasting, Reuse};
use crate::app::{ReadList, linked};
use crate::error::Error;
use crate::model::linked::Kind;
use crate::state::State;
use crate::wire::description::{VenueCreate, VenueUpdate};
use crate::wire::envelope::VenueListJson;
use crate::wire::linked::VenueJson;
use crate::wire::parameters::{ItemParameters, LinkedDeleteParameters, LinkedListParameters};

list_routes! {
    items: Items(Kind::Venue), tag: "venues", path: "/calendar/events/v1/venues",
    /// List venues
    ///
    /// Newest venues come first.
    list: list_venues "listVenues", page: VenueListJson, params: LinkedListParameters, errors: [400, 404, 503],
    use_case: linked::list_venues, lasting: Lasting::of_linked,
    /// Create a venue
    ///
    /// If a venue with the same name already exists, that venue is returned instead of a new one.
    create: create_venue "createVenue", body: VenueJson, fields: VenueCreate,
}

item_routes! {
    items: Items(Kind::Venue), tag: "venues", noun: "a venue",
    body: VenueJson, update: VenueUpdate,
    read: ItemParameters, remove: LinkedDeleteParameters,
    route: "/calendar/events/v1/venues/{id:[0-9]+}",
    documented: "/calendar/events/v1/venues/{id}",
    key: id, param: Id,
    get: get_venue "getVenue", post: post_venue "postVenue", put: update_venue "updateVenue",
    patch: patch_venue "patchVenue", delete: delete_venue "deleteVenue",
}

item_routes! {
    items: Items(Kind::Venue), tag: "venues", noun: "a venue",
    body: VenueJson, update: VenueUpdate,
    read: ItemParameters, remove: LinkedDeleteParameters,
    route: "/calendar/events/v1/venues/by-slug/{slug}",
    documented: "/calendar/events/v1/venues/by-slug/{slug}",
    key: slug, param: Slug,
    get: get_venue_by_slug "getVenueBySlug", post: post_venue_by_slug "postVenueBySlug",
    put: update_venue_by_slug "updateVenueBySlug",
    patch: patch_venue_by_slug "patchVenueBySlug",
    delete: delete_venue_by_slug "deleteVenueBySlug",
}
