//! Redirects, TLS and health.

use shell::TlsMode;
use testkit::Database;

use crate::app::App;

async fn native() -> App {
    App::on(Database::new(), |_| (), |web| web.tls_mode = TlsMode::Native).await
}

#[actix_web::test]
async fn plain_http_is_redirected_before_any_other_check() {
    let app = native().await;
    let target = app.server.running().https.unwrap();
    for (method, path) in [
        (reqwest::Method::GET, "/api/v3/breaches?Domain=a.example"),
        (reqwest::Method::POST, "/api/v3/breachedaccount/a@b.example"),
        (reqwest::Method::OPTIONS, "/nowhere"),
    ] {
        let request = app.server.request(method.clone(), path);
        for request in [request.try_clone().unwrap(), request.header("breach-api-key", "x")] {
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 301, "{method} {path}");
            let location = format!("https://127.0.0.1:{}{path}", target.port());
            assert_eq!(response.headers()["location"], location.as_str());
            assert_eq!(response.text().await.unwrap(), "");
        }
    }
}

#[actix_web::test]
async fn health_checks_work_over_plain_http_without_a_user_agent() {
    let app = native().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(app.server.get(path).send().await.unwrap().status(), 200);
        let admin = app.server.client().get(app.server.admin_url(path)).send().await.unwrap();
        assert_eq!(admin.status(), 200);
    }
}

#[actix_web::test]
async fn https_answers_have_strict_transport_security() {
    let proxy = App::on(
        Database::new(),
        |_| (),
        |web| {
            web.tls_mode = TlsMode::Proxy;
            web.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        },
    )
    .await;
    let response = proxy.request("/api/v3/breaches").header("x-forwarded-proto", "https");
    let response = response.send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["strict-transport-security"], "max-age=31536000");
    assert_eq!(proxy.get("/api/v3/breaches").await.status(), 301);
}

#[actix_web::test]
async fn cookies_over_tls_are_bound_to_the_host() {
    let app = App::on(
        Database::new(),
        |_| (),
        |web| {
            web.tls_mode = TlsMode::Proxy;
            web.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
        },
    )
    .await;
    let page = app.request("/sign-in").header("x-forwarded-proto", "https").send().await.unwrap();
    let set = page.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(set.starts_with("__Host-visitor=") && set.contains("; Path=/;"), "{set}");
    assert!(set.contains("; Secure") && !set.contains("Domain"), "{set}");
    let csrf = crate::browser::hidden(&page.text().await.unwrap(), "csrf");
    let secret = set.split(['=', ';']).nth(1).unwrap().to_owned();
    for (name, status) in [("__Host-visitor", 400), ("visitor", 403)] {
        let request = app.server.post("/sign-in").header("user-agent", "tests");
        let request = request.header("x-forwarded-proto", "https");
        let request = request.header("cookie", format!("{name}={secret}"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let form = format!("csrf={csrf}&email=no+address");
        let answer = request.body(form).send().await.unwrap();
        assert_eq!(answer.status(), status, "{name}");
    }
}
