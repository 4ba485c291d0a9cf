use buckets::Settings;

use crate::app::Fixture;

#[actix_web::test]
async fn page_needs_no_key_and_only_own_assets() {
    let app = Fixture::new().serve("free").await;
    let response = app.server.get("/").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let body = response.text().await.unwrap();
    assert!(!body.contains("http://") && !body.contains("https://"), "nothing is fetched");
    let assets: Vec<_> =
        body.split('"').filter_map(|part| part.strip_prefix("./assets/")).collect();
    assert_eq!(assets.len(), 7, "{assets:?}");
    for file in assets {
        let response = app.server.get(&format!("/assets/{file}")).send().await.unwrap();
        assert_eq!(response.status(), 200, "{file}");
        assert_eq!(response.headers()["cache-control"], "public, max-age=31536000, immutable");
    }
    for part in ["facets", "alerts"] {
        assert!(body.contains(&format!("id=\"{part}\"")), "{body}");
    }
    let missing = app.server.get("/assets/search.js").send().await.unwrap();
    assert_eq!(missing.status(), 404);
}

#[actix_web::test]
async fn page_shows_totals_without_key() {
    let empty = Fixture::new().serve("free").await;
    let body = empty.server.get("/").send().await.unwrap().text().await.unwrap();
    assert!(body.contains("Nothing is indexed yet"), "{body}");
    let app = Fixture::with_samples().serve("free").await;
    let body = app.server.get("/").send().await.unwrap().text().await.unwrap();
    assert!(body.contains("105 files in 6 buckets, published 2026-11-20 00:00 UTC"), "{body}");
}

#[actix_web::test]
async fn page_of_crawls_needs_no_key_and_only_own_assets() {
    let app = Fixture::new().serve("free").await;
    let response = app.server.get("/crawls").send().await.unwrap();
    assert_eq!(response.status(), 200);
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{policy}");
    let body = response.text().await.unwrap();
    assert!(!body.contains("http://") && !body.contains("https://"), "nothing is fetched");
    assert!(body.contains("href=\"./crawls\" aria-current=\"page\""), "{body}");
    let assets: Vec<_> =
        body.split('"').filter_map(|part| part.strip_prefix("./assets/")).collect();
    assert_eq!(assets.len(), 5, "{assets:?}");
    for file in assets {
        let response = app.server.get(&format!("/assets/{file}")).send().await.unwrap();
        assert_eq!(response.status(), 200, "{file}");
    }
    for part in ["show-crawls", "key", "message", "result", "crawls"] {
        assert!(body.contains(&format!("id=\"{part}\"")), "{part}: {body}");
    }
    assert_eq!(app.server.post("/crawls").send().await.unwrap().status(), 405);
}

#[actix_web::test]
async fn pages_and_stats_do_not_count_all_buckets() {
    let settings = Settings { reload_ms: 3_600_000, ..Settings::for_tests() };
    let app = Fixture::with_samples().serve_with("free", settings).await;
    let mut snapshot = (*app.state.snapshot()).clone();
    assert_eq!(snapshot.totals.files, 105);
    snapshot.totals.files = 12_345;
    app.state.publish(snapshot);
    let body = app.server.get("/").send().await.unwrap().text().await.unwrap();
    assert!(body.contains("12,345 files in 6 buckets"), "{body}");
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["filesCount"], 12_345);
}
