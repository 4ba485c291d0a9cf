//! The OpenAPI document and what the shell reads from it.

use actix_web::App;
use actix_web::http::{Method, StatusCode};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr};
use utoipa_actix_web::AppExt;

use crate::{ErrorBody, Service};

/// The document of a service: its base with the paths of its routes.
pub fn document<S: Service>() -> OpenApi {
    let (_, mut document) =
        App::new().into_utoipa_app().openapi(S::document()).configure(S::routes).split_for_parts();
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

/// Paths and methods of a document, to tell a wrong method from an unknown path.
#[derive(Clone, Debug)]
pub(crate) struct RouteTable {
    routes: Vec<(Vec<Segment>, Vec<Method>)>,
    /// Whether the document itself and its pages are served.
    docs: bool,
}

#[derive(Clone, Debug)]
enum Segment {
    Literal(String),
    Parameter,
}

impl RouteTable {
    pub(crate) fn of(document: &OpenApi, docs: bool) -> Self {
        let routes = document
            .paths
            .paths
            .iter()
            .map(|(path, item)| (segments(path), methods(item)))
            .collect();
        Self { routes, docs }
    }

    /// The methods that `path` has; empty when no route has it.
    pub(crate) fn methods_of(&self, path: &str) -> Vec<Method> {
        if self.docs && (path == "/openapi.json" || path.starts_with("/docs/")) {
            return vec![Method::GET, Method::HEAD];
        }
        let parts: Vec<&str> = path.split('/').collect();
        let mut found = Vec::new();
        for (segments, methods) in &self.routes {
            if matches(segments, &parts) {
                found.extend(
                    methods
                        .iter()
                        .filter(|method| !found.contains(*method))
                        .cloned()
                        .collect::<Vec<_>>(),
                );
            }
        }
        found
    }
}

fn segments(path: &str) -> Vec<Segment> {
    path.split('/')
        .map(|part| match part.starts_with('{') {
            true => Segment::Parameter,
            false => Segment::Literal(part.to_owned()),
        })
        .collect()
}

fn matches(segments: &[Segment], parts: &[&str]) -> bool {
    segments.len() == parts.len()
        && segments.iter().zip(parts).all(|(segment, part)| match segment {
            Segment::Literal(text) => text == part,
            Segment::Parameter => !part.is_empty(),
        })
}

fn methods(item: &PathItem) -> Vec<Method> {
    [
        (Method::GET, item.get.is_some()),
        (Method::HEAD, item.get.is_some() || item.head.is_some()),
        (Method::POST, item.post.is_some()),
        (Method::PUT, item.put.is_some()),
        (Method::PATCH, item.patch.is_some()),
        (Method::DELETE, item.delete.is_some()),
    ]
    .into_iter()
    .filter_map(|(method, present)| present.then_some(method))
    .collect()
}
