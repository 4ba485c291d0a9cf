//! The OpenAPI document and what the shell reads from it.

use actix_web::App;
use actix_web::http::{Method, StatusCode};
use utoipa::openapi::path::PathItem;
use utoipa::openapi::{OpenApi, RefOr};
use utoipa_actix_web::AppExt;

use crate::Service;

/// The document of a service: its base with the paths of its routes.
pub fn document<S: Service>() -> OpenApi {
    let (_, mut document) =
        App::new().into_utoipa_app().openapi(S::document()).configure(S::routes).split_for_parts();
    document.paths.paths.values_mut().for_each(describe_responses);
    document
}

/// Gives each response without a description the reason phrase of its status: OpenAPI 3.1 demands
/// one, and generators of clients refuse documents that lack it.
fn describe_responses(item: &mut PathItem) {
    let operations = [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
        &mut item.head,
        &mut item.options,
    ];
    for operation in operations.into_iter().flatten() {
        for (status, response) in &mut operation.responses.responses {
            if let RefOr::T(response) = response
                && response.description.is_empty()
            {
                let status: Option<StatusCode> = status.parse().ok();
                let phrase = status.and_then(|status| status.canonical_reason());
                phrase.unwrap_or("Answer").clone_into(&mut response.description);
            }
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
}

#[derive(Clone, Debug)]
enum Segment {
    Literal(String),
    Parameter,
}

impl RouteTable {
    pub(crate) fn of(document: &OpenApi) -> Self {
        let routes = document
            .paths
            .paths
            .iter()
            .map(|(path, item)| (segments(path), methods(item)))
            .collect();
        Self { routes }
    }

    /// The methods that `path` has; empty when no route has it.
    pub(crate) fn methods_of(&self, path: &str) -> Vec<Method> {
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
