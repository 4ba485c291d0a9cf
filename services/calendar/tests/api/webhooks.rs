//! Webhooks: messages, signatures, retries, and abandoned messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use calendar::{
    LoadOptions, State, add_webhook, deliver_due, load, publish_due, remove_webhook,
    waiting_messages,
};
use outbound::{Reach, WebhookSecret, WebhookSender};
use parking_lot::Mutex;
use serde_json::{Value, json};
use testkit::{HttpPeer, PeerAnswer};

use crate::app::{App, send};

/// Starts a calendar with a webhook on loopback, and a delivery job.
async fn start(status: &Arc<AtomicU16>) -> (App, HttpPeer, State, WebhookSecret) {
    let shared = Arc::clone(status);
    let hook = HttpPeer::start(move |_| match shared.load(Ordering::SeqCst) {
        0 => PeerAnswer::Close,
        status => PeerAnswer::Body(status, String::new()),
    });
    let app = App::new().await;
    let secret = WebhookSecret::generate().unwrap();
    let (url, text) = (hook.url("/x"), secret.text());
    app.state.pools.write_blocking(|db| add_webhook(db, &url, &text, 0)).unwrap();
    let sender = WebhookSender::new(Reach::anywhere(), "tests").unwrap();
    let state = app.state.clone().with_webhooks(sender);
    (app, hook, state, secret)
}

fn messages(hook: &HttpPeer) -> Vec<String> {
    let calls = hook.requests();
    let received = calls.iter().map(|call| {
        let body: Value = serde_json::from_str(&call.body).unwrap();
        format!("{} {}", body["type"].as_str().unwrap(), body["data"]["id"])
    });
    let mut received: Vec<String> = received.collect();
    // Deliveries run concurrently.
    received.sort_unstable();
    received
}

#[actix_web::test]
async fn every_write_is_delivered_once() {
    let status = Arc::new(AtomicU16::new(204));
    let (app, hook, state, _) = start(&status).await;
    let id = app.event(json!({})).await;
    let draft = app.event(json!({"status": "draft"})).await;
    app.patch(&format!("/events/{id}"), &json!({"title": "New"})).await.expect(200);
    app.patch(&format!("/events/{draft}"), &json!({"status": "publish"})).await.expect(200);
    app.delete(&format!("/events/{id}")).await.expect(200);
    // A rejected write sends nothing.
    app.post("/events", &json!({"title": "x"})).await.expect(400);
    let later = app.event(json!({"date": "2027-03-10 12:30:00"})).await;
    app.clock.advance(3600);
    publish_due(&app.state).await;
    let line = json!({"type": "event", "title": "x", "start_date": "2027-04-01", "end_date": "2027-04-01"});
    load(&app.state, std::io::Cursor::new(line.to_string()), LoadOptions::default()).unwrap();
    let loaded = later + 1;
    while deliver_due(&state).await.unwrap() > 0 {}
    let mut expected = vec![
        format!("event.created {id}"),
        format!("event.published {id}"),
        format!("event.created {draft}"),
        format!("event.changed {id}"),
        format!("event.published {draft}"),
        format!("event.deleted {id}"),
        format!("event.created {later}"),
        format!("event.published {later}"),
        format!("event.created {loaded}"),
        format!("event.published {loaded}"),
    ];
    expected.sort_unstable();
    assert_eq!(messages(&hook), expected);
    // Publication of a scheduled event is a change too.
    assert_eq!(
        app.get(&format!("/events/{later}")).await.json["modified_utc"],
        "2027-03-10 13:00:00"
    );
}

#[actix_web::test]
async fn messages_belong_to_the_trace_of_their_write() {
    let (app, hook, state, _) = start(&Arc::new(AtomicU16::new(204))).await;
    let id = app.event(json!({})).await;
    let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let traced = app.request("administrator", "PATCH", &format!("/events/{id}"));
    let traced = traced.header("traceparent", format!("00-{trace}-{parent}-01"));
    send(traced.json(&json!({"title": "New"}))).await.expect(200);
    app.delete(&format!("/events/{id}")).await.expect(200);
    while deliver_due(&state).await.unwrap() > 0 {}
    let calls = hook.requests();
    let traces =
        calls.iter().map(|call| (call.body.contains("event.changed"), call.header("traceparent")));
    for (is_traced, sent) in traces {
        match is_traced {
            true => assert!(
                sent.starts_with(&format!("00-{trace}-"))
                    && sent.ends_with("-01")
                    && !sent.contains(parent),
                "{sent}"
            ),
            false => assert_eq!(sent, ""),
        }
    }
    assert_eq!(calls.len(), 4);
}

#[actix_web::test]
async fn messages_are_signed_retried_and_abandoned() {
    let status = Arc::new(AtomicU16::new(500));
    let (app, hook, state, secret) = start(&status).await;
    let id = app.event(json!({"status": "draft"})).await;
    let deliver = async || deliver_due(&state).await.unwrap();
    deliver().await;
    status.store(0, Ordering::SeqCst);
    app.clock.advance(60);
    deliver().await;
    status.store(204, Ordering::SeqCst);
    app.clock.advance(299);
    deliver().await;
    assert_eq!(hook.requests().len(), 2);
    app.clock.advance(1);
    deliver().await;
    app.clock.advance(86_400);
    deliver().await;
    let calls = hook.requests();
    assert_eq!(calls.len(), 3);
    for call in &calls {
        let (name, timestamp) = (call.header("webhook-id"), call.header("webhook-timestamp"));
        let signature = call.header("webhook-signature");
        let timestamp = timestamp.parse().unwrap();
        assert!(secret.verifies(signature, name, timestamp, call.body.as_bytes()));
        assert_eq!(name, calls[0].header("webhook-id"));
    }
    let body: Value = serde_json::from_str(&calls[0].body).unwrap();
    assert_eq!(
        body,
        json!({"type": "event.created", "timestamp": "2027-03-10T12:00:00Z",
            "data": {"id": id, "status": "draft", "modified_utc": "2027-03-10T12:00:00Z"}})
    );
    status.store(500, Ordering::SeqCst);
    app.patch(&format!("/events/{id}"), &json!({"title": "New"})).await.expect(200);
    for _ in 0..10 {
        deliver().await;
        app.clock.advance(12 * 3600);
    }
    assert_eq!(hook.requests().len(), 3 + 6);
    // Removing a webhook removes its pending messages.
    app.patch(&format!("/events/{id}"), &json!({"title": "Other"})).await.expect(200);
    let waiting = || app.state.pools.read_blocking(|db| waiting_messages(db, 1)).unwrap();
    assert_eq!(waiting(), 1);
    let url = hook.url("/x");
    assert!(app.state.pools.write_blocking(|db| remove_webhook(db, &url)).unwrap());
    assert_eq!((waiting(), app.rows("webhook_outbox")), (0, 0));
    app.patch(&format!("/events/{id}"), &json!({"title": "Last"})).await.expect(200);
    assert_eq!(app.rows("webhook_outbox"), 0);
}

#[actix_web::test]
async fn webhook_at_a_private_address_needs_the_setting() {
    let status = Arc::new(AtomicU16::new(204));
    let (app, hook, open, _) = start(&status).await;
    app.event(json!({"status": "draft"})).await;
    let guarded = WebhookSender::new(Reach::public(), "tests").unwrap();
    let state = app.state.clone().with_webhooks(guarded);
    assert_eq!(deliver_due(&state).await.unwrap(), 1);
    // A server that was started without webhooks does not abandon messages.
    app.clock.advance(60);
    assert_eq!(deliver_due(&state).await.unwrap(), 1);
    assert!(hook.requests().is_empty());
    app.clock.advance(300);
    assert_eq!(deliver_due(&open).await.unwrap(), 1);
    assert_eq!(hook.requests().len(), 1);
}

#[actix_web::test]
async fn hanging_receiver_does_not_delay_others() {
    const EVENTS: usize = 20;
    let status = Arc::new(AtomicU16::new(204));
    let (app, hook, state, _) = start(&status).await;
    // Responds only once the second receiver has received all messages.
    let (release, released) = std::sync::mpsc::channel::<()>();
    let gate = Mutex::new(released);
    let hanging = HttpPeer::start(move |_| {
        let _ = gate.lock().recv();
        PeerAnswer::Body(204, String::new())
    });
    let (url, secret) = (hanging.url("/x"), WebhookSecret::generate().unwrap().text());
    app.state.pools.write_blocking(|db| add_webhook(db, &url, &secret, 0)).unwrap();
    for _ in 0..EVENTS {
        app.event(json!({"status": "draft"})).await;
    }
    let watch = async {
        while hook.requests().len() < EVENTS {
            tokio::task::yield_now().await;
        }
        let asked = hanging.requests().len();
        drop(release);
        asked
    };
    let (delivered, asked) = futures_util::join!(deliver_due(&state), watch);
    assert_eq!(delivered.unwrap(), 2 * EVENTS);
    // If it delayed the others, it would have received all of its requests before they received
    // theirs.
    assert!(asked < EVENTS, "{asked}");
}

#[actix_web::test]
async fn message_of_a_removed_webhook_is_not_sent() {
    let status = Arc::new(AtomicU16::new(500));
    let (app, hook, state, _) = start(&status).await;
    app.event(json!({"status": "draft"})).await;
    deliver_due(&state).await.unwrap();
    assert_eq!(hook.requests().len(), 1);
    let url = hook.url("/x");
    assert!(app.state.pools.write_blocking(|db| remove_webhook(db, &url)).unwrap());
    let other = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let (url, secret) = (other.url("/x"), WebhookSecret::generate().unwrap().text());
    app.state.pools.write_blocking(|db| add_webhook(db, &url, &secret, 0)).unwrap();
    app.clock.advance(60);
    assert_eq!(deliver_due(&state).await.unwrap(), 0);
    assert_eq!((hook.requests().len(), other.requests().len()), (1, 0));
}
