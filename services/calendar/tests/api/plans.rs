//! The statements of lists use the indexes that they were made for.

use calendar::{
    Candidates, EventFilter, Geo, Point, Scope, Slice, Sql, Unpublished, Window, Words, candidates,
    candidates_statement, list_statement,
};
use database::{DatabaseError, Db};
use diesel::sql_types::Text;
use diesel::{QueryableByName, RunQueryDsl};

use crate::app::App;

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

/// Fills the tables without HTTP, enough for a planner to care.
pub fn fill(db: &mut Db) -> Result<(), DatabaseError> {
    let run = |db: &mut Db, text: &str| Sql::new(db, text).execute(db);
    let numbers =
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)";
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
         select i, 1, 'publish', 't', '', '', 's' || i, i, i, i, 1800000000 + i * 7200, 1800003600 + i * 7200, \
         1800000000 + i * 7200, 1800003600 + i * 7200, 'UTC', {no}, '[]', '', {no}, {no}, {yes}, {no}, {no}, 0, \
         'title ' || i, case when i % 10 = 0 then 0 else 1 end, 0 from n"
        ),
    )?;
    run(
        db,
        &format!(
            "insert into terms (id, taxonomy, name, name_ci, slug, description, parent_id, count) {numbers} \
         select i, 1, 'c' || i, 'c' || i, 'c' || i, '', 0, 0 from n where i <= 200"
        ),
    )?;
    run(
        db,
        &format!(
            "insert into event_terms (event_id, other_id, position, pub, start_local, published_utc, start_utc, end_utc) \
         {numbers} select i, i % 200 + 1, 0, 1, 1800000000 + i * 7200, i, 1800000000 + i * 7200, \
         1800003600 + i * 7200 from n"
        ),
    )?;
    if matches!(db, Db::Sqlite(_)) {
        run(db, "insert into events_fts (rowid, search_ci) select id, search_ci from events")?;
    }
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
    let window = Window {
        start_min: Some(1_850_000_000),
        end_max: Some(1_900_000_000),
        ..Window::default()
    };
    let public = || EventFilter::plain(Scope::public(), window);
    let editors =
        Scope { published: true, unpublished: Unpublished::Of { author: None, statuses: None } };
    let category = EventFilter { categories: Some(vec![7]), ..public() };
    let both = EventFilter { featured: Some(false), ..category.clone() };
    let words = EventFilter { words: Words::parse("itle 1234"), ..public() };
    let children = EventFilter { parent: Some(5), ..public() };
    let near = Geo::Near { point: Point { lat: 1.0, lng: 1.0 }, km: 1.0 };
    let geo = EventFilter { geo: Some(near), ..public() };
    let cases: Vec<(&str, EventFilter, &[&str])> = vec![
        // PostgreSQL takes the second, of the same order, while pages are not known to be visible
        // to all and the covering index would save it nothing.
        ("default", public(), &["events_list", "events_order"]),
        ("privileged", EventFilter::plain(editors, window), &["events_order"]),
        ("category", category, &["event_terms_list"]),
        ("category and flag", both, &["event_terms_list"]),
        ("words", words, &["VIRTUAL TABLE INDEX", "events_pkey"]),
        ("children", children, &["events_parent", "events_list"]),
        ("place", geo, &["event_venues"]),
    ];
    app.state.pools.write_blocking(fill).unwrap();
    let mut db = app.state.pools.connect().unwrap();
    if let Db::Pg(conn) = &mut db {
        // Statistics and the visibility map, which the server gathers by itself in time.
        diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    }
    for (name, filter, indexes) in cases {
        let found = Candidates {
            venues: filter.geo.is_some().then(|| vec![1, 2]),
            events: candidates(&mut db, &filter.words).unwrap(),
        };
        let slice = Slice { skip: 0, take: 10, backwards: false };
        let statement = list_statement(&db, &filter, &found, slice);
        let plan = plan(&mut db, statement).unwrap();
        assert!(indexes.iter().any(|index| plan.contains(index)), "{name}:\n{plan}");
        let scans =
            plan.lines().any(|line| line.trim() == "SCAN e" || line.contains("Seq Scan on events"));
        assert!(!scans, "{name} reads the whole table:\n{plan}");
        if matches!(name, "default" | "category" | "privileged") {
            let sorts = plan.contains("TEMP B-TREE") || plan.contains("Sort Key");
            assert!(!sorts, "{name} sorts:\n{plan}");
        }
    }
}

#[actix_web::test]
async fn words_lead_to_few_events_by_their_index() {
    let app = App::new().await;
    app.state.pools.write_blocking(fill).unwrap();
    let mut db = app.state.pools.connect().unwrap();
    let Db::Pg(conn) = &mut db else {
        let words = Words::parse("1234");
        assert_eq!(candidates(&mut db, &words).unwrap(), None);
        return;
    };
    diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    let of = |db: &mut Db, query: &str| {
        candidates(db, &Words::parse(query)).unwrap().map(|mut ids| {
            ids.sort_unstable();
            ids
        })
    };
    let with = |part: &str| -> Option<Vec<i64>> {
        Some((1..=20_000_i64).filter(|id| id.to_string().contains(part)).collect())
    };
    assert_eq!(of(&mut db, "1234"), with("1234"));
    assert_eq!(of(&mut db, "\"itle 1\" 234"), with("234"));
    assert_eq!(of(&mut db, "none"), Some(Vec::new()));
    // One word of 20,000 events; too short a part.
    for query in ["title", "12"] {
        assert_eq!(of(&mut db, query), None, "{query}");
    }
    let lists = ["1234 11234".to_owned(), "title".to_owned()];
    let statement = candidates_statement(&db, &lists);
    let plan = plan(&mut db, statement).unwrap();
    assert!(plan.contains("events_words"), "{plan}");
}
