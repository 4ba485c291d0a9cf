//! A response shows a single state of the database, even during concurrent writes.

use std::cell::Cell;

use calendar::{
    EventFilter, EventOrder, Limits, Links, ListError, Paging, Scope, Sql, Stage, Status, Window,
    find_event, list_events, list_with_included, one_writer, read_transaction, update_event,
};
use database::{DatabaseError, Db};
use futures_util::future::{join, join_all};
use serde_json::json;

use crate::app::{App, plant};

/// Number of times that each writer hides and shows its resources again.
const ROUNDS: usize = 12;

/// Hides resources and shows them again, repeatedly.
async fn toggle(app: &App, paths: &[String]) {
    for _ in 0..ROUNDS {
        for status in ["private", "publish"] {
            for path in paths {
                app.patch(path, &json!({ "status": status })).await.expect(200);
            }
        }
    }
}

/// Reads a list until the writers are done. The whole list fits on one page.
async fn watch(app: &App, path: &str, over: &Cell<bool>) {
    while !over.get() {
        let answer = app.get(path).await.expect(200);
        let list = answer.json.as_object().unwrap().values().find_map(|value| value.as_array());
        let rows = list.unwrap();
        for row in rows {
            assert_eq!(row["status"], "publish", "{path}: {row}");
        }
        assert_eq!(answer.json["total"], rows.len(), "{path}: {}", answer.text);
    }
}

#[actix_web::test]
async fn private_resources_never_appear_during_concurrent_writes() {
    let app = App::new().await;
    let mut own: [Vec<String>; 2] = Default::default();
    let mut ids = Vec::new();
    let hall = app.make("/venues", json!({"venue": "Hall", "geo_lat": 1, "geo_lng": 2})).await;
    for number in 0..6 {
        let paths = &mut own[number % 2];
        let title = format!("evening {number}");
        let id = app.event(json!({"title": title, "tags": ["live"], "venue": hall})).await;
        ids.push(id.to_string());
        paths.push(format!("/events/{id}"));
        let venue = app.make("/venues", json!({ "venue": title })).await;
        paths.push(format!("/venues/{venue}"));
        let organizer = app.make("/organizers", json!({ "organizer": title })).await;
        paths.push(format!("/organizers/{organizer}"));
    }
    let shapes = [
        "/events?per_page=50".to_owned(),
        "/events?per_page=50&search=evening".to_owned(),
        "/events?per_page=50&search=evening+even".to_owned(),
        "/events?per_page=50&orderby=title".to_owned(),
        "/events?per_page=50&overlaps=true".to_owned(),
        "/events?per_page=50&tags=live".to_owned(),
        "/events?per_page=50&tags=live&featured=false".to_owned(),
        "/events?per_page=50&geoloc=true".to_owned(),
        format!("/events?per_page=50&include={}", ids.join(",")),
        "/venues?per_page=50".to_owned(),
        "/organizers?per_page=50&search=evening".to_owned(),
    ];
    let over = Cell::new(false);
    let writers = async {
        join_all(own.iter().map(|paths| toggle(&app, paths))).await;
        over.set(true);
    };
    let readers = join_all(shapes.iter().map(|path| watch(&app, path, &over)));
    join(writers, readers).await;
}

#[actix_web::test]
async fn page_length_matches_the_total_during_concurrent_writes() {
    let app = App::new().await;
    let pools = &app.state.pools;
    let author = app.user("author");
    let plant_all = |db: &mut Db| -> Result<Vec<i64>, DatabaseError> {
        let hours = (0..10).map(|hour| 1_810_000_000 + hour * 3600);
        hours
            .map(|at| Ok(plant(db, author, (at, at + 60), &Links::default(), |_| {})?.id))
            .collect()
    };
    let ids = pools.write_blocking(plant_all).unwrap();
    let turn = |db: &mut Db, id: i64, stage: Stage| -> Result<(), DatabaseError> {
        one_writer(db)?;
        let Some(old) = find_event(db, id)? else { return Ok(()) };
        let mut new = old.clone();
        new.set_status(Status::of(stage));
        let links = Links::default();
        update_event(db, (&old, &links), (&new, &links))
    };
    let limits = Limits { start_min: Some(0), end_max: Some(i64::MAX / 2), ..Limits::default() };
    let window = Window::on_wall(limits);
    let plain = EventFilter::plain(Scope::public(), window);
    let titled = EventFilter { order: EventOrder::Title, ..plain.clone() };
    let read_all = |db: &mut Db, filter: &EventFilter| -> Result<(i64, Vec<i64>), ListError> {
        let (mut all, mut totals) = (Vec::new(), Vec::new());
        for page in 1..=5 {
            let paging = Paging { page, per_page: 2 };
            let (ids, total) = list_events(db, app.access(), filter, paging)?;
            all.extend(ids);
            totals.push(total);
        }
        totals.dedup();
        assert_eq!(totals.len(), 1, "{totals:?}");
        Ok((totals[0], all))
    };
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for stage in [Stage::Private, Stage::Publish].into_iter().cycle().take(20) {
                for id in &ids {
                    pools.write_blocking(|db| turn(db, *id, stage)).unwrap();
                }
            }
        });
        while !writer.is_finished() {
            // The index follows a single state: it returns a complete page, or asks for a retry.
            match pools.read_blocking(|db| read_transaction(db, |db| read_all(db, &plain))) {
                Ok((total, mut all)) => {
                    all.dedup();
                    assert_eq!(usize::try_from(total).unwrap(), all.len());
                }
                Err(error) => assert!(matches!(error, ListError::Outdated), "{error}"),
            }
            let paging = Paging { page: 1, per_page: 50 };
            let page =
                |db: &mut Db| list_with_included(db, app.access(), &titled, paging, usize::MAX);
            match pools.read_blocking(page) {
                Ok((events, _, total)) => {
                    assert!(events.iter().all(|event| event.status.is_published()));
                    assert_eq!(usize::try_from(total).unwrap(), events.len());
                }
                Err(error) => assert!(matches!(error, ListError::Outdated), "{error}"),
            }
        }
    });
}

#[actix_web::test]
async fn failed_read_ends_its_transaction() {
    let app = App::new().await;
    let pools = &app.state.pools;
    // More times than the pool has connections.
    for _ in 0..10 {
        let failed = pools.read_blocking(|db| {
            read_transaction(db, |db| {
                Sql::new(db, "select count(*) as n from events").number(db)?;
                Sql::new(db, "select n from nothing").number(db)
            })
        });
        assert!(failed.is_err());
        app.get("/events?page=9").await.expect(404);
        app.get("/venues?page=9").await.expect(404);
    }
    for total in 1..=10 {
        app.event(json!({})).await;
        assert_eq!(app.rows("events"), total);
        assert_eq!(app.get("/events?orderby=title").await.expect(200).json["total"], total);
    }
}

#[actix_web::test]
async fn change_log_drops_old_texts_above_its_limit() {
    const MIB: usize = 1 << 20;
    let app = App::new().await;
    let author = app.user("editor");
    let none = Links::default();
    let rewrite = |db: &mut Db| -> Result<(), DatabaseError> {
        let mut old = plant(db, author, (0, 3600), &none, |_| ())?;
        for number in 0..50 {
            let mut new = old.clone();
            new.description = format!("{number} ").repeat(MIB / 3);
            update_event(db, (&old, &none), (&new, &none))?;
            old = new;
        }
        Ok(())
    };
    app.state.pools.write_blocking(rewrite).unwrap();
    let kept = |db: &mut Db| {
        let text = "select cast(sum(octet_length(was)) as bigint) as n from event_changes";
        Sql::new(db, text).number(db)
    };
    let kept = usize::try_from(app.state.pools.read_blocking(kept).unwrap()).unwrap();
    // Only some writes trim the log, not every one.
    assert!((24 * MIB..38 * MIB).contains(&kept), "{kept}");
    // A process that has fallen too far behind rebuilds its index.
    assert_eq!(app.get("/events?search=49&start_date=1970-01-01").await.ids().len(), 1);
}
