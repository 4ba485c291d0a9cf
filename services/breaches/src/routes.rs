//! Every path of the service, in the order of the documentation.

use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers::{accounts, breaches, domains, pastes, ranges, stealer_logs, subscription};

/// Registers the paths; those that are asked for most come first, since a router tries them in turn.
pub fn register(config: &mut ServiceConfig<'_>) {
    config
        .service(accounts::breached_account)
        .service(ranges::breached_account_range)
        .service(pastes::paste_account)
        .service(domains::breached_domain)
        .service(domains::subscribed_domains)
        .service(breaches::breaches)
        .service(breaches::breach)
        .service(breaches::latest_breach)
        .service(breaches::data_classes)
        .service(stealer_logs::stealer_logs_by_email)
        .service(stealer_logs::stealer_logs_by_website_domain)
        .service(stealer_logs::stealer_logs_by_email_domain)
        .service(subscription::subscription_status);
}
