//! Request bodies in the OpenAPI document.

use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};
use utoipa::{PartialSchema, ToSchema};

use super::schemas::{published, taken};
use crate::wire::parameters::{
    CategoryFields, Declared, EventFields, OrganizerFields, ReleaseFields, SubscriptionFields,
    TagFields, VenueFields,
};

/// Builds the schema of a request body from its fields.
fn body<T: Declared>(creates: bool) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Object));
    for field in T::parameters() {
        let Some(schema) = taken(field).or_else(|| published(field)) else { continue };
        object = object.property(field.name.as_str(), schema);
        if creates && field.required == Required::True {
            object = object.required(field.name.as_str());
        }
    }
    RefOr::T(Schema::Object(object.build()))
}

/// Defines request body types. A field that is marked as required is only required when creating.
macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident = $fields:ident, $creates:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                body::<$fields>($creates)
            }
        }

        impl ToSchema for $name {}
    )*};
}

bodies! {
    /// Request body for creating an event.
    EventCreate = EventFields, true;
    /// Request body for changing an event.
    EventUpdate = EventFields, false;
    /// Request body for creating a venue.
    VenueCreate = VenueFields, true;
    /// Request body for changing a venue.
    VenueUpdate = VenueFields, false;
    /// Request body for creating an organizer.
    OrganizerCreate = OrganizerFields, true;
    /// Request body for changing an organizer.
    OrganizerUpdate = OrganizerFields, false;
    /// Request body for creating a category.
    CategoryCreate = CategoryFields, true;
    /// Request body for changing a category.
    CategoryUpdate = CategoryFields, false;
    /// Request body for creating a tag.
    TagCreate = TagFields, true;
    /// Request body for changing a tag.
    TagUpdate = TagFields, false;
    /// Request body for subscribing to another calendar.
    SubscriptionCreate = SubscriptionFields, true;
    /// Request body for changing a subscription.
    SubscriptionUpdate = SubscriptionFields, false;
    /// Request body for releasing an event.
    SubscriptionRelease = ReleaseFields, true;
}
