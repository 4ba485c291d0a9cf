//! Costly lists have a time limit and do not block cheap ones.

use std::sync::Arc;
use std::time::{Duration, Instant};

use calendar::{
    Deadline, EventFilter, IndexAccess, Links, ListError, Paging, Scope, Window, Words, list_events,
};
use database::{DatabaseError, Db};
use serde_json::json;
use testkit::until;

use crate::app::{App, plant};

#[actix_web::test]
async fn costly_list_gets_503_at_its_time_limit_while_cheap_reads_succeed() {
    let app = App::with(&["--list-time-ms=500"]).await;
    let id = app.event(json!({"tags": ["x"]})).await;
    let permits = app.state.costly_lists.clone();
    let all = u32::try_from(permits.available_permits()).unwrap();
    let taken = permits.acquire_many_owned(all).await.unwrap();
    for path in [
        "/events?search=event",
        "/events?search=event&tags=x",
        "/venues?search=x",
        "/organizers?has_events=1",
    ] {
        let answer = app.get(path).await.expect(503);
        assert_eq!(
            (answer.code(), answer.header("retry-after")),
            ("rest_unavailable", "5"),
            "{path}"
        );
    }
    for path in [
        "/events",
        "/events?featured=false",
        "/events?orderby=title",
        "/events?tags=x&featured=false",
        "/events?modified_after=2020-01-01",
        "/venues",
    ] {
        // Repeated, because a list may exceed its time limit on a busy machine.
        until(path, async || app.get(path).await.status == 200).await;
    }
    app.get(&format!("/events/{id}")).await.expect(200);
    drop(taken);
}

#[actix_web::test]
async fn lists_of_clients_that_leave_are_abandoned() {
    const LISTS: usize = 40;
    let app = App::with(&["--list-time-ms=60000"]).await;
    let permits = app.state.costly_lists.clone();
    let all = u32::try_from(permits.available_permits()).unwrap();
    let taken = permits.clone().acquire_many_owned(all).await.unwrap();
    // Each waiting list holds a reference to the permits. So does a worker that starts in the
    // meantime.
    let shares = || Arc::strong_count(&permits);
    let idle = shares();
    let search = || app.request("", "GET", "/events?search=event").send();
    let searches: Vec<_> = (0..LISTS).map(|_| actix_web::rt::spawn(search())).collect();
    until("the lists wait", async || shares() >= idle + LISTS).await;
    let waiting = shares();
    searches.iter().for_each(actix_web::rt::task::JoinHandle::abort);
    let abandoned = until("the lists are abandoned", async || shares() <= waiting - LISTS / 2);
    // Long before they would be refused for taking too long.
    tokio::time::timeout(Duration::from_secs(40), abandoned).await.unwrap();
    drop(taken);
    app.get("/events?search=event").await.expect(200);
}

#[actix_web::test]
async fn phrase_search_over_many_texts_stops_at_its_time_limit() {
    let app = App::new().await;
    let author = app.user("editor");
    let planting = |db: &mut Db| -> Result<(), DatabaseError> {
        (0..3).try_for_each(|_| {
            plant(db, author, (0, 60), &Links::default(), |event| {
                event.title = "late night".into();
            })
            .map(drop)
        })
    };
    app.state.pools.write_blocking(planting).unwrap();
    let words = Words::parse("\"late night\"");
    let filter = EventFilter { words, ..EventFilter::plain(Scope::public(), Window::default()) };
    let paging = Paging { page: 1, per_page: 10 };
    assert_eq!(app.list(&filter, paging).1, 3);
    let access = IndexAccess { deadline: Deadline(Instant::now()), ..app.access() };
    let late = app.state.pools.read_blocking(|db| list_events(db, access, &filter, paging));
    assert!(matches!(late, Err(ListError::TooLong)));
}
