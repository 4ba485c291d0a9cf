use serde_json::json;

use crate::app::{Fixture, line};

#[actix_web::test]
async fn empty_index_has_zero_counts() {
    let app = Fixture::new().serve("free").await;
    let (status, body) = app.text("/api/v2/stats").await;
    assert_eq!(status, 200);
    insta::assert_snapshot!("get_stats_of_an_empty_index", body);
}

#[actix_web::test]
async fn stats_count_samples_by_type() {
    let app = Fixture::with_samples().serve("free").await;
    let (_, body) = app.text("/api/v2/stats").await;
    insta::assert_snapshot!("get_stats", body);
}

#[actix_web::test]
async fn package_delay_restricts_stats() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line("old.s3.amazonaws.com", "a.txt", 1, 1)]);
    fixture.clock.advance(40 * 86_400);
    fixture.load_lines(&[&line("new.s3.amazonaws.com", "b.txt", 1, 1)]);
    fixture
        .context
        .pools
        .write_blocking(|db| {
            let mut free = buckets::store::packages::of_plan(db, "free")?;
            free.delay_days = 30;
            buckets::store::packages::put(db, &free)
        })
        .unwrap();
    let app = fixture.serve("free").await;
    let (_, body) = app.get("/api/v2/stats").await;
    assert_eq!(body["stats"]["filesCount"], 2);
    assert_eq!(
        body["meta"],
        json!({
            "notice": "Your package (free) searches buckets first indexed before 2026-11-30.",
            "restrictedStats": {"filesCount": 1, "awsCount": 1, "azureCount": 0, "dosCount": 0, "gcpCount": 0, "aliCount": 0},
        })
    );
    assert_eq!(app.paths("").await, ["a.txt"]);
    let (_, body) = app.get("/api/v2/buckets").await;
    assert_eq!(body["buckets"][0]["bucket"], "old.s3.amazonaws.com");
    assert_eq!(body["meta"]["results"], 1);
}
