//! Hidden events stay hidden in lists of terms, venues, organizers and images.

use serde_json::json;

use crate::app::{App, send};
use crate::images::PNG;

#[actix_web::test]
async fn links_of_hidden_events_are_listed_for_their_readers_only() {
    let app = App::new().await;
    let fields = |more: serde_json::Value| {
        let mut fields = json!({
            "title": "Secret", "categories": ["Plans"], "tags": ["merger"],
            "venue": {"venue": "Vault"}, "organizer": {"organizer": "Mole"},
        });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    let public = app.event(fields(json!({}))).await;
    let mut hidden = Vec::new();
    for more in [
        json!({"status": "draft"}),
        json!({"status": "private"}),
        json!({"status": "pending"}),
        json!({"status": "future", "date": "2028-01-01 00:00:00"}),
        json!({"password": "hush"}),
    ] {
        hidden.push(app.event_as("author", fields(more)).await);
    }
    let trashed = app.event(fields(json!({}))).await;
    app.delete(&format!("/events/{trashed}")).await.expect(200);
    let lists = [
        ("/categories?hide_empty=false&post", "categories"),
        ("/tags?hide_empty=false&event", "tags"),
        ("/venues?event", "venues"),
        ("/organizers?event", "organizers"),
    ];
    for (list, name) in lists {
        for id in &hidden {
            let path = format!("{list}={id}");
            for who in ["", "reader", "contributor", "author2"] {
                let refused = app.get_as(who, &path).await.expect(400);
                let unknown = app.get_as(who, &format!("{list}=99999")).await.expect(400);
                assert_eq!(refused.json, unknown.json, "{who} {path}");
            }
            for who in ["author", "editor", "administrator"] {
                let shown = app.get_as(who, &path).await.expect(200);
                assert_eq!(shown.json[name].as_array().unwrap().len(), 1, "{who} {path}");
            }
        }
        app.get(&format!("{list}={trashed}")).await.expect(400);
        app.get_as("editor", &format!("{list}={trashed}")).await.expect(200);
        app.get(&format!("{list}={public}")).await.expect(200);
    }
}

#[actix_web::test]
async fn filters_list_protected_events_without_their_links() {
    let app = App::new().await;
    let links = json!({"categories": ["Plans"], "tags": ["merger"], "venue": {"venue": "Vault"},
        "organizer": {"organizer": "Mole"}, "password": "hush"});
    let id = app.event(links).await;
    let whole = app.get(&format!("/events/{id}?password=hush")).await.expect(200).json;
    let (venue, organizer) = (&whole["venue"]["id"], &whole["organizer"][0]["id"]);
    for filter in [
        format!("venue={venue}"),
        format!("organizer={organizer}"),
        "categories=plans".to_owned(),
        "tags=merger".to_owned(),
    ] {
        let list = app.get(&format!("/events?{filter}")).await.expect(200);
        assert_eq!(list.ids(), [id], "{filter}");
        for name in ["categories", "tags", "venue", "organizer"] {
            assert_eq!(list.json["events"][0][name], json!([]), "{filter}");
        }
    }
    assert_eq!(app.get("/events?search=vault").await.expect(200).json["total"], 0);
}

#[actix_web::test]
async fn venue_with_only_scheduled_events_is_unused_for_callers_who_may_not_read_them() {
    let app = App::new().await;
    let venue = app.make("/venues", json!({"venue": "Vault"})).await;
    let date = "2028-01-01 00:00:00";
    app.event_as("author", json!({"venue": venue, "status": "future", "date": date})).await;
    for (who, is_used) in [
        ("", false),
        ("reader", false),
        ("contributor", false),
        ("author2", false),
        ("author", true),
        ("editor", true),
    ] {
        for (flag, is_listed) in [("true", is_used), ("false", !is_used)] {
            let found = app.get_as(who, &format!("/venues?has_events={flag}")).await.expect(200);
            assert_eq!(found.ids().contains(&venue), is_listed, "{who} {flag}");
        }
    }
}

#[actix_web::test]
async fn images_are_described_to_those_who_may_see_them() {
    let app = App::new().await;
    let upload = app.request("author", "POST", "/images").header("Content-Type", "image/png");
    let image = send(upload.body(PNG)).await.expect(201).id();
    let path = format!("/images/{image}");
    let seen = async |expected: [u16; 4]| {
        for (who, status) in ["", "author2", "author", "editor"].into_iter().zip(expected) {
            let answer = app.get_as(who, &path).await;
            assert_eq!(answer.status, status, "{who}");
            if status == 400 {
                assert_eq!(answer.json, app.get_as(who, "/images/99999").await.json);
            }
        }
    };
    seen([400, 400, 200, 200]).await;
    let body = |image: serde_json::Value| {
        let day = "2027-04-01";
        json!({"title": "x", "start_date": day, "end_date": day, "image": image, "status": "draft"})
    };
    let url = app.get_as("author", &path).await.json["url"].clone();
    for sent in [json!(image), url, json!({"id": image})] {
        for who in ["contributor", "author2"] {
            app.call(who, "POST", "/events", &body(sent.clone())).await.expect(400);
        }
    }
    seen([400, 400, 200, 200]).await;
    let event = app.event_as("author2", json!({"status": "draft"})).await;
    app.patch(&format!("/events/{event}"), &json!({"image": image})).await.expect(200);
    seen([400, 200, 200, 200]).await;
    app.call("author2", "PATCH", &format!("/events/{event}"), &json!({"image": {"id": image}}))
        .await
        .expect(200);
    let event = format!("/events/{event}");
    app.patch(&event, &json!({"status": "publish"})).await.expect(200);
    seen([200, 200, 200, 200]).await;
    app.patch(&event, &json!({"password": "hush"})).await.expect(200);
    seen([400, 200, 200, 200]).await;
    app.patch(&event, &json!({"image": false})).await.expect(200);
    seen([400, 400, 200, 200]).await;
    app.make("/venues", json!({"venue": "Hall", "image": image})).await;
    seen([200, 200, 200, 200]).await;
}

#[actix_web::test]
async fn series_is_hidden_from_callers_who_may_read_none_of_its_events() {
    let app = App::new().await;
    let rule = json!({"rrule": "FREQ=WEEKLY", "count": 2});
    let id = app.event_as("author", json!({"status": "draft", "recurrence": rule})).await;
    let event = app.get_as("author", &format!("/events/{id}")).await.expect(200);
    let path = format!("/events?series={}", event.json["series"]["id"]);
    for who in ["", "reader", "contributor", "author2"] {
        let unknown = app.get_as(who, "/events?series=99999").await.expect(400);
        assert_eq!(app.get_as(who, &path).await.expect(400).json, unknown.json, "{who}");
    }
    for who in ["author", "editor"] {
        app.get_as(who, &path).await.expect(200);
    }
    app.patch(&format!("/events/{id}"), &json!({"status": "publish"})).await.expect(200);
    app.get(&path).await.expect(200);
}
