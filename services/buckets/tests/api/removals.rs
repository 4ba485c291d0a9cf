use buckets::jobs::{self, verify};
use serde_json::json;

use crate::app::{Fixture, line};
use crate::program::{Program, holds, text};

const A: &str = "secret-bucket.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";

fn remove(fixture: &Fixture, prefix: &str) -> i64 {
    jobs::remove(&fixture.context, A, prefix, "asked by the owner", "tester").unwrap().files
}

#[actix_web::test]
async fn removed_bucket_is_erased_and_not_reloaded() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "zyzzyvas/old.txt", 1, 1)]);
    fixture.load_lines(&[&line(A, "zyzzyvas/new.txt", 1, 1), &line(B, "other.txt", 1, 1)]);
    let app = fixture.serve("free").await;
    assert_eq!(app.results("").await, 2);
    assert!(
        holds(&fixture.folder.join("index"), b"zyzzyvas/old.txt"),
        "replaced rows stay until purged"
    );
    assert_eq!(remove(&fixture, ""), 1);
    app.refresh();
    assert_eq!(app.paths("").await, ["other.txt"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["meta"]["results"], 1);
    assert_eq!(app.get("/api/v2/stats").await.1["stats"]["filesCount"], 1);
    assert!(!holds(&fixture.folder.join("index"), b"zyzzyvas"), "no word and no path is left");
    let report =
        fixture.load_lines(&[&line(A, "zyzzyvas/new.txt", 1, 1), &line(B, "more.txt", 1, 1)]);
    assert_eq!((report.tally.skipped_removed, report.tally.bad), (1, 0));
    app.refresh();
    assert_eq!(app.paths("").await, ["more.txt"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["meta"]["results"], 1);
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

#[actix_web::test]
async fn prefix_removal_keeps_other_files() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "private/1", 1, 1), &line(A, "public/1", 1, 1)]);
    assert_eq!(remove(&fixture, "private/"), 1);
    let report = fixture.load_lines(&[&line(A, "private/2", 1, 1), &line(A, "public/2", 1, 1)]);
    assert_eq!(report.tally.skipped_removed, 1);
    let app = fixture.serve("free").await;
    assert_eq!(app.paths("").await, ["public/2"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["buckets"][0]["fileCount"], 1);
}

#[actix_web::test]
async fn unremoved_bucket_returns_with_next_load() {
    let fixture = Fixture::new();
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    remove(&fixture, "");
    let lifted = jobs::unremove(&fixture.context, "s3://secret-bucket", "a mistake", "tester");
    assert_eq!(lifted.unwrap(), 1);
    let app = fixture.serve("free").await;
    assert_eq!(app.results("").await, 0);
    fixture.load_lines(&[&line(A, "1", 1, 1)]);
    app.refresh();
    assert_eq!(app.paths("").await, ["1"]);
    assert_eq!(app.get("/api/v2/buckets").await.1["buckets"][0]["id"], 1);
}

#[test]
fn unknown_bucket_can_be_removed() {
    let fixture = Fixture::new();
    assert_eq!(remove(&fixture, ""), 0);
    let report = fixture.load_lines(&[&line(A, "1", 1, 1), &line(B, "1", 1, 1)]);
    assert_eq!((report.tally.skipped_removed, report.counts.added), (1, 1));
}

#[test]
fn repeated_removal_is_one_entry() {
    let program = Program::new();
    let source = program.folder().write("a.ndjson", line(A, "1", 1, 1));
    program.done(&["load", text(&source)]);
    let remove = |reason: &str| program.json(&["remove", A, "--reason", reason])["files"].clone();
    let listed = || program.json(&["removals"]).as_array().unwrap().len();
    assert_eq!((remove("asked"), remove("asked"), listed()), (json!(1), json!(1), 1));
    assert_eq!((remove("asked again"), listed()), (json!(0), 2), "another reason is another entry");
    assert_eq!(program.json(&["unremove", A])["lifted"], 2);
    assert_eq!((remove("asked"), listed()), (json!(0), 3), "what was lifted is over");
}

#[test]
fn removals_are_reported_as_json() {
    let program = Program::new();
    let removed = program.json(&["remove", A, "--reason", "asked"]);
    assert_eq!((&removed["address"], &removed["files"]), (&json!(A), &json!(0)));
    assert_eq!(program.json(&["unremove", A]), json!({ "address": A, "lifted": 1 }));
    assert_eq!(program.json(&["verify"]), json!({ "faults": [] }));
}
