//! The OpenAPI document.

use actix_web::http::StatusCode;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr};

use crate::{ErrorBody, Service, routes};

/// The document of a service: its base with the paths of its routes.
pub fn document<S: Service>() -> OpenApi {
    let mut document = S::document();
    routes::document(&mut document, S::operations);
    let error_body = S::error_body();
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            complete(operation, error_body);
        }
    }
    S::amend(&mut document);
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
        &mut item.head,
        &mut item.options,
    ]
    .into_iter()
    .flatten()
}

/// Completes the answers of an operation: a response without a description gets the reason phrase
/// of its status, since OpenAPI 3.1 demands one and generators of clients refuse documents that
/// lack it; an error without a body gets the service's.
fn complete(operation: &mut Operation, error_body: Option<ErrorBody>) {
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        let status: Option<StatusCode> = status.parse().ok();
        if response.description.is_empty() {
            let phrase = status.and_then(|status| status.canonical_reason());
            phrase.unwrap_or("Answer").clone_into(&mut response.description);
        }
        let failed =
            status.is_some_and(|status| status.is_client_error() || status.is_server_error());
        let bare =
            response.content.is_empty() && !response.description.to_lowercase().contains("empty");
        if let (true, true, Some(body)) = (failed, bare, error_body) {
            let schema = Ref::from_schema_name(body.schema);
            let content = ContentBuilder::new().schema(Some(schema)).build();
            response.content.insert(body.media_type.to_owned(), RefOr::T(content));
        }
    }
}

/// The document as JSON text with a final line end: what `NAME openapi` prints and what is
/// compared with the file in the tree.
pub fn openapi<S: Service>() -> String {
    match document::<S>().to_pretty_json() {
        Ok(text) => text + "\n",
        Err(error) => {
            log::error!("the OpenAPI document cannot be written: {error}");
            String::new()
        }
    }
}
