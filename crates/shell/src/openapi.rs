//! Builds the OpenAPI document.

use actix_web::http::StatusCode;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::{ContentBuilder, LicenseBuilder, OpenApi, Ref, RefOr, Response, Server};

use crate::{ErrorBody, Service, routes};

/// The license of all services, as an SPDX expression.
const LICENSE: &str = "MIT OR Apache-2.0";

/// Returns a service's OpenAPI document, including the paths of its routes.
pub fn document<S: Service>() -> OpenApi {
    let mut document = S::document();
    routes::document(&mut document, S::operations);
    let error_body = S::error_body();
    for operation in all(&mut document) {
        add_statuses(operation, S::shared_statuses());
        complete(operation, error_body);
    }
    S::amend(&mut document);
    add_common_parts(&mut document);
    document
}

/// Adds what all documents have in common: the license, the server, and an empty security
/// requirement for operations that don't declare any.
fn add_common_parts(document: &mut OpenApi) {
    let license = LicenseBuilder::new().name(LICENSE).identifier(Some(LICENSE)).build();
    document.info.license = Some(license);
    document.servers.get_or_insert_with(|| vec![Server::new("/")]);
    if document.security.is_none() {
        for operation in all(document) {
            operation.security.get_or_insert_default();
        }
    }
}

/// Adds the statuses that any operation can return, plus statuses that are specific to request
/// bodies.
fn add_statuses(operation: &mut Operation, shared: &[StatusCode]) {
    let body_statuses = [StatusCode::PAYLOAD_TOO_LARGE];
    let body_statuses = body_statuses.iter().filter(|_| operation.request_body.is_some());
    for status in shared.iter().chain(body_statuses) {
        let known = operation.responses.responses.entry(status.as_str().to_owned());
        known.or_insert_with(|| Response::new("").into());
    }
}

fn all(document: &mut OpenApi) -> impl Iterator<Item = &mut Operation> {
    document.paths.paths.values_mut().flat_map(operations)
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

/// Completes the responses of an operation. A missing description is set to the status's reason
/// phrase, because OpenAPI 3.1 requires a description and client generators reject documents
/// without one. Error responses without a body get the service's error body.
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

/// Returns the document for a service that a proxy serves below `base_path`, which is added to the
/// server URLs and has no trailing slash.
pub(crate) fn openapi_below<S: Service>(base_path: &str) -> String {
    if base_path.is_empty() {
        return openapi::<S>();
    }
    let mut document = document::<S>();
    for server in document.servers.iter_mut().flatten() {
        if server.url.starts_with('/') {
            server.url = format!("{base_path}{}", server.url.trim_end_matches('/'));
        }
    }
    written(&document)
}

/// Returns the document as JSON with a trailing newline, as printed by `NAME openapi` and stored in
/// the repository as `openapi.json`.
pub fn openapi<S: Service>() -> String {
    written(&document::<S>())
}

fn written(document: &OpenApi) -> String {
    match document.to_pretty_json() {
        Ok(text) => text + "\n",
        Err(error) => {
            log::error!("the OpenAPI document cannot be written: {error}");
            String::new()
        }
    }
}
