//! Every operation of the service in the order of the documentation, with what hangs on it: who may
//! call it, and which of its parameters the access log may show.

use std::sync::LazyLock;

use shell::{Operations, PathRules, Routes, TrailingSlash};

use crate::handlers::{accounts, breaches, domains, pastes, ranges, stealer_logs, subscription};
use crate::model::plan::Operation;
use crate::policy::Access::{self, Keyed, Keyless};

/// Which spellings of a path are the same. An empty parameter becomes a blank, which every operation
/// rejects by its own rule.
pub const PATHS: PathRules = PathRules {
    ignore_case: true,
    trailing_slash: TrailingSlash::OneDropped,
    empty_parameter: Some("%20"),
};

/// Adds the operations; those with most requests come first, since the router tries them in order.
pub fn register(routes: &mut Routes<'_>) {
    use Operation::*;
    routes.add(accounts::breached_account).attach(Keyed(BreachedAccount));
    routes.add(ranges::breached_account_range).attach(Keyed(BreachedAccountRange));
    routes.add(pastes::paste_account).attach(Keyed(PasteAccount));
    routes.add(domains::breached_domain).attach(Keyed(BreachedDomain)).show("domain");
    routes.add(domains::subscribed_domains).attach(Keyed(SubscribedDomains));
    routes.add(breaches::breaches).attach(Keyless);
    routes.add(breaches::breach).attach(Keyless).show("name");
    routes.add(breaches::latest_breach).attach(Keyless);
    routes.add(breaches::data_classes).attach(Keyless);
    routes.add(stealer_logs::stealer_logs_by_email).attach(Keyed(StealerLogsByEmail));
    routes
        .add(stealer_logs::stealer_logs_by_website_domain)
        .attach(Keyed(StealerLogsByWebsiteDomain))
        .show("domain");
    routes
        .add(stealer_logs::stealer_logs_by_email_domain)
        .attach(Keyed(StealerLogsByEmailDomain))
        .show("domain");
    routes.add(subscription::subscription_status).attach(Keyed(SubscriptionStatus));
}

static OPERATIONS: LazyLock<Operations> = LazyLock::new(|| Operations::of(register).with(PATHS));

/// Who may call what is at a path.
pub fn access(path: &str) -> Access {
    match OPERATIONS.find(path).and_then(|operation| operation.attached::<Access>()) {
        Some(access) => *access,
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
        OPERATIONS.redact(path)
    }

    #[test]
    fn literals_are_read_in_any_case_and_parameters_stay() {
        for (path, expected) in [
            ("/API/v3/BREACHEDACCOUNT/A%40b", "/api/v3/breachedAccount/A%40b"),
            ("/api/v3/breachedaccount/RANGE/ABCDEF", "/api/v3/breachedaccount/range/ABCDEF"),
            ("/api/v3/breachedaccount/range/", "/api/v3/breachedaccount/range/%20"),
            ("/api/v3/breachedaccount/range", "/api/v3/breachedAccount/range"),
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
        for path in ["/openapi.json", "/docs", "/docs/", "/docs/swagger-ui.css"] {
            assert_eq!(access(path), Access::Documentation, "{path}");
        }
    }

    // The paths that are near misses of routes stand in the shell's tests.
    #[test]
    fn what_is_not_registered_is_unknown() {
        for path in ["/api/v3/breaches/x", "/api/v3/breachedaccount/range/ABCDEF/", "/", "*"] {
            assert_eq!((access(path), canonical(path)), (Access::Unknown, None), "{path}");
        }
    }

    #[test]
    fn logs_show_neither_address_nor_prefix() {
        assert_eq!(
            redact("/api/v3/breachedaccount/a@b.example"),
            "/api/v3/breachedAccount/{email}"
        );
        assert_eq!(
            redact("/api/v3/breachedaccount/range/abcdef"),
            "/api/v3/breachedaccount/range/{prefix}"
        );
        assert_eq!(redact("/api/v3/breach/a%40b"), "/api/v3/breach/{hidden}");
        for (path, shown) in [
            ("/x/a@b.example/y", "/{hidden}/{hidden}/{hidden}"),
            ("/API/v3/breachedaccount/Range/abcdef/", "/api/v3/breachedAccount/range/{hidden}/"),
            ("/api/v3/%62reachedaccount/range/abcdef", "/api/v3/{hidden}/range/{hidden}"),
            ("//api/v3/breachedaccount/abcdef", "//api/v3/breachedAccount/{hidden}"),
            ("/openapi.json", "/openapi.json"),
            ("/docs/", "/docs/"),
        ] {
            assert_eq!(redact(path), shown);
        }
        assert_eq!(redact("/api/v3/breacheddomain/b.example"), "/api/v3/breachedDomain/b.example");
    }

    /// Segments that occur in requests for ranges, in any order; also doubled and encoded.
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
        fn no_path_of_a_range_request_shows_its_prefix(
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
