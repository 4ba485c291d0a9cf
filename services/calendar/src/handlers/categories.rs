//! Categories.

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
use crate::wire::description::{CategoryCreate, CategoryUpdate};
use crate::wire::envelope::CategoryListJson;
use crate::wire::parameters::{CategoryListParameters, ItemParameters};
use crate::wire::term::TermJson;

/// Lists categories.
#[utoipa::path(
    operation_id = "listCategories", tag = "categories", path = "/calendar/events/v1/categories",
    params(CategoryListParameters), responses((status = 200, body = CategoryListJson), (status = 400)),
)]
#[get("/calendar/events/v1/categories")]
pub async fn list_categories(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = terms::list_categories(&state, input.request).await?;
    reply::list(&json, &json.meta, input.fields.as_deref())
}

/// Creates a category.
#[utoipa::path(
    operation_id = "createCategory", tag = "categories", path = "/calendar/events/v1/categories",
    request_body = CategoryCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = TermJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/categories")]
pub async fn create_category(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let json = terms::create(&state, input.request, Taxonomy::Category).await?;
    let location = json.urls.own.clone();
    reply::created(&json, location, input.fields.as_deref())
}

async fn find(
    id: i64,
    input: Input,
    request: &HttpRequest,
    state: &State,
) -> Result<HttpResponse, Error> {
    let json = terms::find(state, input.request, Taxonomy::Category, id).await?;
    // Terms carry no date of their last change.
    reply::read(&json, None, request, input.fields.as_deref())
}

async fn update(id: i64, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = terms::update(state, input.request, Taxonomy::Category, id).await?;
    reply::ok(&json, input.fields.as_deref())
}

async fn remove(id: i64, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let json = terms::delete(state, input.request, Taxonomy::Category, id).await?;
    reply::ok(&json, input.fields.as_deref())
}

item_routes! {
    tag: "categories", body: TermJson, update: CategoryUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/categories/{id:[0-9]+}",
    documented: "/calendar/events/v1/categories/{id}",
    key: parse_id, param: Id,
    get: get_category "getCategory", post: post_category "postCategory",
    put: update_category "updateCategory", patch: patch_category "patchCategory",
    delete: delete_category "deleteCategory",
}
