//! Tags.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};

use super::input::Input;
use super::item_routes::{item_routes, list_routes};
use super::path::{Id, parse_id};
use super::reply;
use super::reuse::{Lasting, Reuse};
use super::terms::Terms;
use crate::app::{ReadList, terms};
use crate::error::Error;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::wire::description::{TagCreate, TagUpdate};
use crate::wire::envelope::TagListJson;
use crate::wire::parameters::{ItemParameters, TagListParameters};
use crate::wire::term::TermJson;

list_routes! {
    items: Terms(Taxonomy::Tag), tag: "tags", path: "/calendar/events/v1/tags",
    /// List tags
    list: list_tags "listTags", page: TagListJson, params: TagListParameters, errors: [400],
    use_case: terms::list_tags, lasting: Lasting::of_terms,
    /// Create a tag
    create: create_tag "createTag", body: TermJson, fields: TagCreate,
}

item_routes! {
    items: Terms(Taxonomy::Tag), tag: "tags", noun: "a tag",
    body: TermJson, update: TagUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/tags/{id:[0-9]+}",
    documented: "/calendar/events/v1/tags/{id}",
    key: parse_id, param: Id,
    get: get_tag "getTag", post: post_tag "postTag", put: update_tag "updateTag",
    patch: patch_tag "patchTag", delete: delete_tag "deleteTag",
}
