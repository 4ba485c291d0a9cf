//! Request parameters and responses, with the exact names used in JSON.

pub(crate) mod account;
pub(crate) mod alerts;
pub(crate) mod buckets;
mod choices;
pub(crate) mod crawls;
pub(crate) mod download;
mod error;
pub(crate) mod facets;
pub(crate) mod files;
mod lists;
mod rules;
pub(crate) mod stats;

pub use choices::BucketOrder;
pub use error::ParameterError;
pub use rules::RULES;
