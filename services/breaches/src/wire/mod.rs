//! Requests and answers with their exact JSON names.

pub mod breach;
pub mod domain;
pub mod error;
pub mod paste;
pub mod range;
pub mod subscription;

pub use breach::{AccountBreach, Breach};
pub use domain::{Map, SubscribedDomain};
pub use error::ErrorBody;
pub use paste::Paste;
pub use range::{HashSuffix, RangeEntry};
pub use subscription::SubscriptionStatus;
