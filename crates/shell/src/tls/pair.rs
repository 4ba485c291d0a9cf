//! A certificate chain and its key, stored in PEM files.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, Validity, X509Certificate};

/// Reads a certificate chain and its key. Also returns the certificate expiry in Unix seconds.
pub(super) fn read_pair(cert: &Path, key: &Path) -> anyhow::Result<(CertifiedKey, i64)> {
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificate {} (TLS_CERT)", cert.display()))?;
    let Some(leaf) = chain.first() else {
        bail!("{} (TLS_CERT) does not contain a PEM certificate", cert.display());
    };
    let end = check_dates(leaf, cert)?;
    let private = private_key(key)?;
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let certified = CertifiedKey::from_der(chain, private, &provider)
        .with_context(|| format!("{} and {} do not match", cert.display(), key.display()))?;
    Ok((certified, end))
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

/// Returns the certificate expiry in Unix seconds.
///
/// # Errors
/// Returns an error if the certificate isn't valid at the moment.
fn check_dates(leaf: &CertificateDer<'_>, path: &Path) -> anyhow::Result<i64> {
    let Validity { not_before, not_after } = validity(leaf)
        .with_context(|| format!("cannot parse the certificate {}", path.display()))?;
    let now = jiff::Timestamp::now().as_second();
    if not_after.timestamp() <= now {
        bail!("the certificate {} (TLS_CERT) expired on {not_after}: renew it", path.display());
    }
    if not_before.timestamp() > now {
        bail!("the certificate {} (TLS_CERT) is not valid before {not_before}", path.display());
    }
    Ok(not_after.timestamp())
}

/// Returns the validity period of a certificate.
pub(super) fn validity(certificate: &CertificateDer<'_>) -> anyhow::Result<Validity> {
    let (_, parsed) = X509Certificate::from_der(certificate)?;
    Ok(parsed.validity().clone())
}
