//! The complete permission matrix, as one table.

use serde_json::{Value, json};

use crate::app::App;

const WHO: [&str; 6] = ["", "reader", "contributor", "author", "editor", "administrator"];

/// Expected statuses for the six callers, in the order above.
struct Row {
    action: &'static str,
    expected: [u16; 6],
}

const TABLE: &[Row] = &[
    Row { action: "read trashed venue", expected: [403, 403, 403, 403, 200, 200] },
    Row { action: "read trashed organizer", expected: [403, 403, 403, 403, 200, 200] },
    Row { action: "read trashed event", expected: [403, 403, 403, 403, 403, 403] },
    Row { action: "create event", expected: [401, 403, 201, 201, 201, 201] },
    Row { action: "create venue", expected: [401, 403, 201, 201, 201, 201] },
    Row { action: "create organizer", expected: [401, 403, 201, 201, 201, 201] },
    Row { action: "restore own published", expected: [0, 0, 403, 200, 200, 200] },
    Row { action: "create category", expected: [401, 403, 403, 201, 201, 201] },
    Row { action: "edit category", expected: [401, 403, 403, 200, 200, 200] },
    Row { action: "delete category", expected: [401, 403, 403, 200, 200, 200] },
    Row { action: "create tag", expected: [401, 403, 403, 403, 201, 201] },
    Row { action: "edit tag", expected: [401, 403, 403, 403, 200, 200] },
    Row { action: "delete tag", expected: [401, 403, 403, 403, 200, 200] },
    Row { action: "new term in event", expected: [401, 403, 403, 201, 201, 201] },
    Row { action: "known term in event", expected: [401, 403, 201, 201, 201, 201] },
    Row { action: "image by url", expected: [401, 403, 400, 201, 201, 201] },
    Row { action: "foreign author on create", expected: [401, 403, 403, 403, 201, 201] },
    Row { action: "foreign author on update", expected: [0, 0, 403, 403, 200, 200] },
    Row { action: "foreign author of inline venue", expected: [401, 403, 403, 403, 201, 201] },
    Row { action: "body id hijacks nothing", expected: [0, 0, 200, 200, 200, 200] },
];

const UNPUBLISHED: &[&str] = &["draft", "pending", "future", "private", "Idea"];

/// Expected statuses of the callers for their own and others' items, by action and item status.
type Owned = (&'static [&'static str], &'static str, &'static [&'static str], [u16; 6]);

const OWNED: &[Owned] = &[
    (&["read"], "own", UNPUBLISHED, [0, 0, 200, 200, 200, 200]),
    (&["read"], "other", UNPUBLISHED, [403, 403, 403, 403, 200, 200]),
    (&["read"], "other", &["publish"], [200, 200, 200, 200, 200, 200]),
    (&["edit", "delete", "erase"], "own", UNPUBLISHED, [0, 0, 200, 200, 200, 200]),
    (&["edit", "delete", "erase"], "own", &["publish"], [0, 0, 403, 200, 200, 200]),
    (&["edit", "delete", "erase"], "other", UNPUBLISHED, [401, 403, 403, 403, 200, 200]),
    (&["edit", "delete", "erase"], "other", &["publish"], [401, 403, 403, 403, 200, 200]),
];

fn dates(fields: Value) -> Value {
    let mut body =
        json!({"title": "x", "start_date": "2027-04-01 10:00", "end_date": "2027-04-01 11:00"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

/// Creates an event by this author with this status.
async fn event_of(app: &App, who: &str, status: &str) -> i64 {
    let date = if status == "future" { "2028-01-01" } else { "2027-03-01" };
    app.event(json!({"author": app.user(who), "status": status, "date": date})).await
}

/// Creates an event, a venue or an organizer by this author with this status.
async fn item_of(app: &App, kind: &str, who: &str, status: &str) -> String {
    if kind == "event" {
        return format!("/events/{}", event_of(app, who, status).await);
    }
    let date = if status == "future" { "2028-01-01" } else { "2027-03-01" };
    let name = format!("{kind} {}", app.rows("entities"));
    let body = json!({kind: name, "author": app.user(who), "status": status, "date": date});
    format!("/{kind}s/{}", app.make(&format!("/{kind}s"), body).await)
}

async fn perform(app: &App, who: &str, action: &str) -> u16 {
    let other = "author2";
    let words: Vec<&str> = action.split(' ').collect();
    let answer = match words[..] {
        ["read", "trashed", "event"] => {
            let id = event_of(app, other, "publish").await;
            app.delete(&format!("/events/{id}")).await.expect(200);
            app.get_as(who, &format!("/events/{id}")).await
        }
        ["read", "trashed", kind] => {
            let id = linked(app, kind).await;
            app.delete(&format!("/{kind}s/{id}")).await.expect(200);
            app.get_as(who, &format!("/{kind}s/{id}")).await
        }
        ["create", "event"] => app.call(who, "POST", "/events", &dates(json!({}))).await,
        ["create", kind @ ("venue" | "organizer")] => {
            app.call(who, "POST", &format!("/{kind}s"), &json!({kind: format!("by {who}")})).await
        }
        ["restore", "own", "published"] => {
            let id = event_of(app, who, "publish").await;
            app.delete(&format!("/events/{id}")).await.expect(200);
            app.call(who, "PATCH", &format!("/events/{id}"), &json!({"status": "draft"})).await
        }
        [verb, kind @ ("category" | "tag")] => term(app, who, verb, kind).await,
        _ => closed_hole(app, who, action).await,
    };
    answer.status
}

async fn linked(app: &App, kind: &str) -> i64 {
    let name = format!("{kind} {}", app.rows("entities"));
    app.make(&format!("/{kind}s"), json!({kind: name, "author": app.user("author2")})).await
}

async fn term(app: &App, who: &str, verb: &str, kind: &str) -> crate::app::Answer {
    let path = if kind == "tag" { "/tags" } else { "/categories" };
    let name = json!({"name": format!("{verb} {kind} {}", app.rows("terms"))});
    if verb == "create" {
        return app.call(who, "POST", path, &name).await;
    }
    let id = app.make(path, name).await;
    let method = if verb == "edit" { "PATCH" } else { "DELETE" };
    app.call(who, method, &format!("{path}/{id}"), &json!({"description": "d"})).await
}

/// Performs an action that the modelled product permitted and this service forbids.
async fn closed_hole(app: &App, who: &str, action: &str) -> crate::app::Answer {
    let foreign = json!(app.user("author2"));
    match action {
        "new term in event" => {
            let name = format!("new {}", app.rows("terms"));
            app.call(who, "POST", "/events", &dates(json!({"categories": [name]}))).await
        }
        "known term in event" => {
            let name = format!("known {}", app.rows("terms"));
            app.make("/tags", json!({"name": &name})).await;
            app.call(who, "POST", "/events", &dates(json!({"tags": [name]}))).await
        }
        "image by url" => {
            let image = json!({"image": "https://cdn.example/a.png"});
            app.call(who, "POST", "/events", &dates(image)).await
        }
        "foreign author on create" => {
            app.call(who, "POST", "/events", &dates(json!({"author": foreign}))).await
        }
        "foreign author on update" => {
            let id = event_of(app, who, "draft").await;
            app.call(who, "PATCH", &format!("/events/{id}"), &json!({"author": foreign})).await
        }
        "foreign author of inline venue" => {
            let venue = json!({"venue": format!("v {}", app.rows("venues")), "author": foreign});
            app.call(who, "POST", "/events", &dates(json!({"venue": venue}))).await
        }
        "body id hijacks nothing" => {
            let target = event_of(app, "author2", "draft").await;
            let own = event_of(app, who, "draft").await;
            let body = json!({"id": target, "title": "taken over"});
            let answer = app.call(who, "PATCH", &format!("/events/{own}"), &body).await;
            assert_eq!(answer.id(), own);
            let victim = app.get_as("administrator", &format!("/events/{target}")).await;
            assert_eq!(victim.json["title"], "Event");
            answer
        }
        _ => panic!("{action} is not described"),
    }
}

#[actix_web::test]
async fn every_role_gets_its_status_from_the_matrix() {
    let app = App::new().await;
    for Row { action, expected } in TABLE {
        for (who, expected) in WHO.into_iter().zip(expected) {
            // 0 means not applicable, because users with this role do not own anything.
            if *expected != 0 {
                assert_eq!(perform(&app, who, action).await, *expected, "{action} by {who:?}");
            }
        }
    }
}

#[actix_web::test]
async fn own_and_others_items_follow_the_matrix_in_every_status() {
    let app = App::new().await;
    for (deeds, owner, statuses, expected) in OWNED {
        for (who, expected) in WHO.into_iter().zip(expected).filter(|(_, status)| **status != 0) {
            for (action, status) in
                deeds.iter().flat_map(|action| statuses.iter().map(move |it| (action, it)))
            {
                for kind in ["event", "venue", "organizer"] {
                    let owner = if *owner == "own" { who } else { "author2" };
                    let path = item_of(&app, kind, owner, status).await;
                    let answer = match *action {
                        "read" => app.get_as(who, &path).await,
                        "edit" => app.call(who, "PUT", &path, &json!({"excerpt": "new"})).await,
                        "erase" => {
                            app.call(who, "DELETE", &format!("{path}?force=true"), &json!({})).await
                        }
                        _ => app.call(who, "DELETE", &path, &json!({})).await,
                    };
                    let case = format!("{action} {status} {kind} of {owner} by {who:?}");
                    assert_eq!(answer.status, *expected, "{case}: {}", answer.text);
                }
            }
        }
    }
}

#[actix_web::test]
async fn scheduled_item_becomes_pending_when_its_contributor_changes_it() {
    let app = App::new().await;
    for change in [
        json!({"excerpt": "new"}),
        json!({"date": "2027-03-01"}),
        json!({"status": "publish", "date": "2027-03-01"}),
    ] {
        for kind in ["event", "venue", "organizer"] {
            let path = item_of(&app, kind, "contributor", "future").await;
            let answer = app.call("contributor", "PATCH", &path, &change).await.expect(200);
            assert_eq!(answer.json["status"], "pending", "{kind} {change}");
            let path = item_of(&app, kind, "author", "future").await;
            let answer = app.call("author", "PATCH", &path, &change).await.expect(200);
            let expected = if change.get("date").is_some() { "publish" } else { "future" };
            assert_eq!(answer.json["status"], expected, "{kind} {change}");
        }
    }
}

#[actix_web::test]
async fn publish_by_a_contributor_becomes_pending() {
    let app = App::new().await;
    for (who, asked, stored) in [
        ("contributor", None, "draft"),
        ("contributor", Some("publish"), "pending"),
        ("contributor", Some("future"), "pending"),
        ("contributor", Some("Idea"), "Idea"),
        ("author", None, "publish"),
        ("author", Some("draft"), "draft"),
        ("author", Some("future"), "publish"),
        ("editor", None, "publish"),
    ] {
        let body = match asked {
            Some(status) => dates(json!({"status": status})),
            None => dates(json!({})),
        };
        let answer = app.call(who, "POST", "/events", &body).await.expect(201);
        assert_eq!(answer.json["status"], stored, "{who} {asked:?}");
    }
    let id = app.event_as("contributor", json!({})).await;
    let answer = app
        .call("contributor", "PATCH", &format!("/events/{id}"), &json!({"status": "publish"}))
        .await;
    assert_eq!(answer.json["status"], "pending");
}

#[actix_web::test]
async fn create_with_a_known_name_updates_it_only_for_editors() {
    let app = App::new().await;
    let id = app.make("/venues", json!({"venue": "Hall", "phone": "1"})).await;
    let body = json!({"venue": "HALL", "phone": "666"});
    let answer = app.call("contributor", "POST", "/venues", &body).await.expect(201);
    assert_eq!((answer.id(), &answer.json["phone"]), (id, &json!("1")));
    let answer = app.call("editor", "POST", "/venues", &body).await.expect(201);
    assert_eq!((answer.id(), &answer.json["phone"]), (id, &json!("666")));
}

#[actix_web::test]
async fn revoked_key_gets_401_at_once() {
    let app = App::new().await;
    app.get_as("editor", "/events").await.expect(200);
    let now = domain::Clock::unix(&app.clock);
    let revoke = |db: &mut database::Db| auth::revoke_owner(db, "editor", now);
    app.state.pools.write_blocking(revoke).unwrap();
    app.get_as("editor", "/events").await.expect(401);
}
