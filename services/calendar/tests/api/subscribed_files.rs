//! Subscriptions whose file is wrong or hostile, or shares names with what is here.

use serde_json::json;
use testkit::PeerAnswer;

use crate::subscribing::{Subscribing, counts, file_of};

const ALL: [&str; 4] = ["a", "b", "c", "d"];

/// Subscribes to a file with four events that loses three of them, and accepts that.
async fn accepted() -> (Subscribing, i64) {
    let club = Subscribing::new().await;
    club.serves(&file_of(&ALL));
    let id = club.subscribe(json!({})).await;
    club.run(id).await;
    club.serves(&file_of(&["a"]));
    let shown = club.run_now(id).await;
    assert_eq!(shown["last_run"]["lost"], 3, "{shown}");
    club.step(id, "accept").await;
    (club, id)
}

#[actix_web::test]
async fn acceptance_does_not_hold_for_a_file_that_lacks_more() {
    let (club, id) = accepted().await;
    club.answers(|_| PeerAnswer::Body(503, String::new()));
    assert_eq!(club.run(id).await["last_run"]["outcome"], "failed");
    club.serves(&file_of(&[]));
    let shown = club.run_now(id).await;
    assert_eq!((&shown["state"], &shown["last_run"]["lost"]), (&json!("stopped"), &json!(4)));
    assert_eq!(club.titles().await, ALL);
    // Nothing is left of the acceptance.
    club.serves(&file_of(&["a"]));
    club.step(id, "resume").await;
    assert_eq!(club.run(id).await["state"], "stopped");
    assert_eq!(club.titles().await, ALL);
}

#[actix_web::test]
async fn acceptance_holds_after_a_failure_for_a_file_that_lacks_no_more() {
    let (club, id) = accepted().await;
    club.answers(|_| PeerAnswer::Body(503, String::new()));
    assert_eq!(club.run(id).await["last_run"]["outcome"], "failed");
    club.serves(&file_of(&["b"]));
    assert_eq!(counts(&club.run_now(id).await, "imported")[5], 3);
    assert_eq!(club.titles().await, ["b"]);
}

#[actix_web::test]
async fn pause_and_another_address_end_an_acceptance() {
    for address in [None, Some("/other.ics")] {
        let (club, id) = accepted().await;
        match address {
            None => {
                club.step(id, "pause").await;
                club.step(id, "resume").await;
            }
            Some(path) => {
                let body = json!({"url": club.peer.url(path)});
                let item = format!("/subscriptions/{id}");
                club.app.call("editor", "PATCH", &item, &body).await.expect(200);
            }
        }
        let shown = club.run(id).await;
        assert_eq!((&shown["state"], &shown["last_run"]["lost"]), (&json!("stopped"), &json!(3)));
        assert_eq!(club.titles().await, ALL);
    }
}
