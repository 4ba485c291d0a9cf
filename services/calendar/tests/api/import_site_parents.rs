//! The lists of an imported site: the parents of its categories, and lists that end early.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer};

use crate::import_site::{asked, call, counts, create, empty, import, program, site};

fn category(id: i64, name: &str, parent: i64) -> Value {
    json!({"id": id, "name": name, "parent": parent})
}

#[actix_web::test]
async fn categories_of_one_name_below_different_parents_stay_apart() {
    let categories = [
        category(15, "Kids", 13),
        category(19, "Kids", 14),
        category(16, "Music", 17),
        category(13, "Music", 0),
        category(14, "Sport", 0),
        category(17, "Festival", 0),
    ];
    let event = |id: i64, category: i64| {
        json!({"id": id, "title": format!("Event {id}"), "start_date": "2041-01-01 10:00:00",
            "end_date": "2041-01-01 11:00:00", "categories": [{"id": category}]})
    };
    let lists = json!({"categories": categories, "events": [event(70, 15), event(71, 19)]});
    let peer = site(&Arc::new(Mutex::new(lists)));
    let target = program().with_database();
    let server = target.serve(&[]);
    let local = create(&server, "/categories", json!({"name": "Kids"})).await;
    assert_eq!(counts(&import(&target, &peer.url(""), &[]), 0), [8, 0, 0, 0, 0]);
    for (id, name, parent) in [
        (local, "Kids", 0),
        (15, "Kids", 13),
        (19, "Kids", 14),
        (16, "Music", 17),
        (13, "Music", 0),
        (14, "Sport", 0),
        (17, "Festival", 0),
    ] {
        let found = call(&server, "GET", &format!("/categories/{id}"), json!({})).await;
        assert_eq!((&found["name"], &found["parent"]), (&json!(name), &json!(parent)), "{id}");
    }
    for (event, category) in [(70, 15), (71, 19)] {
        let found = call(&server, "GET", &format!("/events/{event}"), json!({})).await;
        let categories = found["categories"].as_array().unwrap();
        assert_eq!((categories.len(), &categories[0]["id"]), (1, &json!(category)), "{event}");
    }
    assert_eq!(counts(&import(&target, &peer.url(""), &[]), 0), [0, 0, 8, 0, 0]);
}

#[actix_web::test]
async fn category_without_its_parent_is_not_merged_with_a_root_of_its_name() {
    let categories = |parent: &str| {
        let all = [category(15, "Kids", 0), category(19, "Kids", 18), category(18, parent, 0)];
        json!({"categories": all})
    };
    // A category without a name cannot be created.
    let lists = Arc::new(Mutex::new(categories("")));
    let peer = site(&lists);
    let target = program().with_database();
    let server = target.serve(&[]);
    let ran = import(&target, &peer.url(""), &[]);
    assert_eq!(counts(&ran, 1), [1, 0, 0, 0, 2]);
    assert!(ran.out.contains("its parent is missing here"), "{}", ran.out);
    *lists.lock() = categories("Music");
    assert_eq!(counts(&import(&target, &peer.url(""), &[]), 0), [2, 0, 1, 0, 0]);
    for (id, parent) in [(15, 0), (19, 18), (18, 0)] {
        let found = call(&server, "GET", &format!("/categories/{id}"), json!({})).await;
        assert_eq!(found["parent"], json!(parent), "{id}");
    }
}

#[test]
fn list_that_ends_before_its_last_page_is_incomplete() {
    let tags = |page: usize| json!([{"id": page, "name": format!("tag {page}")}]);
    for (second, incomplete) in [
        (PeerAnswer::Body(200, json!({"tags": tags(2), "total_pages": 2}).to_string()), 0),
        (PeerAnswer::Body(200, json!({"tags": [], "total_pages": 2}).to_string()), 1),
        (PeerAnswer::Body(404, String::new()), 1),
    ] {
        let peer = HttpPeer::start(move |request| match asked(&request.target) {
            (name, 1) if name == "tags" => {
                PeerAnswer::Body(200, json!({"tags": tags(1), "total_pages": 2}).to_string())
            }
            (name, _) if name == "tags" => second.clone(),
            (name, _) => empty(&name),
        });
        let ran = import(&program().with_database(), &peer.url(""), &[]);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(report["incomplete"], json!(incomplete), "{}", ran.errors);
        assert_eq!((ran.code, &report["created"]), (Some(incomplete), &json!(2 - incomplete)));
    }
}
