//! Certificates: the operator's, or a local CA and certificate made at the first start.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::ShellSettings;

const CA_DAYS: i64 = 3650;
const LEAF_DAYS: i64 = 397;
/// A leaf is made anew this many days after it was made, well before it ends.
const RENEW_AFTER_DAYS: u64 = 330;

/// The server's TLS configuration: TLS 1.2 and 1.3 only.
pub(crate) fn configuration(settings: &ShellSettings) -> anyhow::Result<ServerConfig> {
    let (cert, key) = match (&settings.tls_cert, &settings.tls_key) {
        (Some(cert), Some(key)) => (cert.clone(), key.clone()),
        _ => local_certificate(settings)?,
    };
    let chain = CertificateDer::pem_file_iter(&cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificate {}", cert.display()))?;
    let private = PrivateKeyDer::from_pem_file(&key)
        .with_context(|| format!("cannot read the private key {}", key.display()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS12, &rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .with_context(|| format!("{} and {} do not fit", cert.display(), key.display()))
}

/// The certificate in the TLS folder; made there when it is missing or about to end.
fn local_certificate(
    settings: &ShellSettings,
) -> anyhow::Result<(std::path::PathBuf, std::path::PathBuf)> {
    let folder = settings.tls_folder();
    let failed = || format!("cannot make a certificate in {} (TLS_DIR)", folder.display());
    fs::create_dir_all(&folder).with_context(failed)?;
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    if !is_fresh(&cert) || !key.exists() {
        let issuer = local_ca(&folder).with_context(failed)?;
        issue(&issuer, names(settings), &cert, &key).with_context(failed)?;
        let ca = folder.join("ca.pem");
        log::info!("made a certificate; clients must trust the local CA {}", ca.display());
    }
    Ok((cert, key))
}

fn is_fresh(cert: &Path) -> bool {
    let age = fs::metadata(cert)
        .and_then(|facts| facts.modified())
        .ok()
        .and_then(|made| SystemTime::now().duration_since(made).ok());
    age.is_some_and(|age| age < Duration::from_secs(RENEW_AFTER_DAYS * 86_400))
}

fn ca_parameters() -> anyhow::Result<CertificateParams> {
    let mut parameters = CertificateParams::new(Vec::<String>::new())?;
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, "Quintet local CA");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    valid_for(&mut parameters, CA_DAYS);
    Ok(parameters)
}

/// The CA of this folder; made at the first start.
fn local_ca(folder: &Path) -> anyhow::Result<Issuer<'static, KeyPair>> {
    let (cert, key) = (folder.join("ca.pem"), folder.join("ca-key.pem"));
    let parameters = ca_parameters()?;
    if cert.exists() && key.exists() {
        let pair = KeyPair::from_pem(&fs::read_to_string(&key)?)?;
        return Ok(Issuer::new(parameters, pair));
    }
    let pair = KeyPair::generate()?;
    let certificate = parameters.self_signed(&pair)?;
    write(&key, &pair.serialize_pem(), 0o600)?;
    write(&cert, &certificate.pem(), 0o644)?;
    Ok(Issuer::new(parameters, pair))
}

fn issue(
    issuer: &Issuer<'_, KeyPair>,
    names: Vec<String>,
    cert: &Path,
    key: &Path,
) -> anyhow::Result<()> {
    let mut parameters = CertificateParams::new(names)?;
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, "Quintet");
    parameters.use_authority_key_identifier_extension = true;
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    valid_for(&mut parameters, LEAF_DAYS);
    let pair = KeyPair::generate()?;
    let certificate = parameters.signed_by(&pair, issuer)?;
    write(key, &pair.serialize_pem(), 0o600)?;
    write(cert, &certificate.pem(), 0o644)
}

/// From an hour ago, so that a client with a slow clock accepts it, for `days`.
fn valid_for(parameters: &mut CertificateParams, days: i64) {
    let day = |offset: i64| {
        let date = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + offset)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .to_zoned(jiff::tz::TimeZone::UTC)
            .date();
        rcgen::date_time_ymd(
            date.year().into(),
            date.month().unsigned_abs(),
            date.day().unsigned_abs(),
        )
    };
    parameters.not_before = day(-3600);
    parameters.not_after = day(days * 86_400);
}

/// Names and addresses that clients on this machine or network may use.
fn names(settings: &ShellSettings) -> Vec<String> {
    let mut names = BTreeSet::from(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    let ip = settings.tls_bind.ip();
    if !ip.is_unspecified() {
        names.insert(ip.to_string());
    }
    let public = settings.public_url.as_deref().and_then(|url| url.parse().ok());
    if let Some(host) = public.as_ref().and_then(actix_web::http::Uri::host) {
        names.insert(host.trim_matches(['[', ']']).to_owned());
    }
    if let Ok(host) = fs::read_to_string("/etc/hostname") {
        let host = host.trim();
        if !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b))
        {
            names.insert(host.to_owned());
        }
    }
    names.into_iter().collect()
}

/// Writes a file so that a crash leaves the old one or the new one, never half of it.
fn write(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let draft = path.with_extension("tmp");
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    Ok(())
}
