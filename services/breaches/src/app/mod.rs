//! The use cases: who may do what, in which order, and what is read and written together.

mod accounts;
mod addresses;
mod admission;
mod breaches;
mod charge;
mod context;
mod domain_control;
mod domain_names;
mod domain_search;
mod keyed_request;
mod operator_error;
mod opt_outs;
mod session;
mod stealer_logs;
mod subscriptions;

pub use accounts::{breached_account, breached_range, pastes_of_account};
pub use addresses::held_data;
pub use breaches::{change_breach, listed_breaches};
pub use domain_control::{recount_domain, revoke_domain, verify_domain};
pub use domain_names::DomainNames;
pub use domain_search::{search_domain, subscribed_domains};
pub use keyed_request::KeyedRequest;
pub use operator_error::OperatorError;
pub use opt_outs::{opt_in, opt_out, remove_link};
pub use stealer_logs::{
    stealer_logs_by_email, stealer_logs_by_email_domain, stealer_logs_by_website_domain,
};
pub use subscriptions::{
    add_subscriber, end_subscription, set_subscription, subscriber_id, subscription_status,
};
