//! Searches by address and hash prefix.

use bytes::Bytes;
use database::Db;
use domain::EmailAddress;
use futures_util::stream::{self, Stream};

use super::admission::{Caller, run_keyed, run_keyed_search};
use super::context::RequestContext;
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::paste as rules;
use crate::model::{AccountKey, Breach, EmailPrefix, address_text, entry};
use crate::state::State;
use crate::store::accounts::{self, RangeRow};
use crate::store::layout::Layout;
use crate::store::pastes;
use crate::wire::{BreachedAccountQuery, HashSuffix, Paste, RangeEntry};

/// Typical size of a range entry in bytes (two or three breaches).
const TYPICAL_ENTRY: usize = 96;

/// Selects which of an account's breaches to return, and in what form.
#[derive(Clone, Debug)]
pub struct AccountFilter {
    /// Return only the names instead of full breaches.
    pub truncated: bool,
    /// Return only breaches of this domain (lowercase).
    pub domain: Option<String>,
    /// Include unverified breaches.
    pub unverified: bool,
}

impl From<BreachedAccountQuery> for AccountFilter {
    /// Creates the filter from query parameters. An empty domain turns the domain filter off.
    fn from(query: BreachedAccountQuery) -> Self {
        let BreachedAccountQuery { truncate_response, domain, include_unverified } = query;
        Self {
            truncated: truncate_response.unwrap_or(true),
            domain: domain
                .filter(|domain| !domain.is_empty())
                .map(|domain| entry::a_labels(&domain)),
            unverified: include_unverified.unwrap_or(true),
        }
    }
}

impl AccountFilter {
    /// Returns whether a visible breach passes the filter.
    pub fn includes(&self, breach: &Breach) -> bool {
        let Self { truncated: _, domain, unverified } = self;
        (*unverified || breach.flags.verified)
            && domain.as_ref().is_none_or(|domain| *domain == breach.domain)
    }
}

/// Looks up an address's breaches and returns them as a JSON array.
///
/// # Errors
/// Returns an error if a check fails, or [`Error::NotFound`] if no breaches may be shown.
pub async fn breached_account(
    state: &State,
    request: KeyedRequest,
    input: Result<(EmailAddress, AccountFilter), Error>,
) -> Result<String, Error> {
    run_keyed_search(state, request, input, |db, context, caller, searched, filter| {
        caller.check_scope(context, searched.address.domain())?;
        let row = searched.row.ok_or(Error::NotFound)?;
        if context.opt_out(db, &searched.digest)?.is_some() {
            return Err(Error::NotFound);
        }
        let indexes = context
            .catalogue()
            .indexes(&row.breaches, |breach| breach.shown_for_address() && filter.includes(breach));
        if indexes.is_empty() {
            return Err(Error::NotFound);
        }
        Ok(context.snapshot.answers.array(&indexes, filter.truncated))
    })
    .await
}

/// Looks up an address's pastes.
///
/// # Errors
/// Returns an error if a check fails, or [`Error::NotFound`] if there are none.
pub async fn pastes_of_account(
    state: &State,
    request: KeyedRequest,
    address: Result<EmailAddress, Error>,
) -> Result<Vec<Paste>, Error> {
    let input = address.map(|address| (address, ()));
    run_keyed_search(state, request, input, |db, context, caller, searched, ()| {
        caller.check_scope(context, searched.address.domain())?;
        let row = searched.row.ok_or(Error::NotFound)?;
        if context.opt_out(db, &searched.digest)?.is_some() {
            return Err(Error::NotFound);
        }
        let mut pastes = pastes::of_account(db, (row.k, row.seq))?;
        pastes.retain(|paste| !rules::is_opt_out_mark(&paste.source));
        if pastes.is_empty() {
            return Err(Error::NotFound);
        }
        rules::sort(&mut pastes);
        Ok(pastes.into_iter().map(Paste::from).collect())
    })
    .await
}

/// Finds addresses by hash prefix and returns them with their breaches as a JSON array.
///
/// # Errors
/// Returns an error if a check fails.
pub async fn breached_range(
    state: &State,
    request: KeyedRequest,
    prefix: Result<EmailPrefix, Error>,
) -> Result<Vec<u8>, Error> {
    run_keyed(state, request, move |db, context, caller| {
        let mut body = Vec::new();
        write_range(db, context, caller, prefix?, &mut body)?;
        Ok(body)
    })
    .await
}

/// Number of prefixes to read per transaction.
const PREFIXES_AT_ONCE: usize = 25;

/// Streams the ranges for a list of prefixes as a JSON object while keeping only a few of them in
/// memory. Each piece is based on the latest snapshot, so a client that reads slowly doesn't get
/// anything that was removed in the meantime.
///
/// # Errors
/// Returns an error if a check fails. If an error occurs mid-stream, the response is truncated.
pub async fn breached_ranges(
    state: &State,
    request: KeyedRequest,
    prefixes: Result<Vec<EmailPrefix>, Error>,
) -> Result<impl Stream<Item = Result<Bytes, Error>> + use<>, Error> {
    let run = run_keyed(state, request, move |_, _, caller| Ok((caller.clone(), prefixes?)));
    let (caller, prefixes) = run.await?;
    let state = state.clone();
    Ok(stream::unfold(0, move |at| {
        let (context, caller) = (RequestContext::new(&state), caller.clone());
        let (all, end) = (prefixes.len(), (at + PREFIXES_AT_ONCE).min(prefixes.len()));
        let part = prefixes.get(at..end).unwrap_or_default().to_vec();
        let pools = state.pools().clone();
        async move {
            if at >= all {
                return None;
            }
            let read = move |db: &mut Db| {
                let filters = context.state.account_filters();
                accounts::with_view(db, filters, |db, view| {
                    let context = RequestContext { view: Some(view), ..context.clone() };
                    ranges(db, &context, &caller, &part, at == 0, end == all)
                })
            };
            let piece = pools.read(read).await;
            // Stop after a failure, which leaves the JSON object unclosed.
            let next = if piece.is_ok() { end } else { all };
            Some((piece, next))
        }
    }))
}

/// Writes some of the object's members. The first piece also contains the opening brace, and the
/// last one the closing brace.
fn ranges(
    db: &mut Db,
    context: &RequestContext,
    caller: &Caller,
    prefixes: &[EmailPrefix],
    first: bool,
    last: bool,
) -> Result<Bytes, Error> {
    let mut body = Vec::new();
    for (at, prefix) in prefixes.iter().enumerate() {
        body.extend_from_slice(if first && at == 0 { b"{\"" } else { b",\"" });
        body.extend_from_slice(prefix.to_string().as_bytes());
        body.extend_from_slice(b"\":");
        write_range(db, context, caller, *prefix, &mut body)?;
    }
    if last {
        body.push(b'}');
    }
    Ok(body.into())
}

fn write_range(
    db: &mut Db,
    context: &RequestContext,
    caller: &Caller,
    prefix: EmailPrefix,
    body: &mut Vec<u8>,
) -> Result<(), Error> {
    let (low, high) = prefix.keys();
    let mut entries = Vec::new();
    let rows = match context.state.layout() {
        Layout::OneServer => accounts::range(db, context.view.as_deref(), low, high)?,
        Layout::Distributed => {
            let filters = context.state.account_filters();
            accounts::routed_range(db, filters, (low, high), context.now)?
        }
    };
    for row in rows {
        entries.extend(range_entry(db, context, caller, &row)?);
    }
    entries.sort_unstable();
    body.reserve(entries.len() * TYPICAL_ENTRY + 2);
    serde_json::to_writer(body, &entries).map_err(|error| Error::Internal(error.to_string()))
}

/// Builds the response entry for an account, or `None` if it must not be shown.
fn range_entry<'c>(
    db: &mut Db,
    context: &'c RequestContext,
    caller: &Caller,
    row: &RangeRow,
) -> Result<Option<RangeEntry<'c>>, Error> {
    let websites = context.catalogue().names(&row.breaches, Breach::shown_for_address);
    if websites.is_empty() || (caller.subscriber.is_none() && !is_test(context, row)) {
        return Ok(None);
    }
    let digest = address_text::digest(&row.local, &row.domain);
    if context.may_be_opted_out(AccountKey::of(&digest)) && context.opt_out(db, &digest)?.is_some()
    {
        return Ok(None);
    }
    Ok(Some(RangeEntry { hash_suffix: HashSuffix::of(&digest), websites }))
}

fn is_test(context: &RequestContext, row: &RangeRow) -> bool {
    context.settings().test_email_domain.covers(&row.domain)
}
