use serde_json::json;

use crate::app::Fixture;

#[actix_web::test]
async fn own_account_has_package_and_limits() {
    let app = Fixture::new().serve("premium").await;
    let (status, body) = app.text("/api/account").await;
    assert_eq!(status, 200);
    insta::assert_snapshot!("get_account", body);
}

#[actix_web::test]
async fn own_account_is_not_charged() {
    let app = Fixture::new().serve("free").await;
    for _ in 0..30 {
        assert_eq!(app.get("/api/account").await.0, 200);
    }
    assert_eq!(app.get("/api/v2/stats").await.0, 200);
}

#[actix_web::test]
async fn revoked_key_is_401_immediately() {
    let fixture = Fixture::new();
    let app = fixture.serve("free").await;
    assert_eq!(app.get("/api/account").await.0, 200);
    fixture.context.pools.write_blocking(|db| auth::revoke_owner(db, "tester", 1)).unwrap();
    let (status, body) = app.get("/api/account").await;
    assert_eq!(status, 401);
    assert_eq!(
        body,
        json!({"error": "the key is unknown, revoked or expired", "code": "unauthorized"})
    );
}
