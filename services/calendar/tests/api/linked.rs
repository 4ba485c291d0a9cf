//! Venues and organizers.

use serde_json::{Value, json};

use crate::app::App;

#[actix_web::test]
async fn empty_fields_are_omitted() {
    let app = App::new().await;
    let venue = app
        .post("/venues", &json!({"venue": "Hall", "city": "Graz", "phone": "", "website": null}))
        .await
        .expect(201);
    let keys: Vec<&String> = venue.json.as_object().unwrap().keys().collect();
    for name in ["phone", "website", "description", "image", "geo_lat", "json_ld", "address"] {
        assert!(!keys.contains(&&name.to_owned()), "{name}");
    }
    assert_eq!(
        (&venue.json["show_map"], &venue.json["show_map_link"]),
        (&json!(true), &json!(true))
    );
    assert!(venue.header("location").ends_with(&format!("/venues/{}", venue.id())));
    let single = app.get(&format!("/venues/{}", venue.id())).await.expect(200);
    assert_eq!(single.json["json_ld"]["address"]["addressLocality"], "Graz");
    let organizer = app
        .post("/organizers", &json!({"organizer": "Ann", "email": "not a mail"}))
        .await
        .expect(201);
    assert_eq!(organizer.json["email"], "not a mail");
    assert_eq!(
        app.get(&format!("/organizers/{}", organizer.id())).await.json["json_ld"]["@type"],
        "Person"
    );
}

#[actix_web::test]
async fn stateprovince_is_derived_from_state_or_province() {
    let app = App::new().await;
    for (fields, expected) in [
        (json!({"state": "TX", "province": "Styria"}), json!("TX")),
        (json!({"state": "TX", "country": "US"}), json!("TX")),
        (json!({"state": "TX", "country": "United States"}), json!("TX")),
        (json!({"state": "TX", "province": "Styria", "country": "Austria"}), json!("Styria")),
        (json!({"state": "TX", "country": "Austria"}), Value::Null),
        (json!({"province": "Styria"}), json!("Styria")),
        (json!({"state": "TX", "stateprovince": "Given"}), json!("Given")),
        (json!({}), Value::Null),
    ] {
        let mut body = json!({"venue": format!("v{}", app.rows("venues"))});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let venue = app.post("/venues", &body).await.expect(201);
        assert_eq!(venue.json["stateprovince"], expected, "{fields}");
    }
    let id =
        app.make("/venues", json!({"venue": "x", "state": "TX", "stateprovince": "Given"})).await;
    let path = format!("/venues/{id}");
    assert_eq!(app.patch(&path, &json!({"city": "Y"})).await.json["stateprovince"], "Given");
    assert_eq!(app.patch(&path, &json!({"state": "NM"})).await.json["stateprovince"], "NM");
}

#[actix_web::test]
async fn venue_flags_accept_every_boolean_word() {
    let app = App::new().await;
    let id = app.make("/venues", json!({"venue": "Hall"})).await;
    let path = format!("/venues/{id}");
    for (value, expected) in [
        (json!("yes"), true),
        (json!("enabled"), true),
        (json!(true), true),
        (json!(1), true),
        (json!("ON"), true),
        (json!("no"), false),
        (json!(false), false),
        (json!(""), false),
        (json!("2"), false),
    ] {
        app.patch(&path, &json!({"show_map": !expected})).await.expect(200);
        let venue = app.patch(&path, &json!({"show_map": value})).await.expect(200);
        assert_eq!(venue.json["show_map"], expected, "{value}");
        let same = app.patch(&path, &json!({"show_map": null})).await;
        assert_eq!(same.json["show_map"], expected, "null after {value}");
    }
}

#[actix_web::test]
async fn single_coordinate_is_rejected() {
    let app = App::new().await;
    let id =
        app.make("/venues", json!({"venue": "Hall", "geo_lat": "48.2", "geo_lng": 16.4})).await;
    let path = format!("/venues/{id}");
    assert_eq!(app.get(&path).await.json["geo_lat"], 48.2);
    for wrong in [
        json!({"geo_lat": 1}),
        json!({"geo_lng": 1}),
        json!({"geo_lat": 91, "geo_lng": 1}),
        json!({"geo_lat": "x", "geo_lng": 1}),
    ] {
        app.patch(&path, &wrong).await.expect(400);
    }
    let cleared = app.patch(&path, &json!({"geo_lat": "", "geo_lng": ""})).await.expect(200);
    assert_eq!(cleared.json.get("geo_lat"), None);
}

#[actix_web::test]
async fn create_with_equal_fields_returns_the_existing_row() {
    let app = App::new().await;
    let id = app.make("/venues", json!({"venue": "Hall & Co", "description": "old"})).await;
    assert_eq!(app.make("/venues", json!({"venue": "HALL & CO"})).await, id);
    assert_eq!(
        app.make("/venues", json!({"venue": "Hall &amp; Co", "description": "old"})).await,
        id
    );
    assert_ne!(app.make("/venues", json!({"venue": "Hall & Co", "description": "new"})).await, id);
    app.delete(&format!("/venues/{id}")).await.expect(200);
    assert_ne!(app.make("/venues", json!({"venue": "Hall & Co", "description": "old"})).await, id);
}

#[actix_web::test]
async fn every_filter_of_venue_and_organizer_lists_selects_its_rows() {
    let app = App::new().await;
    let mut ids = Vec::new();
    for (name, city) in [
        ("Used", "Graz"),
        ("Past", "Wien"),
        ("Drafted", "Linz"),
        ("Private", "Wels"),
        ("Free", "Graz"),
    ] {
        app.clock.advance(1);
        ids.push(app.make("/venues", json!({"venue": name, "city": city})).await);
    }
    let [used, past, drafted, private, free] = ids[..] else { panic!("five venues") };
    let event = app.event(json!({"venue": used})).await;
    app.event(json!({"venue": past, "start_date": "2020-01-01", "end_date": "2020-01-01"})).await;
    app.event(json!({"venue": drafted, "status": "draft"})).await;
    app.event(json!({"venue": private, "status": "private"})).await;
    for (who, query, expected) in [
        ("", String::new(), vec![free, private, drafted, past, used]),
        ("", "search=graz".into(), vec![free, used]),
        ("", "search=nothing".into(), vec![]),
        ("", format!("event={event}"), vec![used]),
        ("", "has_events=yes".into(), vec![past, used]),
        ("", "has_events=no".into(), vec![free, private, drafted]),
        ("editor", "has_events=true".into(), vec![private, past, used]),
        ("", "only_with_upcoming=true".into(), vec![used]),
        ("editor", "only_with_upcoming=1".into(), vec![private, drafted, used]),
        ("", "only_with_upcoming=false".into(), vec![free, private, drafted, past, used]),
        ("", "has_events=1&search=wien".into(), vec![past]),
    ] {
        let answer = app.get_as(who, &format!("/venues?{query}")).await.expect(200);
        assert_eq!(answer.ids(), expected, "{who} {query}");
        assert_eq!(answer.json["total"], expected.len(), "{who} {query}");
    }
    for query in ["event=999", "search=", "page=x", "status=draft"] {
        app.get(&format!("/venues?{query}")).await.expect(400);
    }
}

#[actix_web::test]
async fn organizer_search_covers_contact_data() {
    let app = App::new().await;
    let id = app.make("/organizers", json!({"organizer": "Ann", "email": "ann@shows.example", "website": "https://ann.example/x"})).await;
    app.make("/organizers", json!({"organizer": "Bob"})).await;
    for search in ["SHOWS", "ann.example/x", "Ann"] {
        assert_eq!(app.get(&format!("/organizers?search={search}")).await.ids(), [id], "{search}");
    }
}

#[actix_web::test]
async fn trashed_venue_is_unlinked_and_still_a_valid_filter() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Hall"})).await;
    let event = app.event(json!({"venue": venue})).await;
    let trashed = app.delete(&format!("/venues/{venue}")).await.expect(200);
    assert_eq!(
        (&trashed.json["status"], &trashed.json["slug"]),
        (&json!("trash"), &json!("hall__trashed"))
    );
    assert_eq!(app.get(&format!("/events/{event}")).await.json["venue"], json!([]));
    assert_eq!(app.get(&format!("/events?venue={venue}")).await.expect(200).json["total"], 0);
    assert_eq!(app.get("/venues").await.json["total"], 0);
    let restored =
        app.patch(&format!("/venues/{venue}"), &json!({"status": "publish"})).await.expect(200);
    assert_eq!(restored.json["slug"], "hall");
    assert_eq!(app.get(&format!("/events/{event}")).await.json["venue"], json!([]));
}

#[actix_web::test]
async fn slug_paths_address_the_same_rows_as_ids() {
    let app = App::new().await;
    let id = app.make("/venues", json!({"venue": "Größe 日本 Übung"})).await;
    for slug in ["grose-%25e6%2597%25a5%25e6%259c%25ac-ubung", "Grose-%E6%97%A5%E6%9C%AC-Ubung"] {
        assert_eq!(
            app.get(&format!("/venues/by-slug/{slug}")).await.expect(200).id(),
            id,
            "{slug}"
        );
    }
    let event = app.event(json!({"title": "Show"})).await;
    let changed =
        app.patch("/events/by-slug/SHOW", &json!({"slug": "New one", "id": 1})).await.expect(200);
    assert_eq!((changed.id(), &changed.json["slug"]), (event, &json!("new-one")));
    app.call("administrator", "DELETE", "/events/by-slug/new-one", &json!({})).await.expect(200);
    assert_eq!(
        app.get("/events/by-slug/new-one__trashed").await.expect(403).code(),
        "event-no-longer-available"
    );
    let organizer = app.make("/organizers", json!({"organizer": "Ann"})).await;
    let put =
        app.call("administrator", "PUT", "/organizers/by-slug/ann", &json!({"phone": "1"})).await;
    assert_eq!((put.id(), &put.json["phone"]), (organizer, &json!("1")));
}

#[actix_web::test]
async fn single_reads_are_answered_304_while_nothing_changes() {
    let app = App::new().await;
    for (kind, field) in [("venues", "venue"), ("organizers", "organizer")] {
        let path = format!("/{kind}/{}", app.make(&format!("/{kind}"), json!({field: "x"})).await);
        let read = app.get(&path).await.expect(200);
        let tag = read.header("etag").to_owned();
        let again = |tag: &str| app.request("", "GET", &path).header("If-None-Match", tag);
        assert_eq!(crate::app::send(again(&tag)).await.expect(304).text, "");
        app.patch(&path, &json!({"phone": "1"})).await.expect(200);
        crate::app::send(again(&tag)).await.expect(200);
    }
}

#[actix_web::test]
async fn lists_sort_by_publication_then_id_descending() {
    let app = App::new().await;
    for kind in ["venue", "organizer"] {
        let path = format!("/{kind}s");
        let make =
            async |name: &str, date: &str| app.make(&path, json!({kind: name, "date": date})).await;
        let a = make("a", "2027-01-02").await;
        let b = make("b", "2027-01-03").await;
        let c = make("c", "2027-01-02").await;
        assert_eq!(app.get(&path).await.ids(), [b, c, a]);
    }
}

#[actix_web::test]
async fn scheduled_venues_are_published_when_their_date_comes() {
    let app = App::new().await;
    for (path, name) in [("/venues", "venue"), ("/organizers", "organizer")] {
        let body = json!({name: "Later", "date": "2027-03-11 12:00:00"});
        let created = app.post(path, &body).await.expect(201);
        assert_eq!(created.json["status"], "future");
    }
    calendar::publish_due(&app.state).await;
    assert_eq!(app.get("/venues").await.json["total"], 0);
    app.clock.advance(25 * 3600);
    calendar::publish_due(&app.state).await;
    for path in ["/venues", "/organizers"] {
        let list = app.get(path).await.expect(200);
        let row = &list.json[path.trim_start_matches('/')][0];
        assert_eq!(row["status"], "publish", "{row}");
        // The modification time changes, so that cached copies are refreshed.
        assert_eq!(row["modified_utc"], "2027-03-11 13:00:00", "{row}");
    }
}

#[actix_web::test]
async fn name_resolves_to_the_first_visible_namesake() {
    let app = App::new().await;
    for kind in ["venue", "organizer"] {
        let path = format!("/{kind}s");
        let text = |number: usize| format!("Text {number:02}");
        let send = async |who: &str, number: usize| {
            let body = json!({kind: "Hall", "description": text(number)});
            app.call(who, "POST", &path, &body).await.expect(201).id()
        };
        let mut others = Vec::new();
        for number in 0..30 {
            others.push(send("contributor", number).await);
        }
        // Other users' drafts do not count, no matter how many.
        let own = send("contributor2", 7).await;
        assert!(!others.contains(&own));
        assert_eq!(send("contributor2", 7).await, own);
        let named = app.call("contributor2", "POST", &path, &json!({kind: "HALL"})).await;
        assert_eq!(named.expect(201).id(), own);
        // Of the rows with a description of this length, only the first twenty are compared.
        assert_eq!(send("contributor", 19).await, others[19]);
        assert!(!others.contains(&send("contributor", 29).await));
        app.delete(&format!("{path}/{own}")).await.expect(200);
        assert_ne!(send("contributor2", 7).await, own);
    }
}
