//! Query parameters and bodies of answers with their exact JSON names.

mod breach;
mod catalogue_answers;
mod domain;
mod error;
mod paste;
mod queries;
mod range;
mod subscription;

pub use breach::{AccountBreach, Breach};
pub use catalogue_answers::CatalogueAnswers;
pub use domain::{NamesByAlias, SubscribedDomain};
pub use error::ErrorBody;
pub use paste::Paste;
pub use queries::{BreachedAccountQuery, BreachesQuery};
pub use range::{HashSuffix, RangeEntry};
pub use subscription::SubscriptionStatus;
