//! The page at `/`.

use crate::app::{App, Data};

#[actix_web::test]
async fn the_page_runs_under_a_strict_policy_and_loads_only_its_own_files() {
    let server = App::start(&Data::new()).await;
    let answer = server.get("/").send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(answer.headers()["referrer-policy"], "no-referrer");
    assert_eq!(answer.headers()["vary"], "Add-Padding, Accept-Encoding");
    let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
    let html = answer.text().await.unwrap();
    for outside in ["http://", "https://", "//cdn", "<style", "<script>", " style=", " onclick="] {
        assert!(!html.contains(outside), "{outside}");
    }
    let mut assets: Vec<_> =
        html.split('"').filter_map(|part| part.strip_prefix("./assets/")).collect();
    assets.sort_unstable();
    let names: Vec<_> = assets.iter().filter_map(|file| file.split('.').next()).collect();
    assert_eq!(names, ["check", "check", "icon", "quintet"]);
    for file in assets {
        let answer = server.get(&format!("/assets/{file}")).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{file}");
        assert_eq!(answer.headers()["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(answer.headers()["access-control-allow-origin"], "*");
    }
}

#[actix_web::test]
async fn an_unknown_asset_is_an_invalid_query() {
    let server = App::start(&Data::new()).await;
    for path in ["/assets/", "/assets/check.js", "/assets/check.0123456789abcdef.js"] {
        let answer = server.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{path}");
        assert_eq!(answer.text().await.unwrap(), "Invalid API query");
    }
}
