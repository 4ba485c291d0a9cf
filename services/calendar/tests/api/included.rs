//! Included resources of events. Reading them with one or several statements gives equal results.

use calendar::{
    Event, EventFilter, EventSelector, Included, Kind, Limits, Paging, Scope, Sql, Window,
    events_with_included, find_event, images_by_ids, linked_by_ids, links_of_event,
    list_with_included, terms_with_ancestors,
};
use database::{DatabaseError, Db};
use diesel::sql_types::{BigInt, Text};
use diesel::{QueryableByName, RunQueryDsl};
use serde_json::{Value, json};

use crate::app::App;
use crate::plans::{PostgresPlan, fill};

/// Characters that would need escaping in a textual row format.
const AWKWARD: &str = "a,\"b\" (c) {d} \\e\n'f' NULL \u{1f3b7} ;--";

/// Creates events with many, few and no linked resources. The fourth is a draft.
async fn season(app: &App) -> [i64; 4] {
    let root = app.make("/categories", json!({"name": "Music"})).await;
    let middle = app.make("/categories", json!({"name": "Jazz", "parent": root})).await;
    let leaf = app
        .make("/categories", json!({"name": "Bebop", "parent": middle, "description": AWKWARD}))
        .await;
    let other = app.make("/categories", json!({"name": "Abroad"})).await;
    let tag = app.make("/tags", json!({"name": "Loud"})).await;
    let image = |name: &str| format!("https://cdn.example/{name}.png");
    let hall = app
        .make(
            "/venues",
            json!({"venue": "Hall", "description": AWKWARD, "image": image("hall"),
                "geo_lat": 0.300_000_000_000_000_04, "geo_lng": -1e-7}),
        )
        .await;
    let yard = app.make("/venues", json!({"venue": "Yard", "address": "", "city": AWKWARD})).await;
    let secret = app
        .make("/venues", json!({"venue": "Secret", "status": "draft", "image": image("secret")}))
        .await;
    let ann = app.make("/organizers", json!({"organizer": "Ann", "image": image("ann")})).await;
    let bob =
        app.make("/organizers", json!({"organizer": "Bob", "email": "bob@example.org"})).await;
    let much = app
        .event(json!({
            "title": "Much", "description": AWKWARD, "image": image("much"), "cost": "10-20",
            "venue": [yard, secret, hall], "organizer": [bob, ann],
            "categories": [other, leaf], "tags": [tag],
        }))
        .await;
    let little = app.event(json!({"title": "Little", "venue": hall, "categories": [root]})).await;
    let nothing = app.event(json!({"title": "Nothing", "slug": "nothing"})).await;
    let draft = app.event(json!({"title": "Draft", "status": "draft", "organizer": ann})).await;
    [much, little, nothing, draft]
}

/// Reads events and included resources with one statement per kind.
fn by_parts(db: &mut Db, ids: &[i64]) -> Result<(Vec<Event>, Included), DatabaseError> {
    let (mut found, mut included) = (Vec::new(), Included::default());
    for id in ids {
        let Some(event) = find_event(db, *id)? else { continue };
        let links = links_of_event(db, *id)?;
        let named = [links.categories.clone(), links.tags.clone()].concat();
        included.terms.extend(terms_with_ancestors(db, &named)?);
        included.venues.extend(linked_by_ids(db, Kind::Venue, &links.venues)?);
        included.organizers.extend(linked_by_ids(db, Kind::Organizer, &links.organizers)?);
        if links != Default::default() {
            included.links.insert(*id, links);
        }
        found.push(event);
    }
    let rows = included.venues.values().chain(included.organizers.values());
    let shown = rows.map(|row| row.image).chain(found.iter().map(|event| event.image));
    let shown: Vec<i64> = shown.flatten().collect();
    included.images = images_by_ids(db, &shown)?;
    Ok((found, included))
}

#[actix_web::test]
async fn one_statement_returns_included_resources_unmodified() {
    let app = App::new().await;
    let [much, little, nothing, draft] = season(&app).await;
    let pools = &app.state.pools;
    let read = |which: EventSelector<'_>| {
        pools.read_blocking(|db| events_with_included(db, which)).unwrap()
    };
    let parts = |ids: &[i64]| pools.read_blocking(|db| by_parts(db, ids)).unwrap();

    for id in [much, little, nothing, draft, 987_654] {
        assert_eq!(read(EventSelector::Id(id)), parts(&[id]), "{id}");
    }
    assert_eq!(read(EventSelector::Slug("nothing")), parts(&[nothing]));
    assert_eq!(read(EventSelector::Slug("none")), parts(&[]));
    for ids in [&[][..], &[draft, much, 987_654, little, nothing], &[little, much]] {
        assert_eq!(read(EventSelector::Ids(ids)), parts(ids), "{ids:?}");
    }

    let (events, included) = read(EventSelector::Id(much));
    assert!(events[0].description.contains(AWKWARD), "{}", events[0].description);
    let sizes = [
        included.terms.len(),
        included.venues.len(),
        included.organizers.len(),
        included.images.len(),
    ];
    assert_eq!(sizes, [5, 3, 2, 4]);
}

/// Returns the entry of another list with the same id.
fn twin<'a>(list: &'a Value, entry: &Value) -> &'a Value {
    list.as_array().unwrap().iter().find(|one| one["id"] == entry["id"]).unwrap()
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn event_embeds_its_resources_as_their_lists_show_them() {
    let app = App::new().await;
    let [much, ..] = season(&app).await;
    let list = app.get("/events").await.expect(200).json;
    let event = twin(&list["events"], &json!({"id": much})).clone();
    for (kind, field, shown) in
        [("venues", "venue", vec!["Yard", "Hall"]), ("organizers", "organizer", vec!["Bob", "Ann"])]
    {
        let own = app.get(&format!("/{kind}")).await.expect(200).json;
        assert_eq!(names(&event[field], field), shown);
        for entry in event[field].as_array().unwrap() {
            assert_eq!(entry, twin(&own[kind], entry));
        }
    }
    for (kind, shown) in [("categories", vec!["Abroad", "Bebop"]), ("tags", vec!["Loud"])] {
        let own = app.get(&format!("/{kind}?hide_empty=false")).await.expect(200).json;
        assert_eq!(names(&event[kind], "name"), shown);
        for entry in event[kind].as_array().unwrap() {
            for key in ["name", "slug", "description", "count", "url", "urls"] {
                assert_eq!(entry[key], twin(&own[kind], entry)[key], "{key}");
            }
        }
    }
    let path = event["categories"][1]["url"].as_str().unwrap();
    assert!(path.contains("music/jazz/bebop"), "{path}");

    // A single read has the same content, plus JSON-LD.
    let mut single = app.get(&format!("/events/{much}")).await.expect(200).json;
    let linked = [single["venue"].take(), single["organizer"].take()];
    single.as_object_mut().unwrap().remove("json_ld").unwrap();
    for (field, mut rows) in ["venue", "organizer"].into_iter().zip(linked) {
        for row in rows.as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("json_ld").unwrap();
        }
        single[field] = rows;
    }
    assert_eq!(single, event);
    let seen = app.get_as("editor", &format!("/events/{much}")).await.expect(200).json;
    assert_eq!(names(&seen["venue"], "venue"), ["Yard", "Secret", "Hall"]);
    assert!(seen["venue"][1]["image"]["url"].as_str().unwrap().ends_with("/secret.png"));
}

#[derive(Debug, QueryableByName)]
struct Prepared {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    statement: String,
    #[diesel(sql_type = BigInt)]
    planned: i64,
    #[diesel(sql_type = BigInt)]
    runs: i64,
}

/// On PostgreSQL, every read executes one prepared statement, which is planned only a few times.
#[actix_web::test]
async fn one_prepared_statement_reads_an_event() {
    let app = App::new().await;
    app.state.pools.write_blocking(fill).unwrap();
    let mut db = app.state.pools.connect().unwrap();
    let Db::Pg(conn) = &mut db else { return };
    diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    for id in 1..=20_i64 {
        let slug = format!("s{id}");
        let ids: Vec<i64> = (id * 10..id * 10 + 10).collect();
        for which in [EventSelector::Id(id), EventSelector::Slug(&slug), EventSelector::Ids(&ids)] {
            let (events, included) = events_with_included(&mut db, which).unwrap();
            assert!(!events.is_empty() && included.links.len() == events.len(), "{which:?}");
        }
    }
    let prepared = prepared(&mut db).unwrap();
    assert_eq!(prepared.len(), 3, "{prepared:?}");
    for one in prepared {
        assert_eq!((one.runs, one.planned), (20, 5), "{}", one.statement);
        let plan = plan_of(&mut db, &one).unwrap();
        for index in ["events_", "event_terms_pkey"] {
            assert!(plan.contains(index), "{index}:\n{plan}");
        }
        for table in ["events", "event_terms"] {
            assert!(!plan.contains(&format!("Seq Scan on {table} ")), "{plan}");
        }
    }
}

fn prepared(db: &mut Db) -> Result<Vec<Prepared>, DatabaseError> {
    let text = "select name, statement, custom_plans as planned, \
        custom_plans + generic_plans as runs from pg_prepared_statements order by name";
    Sql::new(db, text).load(db)
}

/// Returns the generic plan of a prepared statement.
fn plan_of(db: &mut Db, one: &Prepared) -> Result<String, DatabaseError> {
    Sql::new(db, "set plan_cache_mode = force_generic_plan").execute(db)?;
    let values = one.statement.match_indices('$').map(|_| "null").collect::<Vec<_>>().join(", ");
    let text = format!("explain execute {} ({values})", one.name);
    let lines: Vec<PostgresPlan> = Sql::new(db, &text).load(db)?;
    let lines: Vec<String> = lines.into_iter().map(|row| row.line).collect();
    Ok(lines.join("\n"))
}

/// On PostgreSQL, one prepared statement also reads a page with its included resources and checks
/// that the in-memory index was current, regardless of the filter and the page.
#[actix_web::test]
async fn one_prepared_statement_reads_a_page() {
    let app = App::new().await;
    app.state.pools.write_blocking(fill).unwrap();
    let mut db = app.state.pools.connect().unwrap();
    let Db::Pg(conn) = &mut db else { return };
    diesel::sql_query("vacuum analyze").execute(conn).unwrap();
    let kinds = [None, Some(vec![7]), Some(vec![7, 8])];
    // The index is built, and its sets are read, on a different connection.
    let everything = EventFilter::plain(Scope::public(), Window::default());
    for categories in &kinds {
        let filter = EventFilter { categories: categories.clone(), ..everything.clone() };
        assert!(app.list(&filter, Paging { page: 1, per_page: 1 }).1 > 100);
    }
    for number in 1..=20_i64 {
        let window = Window::on_wall(Limits {
            start_min: Some(1_800_000_000 + number * 1000),
            end_max: Some(1_900_000_000 + number * 1000),
            ..Limits::default()
        });
        for categories in &kinds {
            let filter = EventFilter {
                categories: categories.clone(),
                ..EventFilter::plain(Scope::public(), window)
            };
            let paging = Paging { page: 1 + number % 3, per_page: 10 + number % 2 };
            let (events, included, _) =
                list_with_included(&mut db, app.access(), &filter, paging, usize::MAX).unwrap();
            let many = usize::try_from(paging.per_page).unwrap();
            assert_eq!((events.len(), included.links.len()), (many, many), "{filter:?}");
        }
    }
    let prepared = prepared(&mut db).unwrap();
    assert_eq!(prepared.len(), 1, "{prepared:?}");
    for one in prepared {
        assert_eq!((one.runs, one.planned), (60, 5), "{}", one.statement);
        let plan = plan_of(&mut db, &one).unwrap();
        assert!(plan.contains("events_pkey"), "{plan}");
        for table in ["events", "event_terms"] {
            assert!(!plan.contains(&format!("Seq Scan on {table} ")), "{plan}");
        }
    }
}
