//! The parameters of every operation: one struct documents and reads them.

mod declared;
mod lists;
mod reads;
mod schemas;
mod writes;

pub use declared::Declared;
pub use lists::{
    CategoryListParameters, EventListParameters, LinkedListParameters, TagListParameters,
};
pub use reads::{EventDeleteParameters, EventReadParameters, IndexParameters, ItemParameters};
pub use writes::{CategoryFields, EventFields, OrganizerFields, TagFields, VenueFields};
