//! Schemas of fields that accept values of several types.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    Array, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

use crate::wire::values::{LARGEST_INTEGER, MAX_ITEMS};

/// References to venues or organizers: an id, comma-separated ids, an object, or a list.
pub struct LinkedReferences;

/// A single reference: an id, comma-separated ids, or an object.
fn one_reference() -> OneOfBuilder {
    let schema_of =
        |kind: Type| -> Object { ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build() };
    OneOfBuilder::new()
        .item(schema_of(Type::Integer))
        .item(schema_of(Type::String))
        .item(schema_of(Type::Object))
}

impl PartialSchema for LinkedReferences {
    fn schema() -> RefOr<Schema> {
        // Some client generators don't support lists with items of any type, so specify the type.
        let list = Array::new(Schema::OneOf(one_reference().build()));
        let one_of = one_reference().item(list).default(Some(Value::Null)).build();
        RefOr::T(Schema::OneOf(one_of))
    }
}

impl ToSchema for LinkedReferences {}

/// How an event repeats, given as an object or as lines from a calendar file.
pub struct RecurrenceInput;

impl PartialSchema for RecurrenceInput {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).build();
        let dates = || ArrayBuilder::new().items(text()).max_items(Some(MAX_ITEMS)).build();
        let count = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer));
        let object = ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::Object))
            .property("rrule", text())
            .property("until", text())
            .property("count", count.minimum(Some(1)).maximum(Some(LARGEST_INTEGER)).build())
            .property("exdates", dates())
            .property("rdates", dates());
        RefOr::T(Schema::OneOf(OneOfBuilder::new().item(object.build()).item(text()).build()))
    }
}

impl ToSchema for RecurrenceInput {}

/// Any type. Defaults to null.
pub struct AnyOrNull;

impl PartialSchema for AnyOrNull {
    fn schema() -> RefOr<Schema> {
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        RefOr::T(Schema::Object(any.default(Some(Value::Null)).build()))
    }
}

impl ToSchema for AnyOrNull {}

/// A non-empty list of positive ids.
pub struct IdList;

impl PartialSchema for IdList {
    fn schema() -> RefOr<Schema> {
        let id = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer));
        let id = id.minimum(Some(1)).maximum(Some(LARGEST_INTEGER));
        let list = ArrayBuilder::new().items(id.build());
        RefOr::T(Schema::Array(list.min_items(Some(1)).max_items(Some(MAX_ITEMS)).build()))
    }
}

impl ToSchema for IdList {}

/// Defines string enum schemas, each with an optional default.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $default:expr, $words:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
                let default: Option<&str> = $default;
                let words = words.enum_values(Some($words)).default(default.map(Value::from));
                RefOr::T(Schema::Object(words.build()))
            }
        }

        impl ToSchema for $name {}
    )*};
}

words! {
    /// A unit of length.
    UnitWords = None, ["miles", "km"];
    /// A sort direction. The API we are compatible with accepts both spellings.
    DirectionWords = Some("asc"), ["asc", "ascending", "desc", "descending"];
    /// Event sort keys.
    EventSortWords = Some("start_date"), ["start_date", "date", "title", "id"];
    /// The events in a series that a write applies to.
    ScopeWords = Some("this"), ["this", "following", "all"];
    /// How to group events in lists that show one event per group.
    CollapseWords = None, ["series"];
    /// Term sort keys.
    TermSortWords = Some("name"),
        ["id", "include", "name", "slug", "include_slugs", "term_group", "description", "count", "parent"];
}
