//! Writes: only the given fields change, a failed write leaves nothing behind, and writers do not
//! interfere with each other.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::App;

/// Fields that every write changes, and fields that only single reads include.
const ALWAYS: [&str; 2] = ["modified", "modified_utc"];

fn differences(before: &Value, after: &Value) -> Vec<String> {
    let (before, after) = (before.as_object().unwrap(), after.as_object().unwrap());
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    before
        .iter()
        .filter(|(name, value)| !ALWAYS.contains(&name.as_str()) && after[*name] != **value)
        .map(|(name, _)| name.clone())
        .collect()
}

async fn full_event(app: &App) -> Value {
    let body = json!({
        "title": "Full", "start_date": "2027-04-01 10:00", "end_date": "2027-04-02 12:00",
        "timezone": "America/New_York", "description": "One\n\nTwo", "excerpt": "Ex", "cost": "$10 - $20",
        "website": "https://example.org/?a=1&b=2", "show_map": true, "show_map_link": true,
        "sticky": true, "featured": true, "hide_from_listings": true,
        "categories": ["Music"], "tags": ["live"], "venue": {"venue": "Hall"},
        "organizer": {"organizer": "Ann"}, "image": "https://cdn.example/a.png",
    });
    app.post("/events", &body).await.expect(201).json
}

#[actix_web::test]
async fn patch_of_one_field_changes_only_it_and_derived_fields() {
    let app = App::new().await;
    let other_venue = app.make("/venues", json!({"venue": "Other"})).await;
    let other = app.make("/organizers", json!({"organizer": "Bob"})).await;
    let dates = [
        "start_date",
        "start_date_details",
        "utc_start_date",
        "utc_start_date_details",
        "end_date",
        "end_date_details",
        "utc_end_date",
        "utc_end_date_details",
        "timezone_abbr",
    ];
    let with = |own: &'static str| [&[own][..], &dates].concat();
    let cases: Vec<(Value, Vec<&str>)> = vec![
        (json!({"title": "New"}), vec!["title"]),
        (json!({"description": "New"}), vec!["description"]),
        (json!({"description": ""}), vec!["description"]),
        (json!({"excerpt": "New"}), vec!["excerpt"]),
        (json!({"slug": "new"}), vec!["slug", "url"]),
        (json!({"status": "draft"}), vec!["status", "categories", "tags"]),
        (json!({"status": "trash"}), vec!["status", "slug", "url", "categories", "tags"]),
        (json!({"date": "2027-03-01 10:00"}), vec!["date", "date_utc"]),
        (
            json!({"date_utc": "2030-03-01 10:00"}),
            vec!["date", "date_utc", "status", "categories", "tags"],
        ),
        (json!({"start_date": "2027-04-01 11:00"}), dates.to_vec()),
        (json!({"end_date": "2027-04-03 11:00"}), dates.to_vec()),
        (json!({"timezone": "Europe/Vienna"}), with("timezone")),
        (json!({"all_day": true}), with("all_day")),
        (json!({"cost": "25€"}), vec!["cost", "cost_details"]),
        (json!({"website": ""}), vec!["website"]),
        (json!({"show_map": false}), vec!["show_map"]),
        (json!({"show_map_link": false}), vec!["show_map_link"]),
        (json!({"sticky": false}), vec!["sticky"]),
        (json!({"featured": false}), vec!["featured"]),
        (json!({"hide_from_listings": false}), vec!["hide_from_listings"]),
        (json!({"categories": ["Art"]}), vec!["categories"]),
        (json!({"tags": []}), vec!["tags"]),
        (json!({"venue": other_venue}), vec!["venue"]),
        (json!({"organizer": [other]}), vec!["organizer"]),
        (json!({"image": ""}), vec!["image"]),
        (json!({"author": app.user("editor")}), vec!["author"]),
        (json!({"password": "x"}), vec![]),
        (json!({}), vec![]),
        (json!({"id": 1, "url": "x", "utc_start_date": "2020-01-01", "cost_details": {}}), vec![]),
    ];
    for (change, derived) in cases {
        let before = full_event(&app).await;
        app.clock.advance(60);
        let path = format!("/events/{}", before["id"]);
        let after = app.patch(&path, &change).await.expect(200).json;
        for name in differences(&before, &after) {
            assert!(derived.contains(&name.as_str()), "{change} changed {name}: {before} {after}");
        }
        let sent = change.as_object().unwrap().keys().next();
        let shown = sent.filter(|name| derived.contains(&name.as_str()));
        if let Some(name) = shown {
            assert_ne!(before[name], after[name], "{change} changed nothing");
        }
    }
}

#[actix_web::test]
async fn put_of_an_event_in_the_repeated_hour_changes_nothing() {
    let app = App::new().await;
    let id = app
        .event(json!({
            "timezone": "Europe/Vienna",
            "start_date": "2027-10-31T02:30:00+01:00", "end_date": "2027-10-31T03:30:00+01:00",
        }))
        .await;
    let path = format!("/events/{id}");
    let shown = app.get(&path).await.expect(200).json;
    assert_eq!(shown["utc_start_date"], "2027-10-31 01:30:00");
    app.call("administrator", "PUT", &path, &shown).await.expect(200);
    assert_eq!(app.get(&path).await.json["utc_start_date"], "2027-10-31 01:30:00");
}

#[actix_web::test]
async fn trashed_item_keeps_its_slug_on_put_and_regains_it_on_restore() {
    let app = App::new().await;
    for (kind, name) in [("events", "title"), ("venues", "venue"), ("organizers", "organizer")] {
        for length in [6, 200] {
            let slug = "x".repeat(length);
            let body = json!({
                name: "Name", "slug": slug, "description": format!("{length}"),
                "start_date": "2027-04-01", "end_date": "2027-04-01",
            });
            let path = format!("/{kind}/{}", app.make(&format!("/{kind}"), body).await);
            let trashed = app.delete(&path).await.expect(200).json;
            assert_eq!(trashed["slug"], format!("{slug}__trashed"));
            let back = app.call("administrator", "PUT", &path, &trashed).await.expect(200).json;
            assert_eq!(back["slug"], trashed["slug"]);
            let by_slug = format!("/{kind}/by-slug/{slug}__trashed");
            let found = app.patch(&by_slug, &json!({"excerpt": "x"})).await.expect(200);
            assert_eq!(found.json["id"], trashed["id"]);
            let mut restored = back;
            restored["status"] = json!("publish");
            let restored = app.call("administrator", "PUT", &path, &restored).await.expect(200);
            assert_eq!(restored.json["slug"], slug);
        }
    }
}

#[actix_web::test]
async fn default_website_follows_the_slug() {
    let app = App::new().await;
    let id = app.event(json!({"title": "A"})).await;
    let after = app.patch(&format!("/events/{id}"), &json!({"slug": "b"})).await.json;
    assert_eq!(after["website"], after["url"]);
    app.patch(&format!("/events/{id}"), &json!({"website": after["website"]})).await.expect(200);
    let renamed = app.patch(&format!("/events/{id}"), &json!({"slug": "c"})).await.json;
    assert_eq!(renamed["website"], renamed["url"]);
}

#[actix_web::test]
async fn put_of_a_read_event_changes_nothing() {
    let app = App::new().await;
    let texts = [
        json!({"cost": ["0$", "20$", "30$"], "title": "R & B <b>x</b>", "description": "a\nb\n\n<ul>\n<li>x</li>\n</ul>"}),
        json!({"cost": "25", "timezone": "UTC-3:30", "all_day": true}),
        json!({"cost": "€ 12.50", "website": "https://e.org/?a=1&b=2", "timezone": "+02:00"}),
        json!({"cost": "Free", "excerpt": "x < y", "timezone": "EDT"}),
        json!({"cost": "1,234.56", "start_date": "2027-10-31 02:30", "end_date": "2027-10-31 02:45", "timezone": "Europe/Vienna"}),
    ];
    for text in texts {
        let id = app.event(text).await;
        let path = format!("/events/{id}");
        let before = app.get(&path).await.expect(200).json;
        let mut back = json!({});
        for name in [
            "title",
            "description",
            "excerpt",
            "start_date",
            "end_date",
            "timezone",
            "cost",
            "website",
            "all_day",
            "author",
            "image",
            "slug",
            "status",
            "date",
            "date_utc",
        ] {
            back[name] = before[name].clone();
        }
        app.clock.advance(60);
        app.call("administrator", "PUT", &path, &back).await.expect(200);
        let after = app.get(&path).await.expect(200).json;
        assert_eq!(differences(&before, &after), Vec::<String>::new(), "{before}\n{after}");
    }
}

#[actix_web::test]
async fn put_with_embedded_venues_and_organizers_changes_nothing() {
    let app = App::new().await;
    let before = full_event(&app).await;
    let path = format!("/events/{}", before["id"]);
    let mut back = json!({});
    for name in ["venue", "organizer", "categories", "tags"] {
        back[name] = before[name].clone();
    }
    let after = app.patch(&path, &back).await.expect(200).json;
    assert_eq!(differences(&before, &after), Vec::<String>::new());
}

#[actix_web::test]
async fn failed_write_leaves_nothing_behind() {
    let app = App::new().await;
    let tables = ["entities", "events", "venues", "organizers", "terms", "images", "event_terms"];
    let before: Vec<i64> = tables.iter().map(|table| app.rows(table)).collect();
    let body = json!({
        "title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01",
        "categories": ["New"], "tags": ["new"], "venue": {"venue": "Hall"},
        "image": "https://cdn.example/a.png", "organizer": {"organizer": "<b></b>"},
    });
    let answer = app.post("/events", &body).await.expect(400);
    assert_eq!(answer.code(), "could-not-create-organizer");
    let after: Vec<i64> = tables.iter().map(|table| app.rows(table)).collect();
    assert_eq!(before, after);
}

#[actix_web::test]
async fn two_writers_at_once_get_different_slugs() {
    let app = App::new().await;
    let body = json!({"title": "Same", "start_date": "2027-04-01", "end_date": "2027-04-01",
        "venue": {"venue": "Hall"}, "categories": ["Music"]});
    let answers = join_all((0..16).map(|_| app.post("/events", &body))).await;
    let mut slugs: Vec<String> = Vec::new();
    for answer in answers {
        let answer = answer.expect(201);
        slugs.push(answer.json["slug"].as_str().unwrap().to_owned());
    }
    slugs.sort();
    slugs.dedup();
    assert_eq!(slugs.len(), 16);
    assert_eq!((app.rows("venues"), app.rows("terms")), (1, 1));
    assert_eq!(app.get("/categories").await.json["categories"][0]["count"], 16);
}

#[actix_web::test]
async fn concurrent_patches_lose_no_update() {
    let app = App::new().await;
    let id = app.event(json!({})).await;
    let path = format!("/events/{id}");
    let fields = ["title", "description", "excerpt", "cost", "slug", "website"];
    let value = |name: &str, round: usize| match name {
        "website" => format!("https://example.org/{round}"),
        _ => format!("{name}-{round}"),
    };
    for round in 0..5 {
        let writes = fields.iter().map(|name| {
            let body = json!({*name: value(name, round)});
            let (app, path) = (&app, path.clone());
            async move { app.patch(&path, &body).await.expect(200) }
        });
        join_all(writes).await;
        let now = app.get(&path).await.json;
        for name in fields {
            let shown = now[name].as_str().unwrap();
            assert!(shown.contains(&value(name, round)), "{name} lost in round {round}: {shown}");
        }
    }
}

#[actix_web::test]
async fn patch_of_other_resources_changes_only_the_given_field() {
    let app = App::new().await;
    let texts = |name: &'static str| {
        json!({name: "Full", "description": "One\n\nTwo", "excerpt": "Ex",
        "phone": "1", "website": "https://example.org/?a=1&b=2", "image": "https://cdn.example/a.png"})
    };
    let with = |mut body: Value, more: Value| {
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let venue = with(
        texts("venue"),
        json!({"address": "A", "city": "B", "country": "Austria", "province": "C", "state": "D",
            "zip": "E", "geo_lat": 1.5, "geo_lng": 2.5, "show_map": false}),
    );
    let organizer = with(texts("organizer"), json!({"email": "e"}));
    let common = ["description", "excerpt", "phone", "website"];
    let of_venues = ["venue", "address", "city", "country", "state", "zip", "stateprovince"];
    let cases = [
        ("/venues", venue, [&common[..], &of_venues].concat()),
        ("/organizers", organizer, [&common[..], &["organizer", "email"]].concat()),
        ("/categories", json!({"name": "Full", "description": "d"}), vec!["name", "description"]),
        ("/tags", json!({"name": "Full", "description": "d"}), vec!["name", "description"]),
    ];
    for (path, body, fields) in cases {
        let path = format!("{path}/{}", app.make(path, body).await);
        for field in fields {
            let before = app.get(&path).await.json;
            let value = if field == "website" { "https://example.org/new" } else { "New" };
            app.clock.advance(60);
            app.patch(&path, &json!({field: value})).await.expect(200);
            let after = app.get(&path).await.json;
            let mut changed = differences(&before, &after);
            changed.retain(|name| name != "json_ld");
            assert_eq!(changed, [field], "{path}: {before} {after}");
        }
    }
}

#[actix_web::test]
async fn derived_venue_fields_follow_their_sources() {
    let app = App::new().await;
    let id =
        app.make("/venues", json!({"venue": "Hall", "country": "Austria", "province": "C"})).await;
    let path = format!("/venues/{id}");
    for (change, derived) in [
        (json!({"slug": "new"}), vec!["url", "slug"]),
        (json!({"province": "X"}), vec!["province", "stateprovince"]),
        (json!({"date": "2027-01-01 10:00"}), vec!["date", "date_utc"]),
        (json!({"show_map": false}), vec!["show_map"]),
        (json!({"author": app.user("editor")}), vec!["author"]),
    ] {
        let before = app.patch(&path, &json!({})).await.expect(200).json;
        let after = app.patch(&path, &change).await.expect(200).json;
        let mut changed = differences(&before, &after);
        changed.sort();
        let mut derived = derived;
        derived.sort_unstable();
        assert_eq!(changed, derived, "{change}");
    }
}

#[actix_web::test]
async fn start_alone_after_the_end_moves_the_end_along() {
    let app = App::new().await;
    let id = app.event(json!({"end_date": "2027-04-01 11:30"})).await;
    let path = format!("/events/{id}");
    for (start, end) in [
        ("2027-04-01 09:00", "2027-04-01 11:30:00"),
        ("2027-04-01 10:30", "2027-04-01 11:30:00"),
        ("2027-04-01 11:30", "2027-04-01 12:30:00"),
        ("2027-04-07 23:30", "2027-04-08 00:30:00"),
    ] {
        let changed = app.patch(&path, &json!({"start_date": start})).await.expect(200).json;
        assert_eq!(
            (&changed["start_date"], &changed["end_date"]),
            (&json!(format!("{start}:00")), &json!(end))
        );
    }
    // An end that was sent before the start becomes the start.
    let both = json!({"start_date": "2027-04-09 10:00", "end_date": "2027-04-08 10:00"});
    let changed = app.patch(&path, &both).await.expect(200).json;
    assert_eq!(changed["end_date"], "2027-04-09 10:00:00");
    // A date that is moved on its own keeps its length too.
    let recurrence = json!({"rrule": "FREQ=DAILY", "count": 2});
    let id = app.event(json!({"recurrence": recurrence})).await;
    let later = json!({"start_date": "2027-04-01 20:00"});
    let changed = app.patch(&format!("/events/{id}"), &later).await.expect(200).json;
    assert_eq!(changed["end_date"], "2027-04-01 22:00:00");
    assert_eq!(changed["series"]["changed"], json!(["dates"]));
}

#[actix_web::test]
async fn published_items_stay_published_although_the_clock_is_set_back() {
    let app = App::new().await;
    for (path, name) in [("/events", "title"), ("/venues", "venue"), ("/organizers", "organizer")] {
        let dates = json!({name: "Old", "start_date": "2027-04-01", "end_date": "2027-04-01"});
        let item = app.post(path, &dates).await.expect(201).json;
        let own = format!("{path}/{}", item["id"]);
        app.clock.advance(-60);
        for body in [json!({name: "New"}), json!({"status": "publish", "date": item["date"]})] {
            let after = app.patch(&own, &body).await.expect(200).json;
            assert_eq!((&after["status"], &after["date"]), (&json!("publish"), &item["date"]));
        }
        let later = json!({"date": "2027-03-11 12:00:00"});
        assert_eq!(app.patch(&own, &later).await.expect(200).json["status"], "future");
        app.clock.advance(60);
    }
}
