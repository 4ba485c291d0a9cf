//! Looks for proof of domain control in a TXT record, a file or a meta tag.

use database::off_worker;
use domain::DomainName;
use shell::TraceContext;

use crate::error::{Error, VerificationError};
use crate::external::{SiteError, SiteRequest};
use crate::model::verification::{Evidence, Proof, VerificationMethod};
use crate::state::State;

/// Maximum file size in bytes.
const FILE_LIMIT: usize = 64 * 1024;
/// Maximum number of bytes to read from a home page.
const PAGE_LIMIT: usize = 512 * 1024;

/// Looks for the proof in the place that `method` specifies.
///
/// # Errors
/// [`VerificationError`] if there is no valid proof, [`Error::Unavailable`] if the resolver doesn't
/// respond.
pub async fn find(
    state: &State,
    domain: &DomainName,
    proof: &Proof,
    method: VerificationMethod,
) -> Result<(), Error> {
    match method {
        VerificationMethod::Dns => by_dns(state, domain, proof).await,
        VerificationMethod::File => by_file(state, domain, proof).await,
        VerificationMethod::MetaTag => by_meta_tag(state, domain, proof).await,
        VerificationMethod::Email | VerificationMethod::Operator | VerificationMethod::Parent => {
            Err(Error::Internal("this verification method does not involve a lookup".to_owned()))
        }
    }
}

async fn by_dns(state: &State, domain: &DomainName, proof: &Proof) -> Result<(), Error> {
    let records = state.external().dns.txt(domain.as_str()).await.map_err(|error| {
        log::warn!("TXT records cannot be read: {error}");
        Error::Unavailable
    })?;
    let prefix = || proof.prefix.clone();
    match proof.in_txt(&records) {
        Evidence::Proof => Ok(()),
        Evidence::Absent => Err(VerificationError::NoRecord(prefix()).into()),
        Evidence::Other => Err(VerificationError::OtherRecord(prefix()).into()),
    }
}

async fn by_file(state: &State, domain: &DomainName, proof: &Proof) -> Result<(), Error> {
    let path = proof.file_path();
    let content = state.external().websites.file(request(domain, &path, FILE_LIMIT)).await;
    let content = content.map_err(|error| website(&format!("The file {path}"), error))?;
    match proof.in_file(&content) {
        Evidence::Proof => Ok(()),
        Evidence::Absent | Evidence::Other => Err(VerificationError::OtherFile(path).into()),
    }
}

async fn by_meta_tag(state: &State, domain: &DomainName, proof: &Proof) -> Result<(), Error> {
    let html = state.external().websites.beginning(request(domain, "/", PAGE_LIMIT)).await;
    let html = html.map_err(|error| website("The home page", error))?;
    let prefix = || proof.prefix.clone();
    let proof = proof.clone();
    // Parsing up to 512 KiB of HTML would block the worker.
    match off_worker(move || proof.in_page(&html)).await? {
        Evidence::Proof => Ok(()),
        Evidence::Absent => Err(VerificationError::NoTag(prefix()).into()),
        Evidence::Other => Err(VerificationError::OtherTag(prefix()).into()),
    }
}

fn request(domain: &DomainName, path: &str, limit: usize) -> SiteRequest {
    let traceparent = TraceContext::current().map(|trace| trace.to_string());
    SiteRequest { domain: domain.to_string(), path: path.to_owned(), limit, traceparent }
}

fn website(what: &str, error: SiteError) -> Error {
    VerificationError::Website(what.to_owned(), error.to_string()).into()
}
