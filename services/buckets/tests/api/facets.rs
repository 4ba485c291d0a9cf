//! Counts by bucket, extension and type.

use std::pin::pin;
use std::sync::Arc;

use buckets::engine::{
    EngineError, FileIndex, FileList, FileWriter, Generations, HeldLock, IndexSummary, Limits,
    WriteLock,
};
use buckets::model::{Facets, FileQuery, Found};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::app::{App, Fixture, line};

const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";
const C: &str = "c.fra1.digitaloceanspaces.com";

impl App {
    async fn facets(&self, query: &str) -> Value {
        let (status, body) = self.get(&format!("/api/v2/files/facets?{query}")).await;
        assert_eq!(status, 200, "{query}: {body}");
        body
    }
}

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.load_lines(&[
        &line(A, "old/backup.sql", 10, 1),
        &line(B, "backup-1.tar.gz", 20, 2),
        &line(B, "backup-2.TAR.GZ", 30, 3),
        &line(B, "backup", 40, 4),
        &line(C, "backup/backup-3.gz", 50, 5),
        &line(C, "photo.jpg", 60, 6),
    ]);
    fixture
}

#[actix_web::test]
async fn facets_count_files_by_bucket_extension_and_type() {
    let app = fixture().serve("free").await;
    let (status, body) = app.text("/api/v2/files/facets?keywords=backup&limit=2").await;
    assert_eq!(status, 200);
    insta::assert_snapshot!("get_facets", body);
}

#[actix_web::test]
async fn facets_equal_totals_of_narrowed_searches() {
    let fixture = Fixture::with_samples();
    let app = fixture.serve("premium").await;
    for query in ["", "keywords=backup", "keywords=.*a.*&regexp=1", "extensions=pdf,gz&size-from=9"]
    {
        // Lets the rate limit refill.
        fixture.clock.advance(60);
        let facets = app.facets(query).await;
        let results = facets["meta"]["results"].as_u64().unwrap();
        assert_eq!(results, app.results(query).await, "{query}");
        let mut sum = 0;
        for (list, name, parameter) in
            [("buckets", "bucket", "buckets"), ("types", "type", "types")]
        {
            for facet in facets[list].as_array().unwrap() {
                let narrowed = format!("{query}&{parameter}={}", facet[name].as_str().unwrap());
                assert_eq!(facet["files"], app.results(&narrowed).await, "{narrowed}");
                sum += facet["files"].as_u64().unwrap();
            }
        }
        assert_eq!(sum, 2 * results, "{query}");
        if query.contains("extensions") {
            continue;
        }
        for facet in facets["extensions"].as_array().unwrap() {
            fixture.clock.advance(1);
            let narrowed = format!("{query}&extensions={}", facet["extension"].as_str().unwrap());
            assert_eq!(facet["files"], app.results(&narrowed).await, "{narrowed}");
        }
    }
}

#[actix_web::test]
async fn facets_ignore_page_and_order() {
    let app = fixture().serve("enterprise").await;
    let all = app.facets("").await;
    for query in ["start=5", "order=size&direction=desc", "paging-mode=scrolling"] {
        let facets = app.facets(query).await;
        for part in ["buckets", "extensions", "types"] {
            assert_eq!(facets[part], all[part], "{query}");
        }
    }
    assert_eq!(all["types"], json!([{"type": "aws", "files": 4}, {"type": "dos", "files": 2}]));
    assert_eq!(app.facets("buckets=unknown.s3.amazonaws.com").await["meta"]["results"], 0);
}

#[actix_web::test]
async fn counts_of_all_files_follow_publishes_and_removals() {
    let fixture = fixture();
    let app = fixture.serve("enterprise").await;
    let counts = async || {
        let facets = app.facets("").await;
        let files = |list: &str| -> Vec<u64> {
            let list = facets[list].as_array().unwrap();
            list.iter().map(|facet| facet["files"].as_u64().unwrap()).collect()
        };
        (files("buckets"), files("extensions"))
    };
    let before = (vec![3, 2, 1], vec![3, 1, 1]);
    assert_eq!((counts().await, counts().await), (before.clone(), before));
    fixture.load_lines(&[&line(A, "new.jpg", 1, 1), &line(A, "new.log", 1, 1)]);
    app.refresh();
    assert_eq!(counts().await, (vec![3, 2, 2], vec![3, 2, 1]));
    buckets::jobs::remove(&fixture.context, B, "", "", "test").unwrap();
    app.refresh();
    assert_eq!(counts().await, (vec![2, 2], vec![2, 1, 1]));
}

#[actix_web::test]
async fn facets_need_the_packages_of_searches() {
    let fixture = fixture();
    let app = fixture.serve("free").await;
    for (query, status) in [("order=size", 403), ("keywords=a&regexp=1", 403), ("limit=0", 400)] {
        let (found, body) = app.get(&format!("/api/v2/files/facets?{query}")).await;
        assert_eq!(found, status, "{query}: {body}");
        assert_eq!(body, app.get(&format!("/api/v2/files?{query}")).await.1);
    }
    let response = app.server.get("/api/v2/files/facets").send().await.unwrap();
    assert_eq!(response.status(), 401);
}

#[actix_web::test]
async fn facets_have_no_removed_or_delayed_buckets() {
    let fixture = fixture();
    let app = fixture.serve("free").await;
    buckets::jobs::remove(&fixture.context, B, "", "", "test").unwrap();
    fixture.clock.advance(40 * 86_400);
    fixture.load_lines(&[&line("late.s3.amazonaws.com", "backup.zip", 1, 1)]);
    let delay = |db: &mut database::Db| -> Result<(), database::DatabaseError> {
        let mut free = buckets::store::packages::of_plan(db, "free")?;
        free.delay_days = 30;
        buckets::store::packages::put(db, &free)
    };
    fixture.context.pools.write_blocking(delay).unwrap();
    app.refresh();
    let facets = app.facets("keywords=backup").await;
    let names = |list: &str, name: &str| -> Vec<String> {
        let list = facets[list].as_array().unwrap();
        list.iter().map(|facet| facet[name].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (names("buckets", "bucket"), names("extensions", "extension")),
        (vec![A.to_owned(), C.to_owned()], vec!["gz".to_owned(), "sql".to_owned()],)
    );
    let notice = facets["meta"]["notice"].as_str().unwrap();
    assert!(notice.starts_with("Your package (free) searches buckets first indexed"), "{notice}");
}

/// An index with very many extensions. Reports when it has counted them.
struct ManyExtensions(UnboundedSender<()>);

impl FileIndex for ManyExtensions {
    fn search(&self, _: &FileQuery, _: &Limits) -> Result<Found, EngineError> {
        Ok(Found::default())
    }

    fn list(&self, _: &FileQuery, _: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        Err(EngineError::Broken("a test".to_owned()))
    }

    fn facets(&self, _: &FileQuery, _: &Limits) -> Result<Facets, EngineError> {
        let count = |number: u64| (number.to_string(), number * 7_919 % 300_007);
        let facets = Facets { extensions: (0..300_000).map(count).collect(), ..Facets::default() };
        self.0.send(()).unwrap();
        Ok(facets)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        Arc::default()
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        Ok(false)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    fn writer(&self, _: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        Err(EngineError::Locked("a test".to_owned()))
    }
}

struct Only(Arc<dyn FileIndex>);

impl Generations for Only {
    fn lock(&self, _: &str) -> Result<WriteLock, EngineError> {
        Err(EngineError::Locked("a test".to_owned()))
    }

    fn open(&self, _: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::clone(&self.0))
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        self.open(generation)
    }

    fn discard(&self, _: u32, _: &dyn HeldLock) -> Result<(), EngineError> {
        Ok(())
    }

    fn sweep(&self, _: u32) -> Result<bool, EngineError> {
        Ok(true)
    }
}

#[actix_web::test]
async fn other_requests_are_answered_while_counts_are_sorted() {
    let (counted, mut heard) = unbounded_channel();
    let mut fixture = Fixture::new();
    fixture.context.generations = Arc::new(Only(Arc::new(ManyExtensions(counted))));
    let app = fixture.serve("premium").await;
    let mut facets = pin!(app.get("/api/v2/files/facets?limit=1"));
    let other = async {
        heard.recv().await.unwrap();
        app.server.get("/healthz").send().await.unwrap().status()
    };
    tokio::select! {
        (status, _) = &mut facets => panic!("{status}: the worker sorted the counts first"),
        status = other => assert_eq!(status, 200),
    }
    let (status, body) = facets.await;
    assert_eq!((status, &body["extensions"][0]["files"]), (200, &json!(300_006)), "{body}");
}
