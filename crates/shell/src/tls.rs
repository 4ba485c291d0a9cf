//! Certificates: the operator's, or a local CA and certificate made at the first start.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, anyhow, bail};
use arc_swap::ArcSwap;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::{ShellSettings, metrics};

const CA_DAYS: i64 = 3650;
const LEAF_DAYS: i64 = 397;
/// A leaf is made anew this many days after it was made, well before it ends.
const RENEW_AFTER_DAYS: u64 = 330;

/// Certificate and key of the server, which can be read again while it runs.
pub(crate) struct Tls {
    configuration: Arc<ServerConfig>,
    current: Arc<Current>,
    settings: ShellSettings,
}

/// The certificate that new connections get.
#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl Tls {
    /// Reads the operator's certificate, or makes a local one: TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1.
    ///
    /// # Errors
    /// One sentence for the operator.
    pub(crate) fn open(settings: &ShellSettings) -> anyhow::Result<Self> {
        let current = Arc::new(Current(ArcSwap::from_pointee(certified(settings)?)));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut configuration = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS12, &rustls::version::TLS13])?
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { configuration: Arc::new(configuration), current, settings: settings.clone() })
    }

    /// What listeners accept connections with.
    pub(crate) fn configuration(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.configuration)
    }

    /// Reads certificate and key again.
    ///
    /// # Errors
    /// One sentence for the operator; the certificate in use stays.
    pub(crate) fn reload(&self) -> anyhow::Result<()> {
        self.current.0.store(Arc::new(certified(&self.settings)?));
        Ok(())
    }
}

/// Reads certificate and key and checks that a client could use them.
fn certified(settings: &ShellSettings) -> anyhow::Result<CertifiedKey> {
    let (cert, key) = match (&settings.tls_cert, &settings.tls_key) {
        (Some(cert), Some(key)) => (cert.clone(), key.clone()),
        _ => local_certificate(settings)?,
    };
    let chain = CertificateDer::pem_file_iter(&cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificate {} (TLS_CERT)", cert.display()))?;
    let Some(leaf) = chain.first() else {
        bail!("{} (TLS_CERT) holds no certificate in PEM form", cert.display());
    };
    check_dates(leaf, &cert)?;
    let private = private_key(&key)?;
    let provider = rustls::crypto::ring::default_provider();
    CertifiedKey::from_der(chain, private, &provider)
        .with_context(|| format!("{} and {} do not match", cert.display(), key.display()))
}

fn private_key(path: &Path) -> anyhow::Result<PrivateKeyDer<'static>> {
    let failed = || format!("cannot read the private key {} (TLS_KEY)", path.display());
    let text = fs::read(path).with_context(failed)?;
    if memchr::memmem::find(&text, b"ENCRYPTED").is_some() {
        bail!(
            "the private key {} (TLS_KEY) is encrypted: decrypt it with `openssl pkey -in FILE`",
            path.display()
        );
    }
    PrivateKeyDer::from_pem_slice(&text).with_context(failed)
}

/// Refuses a certificate that no client would accept, and tells when it ends.
fn check_dates(leaf: &CertificateDer<'_>, path: &Path) -> anyhow::Result<()> {
    let (_, parsed) = X509Certificate::from_der(leaf)
        .map_err(|error| anyhow!("the certificate {} is broken: {error}", path.display()))?;
    let end = parsed.validity().not_after;
    metrics::set_certificate_end(end.timestamp());
    if end.timestamp() <= jiff::Timestamp::now().as_second() {
        bail!("the certificate {} (TLS_CERT) ended on {end}: get a new one", path.display());
    }
    Ok(())
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
