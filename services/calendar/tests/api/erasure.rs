//! Permanent removal: DELETE with `force`, `purge`, and the trash that empties itself.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use calendar::{Calendar, Links, PurgeOptions, Purged, Stage, State, Status, empty_trash, purge};
use database::{DatabaseError, Db};
use diesel::connection::SimpleConnection;
use domain::Clock;
use serde_json::{Value, json};
use testkit::{Program, TestServer, until};

use crate::app::{App, NS, plant, send, settings};
use crate::images::PNG;

const DAY: i64 = 86_400;

/// Uploads an image and returns its id. Different values of `more` give different images.
async fn image(app: &App, more: u8) -> i64 {
    let mut bytes = PNG.to_vec();
    bytes[19] = more;
    let upload = app.request("editor", "POST", "/images").header("Content-Type", "image/png");
    send(upload.body(bytes)).await.expect(201).id()
}

/// Returns the number of rows that meet a condition.
fn rows(app: &App, condition: &str) -> i64 {
    app.rows(condition)
}

async fn force(app: &App, who: &str, path: &str) -> crate::app::Answer {
    send(app.request(who, "DELETE", &format!("{path}?force=true"))).await
}

#[actix_web::test]
async fn erased_event_leaves_nothing_but_its_tombstone() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let fields = json!({
        "title": "Quixotic", "description": "Secret", "venue": venue, "categories": ["Music"],
        "tags": ["live"], "organizer": {"organizer": "Ann"}, "image": image(&app, 1).await,
        "event_status": "postponed", "event_status_reason": "Ill",
    });
    let id = app.event(fields).await;
    let other = app.event(json!({"title": "Quixotic too", "categories": ["Music"]})).await;
    let path = format!("/events/{id}");
    app.patch(&path, &json!({"slug": "former", "description": "Changed"})).await.expect(200);
    app.patch(&path, &json!({"slug": "present"})).await.expect(200);
    let searched = "/events?search=quixotic&categories=music";
    assert_eq!(app.get(searched).await.ids(), [id, other]);
    assert!(rows(&app, "event_changes where was is not null") > 0);

    let erased = force(&app, "editor", &path).await.expect(200).json;
    assert_eq!((&erased["title"], &erased["slug"]), (&json!("Quixotic"), &json!("present")));
    let gone = app.get_as("administrator", &path).await.expect(404);
    assert_eq!(gone.code(), "rest-event-not-found");
    force(&app, "editor", &path).await.expect(404);
    let left = app.get(searched).await.json;
    assert_eq!((&left["total"], &left["events"][0]["id"]), (&json!(1), &json!(other)));
    let categories = app.get("/categories").await.json;
    assert_eq!(categories["categories"][0]["count"], 1);
    for gone in [
        format!("events where id = {id}"),
        format!("entities where id = {id}"),
        format!("event_terms where event_id = {id}"),
        format!("event_statuses where event_id = {id}"),
        format!("event_changes where event_id = {id} and was is not null"),
        "event_venues".to_owned(),
        "event_organizers".to_owned(),
        "former_slugs".to_owned(),
        "images".to_owned(),
        "erased_files".to_owned(),
    ] {
        assert_eq!(rows(&app, &gone), 0, "{gone}");
    }
    assert_eq!(app.media_files(), 0);
    // Mirrors are told to remove it, and feeds do not mention it.
    let changes = app.get("/events?modified_after=2027-03-10T00:00:00Z").await.json;
    assert_eq!(changes["deleted"][0]["id"], json!(id));
    assert!(!app.get("/ical").await.text.contains("Quixotic\r\n"));
}

#[actix_web::test]
async fn image_that_another_item_uses_stays() {
    let app = App::new().await;
    let (shared, own) = (image(&app, 1).await, image(&app, 2).await);
    let same_file = image(&app, 2).await;
    let venue = app.make("/venues", json!({"venue": "Hall", "image": shared})).await;
    let first = app.event(json!({"image": shared})).await;
    let second = app.event(json!({"image": own})).await;
    for id in [first, second] {
        force(&app, "editor", &format!("/events/{id}")).await.expect(200);
    }
    app.get_as("editor", &format!("/images/{shared}")).await.expect(200);
    app.get_as("editor", &format!("/images/{own}")).await.expect(400);
    // Another image uses the same file.
    let kept = app.get_as("editor", &format!("/images/{same_file}")).await.expect(200).json;
    let file = reqwest::get(kept["url"].as_str().unwrap()).await.unwrap();
    assert_eq!((file.status().as_u16(), app.media_files()), (200, 2));
    force(&app, "editor", &format!("/venues/{venue}")).await.expect(200);
    assert_eq!((rows(&app, "images"), app.media_files()), (1, 1));
}

#[actix_web::test]
async fn venues_and_organizers_are_erased_with_their_links() {
    let app = App::new().await;
    for (kind, key) in [("venues", "venue"), ("organizers", "organizer")] {
        let id = app.make(&format!("/{kind}"), json!({key: "Secret"})).await;
        let event = app.event(json!({key: id})).await;
        let path = format!("/{kind}/{id}");
        app.patch(&path, &json!({"slug": "former"})).await.expect(200);
        app.delete(&path).await.expect(200);
        assert_eq!(app.delete(&path).await.status, 410);
        assert_eq!(force(&app, "editor", &path).await.expect(200).json[key], "Secret");
        app.get_as("editor", &path).await.expect(400);
        app.get(&format!("/events/{event}")).await.expect(200);
        for gone in [kind.to_owned(), format!("event_{kind}"), "former_slugs".to_owned()] {
            assert_eq!(rows(&app, &gone), 0, "{gone}");
        }
    }
}

#[actix_web::test]
async fn only_those_who_may_delete_may_erase() {
    let app = App::new().await;
    let by = async |who: &str| format!("/events/{}", app.event_as(who, json!({})).await);
    for (owner, caller, expected) in [
        ("author", "", 401),
        ("author", "reader", 403),
        ("author", "contributor", 403),
        ("author", "author2", 403),
        ("author", "author", 200),
        ("contributor", "contributor2", 403),
        ("contributor", "contributor", 200),
        ("author", "editor", 200),
    ] {
        let path = by(owner).await;
        let answer = force(&app, caller, &path).await;
        assert_eq!(answer.status, expected, "{owner} {caller}: {}", answer.text);
        let kept = app.get_as("editor", &path).await.status == 200;
        assert_eq!(kept, expected != 200, "{owner} {caller}");
    }
    let path = by("author").await;
    let wrong = send(app.request("author", "DELETE", &format!("{path}?force=maybe"))).await;
    assert_eq!((wrong.status, wrong.code()), (400, "rest_invalid_param"));
    // Without `force`, the event moves to the trash. It can be erased from there.
    send(app.request("author", "DELETE", &format!("{path}?force=false"))).await.expect(200);
    assert_eq!(app.get(&path).await.code(), "event-no-longer-available");
    force(&app, "author", &path).await.expect(200);
    app.get(&path).await.expect(404);
}

#[actix_web::test]
async fn children_of_an_erased_event_stay() {
    let app = App::new().await;
    let file = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:s\r\nSUMMARY:Daily\r\n\
        DTSTART:20270401T100000Z\r\nRRULE:FREQ=DAILY;COUNT=3\r\nSEQUENCE:1\r\nEND:VEVENT\r\n\
        END:VCALENDAR\r\n";
    crate::imports::counts(&app, file).await;
    let ids = app.get("/events").await.ids();
    let children = format!("/events?post_parent={}", ids[0]);
    assert_eq!(app.get(&children).await.ids(), ids[1..]);
    force(&app, "editor", &format!("/events/{}", ids[0])).await.expect(200);
    assert_eq!(app.get("/events").await.ids(), ids[1..]);
    assert_eq!(rows(&app, "events where parent_id is not null"), 0);
    // The others keep their records, and the revision of the series.
    let revisions = rows(&app, "imported_revisions where name <> ''");
    assert_eq!((revisions, rows(&app, "imported_events")), (1, 2));
    // No record of the event is left, so importing its file creates it again.
    assert_eq!(crate::imports::counts(&app, file).await, [1, 2, 0, 0, 0]);
    assert_eq!(rows(&app, "events where parent_id is not null"), 2);
}

/// Starts a second server on the same database and media folder.
async fn replica(app: &App) -> (State, TestServer) {
    let (pools, media) = (app.state.pools.clone(), app.state.media.clone());
    let state = State::new(pools, app.clock.shared(), settings(&[]), media);
    let server = TestServer::start(Calendar { state: state.clone() }).await;
    (state, server)
}

#[actix_web::test]
async fn other_replicas_do_not_list_erased_events() {
    let app = App::new().await;
    let (_, server) = replica(&app).await;
    let (id, kept) = (app.event(json!({"title": "Fugue"})).await, app.event(json!({})).await);
    let total = async |search: &str| {
        let list = send(server.get(&format!("{NS}/events{search}"))).await.expect(200).json;
        list["total"].as_i64().unwrap()
    };
    assert_eq!((total("?search=fugue").await, total("").await), (1, 2));
    app.patch(&format!("/events/{id}"), &json!({"title": "Sonata"})).await.expect(200);
    force(&app, "editor", &format!("/events/{id}")).await.expect(200);
    assert_eq!((total("?search=fugue").await, total("?search=sonata").await), (0, 0));
    assert_eq!((total("").await, total(&format!("?include={kept}")).await), (1, 1));
    let gone = send(server.get(&format!("{NS}/events/{id}"))).await;
    assert_eq!(gone.status, 404);
}

/// Moves an event, a venue and an organizer to the trash.
async fn trash_one_of_each(app: &App) {
    let image = image(app, 9).await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let organizer = app.make("/organizers", json!({"organizer": "Ann", "image": image})).await;
    let event = app.event(json!({"image": image})).await;
    for path in
        [format!("/events/{event}"), format!("/venues/{venue}"), format!("/organizers/{organizer}")]
    {
        app.delete(&path).await.expect(200);
    }
}

#[actix_web::test]
async fn trash_empties_itself_after_its_days_on_any_replica() {
    let app = App::new().await;
    let (other, _server) = replica(&app).await;
    let live = app.event(json!({"start_date": "2027-01-01", "end_date": "2028-01-01"})).await;
    trash_one_of_each(&app).await;
    app.clock.advance(30 * DAY);
    empty_trash(&app.state).await;
    assert_eq!(rows(&app, "events"), 2);
    trash_one_of_each(&app).await;
    app.clock.advance(1);
    futures_util::join!(empty_trash(&app.state), empty_trash(&other));
    let left = ["events", "venues", "organizers"].map(|table| rows(&app, table));
    assert_eq!(left, [2, 1, 1]);
    app.get(&format!("/events/{live}")).await.expect(200);
    // With 0, the trash is never emptied.
    let never = App::with(&["--trash-days=0"]).await;
    trash_one_of_each(&never).await;
    never.clock.advance(5000 * DAY);
    empty_trash(&never.state).await;
    assert_eq!(rows(&never, "events"), 1);
}

#[actix_web::test]
async fn large_trash_is_searched_only_twice() {
    // The server of the test leaves the trash to the state below.
    let app = App::with(&["--trash-days=0"]).await;
    let author = app.user("editor");
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        (0..120).try_for_each(|_| {
            let trashed = plant(db, author, (0, 60), &Links::default(), |event| {
                event.set_status(Status::of(Stage::Trash));
            });
            trashed.map(drop)
        })
    };
    app.state.pools.write_blocking(planting).unwrap();
    let is_search = |text: &str| text.contains("status = 'trash' and modified_utc <");
    let (pools, searched) = app.counted(is_search).await;
    let state = State::new(pools, app.clock.shared(), settings(&[]), app.state.media.clone());
    // A search has a statement each for events, venues and organizers.
    for expected in [6, 9] {
        empty_trash(&state).await;
        assert_eq!((rows(&app, "events"), searched.load(Ordering::Relaxed)), (0, expected));
    }
}

#[actix_web::test]
async fn purge_counts_first_and_can_be_repeated_after_a_kill() {
    let app = App::new().await;
    for _ in 0..25 {
        let id = app.event(json!({})).await;
        app.delete(&format!("/events/{id}")).await.expect(200);
    }
    trash_one_of_each(&app).await;
    let live = app.event(json!({})).await;
    app.clock.advance(DAY + 1);
    let events = vec![live, 999_999];
    let options = PurgeOptions { older_than: Some(1), events, dry_run: true };
    let mut expected = Purged { events: 27, venues: 1, organizers: 1, images: 0, missing: 1 };
    assert_eq!(purge(&app.state, &options).unwrap(), expected);
    assert_eq!(rows(&app, "events"), 27);
    let options = PurgeOptions { dry_run: false, ..options };
    expected.images = 1;
    assert_eq!(purge(&app.state, &options).unwrap(), expected);
    assert_eq!(app.media_files(), 0);
    // Simulates a kill after the last transaction: a file is listed for removal and still exists.
    image(&app, 3).await;
    app.state
        .pools
        .write_blocking(|db| -> Result<(), DatabaseError> {
            let text =
                "insert into erased_files (file, erased_utc) select file, created_utc from images";
            calendar::Sql::new(db, text).execute(db)?;
            calendar::Sql::new(db, "delete from images").execute(db).map(drop)
        })
        .unwrap();
    assert_eq!(app.media_files(), 1);
    let again = purge(&app.state, &options).unwrap();
    assert_eq!(again, Purged { missing: 2, ..Purged::default() });
    assert_eq!((app.media_files(), rows(&app, "erased_files")), (0, 0));
}

/// The length of SQLite's write-ahead log.
fn log_length(file: &Path) -> u64 {
    Path::new(&format!("{}-wal", file.display())).metadata().map_or(0, |found| found.len())
}

#[actix_web::test]
async fn log_that_is_in_use_is_cleared_by_a_later_tick() {
    let app = App::new().await;
    // PostgreSQL has no such log.
    let Some(file) = app.database.file() else { return };
    let is_cleared = async || {
        empty_trash(&app.state).await;
        log_length(&file) == 0
    };
    let id = app.event(json!({"title": "Secret"})).await;
    let mut reader = app.state.pools.connect_reader().unwrap();
    reader.batch_execute("BEGIN; SELECT count(*) FROM events").unwrap();
    force(&app, "editor", &format!("/events/{id}")).await.expect(200);
    empty_trash(&app.state).await;
    assert!(log_length(&file) > 0);
    reader.batch_execute("COMMIT").unwrap();
    until("the log is cleared", is_cleared).await;
}

#[test]
fn purge_warns_if_the_log_is_in_use_and_its_repetition_clears_it() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
    let Some(file) = program.database().file() else { return };
    let line = json!({
        "type": "event", "title": "Show", "start_date": "+1 day", "end_date": "+1 day",
        "external_id": "s1"
    });
    program.pipe(&["load", "-"], format!("{line}\n").as_bytes()).done();
    let pools = program.database().open(&[&auth::MIGRATIONS, &calendar::MIGRATIONS]);
    let mut reader = pools.connect_reader().unwrap();
    reader.batch_execute("BEGIN; SELECT count(*) FROM events").unwrap();
    let ran = program.run(&["purge", "--event", "1"]);
    assert!(ran.code == Some(0) && ran.errors.contains("log is in use"), "{ran:?}");
    reader.batch_execute("COMMIT").unwrap();
    let ran = program.run(&["purge", "--event", "1"]);
    assert!(ran.code == Some(0) && !ran.errors.contains("log is in use"), "{ran:?}");
    assert_eq!(log_length(&file), 0);
}

#[test]
fn purged_texts_are_not_in_the_database_file() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
    let line = |fields: Value| format!("{fields}\n");
    let fields = |text: &str| {
        line(json!({
            "type": "event", "title": "Show", "start_date": "+1 day", "end_date": "+1 day",
            "external_id": "s1", "description": text.repeat(300)
        }))
    };
    program.pipe(&["load", "-"], fields("zanzibar").as_bytes()).done();
    program.pipe(&["load", "-", "--upsert"], fields("kinshasa").as_bytes()).done();
    let counted = program.done(&["purge", "--event", "1", "--dry-run"]);
    assert!(counted.starts_with("1 events, 0 venues") && counted.contains("dry run"), "{counted}");
    let report = program.done(&["purge", "--event", "1", "--event", "1", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["events"], &report["missing"]), (&json!(1), &json!(0)));
    for nothing in [&["purge"][..], &["purge", "--dry-run"], &["purge", "--json"]] {
        assert_eq!(program.run(nothing).code, Some(2), "{nothing:?}");
    }
    // PostgreSQL removes old rows when it vacuums.
    let Some(path) = program.database().file() else { return };
    let path = path.display();
    for suffix in ["", "-wal"] {
        let bytes = fs::read(format!("{path}{suffix}")).unwrap_or_default();
        for text in ["zanzibar", "kinshasa"] {
            let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!found, "{text} is in {path}{suffix}");
        }
    }
}

/// Creates files left by erased images, using `make`.
fn left_files(app: &App, numbers: std::ops::Range<u32>, make: impl Fn(&Path)) {
    let media = app.database.folder().join("media");
    fs::create_dir_all(&media).unwrap();
    let rows = numbers.map(|number| {
        let file = format!("{number:032x}.png");
        make(&media.join(&file));
        format!("('{file}', {number})")
    });
    let rows: Vec<String> = rows.collect();
    app.execute(&format!("insert into erased_files (file, erased_utc) values {}", rows.join(", ")));
}

#[actix_web::test]
async fn each_tick_removes_all_files_of_erased_images() {
    for days in ["--trash-days=0", "--trash-days=30"] {
        let app = App::with(&[days]).await;
        // A folder cannot be removed like a file.
        left_files(&app, 0..120, |path| fs::create_dir(path).unwrap());
        left_files(&app, 1000..1250, |path| fs::write(path, PNG).unwrap());
        empty_trash(&app.state).await;
        assert_eq!((app.media_files(), rows(&app, "erased_files")), (120, 120), "{days}");
        let media = app.database.folder().join("media");
        for folder in fs::read_dir(&media).unwrap() {
            fs::remove_dir(folder.unwrap().path()).unwrap();
        }
        empty_trash(&app.state).await;
        assert_eq!(rows(&app, "erased_files"), 0, "{days}");
    }
}

#[actix_web::test]
async fn purge_removes_all_files_of_erased_images() {
    let app = App::new().await;
    left_files(&app, 0..250, |path| fs::write(path, PNG).unwrap());
    purge(&app.state, &PurgeOptions { older_than: Some(1), ..PurgeOptions::default() }).unwrap();
    assert_eq!((app.media_files(), rows(&app, "erased_files")), (0, 0));
}

/// Returns the path of the only stored file, after setting its time to the app's.
fn just_stored(app: &App) -> PathBuf {
    let mut files = fs::read_dir(app.database.folder().join("media")).unwrap();
    let path = files.next().unwrap().unwrap().path();
    let now = Duration::from_secs(app.clock.unix().try_into().unwrap());
    File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH + now).unwrap();
    path
}

#[actix_web::test]
async fn file_that_a_write_has_just_stored_outlives_the_erasure_of_an_equal_image() {
    for is_recorded in [true, false] {
        let app = App::new().await;
        let id = app.event(json!({"image": image(&app, 1).await})).await;
        // Another write has stored an identical image but not recorded it yet.
        let path = just_stored(&app);
        app.clock.advance(1);
        force(&app, "editor", &format!("/events/{id}")).await.expect(200);
        assert!(path.exists());
        if is_recorded {
            let (editor, file) = (app.user("editor"), path.file_name().unwrap().to_str().unwrap());
            app.execute("insert into entities (id, kind) values (900, 4)");
            app.execute(&format!(
                "insert into images (id, url, file, mime, extension, width, height, filesize, author_id, \
                 created_utc) values (900, '', '{file}', 'image/png', 'png', 7, 5, 33, {editor}, 1)"
            ));
        }
        app.clock.advance(601);
        empty_trash(&app.state).await;
        assert_eq!((path.exists(), rows(&app, "erased_files")), (is_recorded, 0));
        if is_recorded {
            let image = app.get_as("editor", "/images/900").await.expect(200);
            let sent = reqwest::get(image.json["url"].as_str().unwrap()).await.unwrap();
            assert_eq!(sent.status().as_u16(), 200);
        }
    }
}
