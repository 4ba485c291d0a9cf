//! Use cases, which determine permissions, the order of checks, and transactions.

mod accounts;
mod addresses;
mod admission;
mod breaches;
mod bulk_check;
mod captured;
mod charge;
mod context;
mod delivery;
mod domain_access;
mod domain_control;
mod domain_count;
mod domain_evidence;
mod domain_mail;
mod domain_names;
mod domain_report;
mod domain_search;
mod domain_verification;
mod exposure;
mod exposure_report;
mod keyed_request;
mod letter;
mod mail_limits;
mod mail_links;
mod mails;
mod monthly_reports;
mod notice_settings;
mod notices;
mod operator_error;
mod opt_outs;
mod own_domains;
mod own_key;
mod own_webhooks;
mod report_files;
mod secret_token;
mod sign_in;
mod stealer_logs;
mod subscriber_plan;
mod subscriptions;

pub use accounts::{breached_account, breached_range, breached_ranges, pastes_of_account};
pub use addresses::held_data;
pub use breaches::{
    CatalogueSummary, change_breach, find_breaches, listed_breach, listed_breaches, summary,
};
pub use bulk_check::breached_accounts;
pub use context::RequestContext;
pub use delivery::Delivery;
pub use domain_control::{
    add_subdomains, count_now, note_count, note_size, outgrown_domains, recount_domain,
    revoke_domain, verify_domain,
};
pub use domain_count::count as count_domain;
pub use domain_mail::{Approval, approval, approve};
pub use domain_names::{DomainNames, Pieces};
pub use domain_report::{DomainReport, ReportFilter, domain_export, domain_report};
pub use domain_search::{search_domain, subscribed_domains};
pub use domain_verification::{generate_dns_token, send_email, verify_dns_token};
pub use exposure::{Exposure, own_exposure, public_exposure};
pub use exposure_report::{
    ExposureReport, operator_report, report_page, report_rows, reported_domain,
};
pub use keyed_request::KeyedRequest;
pub use mail_limits::prune as prune_mail_counts;
pub use monthly_reports::{
    change_monthly_report, has_monthly_report, monthly_notice, post_monthly_report,
    set_monthly_report,
};
pub use notice_settings::{
    Unsubscribed, ask_for_notices, confirm_notices, notifies, resume_domain, set_notify,
    silent_domains, unsubscribe, wants_notices,
};
pub use notices::{post_domain_notices, post_listener_notices, post_paste_notices};
pub use operator_error::OperatorError;
pub use opt_outs::{ask_for_opt_out, choose_opt_out, opt_in, opt_out, opt_out_link, remove_link};
pub use own_domains::{
    Captured, DomainDetail, OwnDomain, add_domain, domain_detail, domains, remove_domain,
    send_domain_mail, verify_domain_by,
};
pub use own_key::{OwnKey, issue_key, key_of};
pub use own_webhooks::{OwnWebhook, add_webhook, remove_webhook, webhooks};
pub use report_files::{ReportCsv, ReportJson};
pub use secret_token::visitor_secret;
pub use sign_in::{sign_in, sign_in_link, sign_out, signed_in};
pub use stealer_logs::{
    stealer_logs_by_email, stealer_logs_by_email_domain, stealer_logs_by_website_domain,
};
pub use subscriber_plan::{OwnPlan, own_plan};
pub use subscriptions::{
    add_subscriber, end_subscription, set_subscription, subscriber_id, subscription_status,
};
