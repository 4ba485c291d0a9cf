//! The declared parameters as the index, OPTIONS and the OpenAPI document show them.

use serde_json::{Map, Value, json};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{
    Array, ArrayItems, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{RefOr, Required};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::addresses::Addresses;
use super::args::{self, Arg, Endpoint, Kind, Preset, ROUTES, Route};

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

fn preset(preset: Preset) -> Option<Value> {
    match preset {
        Preset::None => None,
        Preset::Null => Some(Value::Null),
        Preset::Number(number) => Some(Value::from(number)),
        Preset::Flag(flag) => Some(Value::from(flag)),
        Preset::Word(word) => Some(Value::from(word)),
    }
}

fn described(arg: &Arg, required: bool) -> Value {
    let mut map = Map::new();
    map.insert("required".into(), Value::from(required));
    if let Some(name) = type_name(arg.kind) {
        map.insert("type".into(), Value::from(name));
    }
    if arg.kind == Kind::Integers {
        map.insert("items".into(), json!({"type": "integer"}));
    }
    if let Some(value) = preset(arg.preset) {
        map.insert("default".into(), value);
    }
    map.insert("description".into(), Value::from(arg.about));
    Value::Object(map)
}

fn endpoint(endpoint: &Endpoint) -> Value {
    let mut names = Map::new();
    for arg in endpoint.args {
        names.insert(arg.name.into(), described(arg, arg.required && !endpoint.partial));
    }
    // The key goes last: on by-slug routes it stands for the field of the same name.
    if let Some(key) = &endpoint.key {
        names.insert(key.name.into(), described(key, key.required));
    }
    json!({"methods": endpoint.methods, "args": names})
}

/// Describes a route as OPTIONS answers it.
pub fn route(route: &Route, addresses: &Addresses) -> Value {
    let methods: Vec<&str> =
        route.endpoints.iter().flat_map(|endpoint| endpoint.methods).copied().collect();
    let endpoints: Vec<Value> = route.endpoints.iter().map(endpoint).collect();
    let mut body = json!({
        "namespace": addresses.namespace(),
        "methods": methods,
        "endpoints": endpoints,
    });
    if !route.pattern.contains('(') {
        let href = format!("{}{}", addresses.root(), route.pattern);
        body["_links"] = json!({"self": [{"href": href}]});
    }
    body
}

/// Describes the whole interface.
pub fn index(addresses: &Addresses) -> Value {
    let routes: Map<String, Value> = ROUTES
        .iter()
        .map(|one| (format!("/{}{}", addresses.namespace(), one.pattern), route(one, addresses)))
        .collect();
    json!({
        "namespace": addresses.namespace(),
        "routes": routes,
        "_links": {"up": [{"href": format!("{}/", addresses.base)}]},
    })
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
        (_, given) => preset(given).filter(|value| !value.is_null()),
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
    /// Query of reading and deleting an event.
    EventQuery = args::EVENT_KEY;
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
