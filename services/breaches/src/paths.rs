//! The paths of the API: read in any letter case, rewritten to the one that routes know.

/// Who may call the operation at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anybody, from any origin.
    Keyless,
    /// Callers with a key.
    Keyed,
    /// The documentation, which is no operation of the API.
    Documentation,
    /// Nobody: nothing is served there.
    Unknown,
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

/// Words of paths beside the names of operations; the empty one stands between two slashes.
const WORDS: [&str; 7] = ["", "api", "v3", "range", "status", "docs", "openapi.json"];

/// Finds the operation of a path, without a check of what its parameter says.
///
/// Literals are compared as they are sent: a percent-encoded letter in one makes another path. One
/// slash may follow where no parameter is expected.
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

/// The path of the documentation, without the slash that may follow that of the document.
fn documentation(path: &str) -> Option<&str> {
    match path {
        "/openapi.json" | "/openapi.json/" => Some("/openapi.json"),
        "/docs" => Some(path),
        _ => path.starts_with("/docs/").then_some(path),
    }
}

/// Who may call what is at a path.
pub fn access(path: &str) -> Access {
    match find(path) {
        Some(found) => found.access,
        None if documentation(path).is_some() => Access::Documentation,
        None => Access::Unknown,
    }
}

/// The path that routes know, where it differs.
///
/// Literals get their documented case, parameters keep their bytes. An empty parameter becomes a
/// blank, which every operation refuses by its own rule; a router has no empty parameters.
pub fn canonical(path: &str) -> Option<String> {
    let wanted = match find(path) {
        Some(Found { literal, parameter: Some(""), .. }) => format!("/api/v3/{literal}/%20"),
        Some(Found { literal, parameter: Some(parameter), .. }) => {
            format!("/api/v3/{literal}/{parameter}")
        }
        Some(Found { literal, parameter: None, .. }) => format!("/api/v3/{literal}"),
        None => documentation(path)?.to_owned(),
    };
    (wanted != path).then_some(wanted)
}

/// A path as the access log may show it: without addresses and hash prefixes. Of an unknown path
/// only the words that the API knows are shown.
pub fn redact(path: &str) -> String {
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
        None => path.split('/').map(known_word).collect::<Vec<_>>().join("/"),
    }
}

/// A segment of an unknown path, if it is a word of the API.
fn known_word(segment: &str) -> &'static str {
    let mut words = WORDS.into_iter().chain(OPERATIONS.map(|(literal, ..)| literal));
    words.find(|word| word.eq_ignore_ascii_case(segment)).unwrap_or("{hidden}")
}

/// A client may put an address anywhere; whatever could be one is not shown.
fn without_address(segment: &str) -> &str {
    if segment.contains(['@', '%']) { "{hidden}" } else { segment }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert_eq!(access("/API/V3/breaches"), Access::Keyless);
        assert_eq!(access("/api/v3/breachedaccount/range/x"), Access::Keyed);
        for path in ["/openapi.json", "/docs", "/docs/", "/docs/swagger-ui.css"] {
            assert_eq!(access(path), Access::Documentation, "{path}");
        }
    }

    #[test]
    fn neither_slashes_behind_parameters_nor_encoded_words_nor_empty_segments_are_known() {
        for path in [
            "/api/v3/breachedaccount/range/ABCDEF/",
            "/api/v3/%62reachedaccount/range/ABCDEF",
            "/api/v3/breachedaccount/%72ange/ABCDEF",
            "/api/v3/breachedaccount%2Frange/ABCDEF",
            "//api/v3/breachedaccount/range/ABCDEF",
            "/api//v3/breachedaccount/range/ABCDEF",
            "/api/v3/breachedAccount/x@T/",
            "/api/v3/breachedAccount//",
            "/api/v3/breach/Acmegram/",
            "/api/v3/breach/a/b",
            "/api/v3/%62reaches",
            "/api/v3/breaches//",
            "/api/v3/breaches/x",
            "/%6fpenapi.json",
            "/openapi.json//",
            "/",
            "*",
        ] {
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
