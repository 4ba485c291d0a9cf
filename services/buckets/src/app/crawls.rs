//! Manages the crawls that belong to API keys.

use std::collections::HashMap;

use auth::Key;
use database::DatabaseError;
use outbound::web_url;
use shell::Fault;

use crate::error::Error;
use crate::model::address::{Address, AddressError, provider_of};
use crate::model::package::{Capability, Package};
use crate::state::{Snapshot, State};
use crate::store::crawl_turns::{self, KeyCrawl};
use crate::store::crawls::{self, Crawl, NewCrawl};
use crate::wire::crawls::{
    CrawlRecord, CrawlsAnswer, CrawlsMeta, DEFAULT_EVERY, LEAST_EVERY, NewCrawlBody,
};

#[derive(Clone, Copy, Debug)]
pub enum CrawlChange {
    /// Stop running the crawl until it is resumed.
    Pause,
    /// Run the crawl again whenever it is due.
    Resume,
    /// Make the crawl due immediately, or an hour after its last run if that is later.
    Run,
    /// Remove the crawl. Files already in the index are kept.
    Remove,
}

/// Returns the key's package.
fn package_of(snapshot: &Snapshot, key: &Key) -> Package {
    snapshot.package(key.plan.as_ref().map(|plan| plan.code.as_str()))
}

/// Returns the key's package, or an error if it doesn't include crawls.
fn permitted(state: &State, key: &Key) -> Result<Package, Error> {
    let snapshot = state.snapshot();
    let package = package_of(&snapshot, key);
    if package.allows(Capability::Crawls) {
        return Ok(package);
    }
    let cheapest = snapshot.cheapest_with(Capability::Crawls);
    let package = cheapest.map_or("enterprise", |found| found.code.as_str()).to_owned();
    Err(Error::Package { name: "crawls", package })
}

/// Converts a crawl to its wire format. `owner` is the account of the key that added it.
fn record(state: &State, crawl: Crawl, owner: Option<&str>) -> CrawlRecord {
    CrawlRecord {
        running: crawl.is_running(state.clock().unix()),
        hidden_since: state.snapshot().hidden_since(&crawl.bucket),
        owner: owner.map(str::to_owned),
        id: crawl.id,
        url: crawl.url,
        bucket: crawl.bucket,
        prefix: crawl.prefix,
        every_seconds: crawl.every_seconds,
        until: crawl.ends_at,
        paused: crawl.paused,
        pages_listed: crawl.pages,
        due_at: crawl.due_at,
        last_at: crawl.last_at,
        outcome: crawl.outcome,
        refused_since: crawl.gone_since,
    }
}

/// Lists the key's crawls, or all crawls if its package includes that.
pub async fn list_crawls(state: &State, key: &Key) -> Result<CrawlsAnswer, Error> {
    let package = package_of(&state.snapshot(), key);
    let sees_all = package.all_crawls;
    if !sees_all {
        permitted(state, key)?;
    }
    let own = (key.id, key.owner.clone());
    let read = state.pools().read(move |db| -> Result<_, DatabaseError> {
        if !sees_all {
            return Ok((crawls::of_key(db, own.0)?, HashMap::from([own])));
        }
        let keys = auth::list_keys(db)?.into_iter().map(|key| (key.id, key.owner));
        let owners: HashMap<i64, String> = keys.collect();
        Ok((crawls::all(db)?, owners))
    });
    let (found, owners) = read.await?;
    let with_owner = |crawl: Crawl| {
        let owner = crawl.key_id.and_then(|key| owners.get(&key));
        record(state, crawl, owner.map(String::as_str))
    };
    let crawls: Vec<CrawlRecord> = found.into_iter().map(with_owner).collect();
    Ok(CrawlsAnswer {
        meta: CrawlsMeta { results: crawls.len() as u64, limit: package.crawls },
        crawls,
    })
}

/// Returns one of the key's crawls.
pub async fn get_crawl(state: &State, key: &Key, id: i64) -> Result<CrawlRecord, Error> {
    permitted(state, key)?;
    let found = state.pools().read(move |db| crawls::by_id(db, id)).await?;
    let own = own(found, key.id)?;
    Ok(record(state, own, Some(&key.owner)))
}

/// Returns the crawl if it belongs to this key. Other keys' crawls are reported as not found.
fn own(found: Option<Crawl>, key: i64) -> Result<Crawl, Error> {
    found.filter(|crawl| crawl.key_id == Some(key)).ok_or(Error::Fault(Fault::NotFound))
}

/// Adds a crawl. It is due immediately, or an hour after the key last crawled the same prefix of
/// the bucket, even if that crawl has been removed.
pub async fn add_crawl(state: &State, key: &Key, body: NewCrawlBody) -> Result<CrawlRecord, Error> {
    let package = permitted(state, key)?;
    let now = state.clock().unix();
    let new = checked(body, key.id, now)?;
    if !state.settings().crawl_lists().permit(&new.bucket, &new.url) {
        let text = "the operator of this service excludes the bucket from crawls";
        return Err(Error::parameter("url", text));
    }
    let key_id = key.id;
    let added = state.pools().write_as(Some(&key.owner), move |db| -> Result<Crawl, Error> {
        auth::lock_key(db, key_id)?;
        let twice = || Error::Conflict(format!("the key already crawls {}", new.bucket));
        if crawls::find(db, &new.bucket, &new.prefix, Some(key_id))?.is_some() {
            return Err(twice());
        }
        let count = crawls::of_key(db, key_id)?.len() as u64;
        if count >= package.crawls {
            let most = package.crawls;
            return Err(Error::Conflict(format!("the key has {count} of {most} crawls")));
        }
        let same = KeyCrawl { key: key_id, bucket: &new.bucket, prefix: &new.prefix };
        let last = crawl_turns::last_of(db, same)?;
        let due_at = last.map_or(now, |last| last.saturating_add(LEAST_EVERY).max(now));
        let id = crawls::add(db, &new, due_at).map_err(|error| match error {
            // Lost a race against a request for the same crawl.
            DatabaseError::Conflict => twice(),
            other => other.into(),
        })?;
        own(crawls::by_id(db, id)?, key_id)
    });
    Ok(record(state, added.await?, Some(&key.owner)))
}

/// Validates a new crawl. The bucket address is always derived from the URL. Otherwise, a key could
/// list one server under another server's address.
fn checked(body: NewCrawlBody, key: i64, now: i64) -> Result<NewCrawl, Error> {
    let NewCrawlBody { url, every_seconds, prefix, until, format, kind } = body;
    let wrong = |text: &str| Error::parameter("url", text);
    let schemes = ["https://", "http://", "s3://", "gs://"];
    if !schemes.iter().any(|scheme| url.starts_with(scheme)) {
        return Err(wrong("url must start with https://, http://, s3:// or gs://"));
    }
    if url.contains(['?', '#', '@']) {
        return Err(wrong("url must be the plain address of a public bucket"));
    }
    if until.is_some_and(|end| end <= now) {
        return Err(Error::parameter("until", "until must be in the future"));
    }
    // Operators see the prefix and the URL in their terminals.
    if prefix.contains(char::is_control) {
        return Err(Error::parameter("prefix", "prefix must not contain control characters"));
    }
    if url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(wrong("url must be the plain address of a public bucket"));
    }
    let address = Address::parse_typed(&url, kind);
    let (address, kind) = address.map_err(|error: AddressError| match error {
        AddressError::WrongType => Error::parameter("type", format!("type: {error}")),
        AddressError::UnknownProvider => {
            wrong("the provider of url is unknown, so format and type are required")
        }
        other => Error::parameter("url", format!("url: {other}")),
    })?;
    let is_known = address.kind().is_some();
    if !is_plain(&url, &address) {
        return Err(wrong("url must be the plain address of a public bucket"));
    }
    match (is_known, format) {
        (true, Some(_)) => {
            return Err(Error::parameter("format", "format is only for unknown providers"));
        }
        (false, None) => {
            return Err(wrong("the provider of url is unknown, so format and type are required"));
        }
        _ => {}
    }
    Ok(NewCrawl {
        url,
        bucket: address.to_string(),
        format: format.map(|api| api.as_str().to_owned()),
        kind: (!is_known).then(|| kind.as_str().to_owned()),
        prefix,
        every_seconds: every_seconds.unwrap_or(DEFAULT_EVERY),
        ends_at: until,
        gone_after_days: None,
        key_id: Some(key),
    })
}

/// Checks that HTTP clients would request the URL exactly as written, and that it leads to
/// `address`. Otherwise, takedowns and other crawls might not recognise the bucket.
fn is_plain(url: &str, address: &Address) -> bool {
    if !url.is_ascii() || url.contains('%') {
        return false;
    }
    if url.starts_with("s3://") || url.starts_with("gs://") {
        return true;
    }
    let Some(parsed) = web_url(url) else { return false };
    let host = parsed.host_str().unwrap_or_default();
    // Reject a provider's host with a non-standard port, since such an address isn't recognised as
    // the provider's.
    let is_hidden = address.kind().is_none() && provider_of(host).is_some();
    if host.ends_with('.') || parsed.path().contains("//") || is_hidden {
        return false;
    }
    let port = parsed.port().map_or(String::new(), |port| format!(":{port}"));
    let requested = format!("{host}{port}{}", parsed.path()).to_lowercase();
    let written = url.split_once("://").map_or("", |(_, rest)| rest).to_lowercase();
    written.trim_end_matches('/') == requested.trim_end_matches('/')
        && Address::parse(&requested).is_ok_and(|other| other == *address)
}

/// Applies a change to one of the key's crawls. Returns the updated crawl, or `None` if it was
/// removed.
pub async fn change_crawl(
    state: &State,
    key: &Key,
    id: i64,
    change: CrawlChange,
) -> Result<Option<CrawlRecord>, Error> {
    permitted(state, key)?;
    let (key_id, now) = (key.id, state.clock().unix());
    let changed = state.pools().write_as(Some(&key.owner), move |db| -> Result<_, Error> {
        own(crawls::by_id(db, id)?, key_id)?;
        match change {
            CrawlChange::Pause => crawls::set_paused(db, id, true)?,
            CrawlChange::Resume => crawls::set_paused(db, id, false)?,
            CrawlChange::Run => crawls::make_due(db, id, LEAST_EVERY, now)?,
            CrawlChange::Remove => crawls::remove(db, id, now)?,
        };
        Ok(crawls::by_id(db, id)?)
    });
    Ok(changed.await?.map(|crawl| record(state, crawl, Some(&key.owner))))
}
