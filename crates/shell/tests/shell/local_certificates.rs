//! The local certificate in a folder that several servers can share.

use std::fs;
use std::path::Path;
use std::sync::Barrier;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use shell::{Server, ShellSettings, TlsMode};

use super::echo::Echo;

fn settings(tls: &Path, public_url: Option<&str>) -> ShellSettings {
    let mut settings = ShellSettings::for_tests(tls);
    settings.tls_mode = TlsMode::Native;
    settings.tls_dir = Some(tls.to_owned());
    settings.public_url = public_url.map(str::to_owned);
    settings
}

/// Starts a server and stops it. Returns the error if it does not start.
fn start(settings: &ShellSettings) -> Result<(), String> {
    actix_web::rt::System::new().block_on(async {
        let running = Server::start(settings, Echo::default()).await;
        running.map_err(|error| format!("{error:#}"))?.kill().await;
        Ok(())
    })
}

/// Returns whether the certificate and the key in a folder match.
fn match_in(tls: &Path) -> bool {
    let chain = CertificateDer::pem_file_iter(tls.join("cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(tls.join("key.pem")).unwrap();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    CertifiedKey::from_der(chain.map(Result::unwrap).collect(), key, &provider).is_ok()
}

fn read(tls: &Path, name: &str) -> String {
    fs::read_to_string(tls.join(name)).unwrap()
}

#[test]
fn servers_that_start_at_once_share_one_pair() {
    const SERVERS: usize = 8;
    for _ in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let tls = folder.path().join("shared/tls");
        let together = Barrier::new(SERVERS);
        let starts: Vec<_> = std::thread::scope(|scope| {
            let begin = || {
                scope.spawn(|| {
                    together.wait();
                    start(&settings(&tls, None))
                })
            };
            let servers: Vec<_> = (0..SERVERS).map(|_| begin()).collect();
            servers.into_iter().map(|server| server.join().unwrap()).collect()
        });
        assert_eq!(starts, vec![Ok(()); SERVERS]);
        assert!(match_in(&tls));
        let mut names: Vec<_> =
            fs::read_dir(&tls).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["ca-key.pem", "ca.pem", "cert.pem", "key.pem", "lock"]);
    }
}

#[test]
fn a_pair_that_does_not_match_is_replaced_under_the_same_ca() {
    let folder = tempfile::tempdir().unwrap();
    let tls = folder.path();
    start(&settings(tls, None)).unwrap();
    let ca = read(tls, "ca.pem");
    for text in [rcgen::KeyPair::generate().unwrap().serialize_pem(), String::new()] {
        fs::write(tls.join("key.pem"), text).unwrap();
        assert_eq!(start(&settings(tls, None)), Ok(()));
        assert!(match_in(tls));
        assert_eq!(read(tls, "ca.pem"), ca);
    }
}

#[test]
fn a_ca_that_does_not_match_its_key_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let tls = folder.path();
    start(&settings(tls, None)).unwrap();
    let ca = read(tls, "ca.pem");
    let other = rcgen::KeyPair::generate().unwrap();
    fs::write(tls.join("ca-key.pem"), other.serialize_pem()).unwrap();
    fs::remove_file(tls.join("key.pem")).unwrap();
    assert_eq!(start(&settings(tls, None)), Ok(()));
    assert!(match_in(tls));
    assert_ne!(read(tls, "ca.pem"), ca);
}

/// Creates a TLS folder with a separate CA.
fn other_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    start(&settings(folder.path(), None)).unwrap();
    folder
}

fn copy(from: &Path, to: &Path, names: &[&str]) {
    for name in names {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

#[test]
fn a_certificate_of_another_ca_is_replaced() {
    let (folder, other) = (other_folder(), other_folder());
    let ca = read(folder.path(), "ca.pem");
    copy(other.path(), folder.path(), &["cert.pem", "key.pem"]);
    start(&settings(folder.path(), None)).unwrap();
    assert_ne!(read(folder.path(), "cert.pem"), read(other.path(), "cert.pem"));
    assert_eq!(read(folder.path(), "ca.pem"), ca);
}

#[test]
fn a_certificate_of_another_ca_is_refused_without_the_ca_key() {
    let other = other_folder();
    for wrong_ca in [false, true] {
        let folder = other_folder();
        let tls = folder.path();
        copy(other.path(), tls, &["cert.pem", "key.pem"]);
        fs::remove_file(tls.join("ca-key.pem")).unwrap();
        if !wrong_ca {
            fs::remove_file(tls.join("ca.pem")).unwrap();
        }
        let error = start(&settings(tls, None)).unwrap_err();
        assert!(error.contains("ca-key.pem") && error.contains("TLS_DIR"), "{error}");
        assert_eq!(read(tls, "cert.pem"), read(other.path(), "cert.pem"));
    }
}

#[test]
fn a_foreign_ca_and_its_key_are_never_replaced() {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::default();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "Foreign");
    let ca = parameters.self_signed(&key).unwrap().pem();
    let (empty, used) = (tempfile::tempdir().unwrap(), other_folder());
    for tls in [empty.path(), used.path()] {
        fs::write(tls.join("ca.pem"), &ca).unwrap();
        fs::write(tls.join("ca-key.pem"), key.serialize_pem()).unwrap();
        let error = start(&settings(tls, None)).unwrap_err();
        assert!(error.contains("another CA") && error.contains("TLS_CERT"), "{error}");
        assert_eq!(
            (read(tls, "ca.pem"), read(tls, "ca-key.pem")),
            (ca.clone(), key.serialize_pem())
        );
    }
}

#[test]
fn a_ca_without_its_key_is_refused_before_the_first_certificate() {
    let folder = other_folder();
    let tls = folder.path();
    let ca = read(tls, "ca.pem");
    for name in ["ca-key.pem", "cert.pem", "key.pem"] {
        fs::remove_file(tls.join(name)).unwrap();
    }
    let error = start(&settings(tls, None)).unwrap_err();
    assert!(error.contains("ca-key.pem") && error.contains("TLS_DIR"), "{error}");
    assert_eq!(read(tls, "ca.pem"), ca);
}

#[test]
fn a_ca_with_a_damaged_key_is_not_replaced() {
    let folder = other_folder();
    let tls = folder.path();
    let (ca, key) = (read(tls, "ca.pem"), read(tls, "ca-key.pem"));
    fs::remove_file(tls.join("key.pem")).unwrap();
    for damaged in [&key[..key.len() / 2], "", "no key\n"] {
        fs::write(tls.join("ca-key.pem"), damaged).unwrap();
        let error = start(&settings(tls, None)).unwrap_err();
        assert!(error.contains("missing or cannot be read"), "{error}");
        assert_eq!((read(tls, "ca.pem"), read(tls, "ca-key.pem")), (ca.clone(), damaged.into()));
    }
    fs::write(tls.join("ca-key.pem"), key).unwrap();
    assert_eq!(start(&settings(tls, None)), Ok(()));
    assert_eq!(read(tls, "ca.pem"), ca);
}

#[test]
fn a_missing_ca_certificate_is_made_again_for_its_key() {
    let folder = other_folder();
    let tls = folder.path();
    let cert = read(tls, "cert.pem");
    fs::remove_file(tls.join("ca.pem")).unwrap();
    start(&settings(tls, None)).unwrap();
    // Clients that trust the previous CA certificate accept the same leaf.
    assert_eq!(read(tls, "cert.pem"), cert);
    assert!(tls.join("ca.pem").exists());
}

#[test]
fn a_certificate_of_the_operator_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let tls = folder.path();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(tls.join("cert.pem"), own.cert.pem()).unwrap();
    fs::write(tls.join("key.pem"), own.signing_key.serialize_pem()).unwrap();
    let error = start(&settings(tls, None)).unwrap_err();
    assert!(error.contains("TLS_CERT"), "{error}");
    assert_eq!(read(tls, "cert.pem"), own.cert.pem());
}

#[test]
fn servers_with_different_names_share_a_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let tls = folder.path();
    let (one, other) = (
        settings(tls, Some("https://one.example")),
        settings(tls, Some("https://other.example:8443/path")),
    );
    start(&one).unwrap();
    start(&other).unwrap();
    let both = read(tls, "cert.pem");
    for settings in [&one, &other] {
        start(settings).unwrap();
        assert_eq!(read(tls, "cert.pem"), both);
    }
}

#[test]
fn a_new_tls_folder_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let tls = folder.path().join("data/tls");
    start(&settings(&tls, None)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&tls), mode(&tls.join("lock"))), (0o700, 0o600));
}
