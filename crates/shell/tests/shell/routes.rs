//! The table of operations: canonical paths, redaction, documents.

use actix_web::{get, post, web};
use shell::{Operations, PathRules, Routes, TrailingSlash};

#[utoipa::path(operation_id = "account", responses((status = 200)))]
#[get("/api/v3/breachedAccount/{email}")]
async fn account() -> &'static str {
    "account"
}

#[utoipa::path(operation_id = "range", responses((status = 200)))]
#[get("/api/v3/breachedaccount/range/{prefix}")]
async fn range() -> &'static str {
    "range"
}

#[utoipa::path(operation_id = "breaches", responses((status = 200)))]
#[get("/api/v3/breaches")]
async fn breaches() -> &'static str {
    "breaches"
}

#[utoipa::path(operation_id = "breach", responses((status = 200)))]
#[get("/api/v3/breach/{name}")]
async fn breach() -> &'static str {
    "breach"
}

#[utoipa::path(operation_id = "status", responses((status = 200)))]
#[get("/api/v3/subscription/status")]
async fn status() -> &'static str {
    "status"
}

#[utoipa::path(operation_id = "by_slug", responses((status = 200)))]
#[get("/events/by-slug/{slug}")]
async fn by_slug() -> &'static str {
    "by_slug"
}

#[utoipa::path(operation_id = "event", responses((status = 200)))]
#[get("/events/{id}")]
async fn event() -> &'static str {
    "event"
}

#[utoipa::path(operation_id = "events", responses((status = 200)))]
#[get("/events")]
async fn events() -> &'static str {
    "events"
}

#[utoipa::path(operation_id = "create", responses((status = 200)))]
#[post("/events")]
async fn create() -> &'static str {
    "create"
}

fn keyed(routes: &mut Routes<'_>) {
    routes.add(account).attach(7u32);
    routes.add(range);
    routes.add(breaches);
    routes.add(breach);
    routes.add(status);
}

const ONE_DROPPED: PathRules = PathRules {
    ignore_case: true,
    trailing_slash: TrailingSlash::OneDropped,
    empty_parameter: Some("%20"),
};

fn lenient() -> Operations {
    Operations::of(keyed).with(ONE_DROPPED)
}

#[test]
fn literals_ignore_case_and_parameters_are_kept() {
    let operations = lenient();
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
        assert_eq!(operations.canonical(path).as_deref(), Some(expected), "{path}");
    }
    for path in ["/api/v3/breaches", "/docs/", "/docs", "/api/v3/breachedaccount", "/x/"] {
        assert_eq!(operations.canonical(path), None, "{path}");
    }
}

#[test]
fn other_spellings_are_not_found() {
    let operations = lenient();
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
        let known = operations.find(path).is_some() || operations.is_documentation(path);
        assert_eq!((known, operations.canonical(path)), (false, None), "{path}");
    }
}

#[test]
fn the_log_shows_only_patterns_and_known_words() {
    let operations = lenient();
    for (path, shown) in [
        ("/api/v3/breachedaccount/a@b.example", "/api/v3/breachedAccount/{email}"),
        ("/api/v3/breachedaccount/range/abcdef", "/api/v3/breachedaccount/range/{prefix}"),
        ("/api/v3/breach/a%40b", "/api/v3/breach/{name}"),
        ("/API/v3/breach/Acmegram", "/api/v3/breach/{name}"),
        ("/x/a@b.example/y", "/{hidden}/{hidden}/{hidden}"),
        ("/API/v3/breachedaccount/Range/abcdef/", "/api/v3/breachedAccount/range/{hidden}/"),
        ("/api/v3/%62reachedaccount/range/abcdef", "/api/v3/{hidden}/range/{hidden}"),
        ("//api/v3/breachedaccount/abcdef", "//api/v3/breachedAccount/{hidden}"),
        ("/openapi.json", "/openapi.json"),
        ("/docs/", "/docs/"),
    ] {
        assert_eq!(operations.redact(path), shown, "{path}");
    }
}

#[test]
fn the_log_shows_only_the_start_of_a_long_unknown_path() {
    let shown = lenient().redact(&"/a".repeat(20_000)).into_owned();
    assert_eq!(shown, "/{hidden}".repeat(31));
}

fn calendar(routes: &mut Routes<'_>) {
    routes.add(event);
    routes.add_frequent(events);
    routes.add(create);
    routes.add(by_slug);
    routes.page("/", web::get().to(async || "page"));
}

#[test]
fn all_trailing_slashes_may_be_dropped() {
    let rules = PathRules { ignore_case: true, ..PathRules::NO_TRAILING_SLASH };
    let operations = Operations::of(calendar).with(rules);
    for (path, expected) in [
        ("/EVENTS/By-Slug/Ab//", Some("/events/by-slug/Ab")),
        ("/events/7/", Some("/events/7")),
        ("/unknown//", Some("/unknown")),
        ("/DOCS/Index.html", Some("/docs/index.html")),
        ("/Docs", Some("/docs")),
        ("/docs/", None),
        ("/events", None),
        ("/", None),
        ("//", None),
    ] {
        assert_eq!(operations.canonical(path).as_deref(), expected, "{path}");
    }
    let exact = Operations::of(calendar).with(PathRules::NO_TRAILING_SLASH);
    assert_eq!(exact.canonical("/events/").as_deref(), Some("/events"));
    assert_eq!(exact.canonical("/EVENTS"), None);
    assert_eq!(exact.canonical("/docs/x/"), None);
    let kept = Operations::of(calendar).with(PathRules::EXACT);
    assert_eq!(kept.canonical("/events/"), None);
}

fn branches(routes: &mut Routes<'_>) {
    for path in ["/{a}/b/c", "/a/{b}/c", "/A/b/{c}", "/a/b", "/a/B"] {
        routes.page(path, web::get().to(async || "page"));
    }
}

#[test]
fn matching_backtracks_to_the_last_parameter() {
    let exact = Operations::of(branches);
    let lenient = exact.clone().with(ONE_DROPPED);
    for (path, exactly, in_any_case) in [
        ("/a/b/c", Some("/a/{b}/c"), Some("/A/b/{c}")),
        ("/A/b/c", Some("/A/b/{c}"), Some("/A/b/{c}")),
        ("/A/x/c", None, Some("/a/{b}/c")),
        ("/x/b/c", Some("/{a}/b/c"), Some("/{a}/b/c")),
        ("/a/B", Some("/a/B"), Some("/a/b")),
        ("/A/b", None, Some("/a/b")),
        ("/a/x/x", None, None),
        ("/a/b/", None, Some("/A/b/{c}")),
        ("/x//c", None, None),
        ("/a//c", None, Some("/a/{b}/c")),
    ] {
        let found = |operations: &Operations| {
            operations.find(path).map(|operation| operation.template().to_owned())
        };
        assert_eq!(
            (found(&exact).as_deref(), found(&lenient).as_deref()),
            (exactly, in_any_case),
            "{path}"
        );
    }
}

#[test]
fn literals_take_precedence_over_parameters() {
    let operations = Operations::of(calendar);
    let id = |path: &str| operations.find(path).and_then(|found| found.id()).map(str::to_owned);
    assert_eq!(id("/events/by-slug/x").as_deref(), Some("by_slug"));
    assert_eq!(id("/events/by-slug").as_deref(), Some("event"));
    assert_eq!(operations.iter().map(|it| it.template()).next(), Some("/events/{id}"));
    assert_eq!(lenient().find("/api/v3/breachedaccount/x").unwrap().attached(), Some(&7u32));
    assert_eq!(lenient().find("/api/v3/breaches").unwrap().attached::<u32>(), None);
}
