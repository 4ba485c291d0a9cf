//! The paths of the API: read in any letter case, rewritten to the one that routes know.

/// Who may call the operation at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody, from any origin.
    Keyless,
    /// Holders of a key.
    Keyed,
    /// No operation of the API: documentation, unknown paths.
    Other,
}

/// An operation's path behind the base: its literal, whether a parameter follows, who may call.
const OPERATIONS: [(&str, bool, Access); 12] = [
    ("breachedAccount", true, Access::Keyed),
    ("breachedDomain", true, Access::Keyed),
    ("subscribedDomains", false, Access::Keyed),
    ("breaches", false, Access::Keyless),
    ("breach", true, Access::Keyless),
    ("latestBreach", false, Access::Keyless),
    ("dataClasses", false, Access::Keyless),
    ("stealerLogsByEmail", true, Access::Keyed),
    ("stealerLogsByWebsiteDomain", true, Access::Keyed),
    ("stealerLogsByEmailDomain", true, Access::Keyed),
    ("pasteAccount", true, Access::Keyed),
    ("subscription", true, Access::Keyed),
];

/// A path that was recognised.
struct Found<'p> {
    literal: &'static str,
    parameter: Option<&'p str>,
    access: Access,
}

/// Finds the operation of a path, without a check of what its parameter says.
fn find(path: &str) -> Option<Found<'_>> {
    let mut parts = path.strip_prefix('/')?.split('/');
    let base = ["api", "v3"];
    if !base.iter().all(|word| parts.next().is_some_and(|part| part.eq_ignore_ascii_case(word))) {
        return None;
    }
    let first = parts.next()?;
    let (literal, takes, access) =
        OPERATIONS.into_iter().find(|(literal, ..)| literal.eq_ignore_ascii_case(first))?;
    let (second, third, rest) = (parts.next(), parts.next(), parts.next());
    let found = |literal, parameter| Some(Found { literal, parameter, access });
    match (literal, takes, second, third, rest) {
        ("breachedAccount", _, Some(range), Some(prefix), None)
            if range.eq_ignore_ascii_case("range") =>
        {
            found("breachedaccount/range", Some(prefix))
        }
        ("subscription", _, Some(status), None | Some(""), None)
            if status.eq_ignore_ascii_case("status") =>
        {
            found("subscription/status", None)
        }
        ("subscription", ..) => None,
        (_, true, Some(parameter), None, None) => found(literal, Some(parameter)),
        (_, false, None | Some(""), None, None) => found(literal, None),
        _ => None,
    }
}

/// Who may call the operation at a path.
pub fn access(path: &str) -> Access {
    find(path).map_or(Access::Other, |found| found.access)
}

/// The path that routes know, where it differs.
///
/// Literals get their documented case, parameters keep their bytes. An empty parameter becomes a
/// blank, which every operation refuses by its own rule; a router has no empty parameters.
pub fn canonical(path: &str) -> Option<String> {
    let Some(Found { literal, parameter, .. }) = find(path) else {
        return web::Shell::trim_trailing_slash(path);
    };
    let wanted = match parameter {
        Some("") => format!("/api/v3/{literal}/%20"),
        Some(parameter) => format!("/api/v3/{literal}/{parameter}"),
        None => format!("/api/v3/{literal}"),
    };
    (wanted != path).then_some(wanted)
}

/// A path as the access log may show it: without addresses and hash prefixes.
pub fn loggable(path: &str) -> String {
    match find(path) {
        Some(Found { literal: "breachedaccount/range", .. }) => {
            "/api/v3/breachedaccount/range/{prefix}".to_owned()
        }
        Some(Found { literal, parameter: Some(_), .. })
            if matches!(literal, "breachedAccount" | "pasteAccount" | "stealerLogsByEmail") =>
        {
            format!("/api/v3/{literal}/{{email}}")
        }
        Some(Found { literal, parameter: Some(parameter), .. }) => {
            format!("/api/v3/{literal}/{}", without_address(parameter))
        }
        Some(Found { literal, parameter: None, .. }) => format!("/api/v3/{literal}"),
        None => path.split('/').map(without_address).collect::<Vec<_>>().join("/"),
    }
}

/// A client may put an address anywhere; whatever could be one is not shown.
fn without_address(segment: &str) -> &str {
    if segment.contains(['@', '%']) { "{hidden}" } else { segment }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(canonical(path).as_deref(), Some(expected), "{path}");
        }
        for path in ["/api/v3/breaches", "/docs/", "/api/v3/breachedaccount", "/api/v3/breach/a/b"]
        {
            assert_eq!(canonical(path), None, "{path}");
        }
    }

    #[test]
    fn access_follows_the_operation() {
        assert_eq!(access("/API/V3/breaches"), Access::Keyless);
        assert_eq!(access("/api/v3/breachedaccount/range/x"), Access::Keyed);
        assert_eq!(access("/openapi.json"), Access::Other);
    }

    #[test]
    fn logs_show_neither_address_nor_prefix() {
        assert_eq!(
            loggable("/api/v3/breachedaccount/a@b.example"),
            "/api/v3/breachedAccount/{email}"
        );
        assert_eq!(
            loggable("/api/v3/breachedaccount/range/abcdef"),
            "/api/v3/breachedaccount/range/{prefix}"
        );
        assert_eq!(loggable("/api/v3/breach/a%40b"), "/api/v3/breach/{hidden}");
        assert_eq!(loggable("/x/a@b.example/y"), "/x/{hidden}/y");
        assert_eq!(
            loggable("/api/v3/breacheddomain/b.example"),
            "/api/v3/breachedDomain/b.example"
        );
    }
}
