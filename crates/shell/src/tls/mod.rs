//! Certificates, either supplied by the operator or issued by a local CA that is created on first
//! start.

mod local;
mod pair;

use std::sync::Arc;

use anyhow::Context;
use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use self::local::{local_certificate, names, refuse_foreign, usable_pair};
use self::pair::read_pair;
use crate::{ShellSettings, metrics, require_creatable};

/// The server's certificate and key, both of which can be reloaded.
pub(crate) struct Tls {
    configuration: Arc<ServerConfig>,
    current: Arc<Current>,
    settings: ShellSettings,
}

/// The certificate for new connections.
#[derive(Debug)]
struct Current(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

impl Tls {
    /// Loads the operator's certificate, or creates a local one. Enables TLS 1.2 and 1.3 as well as
    /// HTTP/2 and HTTP/1.1.
    ///
    /// # Errors
    /// Returns a message for the operator.
    pub(crate) fn open(settings: &ShellSettings) -> anyhow::Result<Self> {
        let (certified, end) = certified(settings)?;
        metrics::set_certificate_end(end);
        let current = Arc::new(Current(ArcSwap::from_pointee(certified)));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut configuration = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS12, &rustls::version::TLS13])?
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { configuration: Arc::new(configuration), current, settings: settings.clone() })
    }

    /// Returns the configuration for listeners.
    pub(crate) fn configuration(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.configuration)
    }

    /// Reloads the certificate and key.
    ///
    /// # Errors
    /// Returns a message for the operator. The current certificate stays in use.
    pub(crate) fn reload(&self) -> anyhow::Result<()> {
        let (certified, end) = certified(&self.settings)?;
        metrics::set_certificate_end(end);
        self.current.0.store(Arc::new(certified));
        Ok(())
    }
}

/// Describes the certificate for the output of `serve --check`, without creating one.
///
/// # Errors
/// Returns a message for the operator.
pub(crate) fn preview(settings: &ShellSettings) -> anyhow::Result<String> {
    let ends = |end: i64| anyhow::Ok(jiff::Timestamp::from_second(end)?.strftime("%F").to_string());
    if let (Some(cert), Some(key)) = (&settings.tls_cert, &settings.tls_key) {
        let (_, end) = read_pair(cert, key)?;
        return Ok(format!("{}, valid until {}", cert.display(), ends(end)?));
    }
    let folder = settings.tls_folder();
    if let Some((_, end)) = usable_pair(&folder, &names(settings)) {
        return Ok(format!("of the local CA in {}, valid until {}", folder.display(), ends(end)?));
    }
    refuse_foreign(&folder)?;
    require_creatable(&folder.join("cert.pem")).with_context(|| {
        format!("cannot create a certificate in {} (TLS_DIR)", folder.display())
    })?;
    Ok(format!("`serve` creates one in {}, issued by a local CA", folder.display()))
}

/// Checks the operator's certificate and key, if there are any.
///
/// # Errors
/// Returns a message for the operator.
pub(crate) fn check_given(settings: &ShellSettings) -> anyhow::Result<()> {
    match (&settings.tls_cert, &settings.tls_key) {
        (Some(cert), Some(key)) => read_pair(cert, key).map(drop),
        _ => Ok(()),
    }
}

/// Loads the certificate and key, and makes sure that clients can use them. Also returns the
/// certificate expiry in Unix seconds.
fn certified(settings: &ShellSettings) -> anyhow::Result<(CertifiedKey, i64)> {
    match (&settings.tls_cert, &settings.tls_key) {
        (Some(cert), Some(key)) => read_pair(cert, key),
        _ => local_certificate(settings),
    }
}
