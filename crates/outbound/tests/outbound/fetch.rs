//! Permitted and rejected fetches.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use outbound::{FetchError, FetchRules, Fetcher, Names, Reach, is_public};
use testkit::{HttpPeer, PeerAnswer, PeerRequest};

const LIMIT: usize = 1000;

fn answer(request: &PeerRequest) -> PeerAnswer {
    match request.target.as_str() {
        "/" => PeerAnswer::Full(
            200,
            vec![("content-type", "Text/HTML; charset=x".to_owned())],
            b"hello".to_vec(),
        ),
        // The length that the peer adds does not count next to a transfer coding.
        "/chunked" => coded("chunked", b"5\r\nhello\r\n0\r\n\r\n"),
        "/identity" => coded("identity", b"hello"),
        "/full" => PeerAnswer::Body(200, "x".repeat(LIMIT)),
        "/large" => PeerAnswer::Body(200, "x".repeat(LIMIT + 1)),
        "/endless" => PeerAnswer::Endless,
        "/silent" => PeerAnswer::Silence,
        "/closed" => PeerAnswer::Close,
        "/moved" => PeerAnswer::Redirect("/".to_owned()),
        "/loop" => PeerAnswer::Redirect("/loop".to_owned()),
        "/www" => PeerAnswer::Redirect("http://www.site.example/".to_owned()),
        "/elsewhere" => PeerAnswer::Redirect("http://other.example/".to_owned()),
        "/literal" => PeerAnswer::Redirect("http://127.0.0.1/".to_owned()),
        "/metadata" => PeerAnswer::Redirect("http://169.254.169.254/latest".to_owned()),
        "/file" => PeerAnswer::Redirect("file:///etc/passwd".to_owned()),
        _ => PeerAnswer::Body(404, "none".to_owned()),
    }
}

fn coded(coding: &str, body: &[u8]) -> PeerAnswer {
    PeerAnswer::Full(200, vec![("transfer-encoding", coding.to_owned())], body.to_vec())
}

fn only_loopback(ip: IpAddr) -> bool {
    ip == IpAddr::from([127, 0, 0, 1])
}

/// Creates a fetcher that resolves `site.example`, `www.site.example` and `other.example` to the
/// peer, and `inner.example` to an address that is not permitted.
fn fetcher(peer: &HttpPeer, change: impl FnOnce(&mut FetchRules)) -> Fetcher {
    let inner = SocketAddr::from(([127, 0, 0, 2], peer.address().port()));
    let peers = ["site.example", "www.site.example", "other.example"];
    let mut hosts: HashMap<_, _> =
        peers.map(|name| (name.to_owned(), peer.address())).into_iter().collect();
    hosts.insert("inner.example".to_owned(), inner);
    let reach = Reach { permitted: only_loopback, ..Reach::public() };
    let mut rules = FetchRules::new("test/1");
    change(&mut rules);
    Fetcher::new(reach.with_names(Names::Fixed(hosts)), rules).unwrap()
}

async fn error(fetcher: &Fetcher, address: &str) -> FetchError {
    fetcher.get(address, LIMIT).await.unwrap_err()
}

#[tokio::test]
async fn a_document_has_status_and_media_type() {
    let peer = HttpPeer::start(answer);
    let fetcher = fetcher(&peer, |_| ());
    let found = fetcher.get("http://site.example/", LIMIT).await.unwrap();
    assert_eq!((found.status, found.media_type.as_str()), (200, "text/html"));
    assert_eq!(found.body, b"hello");
    let request = peer.requests().remove(0);
    assert_eq!(request.header("user-agent"), "test/1");
    assert_eq!(request.header("host"), "site.example");
    let moved = fetcher.get("http://site.example/moved", LIMIT).await.unwrap();
    assert_eq!(moved, found);
    let none = fetcher.get("http://site.example/none", LIMIT).await.unwrap();
    assert!(!none.is_success());
}

#[tokio::test]
async fn bodies_end_at_the_limit() {
    let peer = HttpPeer::start(answer);
    let fetcher = fetcher(&peer, |_| ());
    let full = fetcher.get("http://site.example/full", LIMIT).await.unwrap();
    assert_eq!(full.body.len(), LIMIT);
    for path in ["large", "endless"] {
        let address = format!("http://site.example/{path}");
        assert_eq!(error(&fetcher, &address).await, FetchError::TooLarge, "{path}");
        let beginning = fetcher.open(&address, None).await.unwrap().beginning(LIMIT).await.unwrap();
        assert_eq!(beginning, "x".repeat(LIMIT).into_bytes());
    }
}

#[tokio::test]
async fn only_a_body_with_a_length_or_chunks_is_known_to_be_complete() {
    let peer = HttpPeer::start(answer);
    let fetcher = fetcher(&peer, |_| ());
    for (path, expected) in [("", true), ("chunked", true), ("identity", false), ("endless", false)]
    {
        let address = format!("http://site.example/{path}");
        let download = fetcher.open(&address, None).await.unwrap();
        assert_eq!(download.shows_its_end(), expected, "{path}");
    }
}

#[tokio::test]
async fn a_slow_response_times_out() {
    let peer = HttpPeer::start(answer);
    let quick = fetcher(&peer, |rules| rules.timeout = Duration::from_millis(50));
    assert_eq!(error(&quick, "http://site.example/silent").await, FetchError::TimedOut);
}

#[tokio::test]
async fn unknown_hosts_refused_connections_and_cut_responses_differ() {
    let refusing = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap()
    };
    let peer = HttpPeer::start(answer);
    let fetcher = fetcher(&peer, |_| ());
    for (address, expected) in [
        ("http://unknown.example/".to_owned(), FetchError::UnknownHost),
        (format!("http://site.example:{}/", refusing.port()), FetchError::NoConnection),
        // The peer does not answer over TLS.
        ("https://site.example/".to_owned(), FetchError::NoConnection),
        ("http://site.example/closed".to_owned(), FetchError::CutOff),
    ] {
        assert_eq!(error(&fetcher, &address).await, expected, "{address}");
    }
}

#[tokio::test]
async fn host_that_answers_without_tls_is_insecure_and_not_unreachable() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let peer = HttpPeer::start(answer);
    let fetcher = fetcher(&peer, |_| ());
    let address = format!("https://site.example:{port}/");
    assert_eq!(error(&fetcher, &address).await, FetchError::Insecure);
}

#[tokio::test]
async fn forbidden_addresses_are_never_contacted() {
    let peer = HttpPeer::start(answer);
    let fetcher = fetcher(&peer, |rules| rules.ports = &[80, 443]);
    for address in [
        peer.url("/"),
        "http://127.0.0.1/".to_owned(),
        "http://localhost/".to_owned(),
        "ftp://site.example/".to_owned(),
        "http://me@site.example/".to_owned(),
        format!("http://site.example:{}/", peer.address().port()),
        "nonsense".to_owned(),
    ] {
        assert_eq!(error(&fetcher, &address).await, FetchError::Forbidden, "{address}");
    }
    assert_eq!(error(&fetcher, "http://inner.example/").await, FetchError::UnknownHost);
    assert!(peer.requests().is_empty());
    // If only public addresses are permitted, the same names are rejected.
    let hosts = HashMap::from([("site.example".to_owned(), peer.address())]);
    let public = Reach { permitted: is_public, ..Reach::public() }.with_names(Names::Fixed(hosts));
    let public = Fetcher::new(public, FetchRules::new("test/1")).unwrap();
    assert_eq!(error(&public, "http://site.example/").await, FetchError::UnknownHost);
    assert!(peer.requests().is_empty());
}

#[tokio::test]
async fn redirects_need_both_the_rule_and_the_reach() {
    let peer = HttpPeer::start(answer);
    let rule = |first: &url::Url, to: &url::Url| {
        let (first, to) = (first.host_str().unwrap(), to.host_str().unwrap());
        to == first || to.strip_prefix("www.") == Some(first)
    };
    let fetcher = fetcher(&peer, |rules| rules.redirect_rule = rule);
    assert_eq!(fetcher.get("http://site.example/www", LIMIT).await.unwrap().body, b"hello");
    for path in ["loop", "elsewhere", "literal", "metadata"] {
        let address = format!("http://site.example/{path}");
        assert_eq!(error(&fetcher, &address).await, FetchError::Redirected, "{path}");
    }
    // Redirects to anything but web addresses are not followed, so the response is the redirect
    // itself.
    let file = fetcher.get("http://site.example/file", LIMIT).await.unwrap();
    assert_eq!(file.status, 302);
    let looped = peer.requests().iter().filter(|request| request.target == "/loop").count();
    assert_eq!(looped, 4);
    assert!(peer.requests().iter().all(|request| request.header("host").contains("site.example")));
}

#[tokio::test]
async fn returned_redirect_has_its_target_and_is_not_followed() {
    let peer = HttpPeer::start(answer);
    let fetcher = fetcher(&peer, |rules| rules.returns_redirects = true);
    for (path, target) in [("moved", "/"), ("metadata", "http://169.254.169.254/latest")] {
        let address = format!("http://site.example/{path}");
        let download = fetcher.open(&address, None).await.unwrap();
        assert_eq!((download.status(), download.header("location")), (302, Some(target)));
    }
    assert_eq!(peer.requests().len(), 2);
}
