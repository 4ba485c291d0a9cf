//! Categories and tags.

use std::io::Cursor;

use calendar::{LoadOptions, load};
use serde_json::{Value, json};

use crate::app::{App, NS, send};

#[actix_web::test]
async fn created_category_has_its_urls() {
    let app = App::new().await;
    let music = app.make("/categories", json!({"name": "Rock & Roll"})).await;
    let created = app
        .post("/categories", &json!({"name": "Jazz", "parent": music, "description": "d"}))
        .await
        .expect(201);
    let root = app.server.url(NS);
    let own = format!("{root}/categories/{}", created.id());
    assert_eq!(created.header("location"), own);
    let up = format!("{root}/categories/{music}");
    assert_eq!(
        created.json["urls"],
        json!({"self": own, "collection": format!("{root}/categories"), "up": up})
    );
    assert_eq!(created.json["_links"]["up"], json!([{"href": up}]));
    assert_eq!(created.json["url"], app.server.url("/events/category/rock-roll/jazz/"));
    assert_eq!(
        (&created.json["taxonomy"], &created.json["meta"]),
        (&json!("tribe_events_cat"), &json!([]))
    );
    assert_eq!(app.get(&format!("/categories/{music}")).await.json["name"], "Rock &amp; Roll");
    let tag = app.post("/tags", &json!({"name": "live"})).await.expect(201);
    assert_eq!((tag.json.get("parent"), &tag.json["taxonomy"]), (None, &json!("post_tag")));
    assert_eq!(tag.json["url"], app.server.url("/tag/live/"));
}

#[actix_web::test]
async fn single_reads_are_answered_304_while_nothing_changes() {
    let app = App::new().await;
    for kind in ["categories", "tags"] {
        let id = app.make(&format!("/{kind}"), json!({"name": "Music"})).await;
        let path = format!("/{kind}/{id}");
        let tag = app.get(&path).await.expect(200).header("etag").to_owned();
        let again = || send(app.request("", "GET", &path).header("If-None-Match", &tag));
        assert_eq!(again().await.expect(304).text, "");
        // The response includes the number of the term's events.
        app.event(json!({kind: [id]})).await;
        assert_eq!(again().await.expect(200).json["count"], 1);
    }
}

#[actix_web::test]
async fn duplicate_slugs_of_terms_get_a_suffix() {
    let app = App::new().await;
    let music = app.make("/categories", json!({"name": "Music"})).await;
    let art = app.make("/categories", json!({"name": "Art"})).await;
    let slug = async |body| app.post("/categories", &body).await.expect(201).json["slug"].clone();
    assert_eq!(slug(json!({"name": "Music", "parent": art})).await, "music-art");
    assert_eq!(slug(json!({"name": "Other", "slug": "music"})).await, "music-2");
    assert_eq!(slug(json!({"name": "Third", "slug": "music", "parent": art})).await, "music-art-2");
    let long = "x".repeat(200);
    let parent = app.make("/categories", json!({"name": "Long", "slug": long})).await;
    let below = slug(json!({"name": "Child", "slug": "music", "parent": parent})).await;
    assert_eq!(below, format!("music-{}", &long[..194]));
    let below = slug(json!({"name": "Other", "slug": long, "parent": parent})).await;
    assert_eq!(below, format!("{}-2", &long[..198]));
    let answer = app.post("/categories", &json!({"name": "music"})).await.expect(400);
    assert_eq!((answer.code(), &answer.json["data"]["term_id"]), ("term_exists", &json!(music)));
}

#[actix_web::test]
async fn category_loop_is_broken_on_write() {
    let app = App::new().await;
    let a = app.make("/categories", json!({"name": "A"})).await;
    let b = app.make("/categories", json!({"name": "B", "parent": a})).await;
    let c = app.make("/categories", json!({"name": "C", "parent": b})).await;
    let parent = async |id: i64| app.get(&format!("/categories/{id}")).await.json["parent"].clone();
    app.patch(&format!("/categories/{a}"), &json!({"parent": c})).await.expect(200);
    assert_eq!((parent(a).await, parent(b).await, parent(c).await), (json!(c), json!(0), json!(0)));
    app.patch(&format!("/categories/{a}"), &json!({"parent": a})).await.expect(200);
    assert_eq!(parent(a).await, 0);
    app.patch(&format!("/categories/{a}"), &json!({"parent": b})).await.expect(200);
    app.patch(&format!("/categories/{a}"), &json!({"parent": 0})).await.expect(200);
    assert_eq!(parent(a).await, 0);
}

#[actix_web::test]
async fn children_of_a_deleted_category_move_to_its_parent() {
    let app = App::new().await;
    let a = app.make("/categories", json!({"name": "A"})).await;
    let b = app.make("/categories", json!({"name": "B", "parent": a})).await;
    let c = app.make("/categories", json!({"name": "C", "parent": b})).await;
    let event = app.event(json!({"categories": [b, c]})).await;
    let before = app.get(&format!("/categories/{b}")).await.json;
    let deleted = app.delete(&format!("/categories/{b}")).await.expect(200);
    assert_eq!((deleted.id(), &deleted.json["name"]), (b, &before["name"]));
    assert_eq!(deleted.json.get("_links"), None);
    assert_eq!(app.get(&format!("/categories/{c}")).await.json["parent"], a);
    assert_eq!(
        app.get(&format!("/events/{event}")).await.json["categories"].as_array().unwrap().len(),
        1
    );
    assert_eq!(
        app.delete(&format!("/categories/{b}")).await.expect(400).code(),
        "rest_invalid_param"
    );
}

#[actix_web::test]
async fn every_filter_and_order_of_categories_selects_its_rows() {
    let app = App::new().await;
    let make = async |body| app.make("/categories", body).await;
    let zoo = make(json!({"name": "Zoo", "description": "b"})).await;
    let art = make(json!({"name": "art", "description": "c", "parent": zoo})).await;
    let mix = make(json!({"name": "Mix", "description": "a", "slug": "remix"})).await;
    let off = make(json!({"name": "Off", "description": "d"})).await;
    let one = app.event(json!({"categories": [art, mix]})).await;
    app.event(json!({"categories": [mix]})).await;
    app.event(json!({"categories": [off], "status": "draft"})).await;
    for (query, expected) in [
        (String::new(), vec![art, mix, zoo]),
        ("hide_empty=0".into(), vec![art, mix, off, zoo]),
        ("order=desc".into(), vec![zoo, mix, art]),
        ("order=DESCENDING".into(), vec![zoo, mix, art]),
        ("order=ascending".into(), vec![art, mix, zoo]),
        ("orderby=id".into(), vec![zoo, art, mix]),
        ("orderby=slug".into(), vec![art, mix, zoo]),
        ("orderby=description".into(), vec![mix, zoo, art]),
        ("orderby=count&order=desc".into(), vec![mix, art, zoo]),
        ("orderby=parent".into(), vec![zoo, mix, art]),
        ("orderby=term_group".into(), vec![zoo, art, mix]),
        (format!("include={mix},{art}"), vec![art, mix]),
        (format!("include={mix},{art}&orderby=include"), vec![mix, art]),
        ("slug=remix,art&orderby=include_slugs".into(), vec![mix, art]),
        (format!("exclude={mix}"), vec![art, zoo]),
        ("search=REMI".into(), vec![mix]),
        ("search=zo".into(), vec![zoo]),
        (format!("parent={zoo}"), vec![art]),
        ("parent=0".into(), vec![mix, zoo]),
        (format!("post={one}"), vec![art, mix]),
        (format!("event={one}"), vec![art, mix]),
        ("slug=remix".into(), vec![mix]),
        ("slug=unknown".into(), vec![]),
        ("page=9".into(), vec![]),
    ] {
        let answer = app.get(&format!("/categories?{query}")).await.expect(200);
        assert_eq!(answer.ids(), expected, "{query}");
    }
    let behind = app.get("/categories?page=2").await.expect(200);
    assert!(behind.json["previous_rest_url"].is_string() && behind.json["next_rest_url"].is_null());
    assert_eq!(behind.json["total"], 3);
    for query in [
        "search=",
        "include=999",
        "exclude=999",
        "include=x",
        "order=up",
        "order=",
        "orderby=x",
        "parent=999",
        "post=999",
        "event=999",
        "hide_empty=x",
    ] {
        let answer = app.get(&format!("/categories?{query}")).await;
        assert_eq!((answer.status, answer.code()), (400, "rest_invalid_param"), "{query}");
    }
}

#[actix_web::test]
async fn event_write_reuses_known_terms_and_creates_new_ones() {
    let app = App::new().await;
    let music = app.make("/categories", json!({"name": "Music"})).await;
    let live = app.make("/tags", json!({"name": "Live Show"})).await;
    let id = app
        .event(json!({"categories": [music, 999_999, "MUSIC", "New"], "tags": ["live-show", "live show", "", "Neu"]}))
        .await;
    let event = app.get(&format!("/events/{id}")).await.json;
    let names = |list: &str| -> Vec<String> {
        event[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|term| term["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("categories"), ["Music", "New"]);
    assert_eq!(names("tags"), ["Live Show", "Neu"]);
    assert_eq!(app.get(&format!("/tags/{live}")).await.json["count"], 1);
    app.patch(&format!("/events/{id}"), &json!({"tags": []})).await.expect(200);
    assert_eq!(app.get(&format!("/tags/{live}")).await.json["count"], 0);
}

#[actix_web::test]
async fn names_in_an_array_can_contain_commas() {
    let app = App::new().await;
    let other = app.make("/categories", json!({"name": "Other"})).await;
    let food = app.make("/categories", json!({"name": "Food, Wine"})).await;
    let names = async |path: String| {
        let event = app.get(&path).await.expect(200).json;
        let name = |term: &Value| term["name"].as_str().unwrap().to_owned();
        event["categories"].as_array().unwrap().iter().map(name).collect::<Vec<_>>().join(" | ")
    };
    let with_id = format!("Beer, {other}");
    let categories = json!(["Food, Wine", with_id, " ", null]);
    let id = app.event(json!({"categories": categories})).await;
    assert_eq!(names(format!("/events/{id}")).await, format!("{with_id} | Food, Wine"));
    let line = json!({
        "type": "event", "title": "Loaded", "slug": "loaded", "start_date": "2027-04-01",
        "end_date": "2027-04-01", "categories": ["Food, Wine"],
    });
    let lines = Cursor::new(format!("{line}\n"));
    load(&app.state, lines, LoadOptions { dry_run: false, upsert: false }).unwrap();
    assert_eq!(names("/events/by-slug/loaded".to_owned()).await, "Food, Wine");
    assert_eq!(app.get(&format!("/categories/{food}")).await.json["count"], 2);
    // A string is a list of names, as in a form.
    let form = "/events?title=x&start_date=2027-04-01&end_date=2027-04-01";
    for (query, body) in [
        ("", json!({"categories": "Food, Wine"})),
        ("&categories=Food,Wine", json!({})),
        ("&categories[]=Food,Wine", json!({})),
        ("&categories=Food,Wine&categories=Wine", json!({})),
    ] {
        let event = app.post(&format!("{form}{query}"), &body).await.expect(201);
        assert_eq!(names(format!("/events/{}", event.id())).await, "Food | Wine", "{query}");
    }
}

#[actix_web::test]
async fn invalid_term_fields_get_400() {
    let app = App::new().await;
    for body in [
        json!({"name": ""}),
        json!({"name": 7}),
        json!({"name": "<b></b>"}),
        json!({"name": "a", "slug": ""}),
        json!({"name": "a", "parent": 999}),
        json!({"name": "a", "parent": "x"}),
        json!({"name": "a".repeat(1001)}),
        json!({"name": "a", "slug": "a".repeat(201)}),
    ] {
        assert_eq!(
            app.post("/categories", &body).await.expect(400).code(),
            "rest_invalid_param",
            "{body}"
        );
    }
    let id = app.make("/categories", json!({"name": "a", "description": "d"})).await;
    let cleared =
        app.patch(&format!("/categories/{id}"), &json!({"description": ""})).await.expect(200);
    assert_eq!((&cleared.json["description"], &cleared.json["slug"]), (&json!(""), &json!("a")));
    let renamed = app.patch(&format!("/categories/{id}"), &json!({"name": "B"})).await.expect(200);
    assert_eq!(renamed.json["slug"], "a");
}

#[actix_web::test]
async fn terms_sort_by_name_by_default() {
    let app = App::new().await;
    let mut ids = Vec::new();
    for name in ["c", "a", "b"] {
        ids.push(app.make("/tags", json!({ "name": name })).await);
    }
    let [c, a, b] = ids[..] else { panic!("three tags") };
    for (query, expected) in [
        ("orderby=include".to_owned(), vec![a, b, c]),
        ("orderby=include_slugs&order=desc".to_owned(), vec![c, b, a]),
        // Terms without events have equal counts.
        ("orderby=count&order=desc".to_owned(), vec![c, a, b]),
        (format!("orderby=include&include={b},{a}"), vec![b, a]),
    ] {
        let list = app.get(&format!("/tags?hide_empty=0&{query}")).await;
        assert_eq!(list.ids(), expected, "{query}");
    }
}
