//! Only paths in the table of operations reach the router.

use std::net::SocketAddr;

use breaches::Access;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::app::{App, TEST, ZERO, answer};

/// Returns the status of a path that is sent without normalisation by an HTTP client.
fn status(server: SocketAddr, path: &str) -> u16 {
    let headers = format!("host: tests\r\nuser-agent: tests\r\nbreach-api-key: {ZERO}");
    let request = format!("GET {path} HTTP/1.1\r\n{headers}\r\nconnection: close\r\n\r\n");
    testkit::exchange(server, request).status
}

#[actix_web::test]
async fn trailing_slashes_encoded_words_and_empty_segments_are_unknown() {
    let app = App::start().await;
    for path in [
        "/api/v3/breachedaccount/range/ABCDEF/",
        "/api/v3/%62reachedaccount/range/ABCDEF",
        "/api/v3/breachedaccount/%72ange/ABCDEF",
        "//api/v3/breachedaccount/range/ABCDEF",
        "/api/v3//breachedaccount/range/ABCDEF",
        "/%61pi/v3/breachedaccount/range/ABCDEF",
        &format!("/api/v3/breachedAccount/account-exists@{TEST}/"),
        &format!("/api/v3/breacheddomain/{TEST}/"),
        "/api/v3/breach/Acmegram/",
        "/api/v3/%62reaches",
        "/api/v3/breaches//",
        "/api/v3/subscription/%73tatus",
    ] {
        let response = app.get_with(ZERO, path).await;
        assert_eq!(response.headers()["content-length"], "0", "{path}");
        assert_eq!(answer(response).await, (404, String::new()), "{path}");
        assert_eq!(status(app.server.running().http, path), 404, "{path}");
    }
}

#[actix_web::test]
async fn one_trailing_slash_is_accepted_after_a_fixed_path() {
    let app = App::start().await;
    for path in [
        "/api/v3/breaches/",
        "/API/v3/latestBreach/",
        "/api/v3/dataclasses/",
        "/api/v3/subscribeddomains/",
        "/api/v3/subscription/status/",
        "/openapi.json/",
        "/docs/",
    ] {
        assert_eq!(app.get_with(ZERO, path).await.status(), 200, "{path}");
    }
}

/// Generates words and parameters of the API: correct, in different case, encoded, or corrupted.
fn segment() -> impl Strategy<Value = String> {
    let words = "breaches breach latestBreach dataClasses subscription status range docs Acmegram \
        breachedAccount breachedDomain pasteAccount subscribedDomains stealerLogsByEmail";
    let word = prop::sample::select(words.split_whitespace().collect::<Vec<_>>());
    let segment = prop_oneof![
        4 => (word, any::<bool>()).prop_map(|(word, upper)| match upper {
            true => word.to_uppercase(),
            false => word.to_owned(),
        }),
        1 => Just(format!("account-exists@{TEST}")),
        1 => Just(TEST.to_owned()),
        1 => "[0-9a-fA-F]{6}",
        1 => "[a-z0-9.;:@!$&'()*+,=_~-]{0,6}",
    ];
    let place = prop::option::weighted(0.2, any::<prop::sample::Index>());
    (segment, place).prop_map(|(segment, place)| match place {
        Some(place) if !segment.is_empty() => {
            let place = place.index(segment.len());
            let byte = segment.as_bytes()[place];
            format!("{}%{byte:02x}{}", &segment[..place], &segment[place + 1..])
        }
        _ => segment,
    })
}

fn path() -> impl Strategy<Value = String> {
    let base = prop_oneof![
        6 => Just("/api/v3".to_owned()),
        1 => Just("/API/V3".to_owned()),
        1 => Just("//api/v3".to_owned()),
        1 => Just("/api//v3".to_owned()),
        1 => Just("/ap%69/v3".to_owned()),
        1 => Just("/api/v3/../v3".to_owned()),
        1 => Just(String::new()),
    ];
    let segments = proptest::collection::vec(segment(), 1..4);
    (base, segments, "/{0,2}")
        .prop_map(|(base, segments, end)| format!("{base}/{}{end}", segments.join("/")))
}

#[actix_web::test]
async fn every_served_path_is_in_the_table_of_paths() {
    let app = App::start().await;
    let server = app.server.running().http;
    let run = move || {
        let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
        TestRunner::new(config).run(&path(), |path| {
            let status = status(server, &path);
            let known = breaches::access(&path) != Access::Unknown;
            prop_assert!(known || matches!(status, 404 | 405), "{path} is {status}");
            Ok(())
        })
    };
    actix_web::rt::task::spawn_blocking(run).await.unwrap().unwrap();
}
