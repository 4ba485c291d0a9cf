//! Bulk checks, which look up many addresses at verified domains in one request.

use std::collections::HashMap;

use bytes::Bytes;
use database::Db;
use domain::EmailAddress;
use futures_util::stream::{self, Stream};

use super::accounts::AccountFilter;
use super::admission::{Caller, run_keyed};
use super::context::RequestContext;
use super::domain_access::{self, LargerDomains};
use super::domain_control;
use super::domain_names::PIECE;
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::domain_size::Access;
use crate::model::{AccountKey, Breach, address_text};
use crate::state::State;
use crate::store::accounts::{self, AccountRow};
use crate::store::domain_controls;
use crate::wire::ErrorBody;

/// Number of addresses to look up per transaction.
const ADDRESSES_AT_ONCE: usize = 50;

/// Specifies which breaches at a domain the caller is allowed to see.
#[derive(Clone, Debug)]
enum Coverage {
    Full,
    /// Only breaches visible without a subscription. Addresses without any such breach get this
    /// error.
    Limited(ErrorBody),
    Nothing(ErrorBody),
}

/// A requested address.
struct Wanted {
    /// The address as written in the request.
    email: String,
    /// Parsed address, or `None` if it's invalid.
    address: Option<EmailAddress>,
}

/// The result for one address.
struct Entry {
    wanted: Wanted,
    result: Result<Shown, ErrorBody>,
}

/// The breaches to show, as indexes into the catalogue.
struct Shown {
    breaches: Vec<usize>,
    limited: bool,
}

/// Checks a list of addresses and streams a JSON array in request order.
///
/// Only one batch of accounts and one piece of output are in memory at a time. Each piece is based
/// on the latest snapshot, so a client that reads slowly doesn't get anything that was removed in
/// the meantime. Lookups stop when the stream is dropped.
///
/// # Errors
/// Returns an error if a check fails. If an error occurs mid-stream, the response is truncated.
pub async fn breached_accounts(
    state: &State,
    request: KeyedRequest,
    input: Result<(Vec<String>, AccountFilter), Error>,
) -> Result<impl Stream<Item = Result<Bytes, Error>> + use<>, Error> {
    let input = input.map(|(emails, filter)| {
        let parse = |email: String| Wanted { address: EmailAddress::parse(&email).ok(), email };
        (emails.into_iter().map(parse).collect::<Vec<_>>(), filter)
    });
    let check = move |db: &mut Db, context: &RequestContext, caller: &Caller| {
        let (wanted, filter) = input?;
        let domains = domains_of(&wanted);
        let coverage = coverage(db, context, caller, &domains)?;
        // The view is only valid within this transaction.
        let context = RequestContext { view: None, ..context.clone() };
        let (wanted, found) = (wanted.into_iter(), Vec::new().into_iter());
        let check =
            Check { context, filter, coverage, wanted, found, is_open: false, is_complete: false };
        let uncounted = uncounted(db, caller, &domains)?;
        Ok((check, caller.clone(), domains, uncounted))
    };
    let (mut check, caller, domains, uncounted) = run_keyed(state, request, check).await?;
    if !uncounted.is_empty() {
        for domain in uncounted {
            domain_control::count_one(state, domain).await?;
        }
        let context = check.context.clone();
        let read = move |db: &mut Db| coverage(db, &context, &caller, &domains);
        check.coverage = state.pools().read(read).await?;
    }
    Ok(stream::try_unfold(check, Check::next_piece))
}

/// Returns the request's domains, without duplicates.
fn domains_of(wanted: &[Wanted]) -> Vec<String> {
    let domain = |wanted: &Wanted| Some(wanted.address.as_ref()?.domain().to_owned());
    let mut domains: Vec<String> = wanted.iter().filter_map(domain).collect();
    domains.sort_unstable();
    domains.dedup();
    domains
}

/// Returns the caller's domains that haven't been counted, since the size may decide what the plan
/// covers. Inherited domains are counted a few seconds after they are added, or later if that
/// fails.
fn uncounted(db: &mut Db, caller: &Caller, domains: &[String]) -> Result<Vec<String>, Error> {
    let Some(subscriber) = caller.subscriber else { return Ok(Vec::new()) };
    let domains: Vec<&str> = domains.iter().map(String::as_str).collect();
    let controls = domain_controls::verified_of(db, subscriber, &domains)?.into_iter();
    let uncounted = controls.filter(|control| control.size_now.is_none());
    Ok(uncounted.map(|control| control.domain).collect())
}

/// Returns the coverage of each domain that the caller controls. For a test key, whose domains
/// aren't stored, that's every requested domain.
fn coverage(
    db: &mut Db,
    context: &RequestContext,
    caller: &Caller,
    domains: &[String],
) -> Result<HashMap<String, Coverage>, Error> {
    let domains: Vec<&str> = domains.iter().map(String::as_str).collect();
    let Some(subscriber) = caller.subscriber else {
        for domain in &domains {
            caller.check_scope(context, domain)?;
        }
        return Ok(domains.into_iter().map(|name| (name.to_owned(), Coverage::Full)).collect());
    };
    let larger = LargerDomains::read(db, caller)?;
    let controls = domain_controls::verified_of(db, subscriber, &domains)?;
    let covered = controls.into_iter().map(|control| {
        // A domain that hasn't been counted is treated as if it had the maximum size.
        let size = control.size_now.unwrap_or(i64::from(i32::MAX));
        let used = larger.up_to(Some(&control), size);
        let access = domain_access::decide(context, caller, Some(&control), size, used);
        let refusal = domain_access::refusal(caller, access, size, used);
        let coverage = match (access, refusal) {
            (_, None) => Coverage::Full,
            (Access::SubscriptionFreeOnly, Some(error)) => Coverage::Limited(error.body()),
            (_, Some(error)) => Coverage::Nothing(error.body()),
        };
        (control.domain, coverage)
    });
    Ok(covered.collect())
}

/// A running bulk check.
struct Check {
    context: RequestContext,
    filter: AccountFilter,
    coverage: HashMap<String, Coverage>,
    wanted: std::vec::IntoIter<Wanted>,
    /// Entries that have been looked up but not yet written.
    found: std::vec::IntoIter<Entry>,
    is_open: bool,
    is_complete: bool,
}

impl Check {
    async fn next_piece(mut self) -> Result<Option<(Bytes, Self)>, Error> {
        let mut piece = Vec::new();
        let snapshot = self.context.state.snapshot();
        if !snapshot.has_same_data(&self.context.snapshot) {
            self.context.snapshot = snapshot;
            // Entries that have been looked up but not yet written are looked up again.
            let unwritten = self.found.by_ref().map(|entry| entry.wanted);
            let wanted: Vec<Wanted> = unwritten.chain(self.wanted.by_ref()).collect();
            self.wanted = wanted.into_iter();
        }
        while !self.is_complete && piece.len() < PIECE {
            if let Some(entry) = self.found.next() {
                piece.push(if self.is_open { b',' } else { b'[' });
                self.is_open = true;
                self.write(&entry, &mut piece)
                    .map_err(|error| Error::Internal(error.to_string()))?;
            } else if self.wanted.as_slice().is_empty() {
                piece.push(b']');
                self.is_complete = true;
            } else {
                self.found = self.look_up_batch().await?.into_iter();
            }
        }
        Ok((!piece.is_empty()).then(|| (piece.into(), self)))
    }

    async fn look_up_batch(&mut self) -> Result<Vec<Entry>, Error> {
        let batch: Vec<(Wanted, Coverage)> = self
            .wanted
            .by_ref()
            .take(ADDRESSES_AT_ONCE)
            .map(|wanted| {
                let coverage = match &wanted.address {
                    None => Coverage::Nothing(Error::Email.body()),
                    Some(address) => match self.coverage.get(address.domain()) {
                        None => Coverage::Nothing(Error::NotVerified.body()),
                        Some(coverage) => coverage.clone(),
                    },
                };
                (wanted, coverage)
            })
            .collect();
        let (context, filter) = (self.context.clone(), self.filter.clone());
        let read = move |db: &mut Db| {
            let filters = context.state.account_filters();
            accounts::with_view(db, filters, |db, view| {
                let keys: Vec<AccountKey> = batch.iter().filter_map(key).collect();
                let rows = accounts::with_keys(db, Some(&view), &keys)?;
                let entry =
                    |(wanted, coverage)| entry(db, &context, &filter, &rows, wanted, coverage);
                batch.into_iter().map(entry).collect()
            })
        };
        self.context.state.pools().read(read).await
    }

    fn write(&self, entry: &Entry, piece: &mut Vec<u8>) -> serde_json::Result<()> {
        piece.extend_from_slice(br#"{"email":"#);
        serde_json::to_writer(&mut *piece, &entry.wanted.email)?;
        match &entry.result {
            Ok(Shown { breaches, limited }) => {
                let answers = &self.context.snapshot.answers;
                piece.extend_from_slice(br#","breaches":"#);
                piece.extend_from_slice(answers.array(breaches, self.filter.truncated).as_bytes());
                if *limited {
                    piece.extend_from_slice(br#","limited":true"#);
                }
            }
            Err(error) => {
                piece.extend_from_slice(br#","error":"#);
                serde_json::to_writer(&mut *piece, error)?;
            }
        }
        piece.push(b'}');
        Ok(())
    }
}

/// Returns the key to look up for an address, or `None` to skip the lookup.
fn key((wanted, coverage): &(Wanted, Coverage)) -> Option<AccountKey> {
    match (coverage, &wanted.address) {
        (Coverage::Nothing(_), _) | (_, None) => None,
        (_, Some(address)) => Some(AccountKey::of(&address.sha1())),
    }
}

fn entry(
    db: &mut Db,
    context: &RequestContext,
    filter: &AccountFilter,
    rows: &[AccountRow],
    wanted: Wanted,
    coverage: Coverage,
) -> Result<Entry, Error> {
    let (refusal, shown): (_, fn(&Breach) -> bool) = match coverage {
        Coverage::Nothing(error) => return Ok(Entry { wanted, result: Err(error) }),
        Coverage::Full => (None, Breach::shown_for_domain),
        Coverage::Limited(error) => (Some(error), Breach::shown_without_subscription),
    };
    let own = |row: &&AccountRow| {
        let matches = |address| address_text::matches(&row.local, &row.domain, address);
        wanted.address.as_ref().is_some_and(matches)
    };
    let mut breaches = Vec::new();
    let mut any_shown = false;
    if let Some(row) = rows.iter().find(own)
        && !context.snapshot.is_removed(db, row)?
    {
        let catalogue = context.catalogue();
        any_shown = catalogue.any(&row.breaches, shown);
        breaches =
            catalogue.indexes(&row.breaches, |breach| shown(breach) && filter.includes(breach));
    }
    let limited = refusal.is_some();
    let result = match refusal {
        Some(error) if !any_shown => Err(error),
        _ => Ok(Shown { breaches, limited }),
    };
    Ok(Entry { wanted, result })
}
