use rstest::rstest;
use serde_json::Value;

use crate::app::{Fixture, line};

#[actix_web::test]
async fn golden_answer() {
    let app = Fixture::with_samples().serve("free").await;
    let (status, body) =
        app.text("/api/v2/buckets?keywords=Light&type=AWS&order=fileCount&direction=asc").await;
    assert_eq!(status, 200);
    insta::assert_snapshot!("list_buckets", body);
}

#[rstest]
#[case("", &[1, 2, 3, 4, 5, 6])]
#[case("keywords=m", &[1, 2, 3, 4, 5, 6])]
#[case("keywords=museum", &[5])]
#[case("keywords=s3+-light", &[4])]
#[case("keywords=-s3", &[1, 2, 5, 6])]
#[case("keywords=clocktower-museum&exact=1", &[5])]
#[case("keywords=HTTP://clocktower-museum.storage.googleapis.com/&exact=true", &[5])]
#[case("keywords=clocktower&exact=1", &[])]
#[case("keywords=almanac&exact=1", &[1])]
#[case("type=ali", &[2])]
#[case("order=bucketName", &[1, 5, 4, 3, 2, 6])]
#[case("order=bucketName&direction=desc", &[6, 2, 3, 4, 5, 1])]
#[case("order=fileCount&direction=desc&limit=2", &[4, 3])]
#[case("start=4", &[5, 6])]
#[case("start=100", &[])]
#[actix_web::test]
async fn bucket_list_filters_sorts_and_pages(#[case] query: &str, #[case] expected: &[u64]) {
    let app = Fixture::with_samples().serve("free").await;
    let (status, body) = app.get(&format!("/api/v2/buckets?{query}")).await;
    assert_eq!(status, 200, "{body}");
    let ids: Vec<u64> =
        body["buckets"].as_array().unwrap().iter().map(|b| b["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, expected, "{query}");
}

#[actix_web::test]
async fn empty_listing_adds_empty_bucket() {
    let fixture = Fixture::new();
    fixture.folder.write(
        "in/empty.s3.amazonaws.com.xml",
        "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>",
    );
    fixture.load(&[fixture.folder.join("in")]).unwrap();
    let app = fixture.serve("free").await;
    let (_, body) = app.get("/api/v2/buckets").await;
    assert_eq!(body["buckets"][0]["fileCount"], 0);
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["awsCount"], 1);
}

#[actix_web::test]
async fn bucket_keeps_id_after_replacement() {
    let fixture = Fixture::new();
    fixture.load_lines(&[
        &line("a.s3.amazonaws.com", "1", 1, 1),
        &line("b.s3.amazonaws.com", "1", 1, 1),
    ]);
    fixture.load_lines(&[
        &line("b.s3.amazonaws.com", "2", 1, 1),
        &line("b.s3.amazonaws.com", "3", 1, 1),
    ]);
    let app = fixture.serve("free").await;
    let (_, body) = app.get("/api/v2/buckets").await;
    let counts: Vec<(&Value, &Value)> = body["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bucket| (&bucket["id"], &bucket["fileCount"]))
        .collect();
    assert_eq!(counts, [(&Value::from(1), &Value::from(1)), (&Value::from(2), &Value::from(2))]);
}
