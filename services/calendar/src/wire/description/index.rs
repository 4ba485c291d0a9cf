//! The API index and its route descriptions.

use serde::Serialize;
use serde_json::Value;
use shell::Operation;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{Object, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};

use super::interface::{Endpoint, Key, Route, routes};
use crate::model::urls::Urls;
use crate::wire::ordered_map::OrderedMap;

/// Site settings that appear in the route descriptions.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub urls: &'a Urls,
    /// Default page size.
    pub per_page: i64,
}

/// A description of the whole API.
#[derive(Serialize)]
pub struct IndexJson {
    namespace: &'static str,
    routes: OrderedMap<String, RouteJson>,
    _links: Links,
}

/// A route with its methods and parameters.
#[derive(Serialize)]
pub struct RouteJson {
    namespace: &'static str,
    methods: Vec<String>,
    endpoints: Vec<EndpointJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    _links: Option<Links>,
}

#[derive(Serialize)]
struct EndpointJson {
    methods: Vec<String>,
    args: OrderedMap<&'static str, ArgJson>,
}

#[derive(Serialize)]
struct ArgJson {
    required: bool,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    type_name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<ItemsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    description: &'static str,
}

#[derive(Serialize)]
struct ItemsJson {
    #[serde(rename = "type")]
    type_name: &'static str,
}

/// Links by relation.
type Links = OrderedMap<&'static str, [Link; 1]>;

#[derive(Serialize)]
struct Link {
    href: String,
}

fn link(relation: &'static str, href: String) -> Links {
    OrderedMap(vec![(relation, [Link { href }])])
}

/// Describes a parameter the way the upstream API does, where list items can only be integers.
fn described(parameter: &'static Parameter, required: bool, site: Site<'_>) -> ArgJson {
    let (type_name, default) = match &parameter.schema {
        Some(RefOr::T(Schema::Object(object))) => (name_of(object), object.default.clone()),
        Some(RefOr::T(Schema::Array(array))) => (Some("array"), array.default.clone()),
        Some(RefOr::T(Schema::OneOf(one))) => (Some("array"), one.default.clone()),
        _ => (None, None),
    };
    let default = match (parameter.name.as_str(), default) {
        ("per_page", Some(_)) => Some(Value::from(site.per_page)),
        ("hide_empty", Some(_)) => Some(Value::from(1)),
        (_, default) => default,
    };
    let items = ItemsJson { type_name: "integer" };
    ArgJson {
        required,
        type_name,
        items: (type_name == Some("array")).then_some(items),
        default,
        description: parameter.description.as_deref().unwrap_or_default(),
    }
}

fn name_of(object: &Object) -> Option<&'static str> {
    match &object.schema_type {
        SchemaType::Type(Type::String) => Some("string"),
        SchemaType::Type(Type::Integer) => Some("integer"),
        SchemaType::Type(Type::Number) => Some("number"),
        SchemaType::Type(Type::Boolean) => Some("boolean"),
        _ => None,
    }
}

fn key(key: Key) -> (&'static str, ArgJson) {
    let (name, type_name, description) = match key {
        Key::Id => ("id", Some("integer"), "Id."),
        Key::Slug | Key::OptionalSlug => ("slug", Some("string"), "Slug."),
    };
    let required = key != Key::OptionalSlug;
    (name, ArgJson { required, type_name, items: None, default: None, description })
}

fn endpoint(endpoint: &Endpoint, site: Site<'_>) -> EndpointJson {
    let key = endpoint.key.map(key);
    // If the path contains the slug, the path parameter takes the place of the field with the same
    // name.
    let key_name = key.as_ref().map(|(name, _)| *name);
    let fields = (endpoint.parameters)().iter().filter(|one| Some(one.name.as_str()) != key_name);
    let fields = fields.map(|one| {
        let required = one.required == Required::True && !endpoint.partial;
        (one.name.as_str(), described(one, required, site))
    });
    let methods = endpoint.methods.clone();
    EndpointJson { methods, args: key.into_iter().chain(fields).collect() }
}

/// Describes a route, as in the response to OPTIONS.
pub fn route(route: &Route, site: Site<'_>) -> RouteJson {
    let urls = site.urls;
    let own = || link("self", format!("{}{}", urls.root(), route.pattern));
    RouteJson {
        namespace: urls.namespace(),
        methods: route.methods().into_iter().map(str::to_owned).collect(),
        endpoints: route.endpoints.iter().map(|one| endpoint(one, site)).collect(),
        _links: (!route.pattern.contains('(')).then(own),
    }
}

/// Describes the whole API.
pub fn index<'o>(operations: impl Iterator<Item = &'o Operation>, site: Site<'_>) -> IndexJson {
    let namespace = site.urls.namespace();
    let path = |one: &Route| format!("/{namespace}{}", one.pattern);
    IndexJson {
        namespace,
        routes: routes(operations).iter().map(|one| (path(one), route(one, site))).collect(),
        _links: link("up", format!("{}/", site.urls.base)),
    }
}
