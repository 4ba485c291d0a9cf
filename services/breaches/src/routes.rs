//! All routes, in documentation order, with their access rules.

use std::sync::LazyLock;

use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::web;
use shell::{Operations, PathRules, Routes, TrailingSlash};

use crate::handlers::{
    accounts, breaches, bulk_check, domain_verification, domains, pages, pastes, ranges,
    stealer_logs, subscription,
};
use crate::model::plan::Operation;
use crate::pages::SITE;
use crate::policy::Access::{self, Keyed, Keyless};

/// Turns an error into an error page if a page was requested, or if the request came from a browser
/// and didn't match any route.
pub fn explain(response: ServiceResponse) -> ServiceResponse {
    pages::explain(response)
}

/// Rules for normalizing paths. An empty parameter becomes a space, which every operation rejects.
pub const PATHS: PathRules = PathRules {
    ignore_case: true,
    trailing_slash: TrailingSlash::OneDropped,
    empty_parameter: Some("%20"),
};

/// Registers the operations. The router tries them in order, so the busiest ones come first.
pub fn register(routes: &mut Routes<'_>) {
    use Operation::*;
    routes.add(accounts::breached_account).attach(Keyed(BreachedAccount));
    routes.add(bulk_check::breached_accounts).attach(Keyed(BreachedAccounts));
    routes.add(ranges::breached_account_range).attach(Keyed(BreachedAccountRange));
    routes.add(ranges::breached_account_ranges).attach(Keyed(BreachedAccountRanges));
    routes.add(pastes::paste_account).attach(Keyed(PasteAccount));
    routes.add(domain_verification::generate_dns_token).attach(Keyed(GenerateDnsToken));
    routes.add(domain_verification::verify_dns_token).attach(Keyed(VerifyDnsToken));
    routes.add(domain_verification::send_email).attach(Keyed(SendEmail));
    routes.add(domains::breached_domain).attach(Keyed(BreachedDomain));
    routes.add(domains::domain_report).attach(Keyed(DomainReport));
    routes.add(domains::subscribed_domains).attach(Keyed(SubscribedDomains));
    routes.add_frequent(breaches::breaches).attach(Keyless);
    routes.add(breaches::breach).attach(Keyless);
    routes.add(breaches::latest_breach).attach(Keyless);
    routes.add(breaches::data_classes).attach(Keyless);
    routes.add(stealer_logs::stealer_logs_by_email).attach(Keyed(StealerLogsByEmail));
    routes
        .add(stealer_logs::stealer_logs_by_website_domain)
        .attach(Keyed(StealerLogsByWebsiteDomain));
    routes.add(stealer_logs::stealer_logs_by_email_domain).attach(Keyed(StealerLogsByEmailDomain));
    routes.add(subscription::subscription_status).attach(Keyed(SubscriptionStatus));
    add_pages(routes);
}

/// Registers the web pages, which aren't part of the OpenAPI document.
fn add_pages(routes: &mut Routes<'_>) {
    use pages::{
        account, approval, catalogue, domain_report, domain_search, domains, home, key, notices,
        opt_out, sign_in, webhooks,
    };
    for (path, method, route) in [
        ("/", Method::GET, web::to(home::home)),
        ("/search", Method::POST, web::to(home::search)),
        ("/breaches", Method::GET, web::to(catalogue::catalogue)),
        ("/breaches/{name}", Method::GET, web::to(catalogue::breach_page)),
        ("/feed.xml", Method::GET, web::to(catalogue::feed)),
        ("/sign-in", Method::GET, web::to(sign_in::form)),
        ("/sign-in", Method::POST, web::to(sign_in::send)),
        ("/sign-in/confirm", Method::GET, web::to(sign_in::confirm_form)),
        ("/sign-in/confirm", Method::POST, web::to(sign_in::confirm)),
        ("/sign-out", Method::POST, web::to(sign_in::sign_out)),
        ("/notify-me", Method::GET, web::to(notices::form)),
        ("/notify-me", Method::POST, web::to(notices::send)),
        ("/notify-me/confirm", Method::GET, web::to(notices::confirm_form)),
        ("/notify-me/confirm", Method::POST, web::to(notices::confirm)),
        ("/unsubscribe", Method::GET, web::to(notices::unsubscribe_form)),
        ("/unsubscribe", Method::POST, web::to(notices::unsubscribe)),
        ("/opt-out", Method::GET, web::to(opt_out::form)),
        ("/opt-out", Method::POST, web::to(opt_out::send)),
        ("/opt-out/choose", Method::GET, web::to(opt_out::choose_form)),
        ("/opt-out/choose", Method::POST, web::to(opt_out::choose)),
        ("/domainVerification/approve", Method::GET, web::to(approval::form)),
        ("/domainVerification/approve", Method::POST, web::to(approval::approve)),
        ("/account", Method::GET, web::to(account::overview)),
        ("/account/stealer-logs", Method::GET, web::to(account::stealer_logs)),
        ("/account/notifications", Method::GET, web::to(account::notifications)),
        ("/account/notifications", Method::POST, web::to(account::set_notifications)),
        ("/account/subscription", Method::GET, web::to(account::subscription)),
        ("/account/key", Method::GET, web::to(key::show)),
        ("/account/key", Method::POST, web::to(key::issue)),
        ("/account/webhooks", Method::GET, web::to(webhooks::list)),
        ("/account/webhooks", Method::POST, web::to(webhooks::add)),
        ("/account/webhooks/remove", Method::POST, web::to(webhooks::remove)),
        ("/account/domains", Method::GET, web::to(domains::list)),
        ("/account/domains", Method::POST, web::to(domains::add)),
        ("/account/domains/{domain}", Method::GET, web::to(domain_search::show)),
        ("/account/domains/{domain}/verify", Method::POST, web::to(domains::verify)),
        ("/account/domains/{domain}/remove", Method::GET, web::to(domains::remove_form)),
        ("/account/domains/{domain}/remove", Method::POST, web::to(domains::remove)),
        ("/account/domains/{domain}/export/{format}", Method::GET, web::to(domain_search::export)),
        ("/account/domains/{domain}/report", Method::GET, web::to(domain_report::show)),
        ("/account/domains/{domain}/report", Method::POST, web::to(domain_report::set_monthly)),
        ("/account/domains/{domain}/report/{format}", Method::GET, web::to(domain_report::export)),
    ] {
        routes.page(path, route.method(method.clone())).serves(method);
    }
    routes.assets(&SITE);
}

static OPERATIONS: LazyLock<Operations> = LazyLock::new(|| Operations::of(register).with(PATHS));

/// Returns `true` if this could be a one-click unsubscribe from an email client (RFC 8058).
pub fn is_one_click(method: &Method, path: &str) -> bool {
    method == Method::POST && path.trim_end_matches('/').eq_ignore_ascii_case("/unsubscribe")
}

/// Looks up which callers are allowed to access a path.
pub fn access(path: &str) -> Access {
    match OPERATIONS.find(path) {
        Some(operation) => operation.attached().copied().unwrap_or(Access::Page),
        None if OPERATIONS.is_documentation(path) => Access::Documentation,
        None => Access::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(path: &str) -> Option<String> {
        OPERATIONS.canonical(path)
    }

    fn redact(path: &str) -> String {
        OPERATIONS.redact(path).into_owned()
    }

    #[test]
    fn fixed_segments_are_normalised_and_parameters_kept() {
        for (path, expected) in [
            ("/api/v3/BREACHEDDOMAIN/B.example", "/api/v3/breachedDomain/B.example"),
            ("/api/v3/breachedaccount/", "/api/v3/breachedAccount/%20"),
            ("/api/v3/Breaches/", "/api/v3/breaches"),
            ("/api/v3/SUBSCRIPTION/Status/", "/api/v3/subscription/status"),
            ("/openapi.json/", "/openapi.json"),
        ] {
            assert_eq!(canonical(path).as_deref(), Some(expected), "{path}");
        }
        for path in ["/api/v3/breaches", "/docs/", "/docs", "/api/v3/breachedaccount", "/x/"] {
            assert_eq!(canonical(path), None, "{path}");
        }
    }

    #[test]
    fn access_follows_the_operation() {
        assert_eq!(access("/API/V3/breaches"), Keyless);
        assert_eq!(
            access("/api/v3/breachedaccount/range/x"),
            Keyed(Operation::BreachedAccountRange)
        );
        for path in ["/", "/Sign-In", "/account/domains/x.example/remove"] {
            assert_eq!(access(path), Access::Page, "{path}");
        }
        for path in ["/openapi.json", "/docs", "/docs/", "/docs/swagger-ui.css"] {
            assert_eq!(access(path), Access::Documentation, "{path}");
        }
    }

    // Near misses of route paths are tested in the shell.
    #[test]
    fn unregistered_path_is_unknown() {
        for path in ["/api/v3/breaches/x", "/api/v3/breachedaccount/range/ABCDEF/", "*"] {
            assert_eq!((access(path), canonical(path)), (Access::Unknown, None), "{path}");
        }
    }

    #[test]
    fn logged_paths_contain_no_address_prefix_or_domain() {
        assert_eq!(
            redact("/api/v3/breachedaccount/a@b.example"),
            "/api/v3/breachedAccount/{email}"
        );
        assert_eq!(
            redact("/api/v3/breachedaccount/range/abcdef"),
            "/api/v3/breachedaccount/range/{prefix}"
        );
        assert_eq!(redact("/api/v3/breach/a%40b"), "/api/v3/breach/{name}");
        for (path, shown) in [
            ("/x/a@b.example/y", "/{hidden}/{hidden}/{hidden}"),
            ("/API/v3/breacheddomain/b.example/", "/api/v3/breachedDomain/{hidden}/"),
            ("/api/v3/breacheddomain/b.example", "/api/v3/breachedDomain/{domain}"),
            (
                "/api/v3/stealerLogsByWebsiteDomain/b.example",
                "/api/v3/stealerLogsByWebsiteDomain/{domain}",
            ),
            (
                "/api/v3/stealerLogsByEmailDomain/b.example",
                "/api/v3/stealerLogsByEmailDomain/{domain}",
            ),
        ] {
            assert_eq!(redact(path), shown);
        }
        assert_eq!(redact("/account/domains/b.example"), "/account/domains/{domain}");
    }

    /// Generates path segments for range requests in any form, including repeated and encoded ones.
    fn segment() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("range".to_owned()),
            "(?i)range|api|v3|breach|breaches|breached(account|domain)",
            "[0-9a-fA-F]{6,40}",
            "%[0-9A-F]{2}[0-9a-f]{6}",
            "[ -.0-~]{0,8}",
        ]
    }

    proptest! {
        #[test]
        fn logged_path_of_a_range_request_contains_no_prefix(
            lead in prop_oneof![Just("/api/v3/breachedaccount"), Just("/api/v3"), Just("")],
            before in proptest::collection::vec(segment(), 0..3),
            prefix in "[0-9a-fA-F]{6,40}",
            after in proptest::collection::vec(segment(), 0..3),
        ) {
            let segments = [before, vec!["range".to_owned(), prefix], after].concat();
            let shown = redact(&format!("{lead}/{}", segments.join("/")));
            let longest = shown.split(|c: char| !c.is_ascii_hexdigit()).map(str::len).max();
            prop_assert!(longest < Some(6), "{shown}");
        }
    }
}
