//! Request bodies in the OpenAPI document.

use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{RefOr, Required};
use utoipa::{PartialSchema, ToSchema};

use super::schemas::{published, taken};
use crate::wire::parameters::{
    CategoryFields, Declared, EventFields, OrganizerFields, ReleaseFields, SubscriptionFields,
    TagFields, VenueFields,
};

/// Builds the schema of a body from the fields of a write.
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

/// Names the body of a write. Its required fields are those of a create.
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
    /// Body of creating an event.
    EventCreate = EventFields, true;
    /// Body of changing an event.
    EventUpdate = EventFields, false;
    /// Body of creating a venue.
    VenueCreate = VenueFields, true;
    /// Body of changing a venue.
    VenueUpdate = VenueFields, false;
    /// Body of creating an organizer.
    OrganizerCreate = OrganizerFields, true;
    /// Body of changing an organizer.
    OrganizerUpdate = OrganizerFields, false;
    /// Body of creating a category.
    CategoryCreate = CategoryFields, true;
    /// Body of changing a category.
    CategoryUpdate = CategoryFields, false;
    /// Body of creating a tag.
    TagCreate = TagFields, true;
    /// Body of changing a tag.
    TagUpdate = TagFields, false;
    /// Body of subscribing to another calendar.
    SubscriptionCreate = SubscriptionFields, true;
    /// Body of changing a subscription.
    SubscriptionUpdate = SubscriptionFields, false;
    /// Body of releasing an event.
    SubscriptionRelease = ReleaseFields, true;
}
