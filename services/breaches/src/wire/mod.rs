//! Query parameters, request bodies and response bodies with their exact JSON names.

mod body;
mod breach;
mod bulk_check;
mod catalogue_answers;
mod domain;
mod error;
mod paste;
mod queries;
mod range;
mod report;
mod subscription;
mod verification;
mod webhook;

pub use body::Body;
pub use breach::{AccountBreach, Breach};
pub use bulk_check::{AccountsRequest, CheckedAccount};
pub use catalogue_answers::CatalogueAnswers;
pub use domain::{NamesByAlias, SubscribedDomain};
pub use error::{ErrorBody, MessageBody};
pub use paste::Paste;
pub use queries::{BreachedAccountQuery, BreachesQuery, ReportQuery};
pub use range::{HashSuffix, RangeEntry, RangesRequest};
pub use report::{ExposureReport, ReportTotals, ReportedAddress, ReportedBreach, ReportedClass};
pub use subscription::SubscriptionStatus;
pub use verification::{DnsToken, DomainRequest, MailRequest};
pub use webhook::WebhookEvent;
