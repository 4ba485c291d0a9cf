//! Categories.

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
use crate::wire::description::{CategoryCreate, CategoryUpdate};
use crate::wire::envelope::CategoryListJson;
use crate::wire::parameters::{CategoryListParameters, ItemParameters};
use crate::wire::term::TermJson;

list_routes! {
    items: Terms(Taxonomy::Category), tag: "categories", path: "/calendar/events/v1/categories",
    /// List categories
    list: list_categories "listCategories", page: CategoryListJson, params: CategoryListParameters, errors: [400],
    use_case: terms::list_categories, lasting: Lasting::of_terms,
    /// Create a category
    create: create_category "createCategory", body: TermJson, fields: CategoryCreate,
}

item_routes! {
    items: Terms(Taxonomy::Category), tag: "categories", noun: "a category",
    body: TermJson, update: CategoryUpdate,
    read: ItemParameters, remove: ItemParameters,
    route: "/calendar/events/v1/categories/{id:[0-9]+}",
    documented: "/calendar/events/v1/categories/{id}",
    key: parse_id, param: Id,
    get: get_category "getCategory", post: post_category "postCategory",
    put: update_category "updateCategory", patch: patch_category "patchCategory",
    delete: delete_category "deleteCategory",
}
