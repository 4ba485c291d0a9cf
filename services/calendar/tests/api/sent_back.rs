//! Responses that clients send back as writes.

use serde_json::{Value, json};

use crate::app::{App, send};
use crate::images::PNG;

/// Creates an event with every field set, and returns its path.
async fn rich(app: &App) -> String {
    let upload = app.request("editor", "POST", "/images").header("Content-Type", "image/png");
    let image = send(upload.body(PNG)).await.expect(201).id();
    let parent = app.make("/categories", json!({"name": "Arts & crafts"})).await;
    app.make("/categories", json!({"name": "Jazz", "parent": parent})).await;
    let venue = json!({
        "venue": "R & B <b>hall</b>", "address": "1 Quay", "city": "Graz", "geo_lat": 47.07,
        "geo_lng": 15.43, "website": "https://hall.example/", "image": image, "phone": "5",
    });
    let event = json!({
        "title": "Night & <i>day</i>", "description": "<p>Long</p>", "excerpt": "Short",
        "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00", "image": image,
        "timezone": "Europe/Vienna", "cost": "5-10", "website": "https://night.example/?a=1&b=2",
        "categories": ["Arts & crafts", "jazz"], "tags": ["Open air", "2027"], "venue": venue,
        "organizer": [{"organizer": "Ann \"A\"", "email": "a@example.org"}, {"organizer": "Bo"}],
        "featured": true, "sticky": true, "show_map": false,
    });
    format!("/events/{}", app.event(event).await)
}

#[actix_web::test]
async fn response_sent_back_as_a_write_changes_nothing() {
    let app = App::new().await;
    let event = rich(&app).await;
    let plain = format!("/events/{}", app.event(json!({"title": "Plain"})).await);
    let mut paths = vec![event.clone(), plain];
    for (list, name) in [
        ("/venues", "venues"),
        ("/organizers", "organizers"),
        ("/categories?hide_empty=false", "categories"),
        ("/tags", "tags"),
    ] {
        for item in app.get(list).await.expect(200).json[name].as_array().unwrap() {
            paths.push(format!("/{name}/{}", item["id"]));
        }
    }
    app.clock.advance(3600);
    let rows = ["events", "venues", "organizers", "terms", "images", "event_changes"];
    let before = rows.map(|table| app.rows(table));
    for path in &paths {
        let shown = app.get_as("editor", path).await.expect(200).json;
        for method in ["PUT", "PATCH", "POST"] {
            app.call("editor", method, path, &shown).await.expect(200);
            let after = app.get_as("editor", path).await.expect(200).json;
            assert_eq!(after, shown, "{method} {path}");
        }
    }
    assert_eq!(rows.map(|table| app.rows(table)), before);
    // A copy has the same parts, under its own id.
    let shown = app.get_as("editor", &event).await.json;
    let copy = app.post("/events", &shown).await.expect(201).id();
    let copy = app.get_as("editor", &format!("/events/{copy}")).await.expect(200).json;
    assert_ne!(copy["id"], shown["id"]);
    for key in ["title", "image", "venue", "organizer", "cost", "start_date"] {
        assert_eq!(copy[key], shown[key], "{key}");
    }
    let ids = |event: &Value, key: &str| -> Vec<i64> {
        event[key].as_array().unwrap().iter().filter_map(|term| term["id"].as_i64()).collect()
    };
    for key in ["categories", "tags"] {
        assert_eq!(ids(&copy, key), ids(&shown, key), "{key}");
    }
    assert_eq!(app.rows("venues"), before[1]);
}

#[actix_web::test]
async fn objects_of_other_resources_are_rejected_by_name() {
    let app = App::new().await;
    let event = rich(&app).await;
    let shown = app.get(&event).await.expect(200).json;
    let other = app.make("/venues", json!({"venue": "Barn"})).await;
    let with = |key: &str, value: Value| {
        let mut body = shown.clone();
        body[key] = value;
        body
    };
    let changed = |part: &Value, key: &str, value: Value| {
        let mut part = part.clone();
        part[key] = value;
        part
    };
    let (venue, category) = (&shown["venue"], &shown["categories"][0]);
    let image = &shown["image"];
    for (field, value) in [
        ("venue", changed(venue, "id", json!(other))),
        ("venue", changed(venue, "id", json!(99999))),
        ("venue", changed(venue, "slug", json!("elsewhere"))),
        ("organizer", json!([changed(&shown["organizer"][0], "id", json!(99999))])),
        ("categories", json!([changed(category, "id", json!(99999))])),
        ("categories", json!([changed(category, "id", shown["categories"][1]["id"].clone())])),
        ("tags", json!([changed(&shown["tags"][0], "slug", json!("elsewhere"))])),
        ("image", changed(image, "url", json!("https://elsewhere.example/a.png"))),
        ("image", changed(image, "id", json!(99999))),
    ] {
        let body = with(field, value.clone());
        for (method, path) in [("PATCH", event.as_str()), ("POST", "/events")] {
            let refused = app.call("editor", method, path, &body).await.expect(400).json;
            let names: Vec<&String> =
                refused["data"]["params"].as_object().unwrap().keys().collect();
            assert_eq!(names, [field], "{value}");
        }
    }
    assert_eq!(app.get(&event).await.json, shown);
    // Without an id, slug or name count.
    let body = json!({
        "categories": [{"slug": "jazz"}, {"name": "New"}], "tags": [{"name": "Open air"}],
        "image": {"url": image["url"]}, "venue": {"id": other},
    });
    let event = app.patch(&event, &body).await.expect(200).json;
    assert_eq!((&event["image"], &event["venue"]["venue"]), (image, &json!("Barn")));
    let names: Vec<&Value> =
        event["categories"].as_array().unwrap().iter().map(|term| &term["name"]).collect();
    assert_eq!(names, ["Jazz", "New"]);
    assert_eq!(event["tags"][0]["name"], "Open air");
}

#[actix_web::test]
async fn responses_recreate_terms_that_were_deleted() {
    let app = App::new().await;
    for kind in ["categories", "tags"] {
        for body in [json!({"name": "Plain"}), json!({"name": "Rich", "description": "Text"})] {
            let created = app.post(&format!("/{kind}"), &body).await.expect(201);
            let path = format!("/{kind}/{}", created.id());
            let shown = app.get(&path).await.expect(200).json;
            app.delete(&path).await.expect(200);
            let again = app.post(&format!("/{kind}"), &shown).await.expect(201).json;
            for key in ["name", "slug", "description"] {
                assert_eq!(again[key], shown[key], "{kind}: {key}");
            }
        }
    }
}

#[actix_web::test]
async fn protected_event_keeps_what_a_list_does_not_show() {
    let app = App::new().await;
    let path = rich(&app).await;
    let reason = json!({"event_status": "postponed", "event_status_reason": "Rain"});
    app.patch(&path, &reason).await.expect(200);
    app.patch(&path, &json!({"password": "secret"})).await.expect(200);
    let edit = format!("{path}?context=edit");
    let whole = app.get_as("editor", &edit).await.expect(200).json;
    let window = "start_date=2027-03-31&end_date=2027-04-02";
    let listed = async |who: &str, more: &str| {
        let list = app.get_as(who, &format!("/events?{window}{more}")).await.expect(200).json;
        (list["events"][0].clone(), list["rest_url"].as_str().unwrap().to_owned())
    };
    // Only those who may edit the event see all of it, and only if they ask.
    for (who, more) in [("editor", ""), ("", "&context=edit"), ("author", "&context=edit")] {
        assert_eq!(listed(who, more).await.0["description"], "", "{who}{more}");
    }
    let (open, address) = listed("editor", "&context=edit").await;
    assert_eq!(open["description"], whole["description"]);
    assert!(address.contains("context=edit"), "{address}");
    for method in ["PUT", "PATCH", "POST"] {
        app.call("editor", method, &path, &open).await.expect(200);
        assert_eq!(app.get_as("editor", &edit).await.json, whole, "{method}");
    }
    // The rest is not erased by its absence, whether or not the client keeps members without a value.
    let mut blank = listed("editor", "").await.0;
    assert_eq!((&blank["website"], &blank["venue"]), (&json!(""), &json!([])));
    for method in ["PUT", "PATCH", "POST"] {
        app.call("editor", method, &path, &blank).await.expect(200);
        assert_eq!(app.get_as("editor", &edit).await.json, whole, "{method}");
        let members = blank.as_object_mut().unwrap();
        members.retain(|_, value| !value.is_null());
    }
    // A new value counts, and so does an empty one that was not sent back.
    blank["title"] = json!("New");
    blank["excerpt"] = json!("New excerpt");
    app.call("editor", "PUT", &path, &blank).await.expect(200);
    let after = app.get_as("editor", &edit).await.json;
    assert_eq!((&after["title"], &after["excerpt"]), (&json!("New"), &json!("<p>New excerpt</p>")));
    for key in ["description", "cost", "website", "image", "venue", "organizer", "categories"] {
        assert_eq!(after[key], whole[key], "{key}");
    }
    app.patch(&path, &json!({"description": "", "tags": []})).await.expect(200);
    let mut open = listed("editor", "&context=edit").await.0;
    assert_eq!((&open["description"], &open["tags"]), (&json!(""), &json!([])));
    open["venue"] = json!([]);
    app.call("editor", "PUT", &path, &open).await.expect(200);
    assert_eq!(app.get_as("editor", &edit).await.json["venue"], json!([]));
}
