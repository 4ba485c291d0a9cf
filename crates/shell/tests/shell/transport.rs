//! TLS modes and the redirect to HTTPS.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};
use shell::TlsMode;

use super::echo::{Started, client};

/// Connects with TLS and trusts only the local CA in `ca`.
fn connect(
    address: std::net::SocketAddr,
    ca: &std::path::Path,
    provider: CryptoProvider,
    version: &'static SupportedProtocolVersion,
) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).unwrap() {
        roots.add(certificate.unwrap()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    Ok(StreamOwned::new(connection, TcpStream::connect(address)?))
}

/// Sends a request over TLS that trusts only the local CA in `ca`.
fn ask(
    address: std::net::SocketAddr,
    ca: &std::path::Path,
    version: &'static SupportedProtocolVersion,
) -> std::io::Result<String> {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let mut stream = connect(address, ca, provider, version)?;
    write!(stream, "GET /count?count=4 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply)
}

#[actix_web::test]
async fn native_mode_makes_a_ca_serves_tls_and_redirects_plain_http() {
    let started = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    let https = started.running.https.unwrap();
    let ca = started.folder().join("tls/ca.pem");
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let ca = ca.clone();
        let reply = actix_web::web::block(move || ask(https, &ca, version)).await.unwrap();
        assert!(reply.unwrap().ends_with("\r\n\r\n4"));
    }
    for method in [reqwest::Method::GET, reqwest::Method::POST] {
        let request = client().request(method, started.url("/count?count=4"));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 301);
        let target = format!("https://127.0.0.1:{}/count?count=4", https.port());
        assert_eq!(answer.headers()["location"], target.as_str());
        assert_eq!(answer.bytes().await.unwrap().len(), 0);
    }
    assert_eq!(started.get("/healthz").await.status(), 200);
    assert_eq!(started.get("/readyz").await.status(), 200);
}

#[actix_web::test]
async fn key_exchange_is_post_quantum_if_the_client_offers_it() {
    use rustls::NamedGroup::{X25519, X25519MLKEM768};
    let started = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    let https = started.running.https.unwrap();
    let ca = started.folder().join("tls/ca.pem");
    for (offered, chosen) in
        [(vec![X25519, X25519MLKEM768], X25519MLKEM768), (vec![X25519], X25519)]
    {
        let ca = ca.clone();
        let group = actix_web::web::block(move || {
            let mut provider = rustls::crypto::aws_lc_rs::default_provider();
            provider.kx_groups.retain(|group| offered.contains(&group.name()));
            let mut stream = connect(https, &ca, provider, &rustls::version::TLS13).unwrap();
            stream.flush().unwrap();
            stream.conn.negotiated_key_exchange_group().map(|group| group.name())
        });
        assert_eq!(group.await.unwrap(), Some(chosen));
    }
}

#[actix_web::test]
async fn keys_in_the_tls_folder_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let started = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    for file in ["tls/key.pem", "tls/ca-key.pem"] {
        let facts = std::fs::metadata(started.folder().join(file)).unwrap();
        assert_eq!(facts.permissions().mode() & 0o777, 0o600, "{file}");
    }
}

#[actix_web::test]
async fn proxy_mode_trusts_only_configured_peers() {
    let trusted = Started::with(|settings| {
        settings.tls_mode = TlsMode::Proxy;
        settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let stranger = Started::with(|settings| settings.tls_mode = TlsMode::Proxy).await;
    let ask = async |started: &Started, scheme: &str| {
        let request = client().get(started.url("/count?count=4"));
        request.header("x-forwarded-proto", scheme).send().await.unwrap().status().as_u16()
    };
    assert_eq!(ask(&trusted, "https").await, 200);
    assert_eq!(ask(&trusted, "http").await, 301);
    assert_eq!(ask(&stranger, "https").await, 301);
}

#[actix_web::test]
async fn the_public_url_is_the_target_of_the_redirect() {
    let started = Started::with(|settings| {
        settings.tls_mode = TlsMode::Native;
        settings.public_url = Some("https://pw.example".to_owned());
    })
    .await;
    let answer = started.get("/a?b=c").await;
    assert_eq!(answer.headers()["location"], "https://pw.example/a?b=c");
}

/// Returns the ClientHello of a client that supports at most TLS 1.1.
fn tls_1_1_hello() -> Vec<u8> {
    let mut hello = vec![3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 4, 0xC0, 0x2B, 0x00, 0x2F, 1, 0]);
    let groups = [0, 10, 0, 4, 0, 2, 0, 23];
    let points = [0, 11, 0, 2, 1, 0];
    let signatures = [0, 13, 0, 8, 0, 6, 4, 3, 8, 4, 4, 1];
    hello.extend([0, u8::try_from(groups.len() + points.len() + signatures.len()).unwrap()]);
    hello.extend(groups);
    hello.extend(points);
    hello.extend(signatures);
    let length = u8::try_from(hello.len()).unwrap();
    [vec![0x16, 3, 1, 0, length + 4, 1, 0, 0, length], hello].concat()
}

#[actix_web::test]
async fn tls_1_1_is_refused() {
    let started = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    let https = started.running.https.unwrap();
    let reply = actix_web::web::block(move || {
        let mut stream = TcpStream::connect(https)?;
        stream.write_all(&tls_1_1_hello())?;
        let mut reply = [0; 7];
        stream.read_exact(&mut reply).map(|()| reply)
    });
    let reply = reply.await.unwrap().unwrap();
    let (alert, fatal, protocol_version) = (0x15, 2, 70);
    assert_eq!((reply[0], reply[5], reply[6]), (alert, fatal, protocol_version));
}

/// Returns the date this number of days from now.
fn date_in(days: i64) -> jiff::civil::Date {
    let then = jiff::Timestamp::now() + jiff::Span::new().hours(24 * days);
    then.to_zoned_datetime(jiff::tz::TimeZone::UTC).date()
}

/// Returns a certificate for localhost and its key. `begin` and `end` are in days from today.
fn certificate(begin: i64, end: i64) -> (String, String) {
    let mut parameters = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "Quintet local CA");
    let day = |days: i64| {
        let date = date_in(days);
        let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
        rcgen::date_time_ymd(date.year().into(), month, day)
    };
    (parameters.not_before, parameters.not_after) = (day(begin), day(end));
    let pair = rcgen::KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&pair).unwrap();
    (certificate.pem(), pair.serialize_pem())
}

/// Returns the error from starting a server with this certificate and key.
async fn refusal(cert: &str, key: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = shell::ShellSettings::for_tests(folder.path());
    settings.tls_mode = TlsMode::Native;
    settings.tls_cert = Some(folder.path().join("cert.pem"));
    settings.tls_key = Some(folder.path().join("key.pem"));
    std::fs::write(folder.path().join("cert.pem"), cert).unwrap();
    std::fs::write(folder.path().join("key.pem"), key).unwrap();
    match shell::Server::start(&settings, super::echo::Echo::default()).await {
        Ok(_) => "it starts".to_owned(),
        Err(error) => format!("{error:#}"),
    }
}

#[actix_web::test]
async fn an_unusable_certificate_is_a_clear_error() {
    let ((ended, ended_key), (good, key)) = (certificate(-9, -1), certificate(-1, 9));
    let (future, future_key) = certificate(2, 9);
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n";
    for (cert, key, sentence) in [
        (ended.as_str(), ended_key.as_str(), "expired on"),
        (&future, &future_key, "is not valid before"),
        (&good, encrypted, "is encrypted: decrypt it with `openssl pkey"),
        ("no certificate at all", &key, "does not contain a PEM certificate"),
        (&good, &ended_key, "do not match"),
        (&good, "no key", "cannot read the private key"),
    ] {
        let refusal = refusal(cert, key).await;
        assert!(refusal.contains(sentence), "{refusal}");
    }
}

/// Returns whether the metric reports that the certificate expires in this number of days.
async fn ends_in(started: &Started, days: i64) -> bool {
    let metrics = reqwest::get(started.admin("/metrics")).await.unwrap().text().await.unwrap();
    let name = "tls_certificate_not_after_timestamp_seconds ";
    let told = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let end = date_in(days).to_zoned_datetime(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    told.parse::<i64>().unwrap() == end.as_second()
}

fn local_tls(folder: &std::path::Path) -> shell::ShellSettings {
    let mut settings = shell::ShellSettings::for_tests(folder);
    settings.tls_mode = TlsMode::Native;
    settings
}

#[actix_web::test]
async fn a_local_certificate_gets_names_that_are_configured_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = local_tls(folder.path());
    let mut certificates = Vec::new();
    for url in [None, Some("https://calendar.example"), Some("https://[fd00::5]:8484"), None] {
        settings.public_url = url.map(str::to_owned);
        for _ in 0..2 {
            let start = shell::Server::start(&settings, super::echo::Echo::default());
            start.await.unwrap().kill().await;
            let file = folder.path().join("tls/cert.pem");
            certificates.push(std::fs::read_to_string(file).unwrap());
        }
    }
    let same: Vec<bool> = certificates.windows(2).map(|pair| pair[0] == pair[1]).collect();
    // The last one has all configured names and an additional one.
    assert_eq!(same, [true, false, true, false, true, true, true]);
}

#[actix_web::test]
async fn a_local_certificate_is_renewed_before_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let settings = local_tls(folder.path());
    let tls = folder.path().join("tls");
    let file = |name: &str| std::fs::read_to_string(tls.join(name)).unwrap();
    let start = async || {
        let running = shell::Server::start(&settings, super::echo::Echo::default()).await.unwrap();
        running.kill().await;
        (file("ca.pem"), file("cert.pem"))
    };
    let (ca, first) = start().await;
    assert_eq!(start().await, (ca.clone(), first.clone()));
    for (begin, end) in [(-390, -1), (-390, 9)] {
        std::fs::write(tls.join("cert.pem"), certificate(begin, end).0).unwrap();
        let (same_ca, renewed) = start().await;
        assert_eq!(same_ca, ca);
        assert_ne!(renewed, first);
    }
    let (ending, key) = certificate(-3600, 50);
    std::fs::write(tls.join("ca.pem"), &ending).unwrap();
    std::fs::write(tls.join("ca-key.pem"), key).unwrap();
    std::fs::remove_file(tls.join("cert.pem")).unwrap();
    assert_ne!(start().await.0, ending, "a CA that ends before its certificates is replaced");
}

#[actix_web::test]
async fn a_reload_serves_a_new_certificate_and_keeps_the_old_one_on_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let write = |(certificate, pair): &(String, String)| {
        std::fs::write(&cert, certificate).unwrap();
        std::fs::write(&key, pair).unwrap();
    };
    let (first, second) = (certificate(-1, 9), certificate(-1, 20));
    write(&first);
    let started = Started::with(|settings| {
        settings.tls_mode = TlsMode::Native;
        settings.tls_cert = Some(cert.clone());
        settings.tls_key = Some(key.clone());
    })
    .await;
    let https = started.running.https.unwrap();
    let trusts = |(certificate, _): &(String, String)| {
        let file = folder.path().join("trusted.pem");
        std::fs::write(&file, certificate).unwrap();
        let asked = actix_web::web::block(move || ask(https, &file, &rustls::version::TLS13));
        async { asked.await.unwrap().is_ok() }
    };
    assert!(trusts(&first).await);
    write(&second);
    started.running.reload();
    assert!(trusts(&second).await);
    assert!(!trusts(&first).await);
    // Servers of other tests in the same process set this metric too.
    let told = async {
        while !ends_in(&started, 20).await {
            started.running.reload();
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), told).await.unwrap();
    // A later certificate whose key has not been written yet.
    std::fs::write(&cert, certificate(-1, 90).0).unwrap();
    started.running.reload();
    assert!(trusts(&second).await);
    assert!(!ends_in(&started, 90).await);
    std::fs::write(&cert, "broken").unwrap();
    started.running.reload();
    assert!(trusts(&second).await);
}

#[actix_web::test]
async fn hsts_is_sent_only_with_a_certificate_of_the_operator() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let (certificate, pair) = certificate(-1, 9);
    std::fs::write(&cert, certificate).unwrap();
    std::fs::write(&key, pair).unwrap();
    let ca = cert.clone();
    let own = Started::with(|settings| {
        settings.tls_mode = TlsMode::Native;
        settings.tls_cert = Some(cert);
        settings.tls_key = Some(key);
    })
    .await;
    let local = Started::with(|settings| settings.tls_mode = TlsMode::Native).await;
    for (started, ca, held) in
        [(&own, ca, true), (&local, local.folder().join("tls/ca.pem"), false)]
    {
        let https = started.running.https.unwrap();
        let reply = actix_web::web::block(move || ask(https, &ca, &rustls::version::TLS13)).await;
        let reply = reply.unwrap().unwrap();
        assert_eq!(reply.contains("\r\nstrict-transport-security: max-age=31536000\r\n"), held);
        let plain = started.get("/count?count=1").await;
        assert!(!plain.headers().contains_key("strict-transport-security"));
    }
}
