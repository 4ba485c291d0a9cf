//! Schemas of fields that accept several types.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    Array, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

use crate::wire::values::{LARGEST_INTEGER, MAX_ITEMS};

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
        // The items have a type, because some client generators cannot name a list of any type.
        let list = Array::new(Schema::OneOf(one_reference().build()));
        let one_of = one_reference().item(list).default(Some(Value::Null)).build();
        RefOr::T(Schema::OneOf(one_of))
    }
}

impl ToSchema for LinkedReferences {}

/// How an event repeats: an object, or the lines of a calendar file.
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

/// Any type; null unless the request says otherwise.
pub struct AnyOrNull;

impl PartialSchema for AnyOrNull {
    fn schema() -> RefOr<Schema> {
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        RefOr::T(Schema::Object(any.default(Some(Value::Null)).build()))
    }
}

impl ToSchema for AnyOrNull {}

/// A list of at least one id, none below 1.
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

/// Defines schemas of enumerated words. The first may be the default.
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
    /// A direction. The modelled API has both spellings.
    DirectionWords = Some("asc"), ["asc", "ascending", "desc", "descending"];
    /// Sort keys of events.
    EventSortWords = Some("start_date"), ["start_date", "date", "title", "id"];
    /// The events of a series that a write applies to.
    ScopeWords = Some("this"), ["this", "following", "all"];
    /// The groups of events of which a list has one event each.
    CollapseWords = None, ["series"];
    /// Sort keys of terms.
    TermSortWords = Some("name"),
        ["id", "include", "name", "slug", "include_slugs", "term_group", "description", "count", "parent"];
}
