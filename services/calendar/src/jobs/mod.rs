//! Work beside requests: first start, due publications, loading.

mod first_start;
mod load;
mod publish;

pub use first_start::seed;
pub use load::{Loaded, load};
pub use publish::publish_due;
