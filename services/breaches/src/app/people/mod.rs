//! What people do on the pages: sign in, look at their own exposure, manage domains and notices.

mod catalogue_pages;
mod domain_pages;
mod domain_report;
mod domain_table;
mod exposure;
mod keys;
mod mail_links;
mod notices;
mod opt_outs;
mod plan_view;
mod sign_in;
mod webhooks;

pub use catalogue_pages::{BreachView, CatalogueSummary, breach_page, catalogue_page, summary};
pub use domain_pages::{
    DomainDetail, DomainRow, add_domain, domain_detail, domains, remove_domain, send_domain_mail,
    verify_domain_by,
};
pub use domain_report::{DomainReport, ReportFilter, domain_export, domain_report};
pub use domain_table::DomainTable;
pub use exposure::{Exposure, own_exposure, public_exposure};
pub use keys::{KeyView, issue_key, key_of};
pub use mail_links::{Purpose, store_unsubscribe};
pub use notices::{
    ask_for_notices, confirm_notices, notifies, set_notify, unsubscribe, wants_notices,
};
pub use opt_outs::{ask_for_opt_out, choose_opt_out, opt_out_link};
pub use plan_view::{PlanView, plan_view};
pub use sign_in::{sign_in, sign_in_link, sign_out, signed_in};
pub use webhooks::{WebhookView, add_webhook, remove_webhook, webhooks};
