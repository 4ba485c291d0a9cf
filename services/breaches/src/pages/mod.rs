//! View models and templates for the web pages, which work without scripts.

mod account;
mod breach;
mod domain_table;
mod domains;
mod exposure;
mod forms;
mod frame;
mod messages;
mod report;
mod site;

pub use account::{KeyPage, NotificationsPage, SubscriptionPage, WebhooksPage};
pub use breach::{BreachPage, BreachView, CataloguePage, Feed, HomePage, views};
pub use domain_table::DomainTable;
pub use domains::{DomainPage, DomainsPage, Outcome, RemovePage, VerifyPage};
pub use exposure::{ExposedPage, OverviewPage, StealerLogsPage};
pub use forms::{ApprovePage, ChoosePage, NotifyMePage, OptOutPage, SignInPage};
pub use frame::Frame;
pub use messages::{Confirm, DEAD_LINK, FailurePage, Message, done, mail_sent};
pub use report::ReportPage;
pub use site::SITE;
