//! Requests and scheduled work while other work is in progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use calendar::{Calendar, Sql, State};
use database::{DatabaseError, DatabaseSettings, Db, Pools};
use diesel::Connection;
use diesel::connection::InstrumentationEvent;
use serde_json::json;
use shell::Service;
use testkit::{TestServer, until};

use crate::app::{App, send};

/// Opens the database of an app again, with one connection that reads.
fn with_one_reader(app: &App, db_wait_ms: u64) -> Pools {
    let settings = DatabaseSettings { db_pool: 1, db_wait_ms, ..app.database.settings() };
    let migrations = [&auth::MIGRATIONS, &calendar::MIGRATIONS];
    settings.open(app.database.folder(), "test", &migrations).unwrap()
}

#[actix_web::test]
async fn publication_does_not_wait_for_the_review_of_series() {
    let app = App::new().await;
    let id = app.event(json!({"status": "future", "date": "2027-03-10 13:00"})).await;
    app.get(&format!("/events/{id}")).await.expect(403);
    app.clock.advance(2 * 3600);
    // The review of series waits for the connection until the end of the test.
    let pools = with_one_reader(&app, 300_000);
    let state = State { pools: pools.clone(), ..app.state.clone() };
    let (begun, begins) = mpsc::channel::<()>();
    let (release, released) = mpsc::channel::<()>();
    let read = std::thread::spawn(move || {
        pools.read_blocking(|_| {
            begun.send(()).unwrap();
            let _ = released.recv();
            Ok::<_, DatabaseError>(())
        })
    });
    begins.recv().unwrap();
    let work = Calendar { state }.background().into_iter().map(actix_web::rt::spawn);
    let work: Vec<_> = work.collect();
    until("the event is published", async || app.get(&format!("/events/{id}")).await.status == 200)
        .await;
    work.iter().for_each(|one| one.abort());
    drop(release);
    read.join().unwrap().unwrap();
}

#[actix_web::test]
async fn unlisted_event_that_is_trashed_while_its_file_is_made_is_not_shown() {
    let app = App::new().await;
    app.event(json!({"title": "Secret thing", "hide_from_listings": true})).await;
    let pools = with_one_reader(&app, 60_000);
    let (writing, is_trashed) = (app.state.pools.clone(), AtomicBool::new(false));
    // The event is trashed after it was found, and before it is read for the file.
    let trash = move |event: InstrumentationEvent<'_>| {
        let InstrumentationEvent::StartQuery { query, .. } = event else { return };
        let text = query.to_string().replace(['`', '"'], "").to_lowercase();
        if text.starts_with("select events.timezone, events.start_utc")
            && !is_trashed.swap(true, Ordering::SeqCst)
        {
            let trash = |db: &mut Db| {
                Sql::new(db, "update events set status = 'trash', pub = 0").execute(db)
            };
            writing.write_blocking(trash).unwrap();
        }
    };
    let instrument = move |db: &mut Db| -> Result<(), DatabaseError> {
        db.set_instrumentation(trash);
        Ok(())
    };
    pools.read(instrument).await.unwrap();
    let state = State { pools, ..app.state.clone() };
    let server = TestServer::start(Calendar { state }).await;
    let file = send(server.get("/event/secret-thing/?ical=1")).await.expect(200);
    assert_eq!(app.rows("events where status = 'trash'"), 1);
    assert!(file.text.starts_with("BEGIN:VCALENDAR"), "{}", file.text);
    assert!(!file.text.contains("BEGIN:VEVENT"), "{}", file.text);
}
