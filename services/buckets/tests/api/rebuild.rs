use buckets::jobs::{rebuild, verify};

use crate::support::{Place, line};

#[actix_web::test]
async fn a_rebuild_drops_dead_rows_and_gives_new_ids() {
    let place = Place::new();
    let bucket = "a.s3.amazonaws.com";
    for _ in 0..3 {
        place.load_lines(&[&line(bucket, "1", 1, 1), &line(bucket, "2", 1, 1)]);
    }
    let app = place.serve("free").await;
    let before = app.get("/api/v2/stats").await;
    assert_eq!(app.get("/api/v2/files").await.1["files"][0]["id"], "5");
    let old = place.folder.join("index/generation-1");
    assert_eq!(rebuild::rebuild(&place.shop).unwrap(), (2, 2));
    assert!(old.exists(), "the old generation is kept while it is read");
    assert_eq!(app.get("/api/v2/files").await.1["files"][0]["id"], "5");
    app.state.refresh().unwrap();
    assert_eq!(app.get("/api/v2/files").await.1["files"][0]["id"], "1");
    assert_eq!(app.get("/api/v2/stats").await, before);
    while old.exists() {
        app.state.refresh().unwrap();
    }
    assert_eq!(verify::faults(&place.shop).unwrap(), Vec::<String>::new());
    place.load_lines(&[&line(bucket, "3", 1, 1)]);
    app.state.refresh().unwrap();
    assert_eq!(app.paths("").await, ["3"]);
}
