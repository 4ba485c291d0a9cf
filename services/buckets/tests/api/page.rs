use crate::app::Fixture;

#[actix_web::test]
async fn the_page_needs_no_key_and_nothing_from_elsewhere() {
    let app = Fixture::new().serve("free").await;
    let response = app.server.get("/").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let body = response.text().await.unwrap();
    assert!(!body.contains("http://") && !body.contains("https://"), "nothing is fetched");
    assert!(!body.contains("/*style*/") && !body.contains("/*script*/"));
}
