//! The declared parameters as the index, OPTIONS and the OpenAPI document show them.

use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{
    Array, ArrayItems, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{RefOr, Required};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::args::{self, Arg, Endpoint, Kind, Preset, ROUTES, Route};
use super::ordered_map::OrderedMap;
use super::urls::Urls;
use crate::model::list::PER_PAGE;

fn type_name(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Text => Some("string"),
        Kind::Integer => Some("integer"),
        Kind::Number => Some("number"),
        Kind::Boolean => Some("boolean"),
        Kind::Integers => Some("array"),
        Kind::Any => None,
    }
}

fn preset(preset: Preset, per_page: i64) -> Option<Value> {
    match preset {
        Preset::None => None,
        Preset::Null => Some(Value::Null),
        Preset::Number(number) => Some(Value::from(number)),
        Preset::PerPage => Some(Value::from(per_page)),
        Preset::Flag(flag) => Some(Value::from(flag)),
        Preset::Word(word) => Some(Value::from(word)),
    }
}

/// What the descriptions say of this site.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub urls: &'a Urls,
    /// Rows on a page where a request does not say how many.
    pub per_page: i64,
}

/// The whole interface.
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
    methods: Vec<&'static str>,
    endpoints: Vec<EndpointJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    _links: Option<Links>,
}

#[derive(Serialize)]
struct EndpointJson {
    methods: &'static [&'static str],
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

/// One link by its relation.
type Links = OrderedMap<&'static str, [Link; 1]>;

#[derive(Serialize)]
struct Link {
    href: String,
}

fn link(relation: &'static str, href: String) -> Links {
    OrderedMap(vec![(relation, [Link { href }])])
}

fn described(arg: &Arg, required: bool, site: Site<'_>) -> (&'static str, ArgJson) {
    let items = ItemsJson { type_name: "integer" };
    let json = ArgJson {
        required,
        type_name: type_name(arg.kind),
        items: (arg.kind == Kind::Integers).then_some(items),
        default: preset(arg.preset, site.per_page),
        description: arg.about,
    };
    (arg.name, json)
}

fn endpoint(endpoint: &Endpoint, site: Site<'_>) -> EndpointJson {
    // On by-slug routes the key stands for the field of the same name.
    let key = endpoint.key.as_ref();
    let fields = endpoint.args.iter().filter(|arg| key.is_none_or(|key| key.name != arg.name));
    let fields = fields.map(|arg| described(arg, arg.required && !endpoint.partial, site));
    let args = key.map(|key| described(key, key.required, site)).into_iter().chain(fields);
    EndpointJson { methods: endpoint.methods, args: args.collect() }
}

/// Describes a route as OPTIONS answers it.
pub fn route(route: &Route, site: Site<'_>) -> RouteJson {
    let urls = site.urls;
    let methods = route.endpoints.iter().flat_map(|endpoint| endpoint.methods).copied().collect();
    let own = || link("self", format!("{}{}", urls.root(), route.pattern));
    RouteJson {
        namespace: urls.namespace(),
        methods,
        endpoints: route.endpoints.iter().map(|one| endpoint(one, site)).collect(),
        _links: (!route.pattern.contains('(')).then(own),
    }
}

/// Describes the whole interface.
pub fn index(site: Site<'_>) -> IndexJson {
    let namespace = site.urls.namespace();
    let path = |one: &Route| format!("/{namespace}{}", one.pattern);
    IndexJson {
        namespace,
        routes: ROUTES.iter().map(|one| (path(one), route(one, site))).collect(),
        _links: link("up", format!("{}/", site.urls.base)),
    }
}

fn schema_type(kind: Type) -> SchemaType {
    SchemaType::Type(kind)
}

fn object(kind: Type) -> Object {
    ObjectBuilder::new().schema_type(schema_type(kind)).build()
}

/// Writes the real types, which are wider than the declared ones where several are taken.
fn schema(arg: &Arg, body: bool) -> Schema {
    let schema = match (arg.kind, arg.name) {
        (Kind::Integers, _) if !body => Schema::Array(list(object(Type::String))),
        (Kind::Integers, "venue" | "organizer") => Schema::OneOf(
            OneOfBuilder::new()
                .item(object(Type::Integer))
                .item(object(Type::String))
                .item(object(Type::Object))
                .item(list(ObjectBuilder::new().schema_type(SchemaType::AnyValue).build()))
                .build(),
        ),
        (Kind::Integers, _) => {
            Schema::Array(list(ObjectBuilder::new().schema_type(SchemaType::AnyValue).build()))
        }
        (Kind::Any, _) => {
            Schema::Object(ObjectBuilder::new().schema_type(SchemaType::AnyValue).build())
        }
        (Kind::Text, _) => Schema::Object(object(Type::String)),
        (Kind::Integer, _) => Schema::Object(object(Type::Integer)),
        (Kind::Number, _) => Schema::Object(object(Type::Number)),
        (Kind::Boolean, _) => Schema::Object(object(Type::Boolean)),
    };
    with_default(schema, arg)
}

fn list(items: Object) -> Array {
    let mut array = Array::new(items.clone());
    array.items = ArrayItems::RefOrSchema(Box::new(RefOr::T(Schema::Object(items))));
    array
}

/// The default in the type of the parameter: the index writes some flags as numbers.
fn default_of(arg: &Arg) -> Option<Value> {
    match (arg.kind, arg.preset) {
        (Kind::Boolean, Preset::Number(number)) => Some(Value::from(number != 0)),
        (_, given) => preset(given, PER_PAGE).filter(|value| !value.is_null()),
    }
}

fn with_default(schema: Schema, arg: &Arg) -> Schema {
    match schema {
        Schema::Object(mut object) => {
            object.default = default_of(arg);
            object.description = Some(arg.about.to_owned());
            Schema::Object(object)
        }
        Schema::Array(mut array) => {
            array.description = Some(arg.about.to_owned());
            Schema::Array(array)
        }
        Schema::OneOf(mut one) => {
            one.description = Some(arg.about.to_owned());
            Schema::OneOf(one)
        }
        other => other,
    }
}

fn parameters(args: &[Arg]) -> Vec<Parameter> {
    args.iter()
        .map(|arg| {
            ParameterBuilder::new()
                .name(arg.name)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(arg.about))
                .schema(Some(schema(arg, false)))
                .build()
        })
        .collect()
}

/// Names the query parameters of an operation for its documentation.
macro_rules! query {
    ($($(#[$doc:meta])* $name:ident = $args:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl IntoParams for $name {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                parameters($args)
            }
        }
    )*};
}

query! {
    /// Query of the index.
    IndexQuery = args::INDEX;
    /// Query of the list of events.
    EventListQuery = args::EVENT_LIST;
    /// Query of the lists of venues and organizers.
    LinkedListQuery = args::LINKED_LIST;
    /// Query of the list of categories.
    CategoryListQuery = args::CATEGORY_LIST;
    /// Query of the list of tags.
    TagListQuery = args::TAG_LIST;
    /// Query of reading an event.
    EventReadQuery = args::EVENT_READ;
    /// Query of deleting an event.
    EventDeleteQuery = args::EVENT_DELETE;
    /// Query of reading and deleting anything else.
    ItemQuery = args::ITEM_KEY;
}

/// Names the body of a write for its documentation; `create` bodies have required fields.
macro_rules! body {
    ($($(#[$doc:meta])* $name:ident = $args:expr, $required:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let mut object = ObjectBuilder::new().schema_type(schema_type(Type::Object));
                for arg in $args {
                    object = object.property(arg.name, schema(arg, true));
                    if arg.required && $required {
                        object = object.required(arg.name);
                    }
                }
                RefOr::T(Schema::Object(object.build()))
            }
        }

        impl ToSchema for $name {}
    )*};
}

body! {
    /// Body of creating an event.
    EventCreate = args::EVENT_WRITE, true;
    /// Body of changing an event.
    EventUpdate = args::EVENT_WRITE, false;
    /// Body of creating a venue.
    VenueCreate = args::VENUE_WRITE, true;
    /// Body of changing a venue.
    VenueUpdate = args::VENUE_WRITE, false;
    /// Body of creating an organizer.
    OrganizerCreate = args::ORGANIZER_WRITE, true;
    /// Body of changing an organizer.
    OrganizerUpdate = args::ORGANIZER_WRITE, false;
    /// Body of creating a category.
    CategoryCreate = args::CATEGORY_WRITE, true;
    /// Body of changing a category.
    CategoryUpdate = args::CATEGORY_WRITE, false;
    /// Body of creating a tag.
    TagCreate = args::TAG_WRITE, true;
    /// Body of changing a tag.
    TagUpdate = args::TAG_WRITE, false;
}
