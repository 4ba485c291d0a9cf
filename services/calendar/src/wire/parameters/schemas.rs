//! Schemas of fields that take several types.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    Array, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

/// References to venues or organizers: an id, ids separated by commas, an object, or a list.
pub struct LinkedReferences;

impl PartialSchema for LinkedReferences {
    fn schema() -> RefOr<Schema> {
        let object = |kind: Type| -> Object {
            ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build()
        };
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue).build();
        let one_of = OneOfBuilder::new()
            .item(object(Type::Integer))
            .item(object(Type::String))
            .item(object(Type::Object))
            .item(Array::new(any))
            .default(Some(Value::Null))
            .build();
        RefOr::T(Schema::OneOf(one_of))
    }
}

impl ToSchema for LinkedReferences {}

/// Any type; null unless the request says otherwise.
pub struct AnyOrNull;

impl PartialSchema for AnyOrNull {
    fn schema() -> RefOr<Schema> {
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        RefOr::T(Schema::Object(any.default(Some(Value::Null)).build()))
    }
}

impl ToSchema for AnyOrNull {}
