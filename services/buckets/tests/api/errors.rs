use std::fmt::Write;
use std::time::Duration;

use buckets::Settings;
use rstest::rstest;
use serde_json::{Value, json};
use testkit::until;

use crate::app::{App, Fixture, line};

async fn error(app: &App, path: &str) -> (u16, Value) {
    let (status, body) = app.get(path).await;
    assert!(body["error"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
    (status, body)
}

#[rstest]
#[case("limit=0", "limit", "limit must be between 1 and 1000")]
#[case("limit=1001", "limit", "limit must be between 1 and 1000")]
#[case("limit=ten", "limit", "limit must be a whole number of 1 to 18 digits")]
#[case("start=-1", "start", "start must be a whole number of 1 to 18 digits")]
#[case("regexp=yes", "regexp", "regexp must be 1, true, 0 or false")]
#[case("regexp=1", "keywords", "keywords must contain the expression if regexp is set")]
#[case("order=name", "order", "order must be size or last_modified")]
#[case("direction=up", "direction", "direction must be asc or desc")]
#[case("types=aws,ftp", "types", "types must be of aws, azure, dos, gcp, ali")]
#[case(
    "extensions=a.b.c.d",
    "extensions",
    "extensions must have at most 3 parts and 32 bytes each"
)]
#[case("paging-mode=pages", "paging-mode", "paging-mode must be offset or scrolling")]
#[case("scroll-id=AAAA", "scroll-id", "scroll-id needs paging-mode=scrolling")]
#[case("paging-mode=scrolling&scroll-id=AAAA", "scroll-id", "scroll-id is not valid")]
#[case("keywords=%FF", "keywords", "keywords: the value is not UTF-8 text")]
#[case("size-from=1e3", "size-from", "size-from must be a whole number of 1 to 18 digits")]
#[actix_web::test]
async fn bad_parameters_are_400(#[case] query: &str, #[case] name: &str, #[case] text: &str) {
    let app = Fixture::new().serve("enterprise").await;
    let (status, body) = error(&app, &format!("/api/v2/files?{query}")).await;
    assert_eq!(status, 400);
    assert_eq!(body, json!({"error": text, "code": "invalid_parameter", "parameter": name}));
}

#[rstest]
#[case("/api/v2/stats")]
#[case("/api/account")]
#[case("/api/v2/alerts")]
#[case("/api/v2/alerts/1")]
#[case("/api/v2/crawls")]
#[case("/api/v2/crawls/1")]
#[case("/api/v2/buckets")]
#[actix_web::test]
async fn query_that_is_not_utf8_is_400(#[case] path: &str) {
    let app = Fixture::new().serve("enterprise").await;
    let (status, body) = error(&app, &format!("{path}?x=%FF")).await;
    let text = "x: the value is not UTF-8 text";
    let expected = json!({"error": text, "code": "invalid_parameter", "parameter": "x"});
    assert_eq!((status, body), (400, expected));
}

#[actix_web::test]
async fn too_long_body_is_413() {
    let app = Fixture::new().serve("enterprise").await;
    for path in ["/api/v2/alerts", "/api/v2/crawls"] {
        let body = json!({"name": "a".repeat(1 << 20)});
        let (status, body) = app.send(reqwest::Method::POST, path, &app.key, body).await;
        assert_eq!((status, &body["code"]), (413, &json!("invalid_parameter")), "{path}");
    }
}

#[actix_web::test]
async fn too_many_or_too_long_values_are_400() {
    let app = Fixture::new().serve("enterprise").await;
    let many = |n: u32| (0..n).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    for (query, parameter) in [
        (format!("keywords={}", "a".repeat(1_001)), "keywords"),
        (format!("keywords={}", "a+".repeat(33)), "keywords"),
        (format!("buckets={}", many(501)), "buckets"),
        (format!("extensions={}", many(101)), "extensions"),
    ] {
        let (status, body) = error(&app, &format!("/api/v2/files?{query}")).await;
        assert_eq!((status, &body["code"]), (400, &"invalid_parameter".into()));
        assert_eq!(body["parameter"], parameter);
    }
    let (status, body) =
        error(&app, &format!("/api/v2/buckets?keywords={}", "a+".repeat(33))).await;
    assert_eq!((status, &body["parameter"]), (400, &"keywords".into()));
}

#[actix_web::test]
async fn invalid_expressions_are_400() {
    let app = Fixture::new().serve("premium").await;
    let (status, body) = error(&app, "/api/v2/files?regexp=1&keywords=a(?%3Db)").await;
    assert_eq!(status, 400);
    assert_eq!(
        body,
        json!({
            "error": "the expression cannot be parsed at character 2: look-around, including look-ahead and look-behind, is not supported",
            "code": "invalid_regexp",
            "parameter": "keywords",
        })
    );
    let big = "/api/v2/files?regexp=1&keywords=%5Cw%7B1000%7D%5Cw%7B1000%7D";
    let (status, body) = error(&app, big).await;
    assert_eq!((status, &body["code"]), (400, &"invalid_regexp".into()));
    assert_eq!(body["error"], "the expression is too large");
}

#[actix_web::test]
async fn offset_of_a_million_is_400() {
    let app = Fixture::new().serve("enterprise").await;
    for path in ["/api/v2/files?start=1000000", "/api/v2/buckets?start=1000000"] {
        let (status, body) = error(&app, path).await;
        assert_eq!((status, &body["code"]), (400, &"offset_too_large".into()));
        assert_eq!(body["parameter"], "start");
    }
    let scrolling = "/api/v2/files?start=1000000&paging-mode=scrolling";
    assert_eq!(app.get(scrolling).await.0, 200);
}

#[rstest]
#[case("free", "order=size", "order", "premium")]
#[case("free", "direction=asc", "direction", "premium")]
#[case("free", "regexp=1&keywords=a", "regexp", "premium")]
#[case("free", "noautocorrect=1", "noautocorrect", "premium")]
#[case("free", "excluded-buckets=1", "excluded-buckets", "premium")]
#[case("free", "size-to=1", "size-to", "premium")]
#[case("free", "last-modified-from=1", "last-modified-from", "premium")]
#[case("free", "paging-mode=scrolling", "paging-mode", "enterprise")]
#[case("premium", "paging-mode=scrolling", "paging-mode", "enterprise")]
#[actix_web::test]
async fn parameters_outside_the_package_are_403(
    #[case] plan: &str,
    #[case] query: &str,
    #[case] name: &str,
    #[case] package: &str,
) {
    let app = Fixture::new().serve(plan).await;
    let (status, body) = error(&app, &format!("/api/v2/files?{query}")).await;
    assert_eq!(status, 403);
    assert_eq!(
        body,
        json!({
            "error": format!("{name} requires the package {package}"),
            "code": "package_required",
            "parameter": name,
            "package": package,
        })
    );
}

#[actix_web::test]
async fn errors_name_only_offered_packages() {
    let fixture = Fixture::new();
    fixture.context.pools.write_blocking(|db| auth::hide_plan(db, "premium")).unwrap();
    let app = fixture.serve("free").await;
    let (status, body) = error(&app, "/api/v2/files?order=size").await;
    assert_eq!((status, &body["package"]), (403, &json!("enterprise")));
}

#[actix_web::test]
async fn free_package_may_order_buckets_and_disable_flags() {
    let app = Fixture::new().serve("free").await;
    assert_eq!(app.get("/api/v2/buckets?order=fileCount&direction=desc&exact=1").await.0, 200);
    assert_eq!(app.get("/api/v2/files?regexp=0&order=&paging-mode=offset").await.0, 200);
}

#[actix_web::test]
async fn parameters_are_checked_before_package() {
    let app = Fixture::new().serve("free").await;
    assert_eq!(app.get("/api/v2/files?order=size&limit=0").await.0, 400);
}

#[rstest]
#[case("/api/v2/files")]
#[case("/api/v2/buckets")]
#[case("/api/v2/stats")]
#[case("/api/account")]
#[actix_web::test]
async fn operations_without_key_are_401(#[case] path: &str) {
    let app = Fixture::new().serve("free").await;
    let plain = app.server.get(path).send().await.unwrap();
    assert_eq!(plain.status(), 401);
    assert_eq!(plain.headers()["www-authenticate"], r#"Bearer realm="buckets""#);
    let body: Value = plain.json().await.unwrap();
    assert_eq!(body["code"], "unauthorized");
    let wrong = app.server.get(path).bearer_auth("0".repeat(32)).send().await.unwrap();
    assert_eq!(wrong.status(), 401);
    let challenge = r#"Bearer realm="buckets", error="invalid_token""#;
    assert_eq!(wrong.headers()["www-authenticate"], challenge);
}

#[actix_web::test]
async fn keys_are_read_from_header_or_query() {
    let app = Fixture::new().serve("free").await;
    let key = &app.key;
    let ask = |path: String, header: Option<String>| {
        let get = app.server.get(&path);
        let get = match header {
            Some(value) => get.header("authorization", value),
            None => get,
        };
        async move { get.send().await.unwrap().status().as_u16() }
    };
    let stats = "/api/v2/stats";
    assert_eq!(ask(format!("{stats}?access_token={key}"), None).await, 200);
    assert_eq!(ask(format!("{stats}?access_token={}", key.to_uppercase()), None).await, 200);
    assert_eq!(ask(stats.to_owned(), Some(format!("bEARER {key}"))).await, 200);
    let basic = Some("Basic dXNlcjpwYXNz".to_owned());
    assert_eq!(ask(format!("{stats}?access_token={key}"), basic.clone()).await, 200);
    assert_eq!(ask(stats.to_owned(), basic).await, 401);
    let wrong = Some(format!("Bearer {}", "0".repeat(32)));
    assert_eq!(ask(format!("{stats}?access_token={key}"), wrong).await, 401);
}

#[actix_web::test]
async fn unknown_paths_are_404_and_methods_405() {
    let app = Fixture::new().serve("free").await;
    let (status, body) = error(&app, "/api/v2/nothing").await;
    assert_eq!((status, &body["code"]), (404, &"not_found".into()));
    assert_eq!(app.get("/api/v2/files/").await.0, 404);
    for method in [reqwest::Method::POST, reqwest::Method::OPTIONS, reqwest::Method::DELETE] {
        let response = app.server.request(method, "/api/v2/files").send().await.unwrap();
        assert_eq!(response.status(), 405);
        assert_eq!(response.headers()["allow"], "GET, HEAD");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["code"], "method_not_allowed");
    }
}

#[actix_web::test]
async fn long_targets_are_414() {
    let app = Fixture::new().serve("free").await;
    let (status, body) = error(&app, &format!("/api/v2/files?x={}", "a".repeat(33_000))).await;
    assert_eq!((status, &body["code"]), (414, &"uri_too_long".into()));
    assert_eq!(app.get(&format!("/api/v2/files?x={}", "a".repeat(32_000))).await.0, 200);
}

#[actix_web::test]
async fn exceeded_rate_is_429() {
    let app = Fixture::new().serve("free").await;
    for _ in 0..10 {
        assert_eq!(app.get("/api/v2/stats").await.0, 200);
    }
    let response = app.server.get("/api/v2/stats").bearer_auth(&app.key).send().await.unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "1");
    let body: Value = response.json().await.unwrap();
    assert_eq!(
        body,
        json!({"error": "too many requests: try again in 1 s", "code": "rate_limited"})
    );
}

#[actix_web::test]
async fn full_expression_queue_is_503() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line("a.s3.amazonaws.com", "a", 1, 1)]);
    let settings = Settings { regexp_running: 1, regexp_waiting: 0, ..Settings::for_tests() };
    let app = fixture.serve_with("premium", settings).await;
    let slot = buckets::acquire_slot(&app.state, "another").await;
    let path = "/api/v2/files?keywords=a&regexp=1";
    let response = app.server.get(path).bearer_auth(&app.key).send().await.unwrap();
    assert_eq!(response.status(), 503);
    assert_eq!(response.headers()["retry-after"], "1");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["code"], "search_busy");
    drop(slot);
    assert_eq!(app.get(path).await.0, 200);
}

#[actix_web::test]
async fn disconnected_client_leaves_expression_queue() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line("a.s3.amazonaws.com", "a", 1, 1)]);
    let settings = Settings { regexp_running: 1, regexp_waiting: 1, ..Settings::for_tests() };
    let app = fixture.serve_with("enterprise", settings).await;
    let slot = buckets::acquire_slot(&app.state, "another").await;
    let path = "/api/v2/files?keywords=a&regexp=1";
    let search = || app.server.get(path).bearer_auth(&app.key).send();
    let waiting = || {
        let shares = app.state.slots().shares.lock();
        shares.values().map(|share| share.waiting).sum::<usize>()
    };
    let first = actix_web::rt::spawn(search());
    until("the first search waits", async || waiting() == 1).await;
    assert_eq!(search().await.unwrap().status(), 503, "the queue is full");
    first.abort();
    until("the client has left the queue", async || waiting() == 0).await;
    drop(slot);
    assert_eq!(app.get(path).await.0, 200);
}

#[actix_web::test]
async fn account_cannot_use_all_expression_slots() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line("a.s3.amazonaws.com", "a", 1, 1)]);
    let settings = Settings { regexp_running: 2, regexp_waiting: 2, ..Settings::for_tests() };
    let other = fixture.key("another", "premium");
    let app = fixture.serve_with("premium", settings).await;
    let path = "/api/v2/files?keywords=a&regexp=1";
    let runs = buckets::acquire_slot(&app.state, "tester").await;
    assert!(runs.is_ok());
    let mut waits = std::pin::pin!(buckets::acquire_slot(&app.state, "tester"));
    let at_once = tokio::time::timeout(Duration::ZERO, waits.as_mut());
    assert!(at_once.await.is_err(), "it waits although a slot is free");
    let (status, body) = error(&app, path).await;
    assert_eq!((status, &body["code"]), (503, &"search_busy".into()));
    for _ in 0..2 {
        let response = app.server.get(path).bearer_auth(&other).send().await.unwrap();
        assert_eq!(response.status(), 200);
    }
    drop(runs);
    assert!(waits.await.is_ok());
    assert_eq!(app.get(path).await.0, 200, "the slots of the account are free again");
}

#[actix_web::test]
async fn search_timeout_is_503() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line("a.s3.amazonaws.com", "a", 1, 1)]);
    let settings = Settings { search_timeout: 0, ..Settings::for_tests() };
    let app = fixture.serve_with("premium", settings).await;
    let (status, body) = error(&app, "/api/v2/files?keywords=a").await;
    assert_eq!((status, &body["code"]), (503, &"search_timeout".into()));
}

#[actix_web::test]
async fn running_expression_stops_at_time_limit() {
    let fixture = Fixture::new();
    // For these strings a lazy automaton needs new states constantly, which takes some microseconds
    // per byte.
    let mut noise = 1u64;
    let mut letter = || {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if noise >> 63 == 0 { 'a' } else { 'r' }
    };
    let path = |n: u32| {
        let folder: String = (0..4_000).map(|_| letter()).collect();
        line("a.s3.amazonaws.com", &format!("{folder}/{n}.log"), 1, 1)
    };
    let lines: Vec<String> = (0..1_000).map(path).collect();
    fixture.load_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let query = |expression: &str| {
        let coded: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
        format!("regexp=1&noautocorrect=1&keywords={coded}")
    };
    // This may take more than two seconds on a busy machine.
    let app = fixture.serve("premium").await;
    assert_eq!(app.results(&query(".*7[^0-9]*")).await, 100, "in every part of the text");
    let settings = Settings { search_timeout: 2, ..Settings::for_tests() };
    let app = fixture.serve_with("premium", settings).await;
    let slow = format!("/api/v2/files?full-path=1&{}", query(".*[a-q][^u-z]{500}[u-z]"));
    let (status, body) = error(&app, &slow).await;
    assert_eq!((status, &body["code"]), (503, &"search_timeout".into()));
}

/// Complete error bodies, in a table of request, status and body.
#[actix_web::test]
async fn error_bodies_match_contract() {
    let app = Fixture::new().serve("premium").await;
    let mut table = String::new();
    for path in [
        "/nothing",
        "/api/v2/files?limit=0",
        "/api/v2/files?limit=ten",
        "/api/v2/files?regexp=yes",
        "/api/v2/files?order=name",
        "/api/v2/files?types=ftp",
        "/api/v2/files?extensions=a.b.c.d",
        "/api/v2/files?extensions=..",
        "/api/v2/files?stopextensions=*.pdf",
        "/api/v2/files?keywords=%FF",
        "/api/v2/files?scroll-id=A",
        "/api/v2/files?start=1000000",
        "/api/v2/files?regexp=1&keywords=a(?%3Db)",
        "/api/v2/files?paging-mode=scrolling",
        "/api/v2/buckets?type=ftp",
    ] {
        let (status, body) = app.text(path).await;
        writeln!(table, "GET {path}\n{status} {body}\n").unwrap();
    }
    let (status, body) = app.text(&format!("/api/v2/files?x={}", "a".repeat(33_000))).await;
    writeln!(table, "GET /api/v2/files?x=aaa… (33,000 bytes)\n{status} {body}\n").unwrap();
    let files = |method| app.server.request(method, "/api/v2/files");
    for (request, name) in [
        (files(reqwest::Method::POST), "POST /api/v2/files"),
        (files(reqwest::Method::GET), "GET /api/v2/files without a key"),
        (files(reqwest::Method::GET).bearer_auth("0"), "GET /api/v2/files with an unknown key"),
    ] {
        let response = request.send().await.unwrap();
        let (status, body) = (response.status().as_u16(), response.text().await.unwrap());
        writeln!(table, "{name}\n{status} {body}\n").unwrap();
    }
    insta::assert_snapshot!("errors", table);
}

#[rstest]
#[case("limit=7&limit=2", 2)]
#[case("limit=2&limit=", 3)]
#[case("limit=&start=2", 1)]
#[case("keywords=a+b", 1)]
#[case("keywords=a%20b", 1)]
#[case("regexp=TRUE&keywords=a.*&noautocorrect=FALSE", 3)]
#[case("extensions=+txt+,,TXT,.txt", 3)]
#[actix_web::test]
async fn parameters_are_parsed_by_rules(#[case] query: &str, #[case] rows: usize) {
    let fixture = Fixture::new();
    let bucket = "a.s3.amazonaws.com";
    fixture.load_lines(&[
        &line(bucket, "a b.txt", 1, 1),
        &line(bucket, "a.txt", 1, 1),
        &line(bucket, "a_c.TXT", 1, 1),
    ]);
    let app = fixture.serve("enterprise").await;
    assert_eq!(app.paths(query).await.len(), rows, "{query}");
}
