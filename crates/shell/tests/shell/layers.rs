//! HEAD, path rules, CORS, compression, documentation, metrics.

use super::echo::{Echo, Started, client};

#[actix_web::test]
async fn head_has_the_headers_of_get_and_no_body() {
    let started = Started::new().await;
    let answer = client().head(started.url("/repeat/5")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-length"], "5");
    assert_eq!(answer.bytes().await.unwrap().len(), 0);
}

#[actix_web::test]
async fn trailing_slashes_are_dropped_before_routing() {
    let started = Started::new().await;
    assert_eq!(started.get("/repeat/2/?text=a").await.text().await.unwrap(), "aa");
}

#[actix_web::test]
async fn preflight_and_answers_follow_the_rule_of_the_path() {
    let started = Started::new().await;
    let preflight = |path: &str| {
        client()
            .request(reqwest::Method::OPTIONS, started.url(path))
            .header("origin", "https://page.example")
            .header("access-control-request-method", "GET")
            .send()
    };
    let answer = preflight("/count").await.unwrap();
    assert_eq!(answer.status(), 204);
    for (name, value) in [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET"),
        ("access-control-allow-headers", "x-key"),
        ("access-control-max-age", "60"),
    ] {
        assert_eq!(answer.headers()[name], value);
    }
    assert_eq!(preflight("/long").await.unwrap().status(), 405);
    let answer = started.get("/nowhere").await;
    assert_eq!(answer.headers()["access-control-allow-origin"], "*");
    assert_eq!(answer.headers()["access-control-expose-headers"], "x-total");
    assert!(!started.get("/long").await.headers().contains_key("access-control-allow-origin"));
}

#[actix_web::test]
async fn only_long_answers_are_compressed_and_only_when_accepted() {
    let started = Started::new().await;
    let coding = async |path: &str, accept: &str| {
        let request = client().get(started.url(path)).header("accept-encoding", accept);
        let answer = request.send().await.unwrap();
        answer.headers().get("content-encoding").map(|coding| coding.to_str().unwrap().to_owned())
    };
    assert_eq!(coding("/long", "gzip").await.as_deref(), Some("gzip"));
    assert_eq!(coding("/long", "br").await.as_deref(), Some("br"));
    assert_eq!(coding("/long", "identity").await, None);
    assert_eq!(coding("/repeat/3", "gzip").await, None);
}

#[actix_web::test]
async fn the_document_and_its_page_are_served() {
    let started = Started::new().await;
    let document: serde_json::Value =
        serde_json::from_str(&started.get("/openapi.json").await.text().await.unwrap()).unwrap();
    assert_eq!(document["paths"]["/count"]["get"]["operationId"], "count");
    assert_eq!(document["paths"]["/count"]["get"]["responses"]["200"]["description"], "OK");
    assert_eq!(
        document,
        serde_json::from_str::<serde_json::Value>(&shell::openapi::<Echo>()).unwrap()
    );
    let answer = started.get("/docs").await;
    assert_eq!(answer.headers()["location"], "/docs/");
    let page = started.get("/docs/").await.text().await.unwrap();
    assert!(page.contains("swagger-ui"));
}

#[actix_web::test]
async fn metrics_have_patterns_as_labels() {
    let started = Started::new().await;
    started.get("/repeat/7?text=secret").await;
    started.get("/private-path").await;
    let text = client().get(started.admin("/metrics")).send().await.unwrap().text().await.unwrap();
    assert!(
        text.contains(r#"http_requests_total{method="GET",route="/repeat/{count}",status="200"}"#)
    );
    assert!(text.contains(r#"route="unmatched",status="404""#));
    assert!(!text.contains("private-path") && !text.contains("secret"));
    assert_eq!(started.get("/metrics").await.status(), 404);
}

#[actix_web::test]
async fn every_answer_has_a_request_id() {
    let started = Started::new().await;
    let ask = async |path: &str, sent: &str| {
        let request = client().get(started.url(path)).header("x-request-id", sent);
        let answer = request.send().await.unwrap();
        answer.headers()["x-request-id"].to_str().unwrap().to_owned()
    };
    for path in [
        "/count?count=1",
        "/count",
        "/nowhere",
        "/panics",
        "/healthz",
        "/readyz",
        "/docs",
        "/docs/",
    ] {
        assert_eq!(ask(path, "0f8fad5b-d9cd.7").await, "0f8fad5b-d9cd.7", "{path}");
        let own = ask(path, "no id").await;
        assert!(own.len() == 32 && own.bytes().all(|byte| byte.is_ascii_hexdigit()), "{own}");
        assert_ne!(own, ask(path, "").await);
    }
}

#[actix_web::test]
async fn swagger_ui_is_compressed_once_and_has_a_content_policy() {
    let started = Started::new().await;
    let ask = async |path: &str, known: &str| {
        let request = client().get(started.url(path)).header("accept-encoding", "gzip");
        request.header("if-none-match", known).send().await.unwrap()
    };
    for path in ["/openapi.json", "/docs/", "/docs/swagger-initializer.js", "/docs/swagger-ui.css"]
    {
        let answer = ask(path, "\"x\"").await;
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers()["cache-control"], "no-cache");
        if path.starts_with("/docs") {
            let policy = answer.headers()["content-security-policy"].to_str().unwrap();
            assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        }
        let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
        let length = answer.content_length().unwrap();
        assert!(length > 0);
        let again = ask(path, &tag).await;
        assert_eq!(
            (again.status().as_u16(), again.bytes().await.unwrap().len()),
            (304, 0),
            "{path}"
        );
    }
    let answer = ask("/docs/swagger-ui.css", "").await;
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    let answer = started.get("/docs/nowhere.js").await;
    assert_eq!(answer.status(), 404);
    assert_eq!(answer.text().await.unwrap(), "GET /docs/nowhere.js: NotFound");
}
