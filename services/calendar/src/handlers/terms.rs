//! Categories and tags.

use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, delete, get, patch, post, put};
use database::Db;

use super::term_write;
use super::{Id, item_routes, parse_id};
use crate::error::Error;
use crate::model::list::TermFilter;
use crate::model::role::Deed;
use crate::model::term::{Taxonomy, Term};
use crate::reply;
use crate::request::Input;
use crate::state::{Scene, State};
use crate::store::{bundle, terms};
use crate::wire::decode::Problems;
use crate::wire::describe::{
    CategoryCreate, CategoryListQuery, CategoryUpdate, ItemQuery, TagCreate, TagListQuery,
    TagUpdate,
};
use crate::wire::envelope::{CategoryListJson, TagListJson, frame};
use crate::wire::list_input::{self, ListRequest};
use crate::wire::params::Params;
use crate::wire::term::{self as json, TermJson};
use crate::wire::term_input;

fn deed(taxonomy: Taxonomy) -> Deed {
    match taxonomy {
        Taxonomy::Category => Deed::Categories,
        Taxonomy::Tag => Deed::Tags,
    }
}

fn require(db: &mut Db, taxonomy: Taxonomy, id: i64) -> Result<Term, Error> {
    let name = match taxonomy {
        Taxonomy::Category => "must be the id of a category",
        Taxonomy::Tag => "must be the id of a tag",
    };
    terms::find(db, taxonomy, id)?.ok_or_else(|| Problems::one("id", name).into())
}

fn render(scene: &mut Scene<'_>, term: &Term, with_links: bool) -> Result<TermJson, Error> {
    let bundle = bundle::of_terms(scene.db, std::slice::from_ref(term))?;
    Ok(json::own(term, &bundle, scene.view(), with_links))
}

/// Tags have no parents; whoever sends one is told so.
fn refuse_parent(taxonomy: Taxonomy, params: &Params) -> Result<(), Error> {
    let misplaced = taxonomy == Taxonomy::Tag && params.get("parent").is_some();
    if misplaced { Err(Error::NotHierarchical) } else { Ok(()) }
}

/// Creates a term from parameters; also used by the loader.
pub fn create_in(
    scene: &mut Scene<'_>,
    taxonomy: Taxonomy,
    params: &Params,
) -> Result<Term, Error> {
    refuse_parent(taxonomy, params)?;
    let person = scene.person()?;
    let change =
        scene.read_write(&person, |facts, _| term_input::decode(params, facts, taxonomy, true))?;
    term_write::create(scene.db, taxonomy, &change)
}

async fn create(taxonomy: Taxonomy, input: Input, state: &State) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(deed(taxonomy)), move |scene, params| {
            let term = create_in(scene, taxonomy, &params)?;
            render(scene, &term, true)
        })
        .await?;
    reply::created(&json, json.urls.own.clone(), fields.as_deref())
}

async fn read(
    taxonomy: Taxonomy,
    id: i64,
    input: Input,
    request: &HttpRequest,
    state: &State,
) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .read(input, move |scene, _| {
            let term = require(scene.db, taxonomy, id)?;
            render(scene, &term, true)
        })
        .await?;
    // Terms carry no date of their last change.
    reply::read(&json, None, request, fields.as_deref())
}

async fn update(
    taxonomy: Taxonomy,
    id: i64,
    input: Input,
    state: &State,
) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(deed(taxonomy)), move |scene, params| {
            let person = scene.person()?;
            let term = require(scene.db, taxonomy, id)?;
            refuse_parent(taxonomy, &params)?;
            let change = scene.read_write(&person, |facts, _| {
                term_input::decode(&params, facts, taxonomy, false)
            })?;
            let term = term_write::update(scene.db, term, &change)?;
            render(scene, &term, true)
        })
        .await?;
    reply::ok(&json, fields.as_deref())
}

async fn remove(
    taxonomy: Taxonomy,
    id: i64,
    input: Input,
    state: &State,
) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .write(input.to(deed(taxonomy)), move |scene, _| {
            let term = require(scene.db, taxonomy, id)?;
            let json = render(scene, &term, false)?;
            terms::delete(scene.db, &term)?;
            Ok(json)
        })
        .await
        .map_err(|error| error.deleting(taxonomy.word()))?;
    reply::ok(&json, fields.as_deref())
}

type Page = (Vec<TermJson>, i64, ListRequest<TermFilter>);

fn page(scene: &mut Scene<'_>, taxonomy: Taxonomy, params: &Params) -> Result<Page, Error> {
    let list =
        scene.read_list(|facts, lister| list_input::terms_rows(params, facts, taxonomy, lister))?;
    let (rows, total) = terms::page(scene.db, taxonomy, &list.filter, list.paging)?;
    let bundle = bundle::of_terms(scene.db, &rows)?;
    let view = scene.view();
    let rows = rows.iter().map(|term| json::own(term, &bundle, view, false)).collect();
    Ok((rows, total, list))
}

/// Lists categories.
#[utoipa::path(
    operation_id = "listCategories", tag = "categories", path = "/calendar/events/v1/categories",
    params(CategoryListQuery), responses((status = 200, body = CategoryListJson), (status = 400)),
)]
#[get("/calendar/events/v1/categories")]
pub async fn list_categories(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .read(input, |scene, params| {
            let (categories, total, list) = page(scene, Taxonomy::Category, &params)?;
            let collection = scene.addresses.collection("categories");
            let frame = frame(&collection, list.paging, &list.query, total);
            Ok(CategoryListJson { categories, frame })
        })
        .await?;
    reply::list(&json, &json.frame, fields.as_deref())
}

/// Creates a category.
#[utoipa::path(
    operation_id = "createCategory", tag = "categories", path = "/calendar/events/v1/categories",
    request_body = CategoryCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = TermJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/categories")]
pub async fn create_category(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    create(Taxonomy::Category, input, &state).await
}

fn id(digits: String) -> i64 {
    parse_id(&digits)
}

item_routes! {
    tag: "categories", body: TermJson, update: CategoryUpdate,
    read: ItemQuery, remove: ItemQuery,
    route: "/calendar/events/v1/categories/{id:[0-9]+}",
    documented: "/calendar/events/v1/categories/{id}",
    key: id, param: Id, scope: [Taxonomy::Category],
    get: get_category "getCategory", post: post_category "postCategory",
    put: update_category "updateCategory", patch: patch_category "patchCategory",
    delete: delete_category "deleteCategory",
}

/// Lists tags.
#[utoipa::path(
    operation_id = "listTags", tag = "tags", path = "/calendar/events/v1/tags",
    params(TagListQuery), responses((status = 200, body = TagListJson), (status = 400)),
)]
#[get("/calendar/events/v1/tags")]
pub async fn list_tags(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let fields = input.fields.clone();
    let json = state
        .read(input, |scene, params| {
            let (tags, total, list) = page(scene, Taxonomy::Tag, &params)?;
            let collection = scene.addresses.collection("tags");
            Ok(TagListJson { tags, frame: frame(&collection, list.paging, &list.query, total) })
        })
        .await?;
    reply::list(&json, &json.frame, fields.as_deref())
}

/// Creates a tag.
#[utoipa::path(
    operation_id = "createTag", tag = "tags", path = "/calendar/events/v1/tags",
    request_body = TagCreate, security(("key" = []), ("bearer" = []), ("basic" = [])),
    responses((status = 201, body = TermJson), (status = 400), (status = 401), (status = 403)),
)]
#[post("/calendar/events/v1/tags")]
pub async fn create_tag(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    create(Taxonomy::Tag, input, &state).await
}

item_routes! {
    tag: "tags", body: TermJson, update: TagUpdate,
    read: ItemQuery, remove: ItemQuery,
    route: "/calendar/events/v1/tags/{id:[0-9]+}",
    documented: "/calendar/events/v1/tags/{id}",
    key: id, param: Id, scope: [Taxonomy::Tag],
    get: get_tag "getTag", post: post_tag "postTag", put: update_tag "updateTag",
    patch: patch_tag "patchTag", delete: delete_tag "deleteTag",
}
