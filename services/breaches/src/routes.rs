//! All routes in documentation order, each with the callers that may use it.

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

/// Turns an error into an error page if the request was for a page, or came from a browser and
/// didn't match any route.
pub fn explain(response: ServiceResponse) -> ServiceResponse {
    pages::explain(response)
}

/// How paths are normalized. An empty parameter becomes a space, which every operation rejects.
pub const PATHS: PathRules = PathRules {
    ignore_case: true,
    trailing_slash: TrailingSlash::OneDropped,
    empty_parameter: Some("%20"),
};

/// Registers the operations. The router tries them in order, so the busiest come first.
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
    let (get, post) = (web::get, web::post);
    for (path, route) in [
        ("/", get().to(home::home)),
        ("/search", post().to(home::search)),
        ("/breaches", get().to(catalogue::catalogue)),
        ("/breaches/{name}", get().to(catalogue::breach_page)),
        ("/feed.xml", get().to(catalogue::feed)),
        ("/sign-in", get().to(sign_in::form)),
        ("/sign-in", post().to(sign_in::send)),
        ("/sign-in/confirm", get().to(sign_in::confirm_form)),
        ("/sign-in/confirm", post().to(sign_in::confirm)),
        ("/sign-out", post().to(sign_in::sign_out)),
        ("/notify-me", get().to(notices::form)),
        ("/notify-me", post().to(notices::send)),
        ("/notify-me/confirm", get().to(notices::confirm_form)),
        ("/notify-me/confirm", post().to(notices::confirm)),
        ("/unsubscribe", get().to(notices::unsubscribe_form)),
        ("/unsubscribe", post().to(notices::unsubscribe)),
        ("/opt-out", get().to(opt_out::form)),
        ("/opt-out", post().to(opt_out::send)),
        ("/opt-out/choose", get().to(opt_out::choose_form)),
        ("/opt-out/choose", post().to(opt_out::choose)),
        ("/domainVerification/approve", get().to(approval::form)),
        ("/domainVerification/approve", post().to(approval::approve)),
        ("/account", get().to(account::overview)),
        ("/account/stealer-logs", get().to(account::stealer_logs)),
        ("/account/notifications", get().to(account::notifications)),
        ("/account/notifications", post().to(account::set_notifications)),
        ("/account/subscription", get().to(account::subscription)),
        ("/account/key", get().to(key::show)),
        ("/account/key", post().to(key::issue)),
        ("/account/webhooks", get().to(webhooks::list)),
        ("/account/webhooks", post().to(webhooks::add)),
        ("/account/webhooks/remove", post().to(webhooks::remove)),
        ("/account/domains", get().to(domains::list)),
        ("/account/domains", post().to(domains::add)),
        ("/account/domains/{domain}", get().to(domain_search::show)),
        ("/account/domains/{domain}/verify", post().to(domains::verify)),
        ("/account/domains/{domain}/remove", get().to(domains::remove_form)),
        ("/account/domains/{domain}/remove", post().to(domains::remove)),
        ("/account/domains/{domain}/export/{format}", get().to(domain_search::export)),
        ("/account/domains/{domain}/report", get().to(domain_report::show)),
        ("/account/domains/{domain}/report", post().to(domain_report::set_monthly)),
        ("/account/domains/{domain}/report/{format}", get().to(domain_report::export)),
    ] {
        routes.page(path, route);
    }
    routes.assets(&SITE);
}

static OPERATIONS: LazyLock<Operations> = LazyLock::new(|| Operations::of(register).with(PATHS));

/// Returns `true` if this could be a one-click unsubscribe from an email client (RFC 8058).
pub fn is_one_click(method: &Method, path: &str) -> bool {
    method == Method::POST && path.trim_end_matches('/').eq_ignore_ascii_case("/unsubscribe")
}

/// Looks up who may call a path.
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

    /// Generates path segments for range requests in any order, including repeated and encoded ones.
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
