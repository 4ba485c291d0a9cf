//! Request parameters and answers with their exact names.

pub mod account;
pub mod buckets;
mod choices;
mod error;
pub mod files;
mod lists;
mod rules;
pub mod stats;

pub use choices::BucketOrder;
pub use error::ParameterError;
pub use rules::RULES;
