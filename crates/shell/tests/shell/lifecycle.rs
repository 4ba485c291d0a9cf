//! Health checks, graceful shutdown, ports in use.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::Duration;

use shell::{ListenAddress, Server, ShellSettings};

use super::echo::{Echo, Started, client};

#[actix_web::test]
async fn readiness_reports_the_reason_and_health_stays_ok() {
    let started = Started::new().await;
    started.echo.broken.store(true, Ordering::SeqCst);
    let answer = client().get(started.admin("/readyz")).send().await.unwrap();
    assert_eq!(answer.status(), 503);
    assert_eq!(answer.text().await.unwrap(), "not ready: no data\n");
    assert_eq!(client().get(started.admin("/healthz")).send().await.unwrap().status(), 200);
    started.echo.broken.store(false, Ordering::SeqCst);
    assert_eq!(started.get("/readyz").await.text().await.unwrap(), "ready\n");
}

#[actix_web::test]
async fn readiness_names_missing_parts_and_stays_ok() {
    let started = Started::new().await;
    started.echo.partial.store(true, Ordering::SeqCst);
    let answer = client().get(started.admin("/readyz")).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await.unwrap(), "ready, except half of the data\n");
}

#[actix_web::test]
async fn readiness_mentions_a_background_task_that_panicked() {
    let started = Started::new().await;
    started.echo.gate.fail.notify_one();
    let mut answer = String::new();
    for _ in 0..10_000 {
        answer = started.get("/readyz").await.text().await.unwrap();
        if answer != "ready\n" {
            break;
        }
    }
    assert_eq!(answer, "ready, except background work, which panicked\n");
    let admin = client().get(started.admin("/readyz")).send().await.unwrap();
    assert_eq!((admin.status().as_u16(), admin.text().await.unwrap()), (200, answer));
}

#[actix_web::test]
async fn a_stop_finishes_open_requests_and_reports_not_ready() {
    let started = Started::new().await;
    let (slow, ready) = (started.url("/slow"), started.admin("/readyz"));
    let request = actix_web::rt::spawn(client().get(slow).header("connection", "close").send());
    started.echo.gate.entered.notified().await;
    let stop = actix_web::rt::spawn(started.running.stop());
    while client().get(&ready).send().await.unwrap().status() == 200 {}
    assert_eq!(client().get(&ready).send().await.unwrap().text().await.unwrap(), "stopping\n");
    started.echo.gate.leave.notify_one();
    assert_eq!(request.await.unwrap().unwrap().text().await.unwrap(), "slow");
    stop.await.unwrap();
}

#[actix_web::test]
async fn a_handler_ends_when_its_client_leaves() {
    let started = Started::new().await;
    let request = actix_web::rt::spawn(client().get(started.url("/slow")).send());
    started.echo.gate.entered.notified().await;
    request.abort();
    tokio::time::timeout(Duration::from_secs(20), started.echo.gate.ended.notified())
        .await
        .expect("the handler is still running");
}

#[actix_web::test]
async fn an_occupied_port_is_a_clear_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut settings = ShellSettings::for_tests(folder.path());
    let taken_address = taken.local_addr().unwrap();
    settings.bind = vec![ListenAddress::Ip(taken_address)];
    let Err(error) = Server::start(&settings, Echo::default()).await else {
        panic!("two listeners on one port");
    };
    let expected = format!("cannot listen on {} (BIND): Address already in use", taken_address);
    assert!(format!("{error:#}").starts_with(&expected), "{error:#}");
}

#[actix_web::test]
async fn while_draining_answers_ask_clients_to_close() {
    let started = Started::with(|settings| settings.drain_seconds = 600).await;
    let (url, ready) = (started.url("/count?count=1"), started.admin("/readyz"));
    assert!(!started.get("/count?count=1").await.headers().contains_key("connection"));
    let stop = actix_web::rt::spawn(started.running.stop());
    while client().get(&ready).send().await.unwrap().status() == 200 {}
    let answer = client().get(&url).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["connection"]),
        (200, &"close".parse().unwrap())
    );
    stop.abort();
}

/// Sends requests over new and reused connections while the server stops. Returns the number of
/// requests without a response.
async fn lost_during_a_stop() -> usize {
    let started = Started::with(|settings| settings.drain_seconds = 1).await;
    let url = started.url("/count?count=1");
    let ask = |client: reqwest::Client| {
        let url = url.clone();
        actix_web::rt::spawn(async move {
            let mut lost = 0;
            loop {
                match client.get(&url).send().await {
                    Ok(answer) => {
                        lost += usize::from(answer.text().await.ok().as_deref() != Some("1"))
                    }
                    Err(error) if error.is_connect() => return lost,
                    Err(_) => lost += 1,
                }
            }
        })
    };
    let fresh = || reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
    let clients: Vec<_> =
        (0..8).map(|n| ask(if n % 2 == 0 { client() } else { fresh() })).collect();
    started.get("/count?count=1").await;
    started.running.stop().await;
    let mut lost = 0;
    for client in clients {
        lost += client.await.unwrap();
    }
    lost
}

#[actix_web::test]
async fn a_stop_loses_no_requests() {
    for _ in 0..5 {
        assert_eq!(lost_during_a_stop().await, 0);
    }
}
