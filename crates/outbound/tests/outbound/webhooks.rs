//! Webhooks to a receiver on the loopback interface.

use outbound::{DeliveryError, Reach, WebhookMessage, WebhookSecret, WebhookSender};
use testkit::{HttpPeer, PeerAnswer};

fn message(url: String) -> WebhookMessage {
    WebhookMessage {
        traceparent: None,
        url,
        secret: WebhookSecret::generate().unwrap(),
        id: "msg_1".to_owned(),
        timestamp: 1_772_366_400,
        body: r#"{"event":"breach"}"#.to_owned(),
    }
}

#[tokio::test]
async fn a_webhook_has_a_valid_signature() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(204, String::new()));
    let sender = WebhookSender::new(Reach::anywhere(), "test/1").unwrap();
    let message = message(peer.url("/hook?a=b"));
    sender.send(&message).await.unwrap();
    let got = peer.requests().remove(0);
    assert_eq!((got.method.as_str(), got.target.as_str()), ("POST", "/hook?a=b"));
    assert_eq!(
        (got.header("webhook-id"), got.header("content-type")),
        ("msg_1", "application/json")
    );
    let timestamp = got.header("webhook-timestamp").parse().unwrap();
    let signature = got.header("webhook-signature");
    assert!(message.secret.verifies(signature, "msg_1", timestamp, got.body.as_bytes()));
    assert_eq!(got.body, message.body);
}

#[tokio::test]
async fn failures_are_temporary_except_for_410() {
    let peer = HttpPeer::start(|request| match request.target.as_str() {
        "/gone" => PeerAnswer::Body(410, String::new()),
        "/moved" => PeerAnswer::Redirect("/".to_owned()),
        "/closed" => PeerAnswer::Close,
        _ => PeerAnswer::Body(500, "secret".to_owned()),
    });
    let sender = WebhookSender::new(Reach::anywhere(), "test/1").unwrap();
    let send = async |path: &str| sender.send(&message(peer.url(path))).await.unwrap_err();
    assert_eq!(send("/gone").await, DeliveryError::permanent("status 410"));
    assert_eq!(send("/moved").await, DeliveryError::temporary("status 302"));
    assert_eq!(send("/").await, DeliveryError::temporary("status 500"));
    assert_eq!(send("/closed").await, DeliveryError::temporary("the request failed"));
    assert_eq!(peer.requests().len(), 4);
}

#[tokio::test]
async fn private_targets_are_not_called() {
    let peer = HttpPeer::start(|_| PeerAnswer::Body(200, String::new()));
    let sender = WebhookSender::new(Reach::public(), "test/1").unwrap();
    assert!(!sender.may_name(&peer.url("/")));
    let outcome = sender.send(&message(peer.url("/"))).await;
    // The error is temporary, because changed settings may permit a later attempt.
    assert_eq!(outcome, Err(DeliveryError::temporary("the address may not be called")));
    let outcome = sender.send(&message("ftp://hook.example/".to_owned())).await;
    assert_eq!(
        outcome,
        Err(DeliveryError::permanent("the URL must be http or https, without credentials"))
    );
    // A name that resolves to a private address is rejected too.
    let hosts = [("hook.example".to_owned(), peer.address())].into();
    let reach = Reach::public().with_names(outbound::Names::Fixed(hosts));
    let sender = WebhookSender::new(reach, "test/1").unwrap();
    let outcome = sender.send(&message("http://hook.example/".to_owned())).await;
    assert_eq!(outcome, Err(DeliveryError::temporary("no connection")));
    assert!(peer.requests().is_empty());
}
