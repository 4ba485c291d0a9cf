//! Lists of changes, with tombstones.

use serde_json::{Value, json};

use crate::app::{Answer, App};

fn listed(list: &Answer) -> (Vec<i64>, Vec<i64>) {
    let ids = |name: &str| {
        let items = list.json[name].as_array().unwrap_or_else(|| panic!("{}", list.text));
        items.iter().map(|item| item["id"].as_i64().unwrap()).collect()
    };
    (ids("events"), ids("deleted"))
}

async fn since(app: &App, who: &str, moment: &str) -> (Vec<i64>, Vec<i64>) {
    listed(
        &app.get_as(who, &format!("/events?modified_after={moment}&per_page=50")).await.expect(200),
    )
}

#[actix_web::test]
async fn modified_after_lists_changed_events_and_deleted_ids() {
    let app = App::new().await;
    let (old, kept) = (app.event(json!({})).await, app.event(json!({"title": "Kept"})).await);
    let draft = app.event(json!({"status": "draft"})).await;
    app.clock.advance(60);
    let far = app.event(json!({"start_date": "1999-01-01", "end_date": "1999-01-01"})).await;
    let hidden = app.event(json!({})).await;
    app.clock.advance(60);
    app.delete(&format!("/events/{old}")).await.expect(200);
    app.patch(&format!("/events/{hidden}"), &json!({"hide_from_listings": true})).await.expect(200);
    app.patch(&format!("/events/{draft}"), &json!({"title": "Still a draft"})).await.expect(200);
    app.clock.advance(60);
    app.patch(&format!("/events/{kept}"), &json!({"title": "New"})).await.expect(200);
    let start = "2027-03-10T12:00:00Z";
    assert_eq!(since(&app, "", start).await, (vec![far, kept], vec![old, hidden]));
    assert_eq!(since(&app, "", "2027-03-10T12:02:00Z").await, (vec![kept], vec![old, hidden]));
    assert_eq!(since(&app, "", "2027-03-10T12:02:01Z").await, (vec![kept], vec![]));
    assert_eq!(since(&app, "", "2027-03-10T12:03:01Z").await, (vec![], vec![]));
    // Callers who see drafts also see the tombstones of drafts.
    assert_eq!(since(&app, "editor", start).await, (vec![far, draft, kept], vec![old, hidden]));
    let list = app.get(&format!("/events?modified_after={start}&_fields=deleted")).await;
    let tombstone = &list.json["deleted"][0];
    assert_eq!(
        (&tombstone["id"], &tombstone["modified_utc"]),
        (&json!(old), &json!("2027-03-10 12:02:00"))
    );
    // A restored event is removed from `deleted`. Other lists do not contain tombstones.
    app.clock.advance(60);
    app.patch(&format!("/events/{old}"), &json!({"status": "publish"})).await.expect(200);
    assert_eq!(since(&app, "", start).await, (vec![far, kept, old], vec![hidden]));
    assert_eq!(app.get("/events").await.json["deleted"], Value::Null);
}

#[actix_web::test]
async fn trashed_draft_is_deleted_only_for_callers_who_saw_it() {
    let app = App::new().await;
    let draft = json!({"status": "draft"});
    let own = app.event_as("author", draft.clone()).await;
    let other = app.event_as("author2", draft.clone()).await;
    let withdrawn = app.event(json!({})).await;
    app.clock.advance(60);
    app.delete(&format!("/events/{own}")).await.expect(200);
    app.delete(&format!("/events/{other}")).await.expect(200);
    app.patch(&format!("/events/{withdrawn}"), &draft).await.expect(200);
    app.clock.advance(60);
    app.delete(&format!("/events/{withdrawn}")).await.expect(200);
    let start = "2027-03-10T12:01:00Z";
    assert_eq!(since(&app, "editor", start).await, (vec![], vec![own, other, withdrawn]));
    assert_eq!(since(&app, "author", start).await, (vec![], vec![own, withdrawn]));
    for who in ["", "reader"] {
        assert_eq!(since(&app, who, start).await, (vec![], vec![withdrawn]), "{who}");
    }
    // An editor who polled between the two steps gets the second one.
    assert_eq!(since(&app, "editor", "2027-03-10T12:02:00Z").await, (vec![], vec![withdrawn]));
    // For readers of drafts a restored draft is no longer deleted. For the public, the unpublished
    // event still is.
    app.clock.advance(60);
    for id in [own, withdrawn] {
        app.patch(&format!("/events/{id}"), &draft).await.expect(200);
    }
    assert_eq!(since(&app, "editor", start).await, (vec![own, withdrawn], vec![other]));
    assert_eq!(since(&app, "author", start).await, (vec![own], vec![withdrawn]));
    assert_eq!(since(&app, "", start).await, (vec![], vec![withdrawn]));
}

#[actix_web::test]
async fn drafts_that_become_unreadable_are_listed_as_deleted() {
    let app = App::new().await;
    let draft = json!({"status": "draft"});
    let given = app.event_as("author", draft.clone()).await;
    let hidden = app.event_as("author", draft.clone()).await;
    app.clock.advance(60);
    let author = json!({"author": app.user("author2")});
    app.patch(&format!("/events/{given}"), &author).await.expect(200);
    let unlisted = json!({"hide_from_listings": true});
    app.patch(&format!("/events/{hidden}"), &unlisted).await.expect(200);
    let start = "2027-03-10T12:01:00Z";
    assert_eq!(since(&app, "author", start).await, (vec![], vec![given, hidden]));
    assert_eq!(since(&app, "author2", start).await, (vec![given], vec![]));
    assert_eq!(since(&app, "editor", start).await, (vec![given], vec![hidden]));
    assert_eq!(since(&app, "", start).await, (vec![], vec![]));
}

#[actix_web::test]
async fn each_change_is_on_one_page_even_within_one_second() {
    let app = App::new().await;
    let mut all = Vec::new();
    for number in 0..7 {
        all.push(app.event(json!({})).await);
        if number == 4 {
            app.clock.advance(1);
        }
    }
    let gone = all.remove(2);
    app.delete(&format!("/events/{gone}")).await.expect(200);
    let (mut events, mut deleted, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    let mut next = Some("/events?modified_after=2027-03-10T12:00:00Z&per_page=3".to_owned());
    while let Some(path) = next {
        let list = app.get(&path).await.expect(200);
        let (some, some_gone) = listed(&list);
        events.extend(some);
        deleted.extend(some_gone);
        totals.push(list.json["total"].as_i64().unwrap());
        let link = list.json["next_rest_url"].as_str();
        next = link.map(|link| link[link.find("/events?").unwrap()..].to_owned());
    }
    assert_eq!((events, deleted, totals), (all, vec![gone], vec![7, 4, 1]));
}

#[actix_web::test]
async fn changes_reject_other_filters() {
    let app = App::new().await;
    for (query, wrong) in [
        ("modified_after=soon", "modified_after"),
        ("modified_after=", "modified_after"),
        ("after_id=3", "after_id"),
        ("modified_after=2027-01-01&search=x", "search"),
        ("modified_after=2027-01-01&start_date=2027-01-01", "start_date"),
        ("modified_after=2027-01-01&page=2", "page"),
    ] {
        let answer = app.get(&format!("/events?{query}")).await.expect(400);
        let params = answer.json["data"]["params"].as_object().unwrap();
        assert!(params.keys().eq([wrong]), "{query}: {}", answer.text);
    }
    app.get("/events?modified_after=2027-01-01&page=1&status=publish").await.expect(400);
    app.get("/events?modified_after=yesterday&page=1").await.expect(200);
    app.get("/events?modified_after=2027-01-01&context=view").await.expect(200);
    app.get("/ical?modified_after=2027-01-01").await.expect(400);
}
