//! Backups, and what can be restored from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Exchange, Fixture, Folder, Program, Served};

use crate::images::PNG;

const ADMIN_KEY: &str = "0123456789abcdef0123456789abcdef";
const ROOT: &str = "/calendar/events/v1";

fn program() -> Program {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).setting("ADMIN_KEY", ADMIN_KEY);
    // The writer exceeds the default rate limit.
    program.setting("RATE_WRITE_RPM", "0")
}

fn text(folder: &Folder, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

async fn create(server: &Served, number: usize) -> i64 {
    let event = json!({
        "title": format!("Event {number}"), "start_date": "2027-03-01 10:00:00",
        "end_date": "2027-03-01 11:00:00",
    });
    let request = server.request(Method::POST, &format!("{ROOT}/events")).bearer_auth(ADMIN_KEY);
    request.json(&event).answer().await.expect(201).json()["id"].as_i64().unwrap()
}

async fn json_of(server: &Served, path: &str) -> Value {
    server.get(&format!("{ROOT}{path}")).bearer_auth(ADMIN_KEY).answer().await.expect(200).json()
}

#[actix_web::test]
async fn backup_during_writes_has_every_earlier_acknowledged_write() {
    let program = program();
    let server = Arc::new(program.serve(&[]));
    let upload = server.request(Method::POST, &format!("{ROOT}/images")).bearer_auth(ADMIN_KEY);
    let upload = upload.header("Content-Type", "image/png").body(PNG).answer().await.expect(201);
    let image = upload.json()["url"].as_str().unwrap().to_owned();

    let stop = Arc::new(AtomicBool::new(false));
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let writer = actix_web::rt::spawn({
        let (server, stop) = (server.clone(), stop.clone());
        let acknowledged = acknowledged.clone();
        async move {
            while !stop.load(Ordering::SeqCst) {
                create(&server, 0).await;
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    testkit::until("some events exist", async || acknowledged.load(Ordering::SeqCst) > 20).await;
    let before = acknowledged.load(Ordering::SeqCst);
    let folder = Folder::new();
    let copy = text(&folder, "copy");
    let mut backup = program.start(&["backup", &copy]);
    testkit::until("the backup ends", async || backup.has_ended()).await;
    assert_eq!(backup.wait(), Some(0));
    let at_end = acknowledged.load(Ordering::SeqCst);
    stop.store(true, Ordering::SeqCst);
    writer.await.unwrap();

    let other = self::program();
    other.done(&["restore", &copy]);
    let mut files = std::fs::read_dir(other.folder().path()).unwrap().flatten();
    let remains = files.find(|file| file.file_name().to_string_lossy().contains("partial"));
    assert!(remains.is_none(), "{remains:?}");
    let restored = other.serve(&[]);
    let total = json_of(&restored, "/events?start_date=2027-01-01").await["total"].clone();
    let total = usize::try_from(total.as_i64().unwrap()).unwrap();
    // The last one may be committed but not acknowledged yet.
    assert!((before..=at_end + 1).contains(&total), "{before} <= {total} <= {at_end}");
    let image = image.find("/media/").map(|at| &image[at..]).unwrap();
    let file = restored.get(image).answer().await.expect(200);
    assert_eq!(file.body, server.get(image).answer().await.expect(200).body);
}

#[test]
fn backup_of_nothing_and_restore_over_data_are_refused() {
    let folder = Folder::new();
    let copy = text(&folder, "copy");
    let program = program();
    let refused = program.run(&["backup", &copy]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("does not exist; nothing was created"), "{}", refused.errors);
    assert!(!folder.join("copy").exists());

    program.done(&["migrate"]);
    program.done(&["users", "list"]);
    program.done(&["backup", &copy]);
    let refused = program.run(&["restore", &copy]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("restoring never replaces files"), "{}", refused.errors);

    // A damaged copy is detected before anything is written.
    let file = folder.join("copy/calendar.db");
    let length = std::fs::metadata(&file).unwrap().len();
    std::fs::write(&file, vec![0x55; usize::try_from(length).unwrap()]).unwrap();
    let other = self::program();
    let refused = other.run(&["restore", &copy]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(!other.folder().join("calendar.db").exists());
}

#[test]
fn backup_with_postgres_says_what_to_dump() {
    let program = program().with_database();
    program.done(&["migrate"]);
    program.done(&["users", "list"]);
    let folder = Folder::new();
    let copy = text(&folder, "copy");
    let ran = program.run(&["backup", &copy]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let is_file = program.database().url().starts_with("sqlite");
    assert_eq!(ran.errors.contains("pg_dump"), !is_file, "{}", ran.errors);
    assert_eq!(folder.join("copy/calendar.db").exists(), is_file);
    if !is_file {
        let other = self::program().run(&["restore", &copy]);
        assert!(other.errors.contains("set DATABASE_URL"), "{}", other.errors);
    }
}

async fn serves_the_samples(program: Program) {
    let server = program.serve(&[]);
    let found = server.get(&format!("{ROOT}/events?search=half+marathon")).answer().await;
    let found = found.expect(200).json();
    assert_eq!(found["total"], 1, "{found}");
    assert!(found["events"][0]["venue"]["venue"].is_string(), "{found}");
    assert_eq!(server.get("/events/").answer().await.status, 200);
}

#[actix_web::test]
async fn data_of_every_version_are_served() {
    for fixture in Fixture::all("calendar") {
        serves_the_samples(fixture.restored(program())).await;
        if let Some(program) = fixture.on_server(program()) {
            serves_the_samples(program).await;
        }
    }
}
