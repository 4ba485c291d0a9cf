//! The index and the documentation of the interface.

use std::sync::OnceLock;

use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::reply;
use crate::request::Input;
use crate::service::Calendar;
use crate::state::State;
use crate::wire::addresses::NAMESPACE;
use crate::wire::describe::{self, IndexQuery, Site};

/// Shows every route with its parameters.
#[utoipa::path(
    operation_id = "getIndex", tag = "index", path = "/calendar/events/v1",
    params(IndexQuery), responses((status = 200, body = Object, example = json!({"namespace": "calendar/events/v1", "routes": {}, "_links": {}})), (status = 404)),
)]
#[get("/calendar/events/v1")]
pub async fn get_index(input: Input, state: Data<State>) -> Result<HttpResponse, Error> {
    let params = input.params?;
    if let Some(asked) = params.text("namespace") {
        let asked = asked.strip_prefix('/').unwrap_or(asked);
        if asked != NAMESPACE && asked != input.addresses.namespace() {
            return Err(Error::InvalidNamespace);
        }
    }
    let site = Site { addresses: &input.addresses, per_page: state.site.settings.per_page };
    reply::ok(&describe::index(site), input.fields.as_deref())
}

/// Shows this document.
#[utoipa::path(
    operation_id = "getDocumentation", tag = "index", path = "/calendar/events/v1/doc",
    responses((status = 200, body = Object, example = json!({"openapi": "3.1.0", "info": {"title": "Events calendar", "version": "1.0.0"}, "paths": {}}))),
)]
#[get("/calendar/events/v1/doc")]
pub async fn get_documentation(input: Input) -> Result<HttpResponse, Error> {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    let mut document = DOCUMENT.get_or_init(below_namespace).clone();
    document["servers"] = json!([{"url": format!("{}/", input.addresses.root())}]);
    reply::ok(&document, input.fields.as_deref())
}

/// Returns the document with paths that begin at the namespace, which its server names.
fn below_namespace() -> Value {
    let document = shell::document::<Calendar>();
    let mut document = serde_json::to_value(document).unwrap_or_default();
    let prefix = format!("/{NAMESPACE}");
    if let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) {
        let moved: Map<String, Value> = std::mem::take(paths)
            .into_iter()
            .map(|(path, item)| {
                let below = path.strip_prefix(&prefix).unwrap_or(&path);
                (if below.is_empty() { "/".to_owned() } else { below.to_owned() }, item)
            })
            .collect();
        *paths = moved;
    }
    document
}
