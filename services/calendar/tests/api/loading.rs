//! The loader and the samples.

use std::io::Cursor;

use calendar::{Loaded, Sql, load};
use database::Db;
use serde_json::json;

use crate::app::App;

#[actix_web::test]
async fn samples_load_once_and_lie_ahead() {
    let app = App::new().await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/calendar.ndjson");
    let lines = std::fs::read_to_string(path).unwrap();
    let count = lines.lines().count() as u64;
    let first = load(&app.state, Cursor::new(&lines)).unwrap();
    assert_eq!(first, Loaded { created: count, kept: 0 });
    let tables = ["events", "venues", "organizers", "terms", "event_terms", "entities"];
    let before: Vec<i64> = tables.iter().map(|table| app.rows(table)).collect();
    // A later run, whose relative dates would mean other days.
    app.clock.advance(10 * 24 * 3600);
    let second = load(&app.state, Cursor::new(&lines)).unwrap();
    assert_eq!(second, Loaded { created: 0, kept: count });
    let after: Vec<i64> = tables.iter().map(|table| app.rows(table)).collect();
    assert_eq!(before, after);
    let list = app.get("/events?per_page=50").await.expect(200);
    assert!(list.json["total"].as_i64().unwrap() > 20, "{}", list.json["total"]);
}

#[actix_web::test]
async fn planner_knows_what_was_loaded() {
    let app = App::new().await;
    let line = json!({"type": "event", "title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01"});
    load(&app.state, Cursor::new(line.to_string())).unwrap();
    let known = |db: &mut Db| match db {
        // Minus one stands for a table that was never looked at.
        Db::Pg(_) => {
            let text = "select count(*) as n from pg_class where reltuples >= 0 and relkind = 'r' \
                and relnamespace = current_schema()::regnamespace \
                and relname not in ('users', 'api_key', 'plan', '__diesel_schema_migrations')";
            Sql::new(db, text).number(db)
        }
        Db::Sqlite(_) => Ok(12),
    };
    assert_eq!(app.state.pools.read_blocking(known).unwrap(), 12);
}

#[actix_web::test]
async fn faulty_line_is_named_and_what_came_before_stays() {
    let app = App::new().await;
    for (line, text) in [
        (json!({"type": "event", "title": "x"}).to_string(), "start_date is missing"),
        (json!({"type": "venue", "venue": "x", "website": "y"}).to_string(), "website must be"),
        (json!({"type": "other"}).to_string(), "type must be"),
        ("{".to_owned(), "EOF"),
    ] {
        let lines = format!("{}\n\n{line}\n", json!({"type": "tag", "name": "kept"}));
        let error = format!("{:#}", load(&app.state, Cursor::new(lines)).unwrap_err());
        assert!(error.contains("line 3") && error.contains(text), "{error}");
        assert_eq!(app.rows("terms"), 1);
    }
}

#[actix_web::test]
async fn planner_knows_what_came_before_a_faulty_line() {
    let app = App::new().await;
    let lines = format!("{}\n{{\n", json!({"type": "tag", "name": "kept"}));
    load(&app.state, Cursor::new(lines)).unwrap_err();
    let known = |db: &mut Db| match db {
        Db::Pg(_) => {
            let text =
                "select count(*) as n from pg_class where relname = 'terms' and reltuples = 1";
            Sql::new(db, text).number(db)
        }
        Db::Sqlite(_) => Ok(1),
    };
    assert_eq!(app.state.pools.read_blocking(known).unwrap(), 1);
}

#[actix_web::test]
async fn load_is_complete_though_no_statistics_can_be_gathered() {
    let app = App::new().await;
    let hide = |db: &mut Db| Sql::new(db, "alter table images rename to pictures").execute(db);
    app.state.pools.write_blocking(hide).unwrap();
    let line = json!({"type": "tag", "name": "kept"}).to_string();
    let loaded = load(&app.state, Cursor::new(line)).unwrap();
    assert_eq!(loaded, Loaded { created: 1, kept: 0 });
}
