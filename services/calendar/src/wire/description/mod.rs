//! Describes declared parameters for the index, OPTIONS responses and the OpenAPI document.

mod bodies;
mod index;
mod interface;
mod schemas;

pub use bodies::{
    CategoryCreate, CategoryUpdate, EventCreate, EventUpdate, OrganizerCreate, OrganizerUpdate,
    SubscriptionCreate, SubscriptionRelease, SubscriptionUpdate, TagCreate, TagUpdate, VenueCreate,
    VenueUpdate,
};
pub use index::{Site, index, route};
pub use interface::{Takes, below_namespace, route_of};
pub use schemas::publish_query;
