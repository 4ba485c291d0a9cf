//! A certificate issued by a local CA, stored in a folder that several servers can share.

use std::collections::BTreeSet;
use std::fs::{self, TryLockError};
use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, GeneralName, Validity, X509Certificate};

use super::pair::{read_pair, validity};
use crate::{ListenAddress, RequestId, ShellSettings};

const CA_NAME: &str = "Quintet local CA";
const CA_DAYS: i64 = 3650;
const LEAF_DAYS: i64 = 397;
/// How many days before its expiry a certificate is renewed. A CA is renewed once it would expire
/// before a new certificate.
const RENEW_DAYS: i64 = 67;
const DAY: i64 = 86_400;
/// A renewed certificate keeps its predecessor's names if there are fewer than this many. Without a
/// limit they would pile up, since each container has its own host name.
const MOST_NAMES: usize = 64;

/// Returns the certificate in the TLS folder. Creates a new one if it is missing, expires soon,
/// lacks any of the names, doesn't match its key, or wasn't signed by the CA in the folder.
///
/// Several servers can share the folder and start at the same time. One of them takes the lock and
/// creates the certificate, which the others then read.
pub(super) fn local_certificate(settings: &ShellSettings) -> anyhow::Result<(CertifiedKey, i64)> {
    let folder = settings.tls_folder();
    let names = names(settings);
    if let Some(usable) = usable_pair(&folder, &names) {
        return Ok(usable);
    }
    let failed = || format!("cannot create a certificate in {} (TLS_DIR)", folder.display());
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).with_context(failed)?;
    let _lock = lock(&folder).with_context(failed)?;
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    if usable_pair(&folder, &names).is_none() {
        refuse_foreign(&folder)?;
    }
    let issuer = local_ca(&folder).with_context(failed)?;
    if let Some(usable) = usable_pair(&folder, &names) {
        return Ok(usable);
    }
    // The folder might be shared with a server that has other names, so cover these as well.
    let others = Some(names_in(&cert)).filter(|others| others.len() < MOST_NAMES);
    let names = names.into_iter().chain(others.into_iter().flatten()).collect::<BTreeSet<_>>();
    issue(&issuer, names.into_iter().collect(), &cert, &key).with_context(failed)?;
    let ca = folder.join("ca.pem");
    log::info!("created a certificate; clients must trust the local CA {}", ca.display());
    read_pair(&cert, &key)
}

/// Returns the certificate and key in a TLS folder if they match, were signed by the folder's CA,
/// cover all `names`, and are valid for long enough.
pub(super) fn usable_pair(folder: &Path, names: &[String]) -> Option<(CertifiedKey, i64)> {
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let lasts = is_valid_for(&cert, RENEW_DAYS) && covers(&cert, names);
    let pair = lasts.then(|| read_pair(&cert, &key).ok()).flatten()?;
    is_trusted(&pair.0.cert, &folder.join("ca.pem")).then_some(pair)
}

/// Returns whether a client that trusts the CA in the file `ca` would accept a certificate chain.
fn is_trusted(chain: &[CertificateDer<'_>], ca: &Path) -> bool {
    let (Some((leaf, rest)), Ok(ca)) = (chain.split_first(), CertificateDer::from_pem_file(ca))
    else {
        return false;
    };
    let mut roots = RootCertStore::empty();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let (Ok(()), Ok(name)) = (roots.add(ca), ServerName::try_from("localhost")) else {
        return false;
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().is_ok_and(
        |client| client.verify_server_cert(leaf, rest, &name, &[], UnixTime::now()).is_ok(),
    )
}

/// Refuses to replace a certificate or CA that we didn't create or whose CA key is lost. Clients
/// wouldn't trust a new CA, and if the old one isn't ours, replacing it would destroy someone
/// else's key.
pub(super) fn refuse_foreign(folder: &Path) -> anyhow::Result<()> {
    let [cert, ca, ca_key] = ["cert.pem", "ca.pem", "ca-key.pem"].map(|name| folder.join(name));
    for path in [&cert, &ca] {
        let Ok(certificate) = CertificateDer::from_pem_file(path) else { continue };
        let Ok((_, parsed)) = X509Certificate::from_der(&certificate) else { continue };
        let issuer = parsed.issuer().iter_common_name().next().and_then(|name| name.as_str().ok());
        if issuer != Some(CA_NAME) {
            bail!(
                "{} was issued by another CA: set TLS_CERT and TLS_KEY to a certificate of your \
                 own, or empty {} (TLS_DIR)",
                path.display(),
                folder.display()
            );
        }
        if read_ca_key(&ca_key).is_none() {
            bail!(
                "a certificate must be created, but the CA key for {} is missing or cannot be \
                 read: restore {}, or empty {} (TLS_DIR) to get a new CA, which clients must then \
                 trust",
                path.display(),
                ca_key.display(),
                folder.display()
            );
        }
    }
    Ok(())
}

/// Locks a TLS folder for writing. The lock is held until the returned file is closed.
fn lock(folder: &Path) -> anyhow::Result<fs::File> {
    let path = folder.join("lock");
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {
            log::info!("waiting for {}: another process is creating a certificate", path.display());
            file.lock()?;
        }
        // Some network file systems don't support locks. Even there, each file is replaced
        // atomically, and a pair that doesn't match is created again.
        Err(TryLockError::Error(error)) if has_no_locks(&error) => {}
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    Ok(file)
}

/// Returns whether an error means that the file system doesn't support locks. NFS returns `ENOLCK`
/// if its lock service isn't running.
fn has_no_locks(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported || error.raw_os_error() == Some(libc::ENOLCK)
}

/// Returns whether a file contains a certificate that is valid now and for at least another `days`
/// days.
fn is_valid_for(path: &Path, days: i64) -> bool {
    let certificate = CertificateDer::from_pem_file(path).ok();
    let validity = certificate.and_then(|certificate| validity(&certificate).ok());
    let now = jiff::Timestamp::now().as_second();
    validity.is_some_and(|Validity { not_before, not_after }| {
        not_before.timestamp() <= now && not_after.timestamp() > now + days * DAY
    })
}

/// Returns whether the certificate in a file covers all `names`, which can include IP addresses.
fn covers(path: &Path, names: &[String]) -> bool {
    let known = names_in(path);
    names.iter().all(|name| known.contains(name))
}

/// Returns the names and IP addresses that the certificate in a file covers.
fn names_in(path: &Path) -> Vec<String> {
    let Ok(certificate) = CertificateDer::from_pem_file(path) else { return Vec::new() };
    let Ok((_, parsed)) = X509Certificate::from_der(&certificate) else { return Vec::new() };
    let Ok(Some(alternatives)) = parsed.subject_alternative_name() else { return Vec::new() };
    let name = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let v4 = || <[u8; 4]>::try_from(*bytes).ok().map(IpAddr::from);
            let v6 = || <[u8; 16]>::try_from(*bytes).ok().map(IpAddr::from);
            v4().or_else(v6).map(|address| address.to_string())
        }
        _ => None,
    };
    alternatives.value.general_names.iter().filter_map(name).collect()
}

fn ca_parameters() -> anyhow::Result<CertificateParams> {
    let mut parameters = CertificateParams::new(Vec::<String>::new())?;
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, CA_NAME);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    valid_for(&mut parameters, CA_DAYS);
    Ok(parameters)
}

/// Returns the CA in the folder. It is created on first start, and replaced if it doesn't match its
/// key or would expire before the certificates that it signs. If only its certificate is missing,
/// it is created again from the existing key, so that clients still trust it.
fn local_ca(folder: &Path) -> anyhow::Result<Issuer<'static, KeyPair>> {
    let (cert, key) = (folder.join("ca.pem"), folder.join("ca-key.pem"));
    let parameters = ca_parameters()?;
    let is_lost = !cert.exists();
    let pair = match read_ca_key(&key) {
        Some(pair) if is_valid_for(&cert, LEAF_DAYS) && is_for(&cert, &pair) => {
            return Ok(Issuer::new(parameters, pair));
        }
        Some(pair) if is_lost => pair,
        _ => {
            let pair = KeyPair::generate()?;
            write(&key, &pair.serialize_pem(), 0o600)?;
            pair
        }
    };
    write(&cert, &parameters.self_signed(&pair)?.pem(), 0o644)?;
    if !is_lost {
        log::warn!("replaced the local CA: clients must trust the new {}", cert.display());
    }
    Ok(Issuer::new(parameters, pair))
}

/// Returns a CA's key, or `None` if it is missing, unreadable or damaged.
fn read_ca_key(path: &Path) -> Option<KeyPair> {
    KeyPair::from_pem(&fs::read_to_string(path).ok()?).ok()
}

/// Returns whether the certificate in a file belongs to the key `pair`.
fn is_for(cert: &Path, pair: &KeyPair) -> bool {
    let Ok(certificate) = CertificateDer::from_pem_file(cert) else { return false };
    X509Certificate::from_der(&certificate)
        .is_ok_and(|(_, parsed)| parsed.public_key().raw == pair.subject_public_key_info())
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

/// Sets the validity period. It starts at the beginning of the day that it was an hour ago (in
/// UTC), which allows for slow client clocks, and ends at the last midnight within the next `days`
/// days.
fn valid_for(parameters: &mut CertificateParams, days: i64) {
    let day = |offset: i64| {
        let date = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + offset)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .to_zoned_datetime(jiff::tz::TimeZone::UTC)
            .date();
        rcgen::date_time_ymd(
            date.year().into(),
            date.month().unsigned_abs(),
            date.day().unsigned_abs(),
        )
    };
    parameters.not_before = day(-3600);
    parameters.not_after = day(days * DAY);
}

/// Returns the names and addresses that clients can use to reach this machine, locally or over the
/// network.
pub(super) fn names(settings: &ShellSettings) -> Vec<String> {
    let mut names = BTreeSet::from(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    for address in &settings.tls_bind {
        match address {
            ListenAddress::Ip(address) if !address.ip().is_unspecified() => {
                names.insert(address.ip().to_string());
            }
            ListenAddress::Name(address) => {
                let name = address.rsplit_once(':').map_or(address.as_str(), |(name, _)| name);
                names.insert(name.to_owned());
            }
            ListenAddress::Ip(_) | ListenAddress::Unix(_) => {}
        }
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

/// Replaces a file atomically. The temporary file needs a unique name, because the file system
/// might not support locks. A process ID wouldn't be unique, since each container numbers its
/// processes separately.
fn write(path: &Path, text: &str, mode: u32) -> anyhow::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", RequestId::next()));
    let mut options = fs::OpenOptions::new();
    let written =
        options.write(true).create_new(true).mode(mode).open(&temporary).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    Ok(written?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_lock_support_differs_from_other_errors() {
        for (code, has_none) in [
            (libc::ENOLCK, true),
            (libc::EOPNOTSUPP, true),
            (libc::ENOSYS, true),
            (libc::EIO, false),
        ] {
            assert_eq!(has_no_locks(&std::io::Error::from_raw_os_error(code)), has_none, "{code}");
        }
    }

    #[test]
    fn temporary_files_are_not_shared_with_other_containers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cert.pem");
        let other = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&other, "other").unwrap();
        write(&path, "own", 0o644).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "own");
        assert_eq!(fs::read_to_string(&other).unwrap(), "other");
    }

    #[test]
    fn names_of_former_hosts_are_dropped_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = ShellSettings::for_tests(folder.path());
        settings.tls_dir = Some(folder.path().to_owned());
        for host in 0..=MOST_NAMES {
            settings.public_url = Some(format!("https://host-{host}.example"));
            local_certificate(&settings).unwrap();
        }
        let known = names_in(&folder.path().join("cert.pem"));
        assert!(
            known.len() <= MOST_NAMES && names(&settings).iter().all(|name| known.contains(name))
        );
    }
}
