//! Organizers.

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
use crate::wire::description::{OrganizerCreate, OrganizerUpdate};
use crate::wire::envelope::OrganizerListJson;
use crate::wire::linked::OrganizerJson;
use crate::wire::parameters::{ItemParameters, LinkedDeleteParameters, LinkedListParameters};

list_routes! {
    items: Items(Kind::Organizer), tag: "organizers", path: "/calendar/events/v1/organizers",
    /// List organizers
    ///
    /// Newest organizers come first.
    list: list_organizers "listOrganizers", page: OrganizerListJson, params: LinkedListParameters, errors: [400, 404, 503],
    use_case: linked::list_organizers, lasting: Lasting::of_linked,
    /// Create an organizer
    ///
    /// If an organizer with the same name already exists, that organizer is returned instead of a
    /// new one.
    create: create_organizer "createOrganizer", body: OrganizerJson, fields: OrganizerCreate,
}

item_routes! {
    items: Items(Kind::Organizer), tag: "organizers", noun: "an organizer",
    body: OrganizerJson, update: OrganizerUpdate,
    read: ItemParameters, remove: LinkedDeleteParameters,
    route: "/calendar/events/v1/organizers/{id:[0-9]+}",
    documented: "/calendar/events/v1/organizers/{id}",
    key: id, param: Id,
    get: get_organizer "getOrganizer", post: post_organizer "postOrganizer",
    put: update_organizer "updateOrganizer", patch: patch_organizer "patchOrganizer",
    delete: delete_organizer "deleteOrganizer",
}

item_routes! {
    items: Items(Kind::Organizer), tag: "organizers", noun: "an organizer",
    body: OrganizerJson, update: OrganizerUpdate,
    read: ItemParameters, remove: LinkedDeleteParameters,
    route: "/calendar/events/v1/organizers/by-slug/{slug}",
    documented: "/calendar/events/v1/organizers/by-slug/{slug}",
    key: slug, param: Slug,
    get: get_organizer_by_slug "getOrganizerBySlug",
    post: post_organizer_by_slug "postOrganizerBySlug",
    put: update_organizer_by_slug "updateOrganizerBySlug",
    patch: patch_organizer_by_slug "patchOrganizerBySlug",
    delete: delete_organizer_by_slug "deleteOrganizerBySlug",
}
