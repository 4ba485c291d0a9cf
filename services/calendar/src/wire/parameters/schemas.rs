//! Schemas of fields that take several types.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    Array, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

/// References to venues or organizers: an id, ids separated by commas, an object, or a list.
pub struct LinkedReferences;

/// One reference: an id, ids separated by commas, or an object.
fn one_reference() -> OneOfBuilder {
    let of =
        |kind: Type| -> Object { ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build() };
    OneOfBuilder::new().item(of(Type::Integer)).item(of(Type::String)).item(of(Type::Object))
}

impl PartialSchema for LinkedReferences {
    fn schema() -> RefOr<Schema> {
        // The items have a type, since some generators of clients cannot name a list of anything.
        let list = Array::new(Schema::OneOf(one_reference().build()));
        let one_of = one_reference().item(list).default(Some(Value::Null)).build();
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
