//! The API index and its OpenAPI document.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use serde_json::json;

use super::input::Input;
use super::reply;
use crate::error::Error;
use crate::model::urls::NAMESPACE;
use crate::state::{Document, State};
use crate::wire::description::{self, Site};
use crate::wire::parameters::IndexParameters;

/// Get the index
///
/// Returns every route with its methods and parameters.
#[utoipa::path(
    operation_id = "getIndex", tag = "index", path = "/calendar/events/v1",
    params(IndexParameters), responses((status = 200, body = Object, example = json!({"namespace": "calendar/events/v1", "routes": {}, "_links": {}})), (status = 404)),
)]
#[get("/calendar/events/v1")]
pub async fn get_index(
    input: Input,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let operations = shell::operations(&request).iter();
    let Input { request, fields } = input;
    let params = request.params?;
    if let Some(asked) = params.text("namespace") {
        let asked = asked.strip_prefix('/').unwrap_or(asked);
        if asked != NAMESPACE && asked != request.urls.namespace() {
            return Err(Error::InvalidNamespace);
        }
    }
    let site = Site { urls: &request.urls, per_page: state.site.settings.per_page };
    reply::ok(&description::index(operations, site), fields.as_deref())
}

/// Get the OpenAPI document
#[utoipa::path(
    operation_id = "getDocumentation", tag = "index", path = "/calendar/events/v1/doc",
    responses((status = 200, body = Object, example = json!({"openapi": "3.1.0", "info": {"title": "Events calendar", "version": "1.0.0"}, "paths": {}}))),
)]
#[get("/calendar/events/v1/doc")]
pub async fn get_documentation(
    input: Input,
    document: Data<Document>,
) -> Result<HttpResponse, Error> {
    let mut document = document.get().clone();
    document["servers"] = json!([{"url": format!("{}/", input.request.urls.root())}]);
    reply::ok(&document, input.fields.as_deref())
}
