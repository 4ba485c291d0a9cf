//! Parameter schemas in the OpenAPI document.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Parameter, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{
    ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};

use crate::wire::values::LARGEST_INTEGER;

/// Returns a parameter's schema for the OpenAPI document, including its description. Omits null
/// defaults. Also omits number formats, because clients can send numbers as strings. Returns `None`
/// if the parameter doesn't have an inline schema.
pub fn published(parameter: &Parameter) -> Option<Schema> {
    let Some(RefOr::T(schema)) = &parameter.schema else { return None };
    let mut schema = schema.clone();
    match &mut schema {
        Schema::Object(object) => {
            object.format = None;
            if object.schema_type == SchemaType::Type(Type::Integer) {
                object.maximum.get_or_insert(LARGEST_INTEGER.into());
            }
            object.default = object.default.take().filter(|value| *value != Value::Null);
            object.description.clone_from(&parameter.description);
        }
        Schema::Array(array) => {
            array.default = None;
            array.description.clone_from(&parameter.description);
        }
        Schema::OneOf(one) => {
            one.default = None;
            one.description.clone_from(&parameter.description);
        }
        _ => {}
    }
    Some(schema)
}

/// Replaces a query parameter's schema with the schema for the OpenAPI document, where lists are
/// comma-separated.
pub fn publish_query(parameter: &mut Parameter) {
    if parameter.parameter_in == ParameterIn::Query
        && let Some(schema) = published(parameter)
    {
        if matches!(schema, Schema::Array(_)) {
            parameter.style = Some(ParameterStyle::Form);
            parameter.explode = Some(false);
        }
        parameter.schema = Some(RefOr::T(schema));
    }
}

/// Returns a more precise schema for the values that a body field accepts, or `None` if the index's
/// schema is precise enough.
pub fn taken(field: &Parameter) -> Option<Schema> {
    let schema = match field.name.as_str() {
        "image" => images(),
        "website" => Schema::Object(object(Type::String).max_length(Some(1000)).build()),
        "cost" => costs(),
        "categories" | "tags" => terms(),
        _ => return None,
    };
    Some(described(schema, field.description.clone()))
}

fn object(kind: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(kind))
}

fn described(mut schema: Schema, description: Option<String>) -> Schema {
    match &mut schema {
        Schema::Object(object) => object.description = description,
        Schema::Array(array) => array.description = description,
        Schema::OneOf(one) => one.description = description,
        _ => {}
    }
    schema
}

/// An image id or URL. 0 and the empty string remove the image.
fn images() -> Schema {
    let id = object(Type::Integer).minimum(Some(0)).maximum(Some(LARGEST_INTEGER)).build();
    let address = object(Type::String).max_length(Some(2000)).build();
    Schema::OneOf(OneOfBuilder::new().item(id).item(address).build())
}

/// A string or a number, or a list of them.
fn costs() -> Schema {
    let text = || -> Object { object(Type::String).max_length(Some(1000)).build() };
    let number = || -> Object { object(Type::Number).build() };
    let one = || OneOfBuilder::new().item(text()).item(number());
    let list = ArrayBuilder::new().items(RefOr::T(Schema::OneOf(one().build())));
    Schema::OneOf(one().item(list.max_items(Some(100)).build()).build())
}

/// A list of ids, slugs, names, or term objects from earlier responses.
fn terms() -> Schema {
    // Numbers that aren't term ids are ignored, but the id in an object must be valid.
    let id = object(Type::Integer).minimum(Some(1)).maximum(Some(LARGEST_INTEGER));
    let text = object(Type::String).max_length(Some(1000)).build();
    let shown = object(Type::Object).property("id", id.build()).required("id").build();
    let term =
        OneOfBuilder::new().item(object(Type::Integer).build()).item(text).item(shown).build();
    let list = ArrayBuilder::new().items(RefOr::T(Schema::OneOf(term))).max_items(Some(1000));
    Schema::Array(list.build())
}
