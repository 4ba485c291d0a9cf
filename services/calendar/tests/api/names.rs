//! Names and other strings: long, blank, their order, and characters that databases reject.

use calendar::Sql;
use database::Db;
use serde_json::{Value, json};

use crate::app::{App, send};
use crate::pages::page;
use crate::plans::PostgresPlan;

/// Returns a name of maximum length, which is too long for an index key.
fn long(last: &str) -> String {
    // Without repetition, because a database may compress its keys.
    let mut seed = 7_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from_u32(0x4e00 + (seed >> 16) % 20_000).unwrap()
    };
    (0..999).map(|_| next()).chain(last.chars()).collect()
}

#[actix_web::test]
async fn longest_names_are_stored_and_found() {
    let app = App::new().await;
    for kind in ["venue", "organizer"] {
        let path = format!("/{kind}s");
        let first = app.make(&path, json!({kind: long("a")})).await;
        assert_ne!(app.make(&path, json!({kind: long("b")})).await, first);
        assert_eq!(app.make(&path, json!({kind: long("a")})).await, first);
    }
    for path in ["/categories", "/tags"] {
        let first = app.make(path, json!({"name": long("a"), "slug": "a"})).await;
        app.make(path, json!({"name": long("b"), "slug": "b"})).await;
        let again = app.post(path, &json!({"name": long("a"), "slug": "c"})).await.expect(400);
        assert_eq!(again.json["data"]["term_id"], first);
    }
    let event = json!({"title": long("a"), "tags": [long("b")], "venue": {"venue": long("b")}});
    app.event(event).await;
    assert_eq!((app.rows("terms"), app.rows("venues")), (4, 2));
}

#[actix_web::test]
async fn name_lookup_uses_its_index() {
    let app = App::new().await;
    let mut db = app.state.pools.connect().unwrap();
    if let Db::Sqlite(_) = db {
        return;
    }
    let many = "insert into terms (taxonomy, name, name_ci, search_ci, slug, description, parent_id, count) \
        select 1, 'c' || i, 'c' || i, 'c' || i, 'c' || i, '', 0, 0 from generate_series(1, 5000) i";
    for text in [many, "analyze terms"] {
        Sql::new(&db, text).execute(&mut db).unwrap();
    }
    let text = "explain select id from terms where taxonomy = 1 and substr(name_ci, 1, 200) = 'c7'";
    let plan: Vec<PostgresPlan> = Sql::new(&db, text).load(&mut db).unwrap();
    assert!(plan.iter().any(|row| row.line.contains("terms_name")), "{}", plan[0].line);
}

#[actix_web::test]
async fn name_of_only_markup_is_rejected_as_blank() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let organizer = app.make("/organizers", json!({"organizer": "Ann"})).await;
    let event = app.event(json!({})).await;
    let paths = [
        (format!("/events/{event}"), "title"),
        (format!("/venues/{venue}"), "venue"),
        (format!("/organizers/{organizer}"), "organizer"),
    ];
    for blank in ["<script></script>", "<b> </b>", "&nbsp;", "<p>", "<!-- x -->"] {
        let body = json!({"title": blank, "start_date": "2027-04-01", "end_date": "2027-04-01"});
        let answer = app.post("/events", &body).await.expect(400);
        assert!(answer.json["data"]["params"]["title"].is_string(), "{blank}: {}", answer.text);
        for (path, name) in &paths {
            let answer = app.patch(path, &json!({ *name: blank })).await.expect(400);
            assert!(answer.json["data"]["params"][*name].is_string(), "{blank}: {}", answer.text);
        }
        for kind in ["venue", "organizer"] {
            let answer = app.post(&format!("/{kind}s"), &json!({ kind: blank })).await.expect(400);
            assert_eq!(answer.code(), format!("could-not-create-{kind}"));
        }
    }
    assert_eq!(app.rows("events"), 1);
}

#[actix_web::test]
async fn texts_sort_by_code_point_on_every_database() {
    let app = App::new().await;
    let by_language = |db: &mut Db| -> Result<(), database::DatabaseError> {
        if let Db::Pg(_) = db {
            // Simulates a database with a language-specific collation.
            for column in ["terms alter name_ci", "terms alter slug", "events alter search_ci"] {
                let text = format!("alter table {column} type text collate \"und-x-icu\"");
                Sql::new(db, &text).execute(db)?;
            }
        }
        Ok(())
    };
    app.state.pools.write_blocking(by_language).unwrap();
    for name in ["zebra", "äpfel", "a-b", "ab", "a b"] {
        app.make("/categories", json!({"name": name, "slug": name.replace(' ', "--")})).await;
    }
    let all = ["a b", "a-b", "ab", "zebra", "äpfel"];
    for title in all {
        app.event(json!({"title": title, "categories": all})).await;
    }
    let names = |list: &Value, key: &str| -> Vec<String> {
        let rows = list.as_array().unwrap().iter();
        rows.map(|row| row[key].as_str().unwrap().to_owned()).collect()
    };
    let terms = app.get("/categories?orderby=name").await.expect(200).json;
    assert_eq!(names(&terms["categories"], "name"), all);
    let events = app.get("/events?orderby=title").await.expect(200).json;
    // Titles are sorted without accents, in the form that search uses.
    assert_eq!(names(&events["events"], "title"), ["a b", "a-b", "ab", "äpfel", "zebra"]);
    assert_eq!(names(&events["events"][0]["categories"], "name"), all);
}

#[actix_web::test]
async fn control_characters_cause_no_error_in_any_field() {
    let app = App::new().await;
    let strange = "a\u{0}b\u{1}\u{7f}\u{ffff}c";
    let shared = ["description", "excerpt", "slug", "status", "website", "image", "author", "date"];
    let of_events = [
        "title",
        "start_date",
        "end_date",
        "timezone",
        "cost",
        "password",
        "venue",
        "organizer",
        "categories",
        "tags",
        "all_day",
        "featured",
        "date_utc",
    ];
    let of_places = [
        "venue",
        "organizer",
        "phone",
        "email",
        "address",
        "city",
        "country",
        "province",
        "state",
        "stateprovince",
        "zip",
        "geo_lat",
        "show_map",
    ];
    let values = [
        json!(strange),
        json!([strange]),
        json!({"id": strange}),
        json!([{"id": strange}, {"id": "7\u{0}"}]),
        json!({"venue": strange, "organizer": strange, "description": strange, "image": strange}),
        json!(format!("https://cdn.example/{strange}.png")),
    ];
    let event = json!({"title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01"});
    let cases = [
        ("events", event, of_events.to_vec()),
        ("venues", json!({"venue": "x"}), of_places.to_vec()),
        ("organizers", json!({"organizer": "x"}), of_places.to_vec()),
        ("categories", json!({"name": "x"}), vec!["name", "parent"]),
        ("tags", json!({"name": "x"}), vec!["name", "parent"]),
    ];
    for (kind, whole, own) in cases {
        let first = app.make(&format!("/{kind}"), whole.clone()).await;
        for name in shared.iter().chain(&own) {
            for value in &values {
                let mut body = whole.clone();
                body[*name] = value.clone();
                let made = app.post(&format!("/{kind}"), &body).await;
                assert!(matches!(made.status, 201 | 400), "{kind} {body}: {}", made.text);
                let path = format!("/{kind}/{first}");
                let changed = app.patch(&path, &json!({ *name: value })).await;
                assert!(matches!(changed.status, 200 | 400), "{name} {value}: {}", changed.text);
            }
        }
    }
    let query = "a%00b%01%7F";
    for path in [
        "/events?search=",
        "/events?tags=",
        "/events?venue=",
        "/events?status=",
        "/events?orderby=",
        "/events?start_date=",
        "/events?password=",
        "/events/by-slug/",
        "/venues?search=",
        "/venues?status=",
        "/venues/by-slug/",
        "/organizers?search=",
        "/categories?search=",
        "/categories?slug=",
        "/categories?include=",
        "/tags?slug=",
        "/tags?orderby=",
    ] {
        let answer = app.get(&format!("{path}{query}")).await;
        assert!(answer.status < 500, "{path}: {}", answer.text);
    }
    for path in [
        "/media/1/",
        "/event/",
        "/venue/",
        "/organizer/",
        "/tag/",
        "/events/category/",
        "/events/month/",
        "/events/?search=",
        "/events/?category=",
        "/events/?tag=",
        "/events/?date=",
        "/events/?ical=1&tag=",
    ] {
        let answer = send(app.server.get(&format!("{path}{query}"))).await;
        assert!(answer.status < 500, "{path}: {}", answer.text);
    }
}

#[actix_web::test]
async fn former_slugs_redirect_to_the_present_page() {
    let app = App::new().await;
    let event = format!("/events/{}", app.event(json!({"title": "Первый концерт"})).await);
    let venue = format!("/venues/{}", app.make("/venues", json!({"venue": "Old hall"})).await);
    let organizer =
        format!("/organizers/{}", app.make("/organizers", json!({"organizer": "Ann"})).await);
    let parent = app.make("/categories", json!({"name": "Music"})).await;
    let category = app.make("/categories", json!({"name": "Jazz", "parent": parent})).await;
    let tag = app.make("/tags", json!({"name": "Live"})).await;
    let cases = [
        (
            event.as_str(),
            "/event/%d0%bf%d0%b5%d1%80%d0%b2%d1%8b%d0%b9-%d0%ba%d0%be%d0%bd%d1%86%d0%b5%d1%80%d1%82/",
            "/event/new/",
        ),
        (&venue, "/venue/old-hall/", "/venue/new/"),
        (&organizer, "/organizer/ann/", "/organizer/new/"),
        (
            &format!("/categories/{category}"),
            "/events/category/music/jazz/",
            "/events/category/music/new/",
        ),
        (&format!("/tags/{tag}"), "/tag/live/", "/tag/new/"),
    ];
    for (item, old, new) in cases {
        page(&app, old).await.expect(200);
        app.patch(item, &json!({"slug": "second"})).await.expect(200);
        app.patch(item, &json!({"slug": "new"})).await.expect(200);
        for former in [old, &new.replace("new", "second")] {
            for query in ["", "?ical=1"] {
                let moved = page(&app, &format!("{former}{query}")).await.expect(301);
                assert_eq!(moved.header("location"), format!("{new}{query}"), "{former}");
                // The slug may be given to a page again later.
                assert_eq!(moved.header("cache-control"), "no-cache");
            }
        }
        page(&app, new).await.expect(200);
    }
    // The page belongs to the new owner of the slug. Hidden events do not redirect.
    let other = app.event(json!({"title": "Second"})).await;
    let shown = page(&app, "/event/second/").await.expect(200);
    assert!(shown.text.contains("Second"));
    app.patch(&format!("/events/{other}"), &json!({"slug": "third"})).await.expect(200);
    app.patch(&format!("/events/{other}"), &json!({"status": "private"})).await.expect(200);
    page(&app, "/event/second/").await.expect(404);
    // A draft was never public.
    let draft =
        format!("/events/{}", app.event(json!({"title": "Draft", "status": "draft"})).await);
    app.patch(&draft, &json!({"slug": "shown", "status": "publish"})).await.expect(200);
    page(&app, "/event/draft/").await.expect(404);
}

#[actix_web::test]
async fn slug_that_names_a_row_again_does_not_redirect() {
    let app = App::new().await;
    let unlisted = json!({"title": "Hid", "hide_from_listings": true});
    let hidden = format!("/events/{}", app.event(unlisted).await);
    for slug in ["hid2", "hid"] {
        app.patch(&hidden, &json!({"slug": slug})).await.expect(200);
    }
    page(&app, "/event/hid/?ical=1").await.expect(200);
    page(&app, "/event/hid2/").await.expect(301);

    let rename = async |path: &str, slug: &str| {
        app.patch(path, &json!({"slug": slug})).await.expect(200);
    };
    let first = format!("/events/{}", app.event(json!({"title": "First", "slug": "one"})).await);
    rename(&first, "two").await;
    page(&app, "/event/one/").await.expect(301);
    let second = format!("/events/{}", app.event(json!({"title": "Second", "slug": "one"})).await);
    app.patch(&second, &json!({"status": "private"})).await.expect(200);
    page(&app, "/event/one/").await.expect(404);

    let tag = format!("/tags/{}", app.make("/tags", json!({"name": "A", "slug": "one"})).await);
    let other = format!("/tags/{}", app.make("/tags", json!({"name": "B", "slug": "two"})).await);
    rename(&tag, "three").await;
    page(&app, "/tag/one/").await.expect(301);
    rename(&other, "one").await;
    app.delete(&other).await.expect(200);
    page(&app, "/tag/one/").await.expect(404);
    app.make("/tags", json!({"name": "C", "slug": "two"})).await;
    rename(&tag, "one").await;
    rename(&tag, "four").await;
    let last = app.make("/tags", json!({"name": "D", "slug": "one"})).await;
    app.delete(&format!("/tags/{last}")).await.expect(200);
    page(&app, "/tag/one/").await.expect(404);
}
