//! The page at `/`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::harness::{Data, Ranges};

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    text.split_once(begin).unwrap().1.split_once(end).unwrap().0
}

#[actix_web::test]
async fn the_page_runs_under_a_strict_policy_and_loads_nothing() {
    let server = Ranges::start(&Data::new()).await;
    let answer = server.get("/").send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(answer.headers()["referrer-policy"], "no-referrer");
    let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
    let html = answer.text().await.unwrap();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
    for (kind, tag) in [("style-src", "style"), ("script-src", "script")] {
        let content = between(&html, &format!("<{tag}>"), &format!("</{tag}>"));
        assert!(!content.trim().is_empty());
        let digest = STANDARD.encode(Sha256::digest(content));
        assert!(policy.contains(&format!("{kind} 'sha256-{digest}'")), "{policy}");
    }
    for outside in ["http://", "https://", "//cdn", " src=", "@import", " style=", " onclick="] {
        assert!(!html.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
    }
}
