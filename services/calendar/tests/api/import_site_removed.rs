//! Items of an imported site that were removed here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use testkit::{HttpPeer, PeerAnswer};

use crate::images::PNG;
use crate::import_site::{asked, call, counts, empty, import, program};

/// Starts a site with events that have images. All of them have another title once the flag is set.
fn site(is_changed: &Arc<AtomicBool>) -> HttpPeer {
    let is_changed = Arc::clone(is_changed);
    HttpPeer::start(move |request| {
        if request.target.ends_with(".png") {
            let kind = vec![("Content-Type", "image/png".to_owned())];
            return PeerAnswer::Full(200, kind, PNG.to_vec());
        }
        let title = if is_changed.load(Ordering::SeqCst) { "Feast" } else { "Fair" };
        let event = |id: i64| {
            let image = format!("http://{}/{id}.png", request.header("host"));
            json!({"id": id, "title": title, "start_date": "2041-01-01 10:00:00",
                "end_date": "2041-01-01 11:00:00", "image": {"url": image}})
        };
        match asked(&request.target) {
            (name, _) if name == "events" => {
                let list = json!({"events": ([70, 80, 90].map(event)), "total_pages": 1});
                PeerAnswer::Body(200, list.to_string())
            }
            (name, _) => empty(&name),
        }
    })
}

#[actix_web::test]
async fn image_of_an_event_that_was_erased_here_is_not_fetched_again() {
    let is_changed = Arc::default();
    let peer = site(&is_changed);
    let target = program().with_database();
    let url = peer.url("");
    assert_eq!(counts(&import(&target, &url, &[]), 0), [3, 0, 0, 0, 0]);
    let server = target.serve(&[]);
    call(&server, "DELETE", "/events/70?force=true", json!({})).await;
    call(&server, "DELETE", "/events/80", json!({})).await;
    is_changed.store(true, Ordering::SeqCst);
    assert_eq!(counts(&import(&target, &url, &[]), 0), [0, 1, 0, 2, 0]);
    let requests = peer.requests();
    let fetched = |id: i64| {
        let name = format!("/{id}.png");
        requests.iter().filter(|one| one.target.ends_with(&name)).count()
    };
    assert_eq!([70, 80, 90].map(fetched), [1, 1, 1]);
}
