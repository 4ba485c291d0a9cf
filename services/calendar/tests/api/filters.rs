//! Filters at their limits: many members, many words, hidden venues.

use std::fmt::Display;
use std::time::{Duration, Instant};

use calendar::{
    Deadline, EventFilter, EventIndex, EventOrder, Geo, IndexAccess, Paging, Point, Scope, Sql,
    Window, Words, list_by_statement, list_events,
};
use database::{DatabaseError, Db};
use serde_json::{Value, json};

use crate::app::App;

fn joined<T: Display>(members: impl Iterator<Item = T>) -> String {
    members.map(|one| one.to_string()).collect::<Vec<_>>().join(",")
}

#[actix_web::test]
async fn filter_with_more_than_1000_members_gets_400() {
    let app = App::new().await;
    let fill = |db: &mut Db| {
        let text = "insert into terms (id, taxonomy, name, name_ci, search_ci, slug, description, parent_id, count) \
            with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000) \
            select i, 1 + (i % 2), 'n' || i, 'n' || i, 'n' || i, 's' || i, '', 0, 0 from n";
        Sql::new(db, text).execute(db)
    };
    app.state.pools.write_blocking(fill).unwrap();
    let tags = |count: i64| joined((1..=count).map(|number| number * 2 - 1));
    // Duplicates count once.
    let twice = format!("{},{}", tags(1000), tags(1000));
    for path in ["/events?tags=", "/tags?hide_empty=0&include=", "/tags?exclude="] {
        app.get(&format!("{path}{twice}")).await.expect(200);
        let refused = app.get(&format!("{path}{}", tags(1001))).await.expect(400);
        assert_eq!(refused.code(), "rest_invalid_param", "{path}");
    }
    let include = joined(1..=1001);
    app.get(&format!("/events?include={include}")).await.expect(400);
    app.get("/tags?hide_empty=0&include=1,2").await.expect(400);
    app.get("/events?tags=1,2").await.expect(400);

    let all: Vec<Value> = (1..=1000_i64).map(|number| json!(number * 2 - 1)).collect();
    let id = app.event(json!({ "tags": all })).await;
    let event = app.get(&format!("/events/{id}")).await.expect(200).json;
    assert_eq!(event["tags"].as_array().unwrap().len(), 1000);
    let many: Vec<i64> = (1..=1001).collect();
    for name in ["categories", "tags", "venue", "organizer"] {
        let answer = app.patch(&format!("/events/{id}"), &json!({ name: many })).await.expect(400);
        assert!(answer.json["data"]["params"][name].is_string(), "{name}: {}", answer.text);
    }
}

#[actix_web::test]
async fn list_members_may_mix_ids_slugs_and_names() {
    let app = App::new().await;
    let jazz = app.make("/tags", json!({"name": "Late Jazz", "slug": "jazz"})).await;
    let digits = app.make("/tags", json!({"name": "2027"})).await;
    let hall = app.make("/venues", json!({"venue": "Hall"})).await;
    let event = json!({"tags": [jazz.to_string(), "JAZZ", "2027", "late jazz", 99_999, "new"],
        "venue": [hall, hall.to_string(), {"id": hall}, {"venue": "Barn"}]});
    let id = app.event(event).await;
    let shown = app.get(&format!("/events/{id}")).await.expect(200).json;
    let ids = |list: &Value| -> Vec<i64> {
        list.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect()
    };
    let tags = ids(&shown["tags"]);
    assert!(tags.len() == 3 && tags.contains(&jazz) && tags.contains(&digits), "{tags:?}");
    assert_eq!(ids(&shown["venue"]).len(), 2);
    for query in [format!("tags={jazz},2027,new"), format!("venue={hall},{hall}")] {
        assert_eq!(app.get(&format!("/events?{query}")).await.expect(200).ids(), [id], "{query}");
    }
    // The id in an object is always an id, never the name of a new tag.
    for wrong in [json!({"venue": [hall, 99_999]}), json!({"tags": [{"id": "AAA"}]})] {
        app.patch(&format!("/events/{id}"), &wrong).await.expect(400);
    }
}

#[actix_web::test]
async fn repeated_pairs_form_a_list() {
    let app = App::new().await;
    let first = app.event(json!({"title": "a", "tags": ["x"], "venue": {"venue": "Hall"}})).await;
    let second = app.event(json!({"title": "b", "tags": ["y"], "venue": {"venue": "Barn"}})).await;
    let venues: Vec<Value> = app.get("/venues").await.json["venues"].as_array().unwrap().clone();
    let venues: Vec<String> = venues.iter().map(|one| format!("venue={}", one["id"])).collect();
    let include = format!("include={first}&include={second}");
    for query in ["tags=x&tags=y", &venues.join("&"), &include] {
        let list = app.get(&format!("/events?{query}")).await.expect(200);
        assert_eq!(list.ids(), [first, second], "{query}");
    }
    // If a parameter that is not a list is repeated, its last value wins.
    assert_eq!(app.get("/events?search=a&search=b").await.ids(), [second]);
}

#[actix_web::test]
async fn location_filters_ignore_hidden_venues() {
    let app = App::new().await;
    let place = json!({"venue": "Secret", "geo_lat": 48.2, "geo_lng": 16.4, "status": "draft"});
    let venue = app.call("author", "POST", "/venues", &place).await.expect(201).id();
    let id = app.event(json!({ "venue": venue })).await;
    let near = "/events?geoloc_lat=48.2&geoloc_lng=16.4&geoloc_radius=1";
    for path in ["/events?geoloc=true", near] {
        for (who, seen) in
            [("", false), ("reader", false), ("author2", false), ("author", true), ("editor", true)]
        {
            let list = app.get_as(who, path).await.expect(200);
            assert_eq!(list.ids().contains(&id), seen, "{who} {path}");
            assert_eq!(list.json["total"], i64::from(seen), "{who} {path}");
        }
        let status = format!("{path}&status=publish");
        assert_eq!(app.get_as("editor", &status).await.ids(), [id]);
    }
    app.patch(&format!("/venues/{venue}"), &json!({"status": "publish"})).await.expect(200);
    assert_eq!(app.get(near).await.ids(), [id]);
}

#[actix_web::test]
async fn search_honours_phrases_words_and_exclusions() {
    let app = App::new().await;
    let id = app.event(json!({"title": "Late  Night Jazz"})).await;
    for query in ["%22late++night%22", "%22late%0Anight%22+jazz", "%22+late+night+%22"] {
        assert_eq!(app.get(&format!("/events?search={query}")).await.ids(), [id], "{query}");
    }
    let words = |count: usize| vec!["late"; count].join("+");
    assert_eq!(app.get(&format!("/events?search={}", words(16))).await.ids(), [id]);
    let answer = app.get(&format!("/events?search={}+-jazz", words(16))).await.expect(400);
    assert!(answer.json["data"]["params"]["search"].is_string(), "{}", answer.text);
}

#[actix_web::test]
async fn orderby_applies_with_include_too() {
    let app = App::new().await;
    let first = json!({"start_date": "2027-05-01", "end_date": "2027-05-01", "date": "2027-01-01"});
    let second =
        json!({"start_date": "2027-04-01", "end_date": "2027-04-01", "date": "2027-01-02"});
    let (first, second) = (app.event(first).await, app.event(second).await);
    let path = format!("/events?include={first},{second}");
    assert_eq!(app.get(&path).await.ids(), [first, second]);
    for (order, ids) in [("start_date", [second, first]), ("date", [first, second])] {
        assert_eq!(app.get(&format!("{path}&orderby={order}")).await.ids(), ids, "{order}");
    }
    let down = app.get(&format!("{path}&orderby=start_date&order=desc")).await;
    assert_eq!(down.ids(), [first, second]);
}

#[actix_web::test]
async fn stored_statuses_match_status_filters() {
    let app = App::new().await;
    let id = app.event(json!({"status": " Idea "})).await;
    let list = app.get_as("editor", "/events?status=Idea").await.expect(200);
    assert_eq!((list.ids(), &list.json["events"][0]["status"]), (vec![id], &json!("Idea")));
}

#[actix_web::test]
async fn statement_answers_every_filter_until_the_index_is_built() {
    let app = App::new().await;
    let hall = json!({"venue": "Hall", "geo_lat": 48.2, "geo_lng": 16.4});
    let (hall, barn) =
        (app.make("/venues", hall).await, app.make("/venues", json!({"venue": "Barn"})).await);
    let tag = app.make("/tags", json!({"name": "live"})).await;
    let category = app.make("/categories", json!({"name": "Jazz"})).await;
    let organizer = app.make("/organizers", json!({"organizer": "Ann"})).await;
    let mut ids = Vec::new();
    for number in 0..12 {
        let venue = if number % 3 == 0 { hall } else { barn };
        let tags = if number % 2 == 0 { vec![tag] } else { Vec::new() };
        let event = json!({
            "title": format!("Été {}", number % 5), "venue": venue, "tags": tags,
            "categories": if number % 4 == 0 { vec![category] } else { Vec::new() },
            "organizer": if number > 6 { vec![organizer] } else { Vec::new() },
            "featured": number % 5 == 0, "status": if number == 11 { "draft" } else { "publish" },
        });
        ids.push(app.event(event).await);
    }
    let parent = ids[0];
    let set = format!("update events set parent_id = {parent} where id > {parent}");
    app.state.pools.write_blocking(|db: &mut Db| Sql::new(db, &set).execute(db)).unwrap();
    let all = || EventFilter::plain(Scope::public(), Window::default());
    let near = Geo::Near { point: Point { lat: 48.2, lng: 16.4 }, km: 1.0 };
    let filters = [
        (all(), 11),
        (EventFilter { scope: Scope::untrashed(), ..all() }, 12),
        (EventFilter { tags: Some(vec![tag]), ..all() }, 6),
        (EventFilter { categories: Some(vec![category]), tags: Some(vec![tag]), ..all() }, 3),
        (EventFilter { venues: Some(vec![hall, barn]), ..all() }, 11),
        (EventFilter { organizers: Some(vec![organizer]), ..all() }, 4),
        (EventFilter { featured: Some(true), ..all() }, 3),
        (EventFilter { include: Some(ids[3..9].to_vec()), ..all() }, 6),
        (EventFilter { parent: Some(parent), ..all() }, 10),
        (EventFilter { geo: Some(Geo::Known), ..all() }, 4),
        (EventFilter { geo: Some(near), ..all() }, 4),
        (EventFilter { order: EventOrder::Title, descending: true, ..all() }, 11),
        (EventFilter { matches_nothing: true, ..all() }, 0),
    ];
    let paging = Paging { page: 2, per_page: 3 };
    for (filter, total) in filters {
        let expected = app.list(&filter, paging);
        assert_eq!(expected.1, total, "{filter:?}");
        let early = EventIndex::default();
        let access = IndexAccess { index: &early, ..app.access() };
        let read = |db: &mut Db| list_events(db, access, &filter, paging);
        assert_eq!(app.state.pools.read_blocking(read).unwrap(), expected, "{filter:?}");
        if !filter.matches_nothing {
            let read = |db: &mut Db| -> Result<_, DatabaseError> {
                list_by_statement(db, &filter, paging)
            };
            assert_eq!(app.state.pools.read_blocking(read).unwrap(), expected, "{filter:?}");
        }
    }
    // A list with search words must wait for the index.
    let filter = EventFilter { words: Words::parse("ete -3"), ..all() };
    let early = EventIndex::default();
    let deadline = Deadline(Instant::now() + Duration::from_secs(60));
    let access = IndexAccess { index: &early, deadline };
    let found = app.state.pools.read_blocking(|db| list_events(db, access, &filter, paging));
    assert_eq!(found.unwrap(), app.list(&filter, paging));
}

#[actix_web::test]
async fn list_of_a_venue_is_empty_after_its_links_were_removed() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let id = app.event(json!({ "venue": venue })).await;
    let listed = || {
        app.list(
            &EventFilter {
                venues: Some(vec![venue]),
                ..EventFilter::plain(Scope::public(), Window::default())
            },
            Paging { page: 1, per_page: 10 },
        )
    };
    assert_eq!(listed(), (vec![id], 1));
    app.delete(&format!("/venues/{venue}")).await.expect(200);
    assert_eq!(listed(), (vec![], 0));
    app.patch(&format!("/venues/{venue}"), &json!({"status": "publish"})).await.expect(200);
    app.patch(&format!("/events/{id}"), &json!({ "venue": venue })).await.expect(200);
    assert_eq!(listed(), (vec![id], 1));
    app.patch(&format!("/events/{id}"), &json!({"venue": []})).await.expect(200);
    assert_eq!(listed(), (vec![], 0));
}
