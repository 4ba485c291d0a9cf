//! Query plans of list statements. Each must use the index made for it.

use std::ops::RangeInclusive;

use calendar::{
    EventFilter, EventIndex, Limits, MonthEntry, Paging, Scope, Slice, Sql, Unpublished, Window,
    count_overnight, days_of_month, first_of_days, first_of_days_statements,
    forget_items_statement, forget_slugs_statement, forget_texts_statement,
    kept_revision_statements, latest_revision_statement, list_statement, overnight_statement,
    read_transaction, subscribed_dates_statement,
};
use database::{DatabaseError, Db};
use diesel::sql_types::{BigInt, Text};
use diesel::{QueryableByName, RunQueryDsl};
use serde_json::json;

use crate::app::App;
use crate::subscribing::Subscribing;

const DAY: i64 = 86_400;

#[derive(QueryableByName)]
struct SqlitePlan {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[derive(QueryableByName)]
pub struct PostgresPlan {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    pub line: String,
}

/// Fills the tables without going through HTTP, with enough rows that the planner prefers indexes.
pub fn fill(db: &mut Db) -> Result<(), DatabaseError> {
    let run = |db: &mut Db, text: &str| Sql::new(db, text).execute(db);
    let numbers =
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 24000)";
    let (yes, no) = match db {
        Db::Sqlite(_) => ("1", "0"),
        Db::Pg(_) => ("true", "false"),
    };
    run(db, &format!("insert into entities (id, kind) {numbers} select i, 1 from n"))?;
    run(
        db,
        &format!(
            "insert into events (id, author_id, status, title, description, excerpt, slug, published_utc, \
         published_local, modified_utc, start_local, end_local, start_utc, end_utc, timezone, all_day, cost, \
         website, show_map, show_map_link, listed, sticky, featured, sequence, search_ci, pub, is_long) {numbers} \
         select i, 1, case when i % 10 = 0 then 'draft' else 'publish' end, 't', '', '', 's' || i, i, i, i, 1800000000 + i * 7200, 1800003600 + i * 7200, \
         1800000000 + i * 7200, 1800003600 + i * 7200, 'UTC', {no}, '[]', '', {no}, {no}, {yes}, {no}, {no}, 0, \
         'title ' || i, case when i % 10 = 0 then 0 else 1 end, 0 from n"
        ),
    )?;
    run(
        db,
        &format!(
            "insert into terms (id, taxonomy, name, name_ci, search_ci, slug, description, parent_id, count) {numbers} \
         select i, 1, 'c' || i, 'c' || i, 'c' || i, 'c' || i, '', 0, 0 from n where i <= 200"
        ),
    )?;
    run(
        db,
        &format!(
            "insert into event_terms (event_id, other_id, position, start_utc) \
         {numbers} select i, i % 200 + 1, 0, 1800000000 + i * 7200 from n"
        ),
    )?;
    // The in-memory index is updated from this log.
    run(db, &format!("insert into event_changes (event_id, bytes) {numbers} select i, 0 from n"))?;
    Ok(())
}

fn plan(db: &mut Db, statement: Sql) -> Result<String, DatabaseError> {
    let statement = statement.explained();
    let lines: Vec<String> = match db {
        Db::Sqlite(_) => {
            statement.load::<SqlitePlan>(db)?.into_iter().map(|row| row.detail).collect()
        }
        Db::Pg(_) => statement.load::<PostgresPlan>(db)?.into_iter().map(|row| row.line).collect(),
    };
    Ok(lines.join("\n"))
}

#[actix_web::test]
async fn list_statements_use_their_indexes() {
    let app = App::new().await;
    let limits = Limits {
        start_min: Some(1_850_000_000),
        end_max: Some(1_900_000_000),
        ..Limits::default()
    };
    let public = || EventFilter::plain(Scope::public(), Window::on_wall(limits));
    let instants = Window { utc: limits, ..Window::default() };
    let instants = EventFilter::plain(Scope::public(), instants);
    let editors =
        Scope { published: true, unpublished: Unpublished::Of { author: None, statuses: None } };
    let editors = EventFilter { scope: editors, ..public() };
    let cases: Vec<(&str, EventFilter, &[&str])> = vec![
        // While the visibility map is not set, PostgreSQL uses the second index, which has the same
        // order. The covering index would save nothing.
        ("default", public(), &["events_list", "events_order"]),
        ("instants", instants, &["events_list", "events_order"]),
        ("privileged", editors, &["events_order"]),
    ];
    app.state.pools.write_blocking(fill).unwrap();
    let mut db = app.state.pools.connect().unwrap();
    if let Db::Pg(conn) = &mut db {
        // Updates the statistics and the visibility map. On a server, autovacuum does so later.
        diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    }
    for (name, filter, indexes) in cases {
        let slice = Slice { skip: 0, take: 10, backwards: false };
        let statement = list_statement(&mut db, &filter, slice).unwrap();
        let plan = plan(&mut db, statement).unwrap();
        assert!(indexes.iter().any(|index| plan.contains(index)), "{name}:\n{plan}");
        let scans =
            plan.lines().any(|line| line.trim() == "SCAN e" || line.contains("Seq Scan on events"));
        assert!(!scans, "{name} reads the whole table:\n{plan}");
        let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort Key");
        assert!(!sorts, "{name} sorts:\n{plan}");
    }
}

/// Adds a series to every ten events of [`fill`], and the events to a subscription.
fn fill_series(db: &mut Db, subscription: i64) -> Result<(), DatabaseError> {
    let numbers =
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 24000)";
    let no = match db {
        Db::Sqlite(_) => "0",
        Db::Pg(_) => "false",
    };
    let series = "id, uid, slug, timezone, all_day, start_local, end_local, duration, rule, rdates, \
         exdates, most, made_until, sequence, modified_utc";
    for text in [
        format!(
            "insert into series ({series}) {numbers} select i, 'u' || i, 's', 'UTC', {no}, 0, 0, \
             '', '', '', '', 1, 0, 0, 0 from n where i <= 2400"
        ),
        format!(
            "insert into series_events (event_id, series_id, occurrence, changed) {numbers} \
             select i, i % 2400 + 1, i, '' from n"
        ),
        format!(
            "insert into subscribed_events (subscription_id, name, event_id, is_vanished, changed) \
             {numbers} select {subscription}, 'u' || (i % 2400 + 1) || '#' || i, i, {no}, '' from n"
        ),
        "update events set ical_uid = 'x' || id".to_owned(),
    ] {
        Sql::new(db, &text).execute(db)?;
    }
    Ok(())
}

/// Returns the plan of a statement, which must not read all rows of one of these tables.
fn plan_without_scans(db: &mut Db, statement: Sql, tables: &[&str]) -> String {
    let plan = plan(db, statement).unwrap();
    for line in plan.lines() {
        let is_scan = |table: &&str| {
            line.trim() == format!("SCAN {table}")
                || line.contains(&format!("Seq Scan on {table} "))
        };
        assert!(!tables.iter().any(is_scan), "{plan}");
    }
    plan
}

#[actix_web::test]
async fn statements_about_one_series_do_not_read_whole_tables() {
    let club = Subscribing::new().await;
    let id = club.subscribe(json!({})).await;
    let fill_all = |db: &mut Db| {
        fill(db)?;
        fill_series(db, id)
    };
    club.app.state.pools.write_blocking(fill_all).unwrap();
    let mut db = club.app.state.pools.connect().unwrap();
    if let Db::Pg(conn) = &mut db {
        diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    }
    let dates = subscribed_dates_statement(&db, id, "u7");
    let latest = latest_revision_statement(&db, "x7", 7);
    let kept = kept_revision_statements(&db, (1, 1), (Some(7), Some("u7")));
    assert_eq!(kept.len(), 4);
    // SQLite calls a table by its alias.
    let mut cases: Vec<(Sql, &[&str])> = vec![
        (dates, &["s", "subscribed_events"]),
        (latest, &["m", "e", "events", "series_events"]),
    ];
    cases.extend(kept.into_iter().map(|statement| (statement, &["series"] as &[&str])));
    for (statement, tables) in cases {
        let plan = plan_without_scans(&mut db, statement, tables);
        let is_dates = tables.contains(&"subscribed_events") && matches!(db, Db::Pg(_));
        assert!(!is_dates || plan.contains("subscribed_events_names"), "{plan}");
    }
}

#[actix_web::test]
async fn erasure_of_one_event_does_not_read_whole_tables() {
    let app = App::new().await;
    let fill_all = |db: &mut Db| -> Result<(), DatabaseError> {
        let numbers =
            "with recursive n (i) as (select 1 union all select i + 1 from n where i < 24000)";
        for text in [
            "site_items (source, their_id, our_id, digest) NUMBERS select 'x events', i, i, ''",
            "former_slugs (collection, slug, item_id) NUMBERS select 'events', 's' || i, i",
            "event_changes (event_id, bytes, was) NUMBERS select i, 0, 'x'",
        ] {
            let text = format!("insert into {text} from n").replace("NUMBERS", numbers);
            Sql::new(db, &text).execute(db)?;
        }
        Ok(())
    };
    app.state.pools.write_blocking(fill_all).unwrap();
    let mut db = app.state.pools.connect().unwrap();
    if let Db::Pg(conn) = &mut db {
        diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    }
    for (statement, table, index) in [
        (forget_items_statement(&db, "events", 7), "site_items", "site_items_ours"),
        (forget_slugs_statement(&db, "events", 7), "former_slugs", "former_slugs_item"),
        (forget_texts_statement(&db, 7), "event_changes", "event_changes_texts"),
    ] {
        let plan = plan_without_scans(&mut db, statement, &[table]);
        assert!(plan.contains(index), "{plan}");
    }
}

#[actix_web::test]
async fn deep_pages_match_the_same_slice_of_a_long_page() {
    let app = App::new().await;
    app.state.pools.write_blocking(fill).unwrap();
    let public = EventFilter::plain(Scope::public(), Window::default());
    let turned = EventFilter { descending: true, ..public.clone() };
    let pieces = |filter: &EventFilter, per_page: i64, pages: RangeInclusive<i64>| {
        let page = |page| app.list(filter, Paging { page, per_page });
        let lists: Vec<_> = pages.map(page).collect();
        assert!(lists.iter().all(|(_, total)| *total == 21_600));
        lists.into_iter().flat_map(|(ids, _)| ids).collect::<Vec<_>>()
    };
    // One page is within 10,000 events of either end of the list, one isn't.
    for filter in [&public, &turned] {
        for middle in [1_001, 1_159] {
            let around = pieces(filter, 10, middle..=middle + 1);
            let all = pieces(filter, 10_800, 1..=2);
            let from = usize::try_from(10 * (middle - 1)).unwrap();
            assert_eq!(around, all[from..from + 20]);
        }
    }
}

/// Makes most events of [`fill`] last three hours, so that those that start at 22:00 end at 01:00.
fn lengthen(db: &mut Db) -> Result<usize, DatabaseError> {
    Sql::new(db, "update events set end_local = end_local + 7200 where id % 5 > 0").execute(db)
}

/// Moves all events by whole days.
fn move_by(db: &mut Db, days: i64) -> Result<usize, DatabaseError> {
    let mut sql = Sql::new(db, "update events set start_local = start_local + ");
    sql.value(days * DAY).push(", end_local = end_local + ").value(days * DAY);
    sql.execute(db)
}

#[derive(QueryableByName)]
struct EventTimes {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    start_local: i64,
    #[diesel(sql_type = BigInt)]
    end_local: i64,
}

#[actix_web::test]
async fn month_statements_stop_after_the_rows_of_a_day_that_they_need() {
    let app = App::new().await;
    app.state.pools.write_blocking(fill).unwrap();
    app.state.pools.write_blocking(lengthen).unwrap();
    let mut db = app.state.pools.connect().unwrap();
    if let Db::Pg(conn) = &mut db {
        diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    }
    let first = 1_800_000_000 / DAY + 30;
    let midnights: Vec<i64> = (first..first + 31).map(|day| day * DAY).collect();
    let [starting, continued] = first_of_days_statements(&db, &midnights, 4);
    let counted = overnight_statement(&db, &midnights);
    for (name, statement, index) in [
        ("starting", starting, ["events_list", "events_order"]),
        ("continued", continued, ["events_overnight"; 2]),
        ("counted", counted, ["events_overnight"; 2]),
    ] {
        let plan = plan(&mut db, statement).unwrap();
        let reads: Vec<&str> = plan
            .lines()
            .filter(|line| {
                line.contains("SCAN e") || line.contains("SEARCH e") || line.contains(" on events")
            })
            .collect();
        assert!(!reads.is_empty(), "{name}:\n{plan}");
        for read in reads {
            let is_bounded = !read.contains("SCAN e") && !read.contains("Seq Scan");
            let is_range = index.iter().any(|index| read.contains(index));
            assert!(is_bounded && is_range, "{name}: {read}\n{plan}");
        }
        let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort Key");
        assert!(!sorts, "{name} sorts:\n{plan}");
    }
}

#[actix_web::test]
async fn month_statements_find_what_a_comparison_of_all_events_finds() {
    const DAYS_TO_1917: i64 = -40_000;
    let app = App::new().await;
    app.state.pools.write_blocking(fill).unwrap();
    app.state.pools.write_blocking(lengthen).unwrap();
    let first = 1_800_000_000 / DAY + 30;
    for moved in [0, DAYS_TO_1917] {
        app.state.pools.write_blocking(|db| move_by(db, moved)).unwrap();
        let days = first + moved..first + moved + 31;
        let midnights: Vec<i64> = days.map(|day| day * DAY).collect();
        let mut db = app.state.pools.connect().unwrap();
        let all = Sql::new(&db, "select id, start_local, end_local from events where pub = 1");
        let mut all: Vec<EventTimes> = all.load(&mut db).unwrap();
        all.sort_by_key(|event| event.start_local);
        let counts = count_overnight(&mut db, &midnights).unwrap();
        assert!(counts.contains(&0) && counts.contains(&1));
        let shown = first_of_days(&mut db, &midnights, 4).unwrap();
        let index = EventIndex::default();
        index.refresh(&mut db).unwrap();
        let days = read_transaction(&mut db, |db| days_of_month(db, &index, &midnights, 4));
        let days = days.unwrap();
        assert_eq!((&days.first, &days.overnight), (&shown, &counts));
        let begins = |midnight: &i64| {
            let on_day = |event: &&EventTimes| event.start_local.div_euclid(DAY) * DAY == *midnight;
            i64::try_from(all.iter().filter(on_day).count()).unwrap()
        };
        assert_eq!(days.starts, midnights.iter().map(begins).collect::<Vec<_>>());
        for (midnight, counted) in midnights.iter().zip(counts) {
            let on_day = |start: i64, end: i64| {
                start < midnight + DAY && (start >= *midnight || end > *midnight)
            };
            let of_day = all.iter().filter(|event| on_day(event.start_local, event.end_local));
            let ids: Vec<i64> = of_day.clone().map(|event| event.id).take(4).collect();
            let entry = |entry: &&MonthEntry| on_day(entry.start_local, entry.end_local);
            let found: Vec<i64> =
                shown.iter().filter(entry).map(|entry| entry.id).take(4).collect();
            assert_eq!(found, ids);
            let overnight = of_day.filter(|event| event.start_local < *midnight).count();
            assert_eq!(counted, i64::try_from(overnight).unwrap());
        }
    }
}
