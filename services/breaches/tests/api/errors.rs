//! The table of errors, compared byte by byte.

use crate::app::{App, NOW, TEST, UNKNOWN, ZERO, answer, failure};

const ACCOUNT: &str = "/api/v3/breachedaccount/account-exists@breach-integration-tests.example";

#[actix_web::test]
async fn missing_key_is_401() {
    let app = App::start().await;
    let expected = failure(401, "Access denied due to missing breach-api-key.");
    assert_eq!(answer(app.get(ACCOUNT).await).await, expected);
    assert_eq!(answer(app.get_with("", ACCOUNT).await).await, expected);
}

#[actix_web::test]
async fn malformed_key_is_401_before_key_look_up_and_address_check() {
    let app = App::start().await;
    let expected = failure(401, "Access denied due to improperly formed breach-api-key.");
    for key in ["x", "0123", &"g".repeat(32), &"0".repeat(33)] {
        assert_eq!(answer(app.get_with(key, "/api/v3/breachedaccount/x").await).await, expected);
    }
}

#[actix_web::test]
async fn revoked_and_expired_keys_are_invalid_even_for_test_accounts() {
    let app = App::start().await;
    let expected = failure(401, "Access denied due to invalid breach-api-key.");
    let key = app.subscriber("owner@example.org", "pro1").await;
    assert_eq!(app.get_with(&key, "/api/v3/subscription/status").await.status(), 200);
    app.change(|db| auth::revoke_owner(db, "owner@example.org", NOW)).await;
    assert_eq!(answer(app.get_with(&key, ACCOUNT).await).await, expected);
    let key = app
        .change(|db| {
            auth::issue(db, "owner@example.org", None, Some(NOW + 10), NOW)
                .map_err(database::DatabaseError::broken)
        })
        .await
        .1;
    assert_eq!(app.get_with(&key, "/api/v3/subscription/status").await.status(), 200);
    app.clock.advance(10);
    assert_eq!(answer(app.get_with(&key, ACCOUNT).await).await, expected);
}

#[actix_web::test]
async fn every_configured_key_header_works_and_errors_name_the_first() {
    let app = App::with(|settings| {
        settings.api_key_headers = vec!["x-key".into(), "hibp-api-key".into()];
    })
    .await;
    let expected = failure(401, "Access denied due to missing x-key.");
    assert_eq!(answer(app.get_with(ZERO, ACCOUNT).await).await, expected);
    let other = app.request(ACCOUNT).header("hibp-api-key", ZERO).send().await.unwrap();
    assert_eq!(other.status(), 200);
}

#[actix_web::test]
async fn missing_or_blank_user_agent_is_403() {
    let app = App::start().await;
    let expected = failure(403, "Access denied due to missing user-agent.");
    for path in [ACCOUNT, "/api/v3/breaches", "/nowhere", "/openapi.json"] {
        let bare = app.server.get(path).send().await.unwrap();
        let open = bare.headers().get("access-control-allow-origin").cloned();
        assert_eq!(open.is_some(), path == "/api/v3/breaches", "{path}");
        assert_eq!(answer(bare).await, expected, "{path}");
        let blank = app.server.get(path).header("user-agent", "  ").send().await.unwrap();
        assert_eq!(answer(blank).await, expected, "{path}");
    }
}

#[actix_web::test]
async fn unknown_route_is_404_with_an_empty_body() {
    let app = App::start().await;
    for path in [
        "/api",
        "/api/v3",
        "/api/v2/breaches",
        "/api/v3/nothing",
        "/api/v3/breachedaccount",
        "/api/v3/breach/a/b",
    ] {
        let response = app.get(path).await;
        assert_eq!(response.headers()["content-length"], "0", "{path}");
        assert_eq!(answer(response).await, (404, String::new()), "{path}");
    }
}

#[actix_web::test]
async fn browser_gets_a_page_for_an_unknown_path_outside_the_api() {
    let app = App::start().await;
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    for path in ["/nowhere", "/breaches/a/b", "/account/nothing", "/apis"] {
        let asked = || app.request(path).header("accept", html);
        let response = asked().send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8", "{path}");
        let (status, body) = answer(response).await;
        assert_eq!(status, 404, "{path}");
        assert!(body.contains("<h1>Not found</h1>") && body.contains("</html>"), "{path}: {body}");
        let response = app.request(path).header("accept", "*/*").send().await.unwrap();
        assert_eq!(answer(response).await, (404, String::new()), "{path}");
    }
    for path in ["/api", "/api/v3/nothing", "/API/v3/breach/Unknown"] {
        let response = app.request(path).header("accept", html).send().await.unwrap();
        assert_eq!(answer(response).await, (404, String::new()), "{path}");
    }
}

#[actix_web::test]
async fn body_of_a_rejected_request_has_the_status_of_its_status_line() {
    let app = App::start().await;
    let long = "a".repeat(200_000);
    let fields: String = (0..300).map(|number| format!("x{number}: a\r\n")).collect();
    for (request, status) in [
        (format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n"), 414),
        (format!("GET / HTTP/1.1\r\nhost: x\r\n{fields}\r\n"), 431),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), 400),
    ] {
        let response = app.server.raw(request).await;
        let body: serde_json::Value = serde_json::from_str(response.text()).unwrap();
        assert_eq!((response.status, body["statusCode"].as_u64()), (status, Some(status.into())));
    }
}

#[actix_web::test]
async fn other_method_is_405_with_an_allow_header() {
    let app = App::start().await;
    for path in [ACCOUNT, "/api/v3/breaches", "/API/V3/subscription/STATUS"] {
        let request = app.server.post(path).header("user-agent", "tests");
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["allow"], "GET, HEAD", "{path}");
        assert_eq!(answer(response).await, failure(405, "Method not allowed."), "{path}");
    }
}

#[actix_web::test]
async fn other_method_of_a_page_is_405_with_an_allow_header() {
    let app = App::start().await;
    let expected = failure(405, "Method not allowed.");
    for (path, allow, others) in [
        ("/", "GET, HEAD", &["POST", "PUT", "DELETE"][..]),
        ("/breaches", "GET, HEAD", &["POST", "TRACE"]),
        ("/breaches/Adobe", "GET, HEAD", &["POST", "PUT"]),
        ("/feed.xml", "GET, HEAD", &["POST"]),
        ("/account", "GET, HEAD", &["POST", "PATCH"]),
        ("/sign-in", "GET, HEAD, POST", &["PUT", "DELETE"]),
        ("/Unsubscribe", "GET, HEAD, POST", &["TRACE"]),
        ("/sign-out", "POST", &["GET"]),
    ] {
        for other in others {
            let send = async |accepted: &str| {
                let request = app.server.request(other.parse().unwrap(), path);
                let request = request.header("user-agent", "tests").header("accept", accepted);
                let response = request.send().await.unwrap();
                assert_eq!(response.headers()["allow"], allow, "{other} {path}");
                response
            };
            assert_eq!(answer(send("*/*").await).await, expected, "{other} {path}");
            let (status, page) = answer(send("text/html").await).await;
            assert_eq!(status, 405);
            assert!(page.contains("<h1>That did not work</h1>"), "{page}");
        }
    }
}

#[actix_web::test]
async fn blocked_client_is_503_except_for_health_checks() {
    let app = App::start().await;
    let expected = failure(503, "Request blocked.");
    app.change(|db| breaches::store::blocks::add(db, None, Some("tesT"), Some(NOW + 60), NOW))
        .await;
    assert_eq!(answer(app.get("/api/v3/breaches").await).await, expected);
    let other = app.server.get("/api/v3/breaches").header("user-agent", "another");
    assert_eq!(other.send().await.unwrap().status(), 200);
    app.clock.advance(60);
    assert_eq!(app.get("/api/v3/breaches").await.status(), 200);
    app.change(|db| breaches::store::blocks::add(db, Some("127.0.0.0/8"), None, None, NOW)).await;
    assert_eq!(answer(app.get("/api/v3/breaches").await).await, expected);
    assert_eq!(app.server.get("/healthz").send().await.unwrap().status(), 200);
    assert_eq!(app.server.get("/readyz").send().await.unwrap().status(), 200);
}

#[actix_web::test]
async fn test_keys_read_test_accounts_only() {
    let app = App::start().await;
    let expected = failure(401, "Access denied due to invalid breach-api-key.");
    for operation in ["breachedaccount", "pasteaccount", "stealerlogsbyemail"] {
        for key in [ZERO, UNKNOWN] {
            let path = format!("/api/v3/{operation}/someone@example.com");
            assert_eq!(answer(app.get_with(key, &path).await).await, expected, "{path}");
        }
    }
    for operation in ["breacheddomain", "stealerlogsbyemaildomain", "stealerlogsbywebsitedomain"] {
        let path = format!("/api/v3/{operation}/example.com");
        assert_eq!(answer(app.get_with(ZERO, &path).await).await, expected, "{path}");
    }
    for path in ["/api/v3/subscribeddomains", "/api/v3/subscription/status"] {
        assert_eq!(answer(app.get_with(UNKNOWN, path).await).await, expected, "{path}");
        assert_eq!(app.get_with(ZERO, path).await.status(), 200, "{path}");
    }
}

#[actix_web::test]
async fn unknown_key_is_invalid_if_test_keys_are_off() {
    let app = App::with(|settings| settings.test_keys = shell::Switch::Off).await;
    let expected = failure(401, "Access denied due to invalid breach-api-key.");
    assert_eq!(answer(app.get_with(ZERO, ACCOUNT).await).await, expected);
}

#[actix_web::test]
async fn ended_subscription_is_403_except_for_its_status() {
    let app = App::start().await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.clock.set(jiff::Timestamp::from_second(NOW + 86_400 * 366).unwrap());
    let expected = failure(403, "Access denied, the subscription ended on 2027-03-01.");
    for path in [ACCOUNT, "/api/v3/subscribeddomains", "/api/v3/breachedaccount/no-address"] {
        assert_eq!(answer(app.get_with(&key, path).await).await, expected, "{path}");
    }
    let status = app.json_with(&key, "/api/v3/subscription/status").await;
    assert_eq!(status["SubscribedUntil"], "2027-03-01T12:00:00");
}

#[actix_web::test]
async fn invalid_addresses_domains_and_prefixes_are_400() {
    let app = App::start().await;
    let expected = failure(400, "The email address is not in an acceptable format.");
    for operation in ["breachedaccount", "pasteaccount", "stealerlogsbyemail"] {
        for address in ["", "%20", "a", "@b.example", "a@b", "%FF@b.example"] {
            let response = app.get_with(ZERO, &format!("/api/v3/{operation}/{address}")).await;
            assert_eq!(response.headers()["content-type"], "application/json");
            assert_eq!(answer(response).await, expected, "{operation} {address}");
        }
    }
    let expected = failure(400, "The domain name is not valid.");
    for operation in ["breacheddomain", "stealerlogsbyemaildomain", "stealerlogsbywebsitedomain"] {
        for domain in ["", "localhost", "a@b.example", "192.0.2.1", "a_b.example", "a.example:80"] {
            let path = format!("/api/v3/{operation}/{domain}");
            assert_eq!(answer(app.get_with(ZERO, &path).await).await, expected, "{path}");
        }
    }
    let expected = failure(400, "The hash prefix must be exactly 6 hexadecimal characters.");
    for prefix in ["", "12345", "1234567", "12345G"] {
        let path = format!("/api/v3/breachedaccount/range/{prefix}");
        assert_eq!(answer(app.get_with(ZERO, &path).await).await, expected, "{path}");
    }
}

#[actix_web::test]
async fn keyed_answers_are_private_and_allow_no_origin() {
    let app = App::start().await;
    for (path, status) in [
        (ACCOUNT.to_owned(), 200),
        (format!("/api/v3/breachedaccount/unknown@{TEST}"), 404),
        ("/api/v3/breachedaccount/".to_owned(), 400),
        ("/api/v3/breachedaccount/range/abcdef".to_owned(), 200),
        (format!("/api/v3/breacheddomain/{TEST}"), 200),
        ("/api/v3/subscribeddomains".to_owned(), 200),
        (format!("/api/v3/stealerlogsbyemail/stealer-log@{TEST}"), 200),
        (format!("/api/v3/stealerlogsbywebsitedomain/shop.{TEST}"), 200),
        (format!("/api/v3/stealerlogsbyemaildomain/{TEST}"), 200),
        (format!("/api/v3/pasteaccount/account-exists@{TEST}"), 200),
        ("/api/v3/subscription/status".to_owned(), 200),
    ] {
        let response = app.get_with(ZERO, &path).await;
        assert_eq!(response.status(), status, "{path}");
        assert_eq!(response.headers()["cache-control"], "private, no-store");
        assert!(response.headers().get("access-control-allow-origin").is_none());
        assert_eq!(response.headers().contains_key("link"), status == 200);
    }
}

#[actix_web::test]
async fn preflight_is_204_for_keyless_and_403_for_keyed_operations() {
    let app = App::start().await;
    let preflight = |path: &str| {
        app.server
            .request(reqwest::Method::OPTIONS, path)
            .header("origin", "https://other.example")
            .header("access-control-request-method", "GET")
            .send()
    };
    for path in
        ["/api/v3/breaches", "/API/V3/breach/x", "/api/v3/latestbreach", "/api/v3/dataclasses"]
    {
        let response = preflight(path).await.unwrap();
        assert_eq!(response.status(), 204, "{path}");
        for (name, value) in [
            ("access-control-allow-origin", "*"),
            ("access-control-allow-methods", "GET, HEAD, OPTIONS"),
            ("access-control-allow-headers", "*"),
            ("access-control-max-age", "86400"),
        ] {
            assert_eq!(response.headers()[name], value);
        }
    }
    for path in [ACCOUNT, "/api/v3/subscription/status", "/api/v3/breachedaccount/range/abcdef"] {
        let response = preflight(path).await.unwrap();
        assert_eq!(response.status(), 403, "{path}");
        assert!(response.headers().get("access-control-allow-origin").is_none());
    }
}

#[actix_web::test]
async fn exhausted_connection_pool_is_503_with_retry_after() {
    let app = App::start().await;
    let settings =
        database::DatabaseSettings { db_pool: 1, db_wait_ms: 20, ..app.database.settings() };
    let migrations = [&auth::MIGRATIONS, &breaches::store::MIGRATIONS];
    let pools = settings.open(app.database.folder(), "test", &migrations).unwrap();
    let context = &app.context;
    let state = breaches::State::new(
        pools.clone(),
        context.clock.clone(),
        context.settings.clone(),
        breaches::External::unavailable().unwrap(),
    )
    .unwrap();
    let server = testkit::TestServer::start(breaches::Breaches::new(state)).await;
    let (started, mut running) = tokio::sync::mpsc::unbounded_channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = std::sync::Arc::new(parking_lot::Mutex::new(released));
    let holder = actix_web::rt::spawn(async move {
        // On a busy machine, taking the connection can also take longer than the pool waits.
        loop {
            let (started, released) = (started.clone(), released.clone());
            let hold = move |_: &mut database::Db| -> Result<(), database::DatabaseError> {
                started.send(()).unwrap();
                released.lock().recv().unwrap();
                Ok(())
            };
            if pools.read(hold).await.is_ok() {
                break;
            }
        }
    });
    running.recv().await.unwrap();
    let request = server.get("/api/v3/subscription/status").header("user-agent", "tests");
    let response = request.header("breach-api-key", ZERO).send().await.unwrap();
    assert_eq!(response.headers()["retry-after"], "5");
    assert_eq!(answer(response).await, failure(503, "The service is temporarily unavailable."));
    let catalogue = server.get("/api/v3/breaches").header("user-agent", "tests");
    assert_eq!(catalogue.send().await.unwrap().status(), 200);
    release.send(()).unwrap();
    holder.await.unwrap();
}

#[actix_web::test]
async fn head_is_answered_like_get_without_a_body() {
    let app = App::start().await;
    for path in [ACCOUNT, "/api/v3/breaches"] {
        let request = app.server.request(reqwest::Method::HEAD, path);
        let request = request.header("user-agent", "tests").header("breach-api-key", ZERO);
        assert_eq!(answer(request.send().await.unwrap()).await, (200, String::new()), "{path}");
    }
}
