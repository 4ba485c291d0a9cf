//! Tags.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};

use super::input::Input;
use super::item_routes::item_routes;
use super::path::{Id, parse_id};
use super::reply;
use crate::app::terms;
use crate::error::Error;
use crate::model::term::Taxonomy;
use crate::state::State;
use crate::wire::description::{TagCreate, TagUpdate};
use crate::wire::envelope::TagListJson;
use crate::wire::parameters::{ItemParameters, TagListParameters};
use crate::wire::term::TermJson;

/// Lists tags.
#[utoipa::path(
    operation_id = "listTags", tag = "tags", path = "/calendar/events/v1/tags",
    params(TagListParameters), responses((status = 200, body = TagListJson), (status = 400)),
)]
#[get("/calendar/events/v1/tags")]
pub async fn list_tags(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = terms::list_tags(&state, input.request).await?;
    reply::list(&json, &json.meta, input.fields.as_deref())
}

/// Creates a tag.
#[utoipa::path(
    operation_id = "createTag", tag = "tags", path = "/calendar/events/v1/tags",
    request_body = TagCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = TermJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/tags")]
pub async fn create_tag(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = terms::create(&state, input.request, Taxonomy::Tag).await?;
    let location = json.urls.own.clone();
    reply::created(&json, location, input.fields.as_deref())
}

async fn find(
    id: i64,
    input: Input,
    request: &HttpRequest,
    state: &State,
) -> Result<HttpResponse, Error> {
    let json = terms::find(state, input.request, Taxonomy::Tag, id).await?;
    // Terms carry no date of their last change.
    reply::read(&json, None, request, input.fields.as_deref())
}

async fn update(id: i64, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = terms::update(state, input.request, Taxonomy::Tag, id).await?;
    reply::ok(&json, input.fields.as_deref())
}

async fn remove(id: i64, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = terms::delete(state, input.request, Taxonomy::Tag, id).await?;
    reply::ok(&json, input.fields.as_deref())
}

item_routes! {
    tag: "tags", body: TermJson, update: TagUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/tags/{id:[0-9]+}",
    documented: "/calendar/events/v1/tags/{id}",
    key: parse_id, param: Id,
    get: get_tag "getTag", post: post_tag "postTag", put: update_tag "updateTag",
    patch: patch_tag "patchTag", delete: delete_tag "deleteTag",
}
