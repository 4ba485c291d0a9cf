//! Request handling over raw sockets, row by row of the specification.

use passwords::model::Kind;
use rstest::rstest;
use shell::{Switch, TlsMode};

use testkit::RawAnswer;

use crate::app::{App, Data, Numbers};

const PREFIX: u32 = 0x21BD1;

fn data() -> Data {
    let data = Data::new();
    let mut numbers = Numbers::new(4);
    data.activate(Kind::Sha1, &numbers.entries(Kind::Sha1, &[(PREFIX, 3)]));
    data.activate(Kind::Ntlm, &numbers.entries(Kind::Ntlm, &[(PREFIX, 2)]));
    data
}

async fn server(data: &Data, require_user_agent: bool) -> App {
    let switch = if require_user_agent { Switch::On } else { Switch::Off };
    App::start_with(data, |ranges, _| ranges.require_user_agent = switch).await
}

async fn ask(server: &App, method: &str, target: &str, headers: &str) -> RawAnswer {
    server
        .raw(&format!(
            "{method} {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n"
        ))
        .await
}

fn assert_marked(answer: &RawAnswer) {
    assert_eq!(answer.header("vary"), Some("Add-Padding, Accept-Encoding"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-expose-headers"), Some("ETag"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("transfer-encoding"), None);
}

fn assert_refused(answer: &RawAnswer, status: u16, text: &str) {
    assert_eq!((answer.status, answer.text()), (status, text));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-length"), Some(text.len().to_string().as_str()));
    assert_eq!(answer.header("etag"), None);
    assert_eq!(answer.header("last-modified"), None);
    assert_marked(answer);
}

const FORMAT: &str = "The hash prefix was not in a valid format";
const HEXADECIMAL: &str = "The hash prefix was not valid hexadecimal";
const QUERY: &str = "Invalid API query";

#[rstest]
#[case("/", "/x", QUERY)]
#[case("lower-case path only", "/Range/21BD1", QUERY)]
#[case("no slash", "/range", QUERY)]
#[case("below another path", "/api/range/21BD1", QUERY)]
#[case("doubled slash", "//range/21BD1", QUERY)]
#[case("encoded slash", "/range%2F21BD1", QUERY)]
#[case("favicon", "/favicon.ico", QUERY)]
#[case("empty", "/range/", FORMAT)]
#[case("four", "/range/21BD", FORMAT)]
#[case("six", "/range/21BD12", FORMAT)]
#[case("trailing slash", "/range/21BD1/", FORMAT)]
#[case("percent-encoded", "/range/%321BD", FORMAT)]
#[case("percent-encoded whole", "/range/%32%31%42%44%31", FORMAT)]
#[case("not hexadecimal", "/range/21BDG", HEXADECIMAL)]
#[case("dots", "/range/.....", HEXADECIMAL)]
#[case("three and an escape", "/range/21%42", HEXADECIMAL)]
#[actix_web::test]
async fn a_path_without_a_valid_prefix_is_400(
    #[case] _name: &str,
    #[case] target: &str,
    #[case] text: &str,
) {
    let data = data();
    for require in [false, true] {
        let server = server(&data, require).await;
        let agent = "user-agent: test\r\n";
        assert_refused(&ask(&server, "GET", target, agent).await, 400, text);
        let head = ask(&server, "HEAD", target, agent).await;
        assert_eq!((head.status, head.body.len()), (400, 0));
    }
}

#[actix_web::test]
async fn a_missing_empty_or_blank_user_agent_is_403_only_where_required() {
    let data = data();
    let (strict, open) = (server(&data, true).await, server(&data, false).await);
    let text = "Access denied due to missing user-agent.";
    for agent in ["", "user-agent:\r\n", "user-agent:  \t \r\n"] {
        for target in ["/range/21BD1", "/", "/range/x", "/other"] {
            assert_refused(&ask(&strict, "GET", target, agent).await, 403, text);
        }
        assert_eq!(ask(&open, "GET", "/range/21BD1", agent).await.status, 200);
        assert_eq!(ask(&strict, "OPTIONS", "/range/21BD1", agent).await.status, 200);
        assert_eq!(ask(&strict, "GET", "/healthz", agent).await.status, 200);
        assert_refused(&ask(&open, "GET", "/other", agent).await, 400, QUERY);
    }
    assert_eq!(ask(&strict, "GET", "/range/21BD1", "user-agent: x\r\n").await.status, 200);
}

#[actix_web::test]
async fn options_is_200_for_every_path() {
    let data = data();
    let server = server(&data, false).await;
    for target in ["/range/21BD1", "/range/", "/", "/nowhere", "/docs/"] {
        let answer = ask(&server, "OPTIONS", target, "").await;
        assert_eq!((answer.status, answer.body.len()), (200, 0));
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET"));
        assert_eq!(answer.header("access-control-allow-headers"), Some("Add-Padding"));
        assert_eq!(answer.header("access-control-max-age"), Some("1728000"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_marked(&answer);
    }
}

#[actix_web::test]
async fn another_method_is_405_before_the_prefix_is_read() {
    let data = data();
    let server = server(&data, false).await;
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        for target in ["/range/21BD1", "/range/x"] {
            let answer = ask(&server, method, target, "content-length: 0\r\n").await;
            let text = format!(
                "Only GET requests can be used to query ranges, but this request used the {method} verb"
            );
            assert_refused(&answer, 405, &text);
            assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
        }
        assert_refused(&ask(&server, method, "/other", "").await, 400, QUERY);
    }
}

#[actix_web::test]
async fn first_mode_must_be_exactly_ntlm() {
    let data = data();
    let server = server(&data, false).await;
    for query in ["?mode=ntlm", "?mode=nt%6Cm", "?a=b&mode=ntlm&mode=sha1", "?mode=ntlm&mode=x"] {
        let answer = ask(&server, "GET", &format!("/range/21bd1{query}"), "").await;
        assert_eq!(answer.text().find(':'), Some(27), "{query}");
    }
    for query in ["", "?", "?mode", "?mode=", "?mode=NTLM", "?mode=sha1&mode=ntlm", "?%FF=%FF"] {
        let answer = ask(&server, "GET", &format!("/range/21bd1{query}"), "").await;
        assert_eq!((answer.status, answer.text().find(':')), (200, Some(35)), "{query}");
    }
}

#[actix_web::test]
async fn a_kind_without_corpus_is_503_and_the_other_one_serves() {
    let data = Data::new();
    data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(PREFIX, 1)]));
    let server = server(&data, false).await;
    assert_eq!(ask(&server, "GET", "/range/21BD1", "").await.status, 200);
    let answer = ask(&server, "GET", "/range/21BD1?mode=ntlm", "").await;
    assert_refused(&answer, 503, "The NTLM corpus is not available");
    assert_eq!(answer.header("retry-after"), Some("30"));
    assert_eq!(server.admin_status("/readyz").await, 200);
}

#[actix_web::test]
async fn a_corpus_that_cannot_be_loaded_at_start_turns_readiness_red() {
    let data = Data::new();
    data.activate(Kind::Ntlm, &Numbers::new(1).entries(Kind::Ntlm, &[(PREFIX, 1)]));
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(PREFIX, 1)]));
    let current = data.path().join("sha1/CURRENT");
    let name = std::fs::read(&current).unwrap();
    std::fs::write(&current, "").unwrap();
    let server = server(&data, false).await;
    assert_eq!(ask(&server, "GET", "/range/21BD1?mode=ntlm", "").await.status, 200);
    assert_eq!(server.admin_status("/readyz").await, 503);
    // `CURRENT` refers to a missing file.
    std::fs::write(&current, &name).unwrap();
    let aside = data.path().join("aside");
    std::fs::rename(&path, &aside).unwrap();
    server.service.reload(true);
    assert_eq!(server.admin_status("/readyz").await, 503);
    // It does not matter if one kind does not have a corpus.
    std::fs::remove_file(&current).unwrap();
    server.service.reload(true);
    assert_eq!(server.admin_status("/readyz").await, 200);
    std::fs::write(&current, &name).unwrap();
    std::fs::rename(&aside, &path).unwrap();
    server.service.reload(true);
    assert_eq!(ask(&server, "GET", "/range/21BD1", "").await.status, 200);
    // A server that already has a corpus keeps it.
    std::fs::write(&current, "").unwrap();
    server.service.reload(true);
    assert_eq!(server.admin_status("/readyz").await, 200);
}

#[actix_web::test]
async fn without_any_corpus_ranges_are_503_and_the_service_is_not_ready() {
    let data = Data::new();
    let server = server(&data, false).await;
    let answer = ask(&server, "GET", "/range/21BD1", "").await;
    assert_refused(&answer, 503, "The SHA-1 corpus is not available");
    assert_eq!(server.admin_status("/readyz").await, 503);
    assert_eq!(server.admin_status("/healthz").await, 200);
    assert_eq!(ask(&server, "GET", "/readyz", "").await.status, 503);
}

#[actix_web::test]
async fn a_bucket_that_cannot_be_read_is_500_and_turns_readiness_red() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(PREFIX, 1)]));
    let server = App::start_with(&data, |ranges, _| ranges.in_memory_limit_mb = 0).await;
    assert_eq!(server.admin_status("/readyz").await, 200);
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(4096).unwrap();
    let answer = ask(&server, "GET", "/range/21BD1", "").await;
    assert_refused(&answer, 500, "Internal error");
    assert_eq!(server.admin_status("/readyz").await, 503);
    assert_eq!(ask(&server, "GET", "/range/21BD2", "").await.status, 200);
}

#[actix_web::test]
async fn changed_bucket_is_500_if_verified_on_read() {
    use std::os::unix::fs::FileExt;
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(PREFIX, 1)]));
    let length = std::fs::metadata(&path).unwrap().len();
    let server = App::start_with(&data, |ranges, _| {
        ranges.in_memory_limit_mb = 0;
        ranges.verify_on_read = Switch::On;
    })
    .await;
    assert_eq!(ask(&server, "GET", "/range/21BD1", "").await.status, 200);
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[0x7E], length - 9).unwrap();
    assert_refused(&ask(&server, "GET", "/range/21BD1", "").await, 500, "Internal error");
}

#[actix_web::test]
async fn plain_http_is_redirected_before_anything_but_health() {
    let data = data();
    let server = App::start_with(&data, |_, web| web.tls_mode = TlsMode::Proxy).await;
    for (method, target) in [("GET", "/range/21BD1?mode=ntlm"), ("OPTIONS", "/x"), ("POST", "/")] {
        let answer = ask(&server, method, target, "content-length: 0\r\n").await;
        assert_eq!(answer.status, 301);
        assert_eq!(answer.header("location"), Some(format!("https://x{target}").as_str()));
        assert_marked(&answer);
    }
    for target in ["/healthz", "/readyz"] {
        let answer = ask(&server, "GET", target, "").await;
        assert_eq!(answer.status, 200);
        assert_marked(&answer);
    }
}

#[actix_web::test]
async fn documents_allow_only_get_and_head() {
    let data = data();
    let server = server(&data, false).await;
    for target in ["/", "/openapi.json", "/docs/"] {
        for method in ["GET", "HEAD"] {
            let answer = ask(&server, method, target, "").await;
            assert_eq!(answer.status, 200, "{method} {target}");
            assert_marked(&answer);
        }
        assert_refused(&ask(&server, "POST", target, "").await, 400, QUERY);
    }
}

#[actix_web::test]
async fn request_bodies_are_ignored() {
    let data = data();
    let server = server(&data, false).await;
    let answer = server
        .raw("GET /range/21BD1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 4\r\n\r\nabcd")
        .await;
    assert_eq!(answer.status, 200);
}
