//! Searches by address and by hash prefix.

use database::Db;
use domain::EmailAddress;

use super::admission::{Caller, run_keyed, run_keyed_search};
use super::context::RequestContext;
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::paste as rules;
use crate::model::{AccountKey, Breach, EmailPrefix, address_text};
use crate::state::State;
use crate::store::accounts::{self, RangeRow};
use crate::store::pastes;
use crate::wire::{BreachedAccountQuery, HashSuffix, Paste, RangeEntry};

/// Bytes of a range entry with two or three breaches.
const TYPICAL_ENTRY: usize = 96;

/// Which breaches of an account are wanted, and how they are written.
#[derive(Clone, Debug)]
pub struct AccountFilter {
    /// Names alone, or every attribute.
    pub truncated: bool,
    /// Only breaches of this domain, in lower case.
    pub domain: Option<String>,
    /// Whether unverified breaches are included.
    pub unverified: bool,
}

impl From<BreachedAccountQuery> for AccountFilter {
    /// An empty domain is none.
    fn from(query: BreachedAccountQuery) -> Self {
        let BreachedAccountQuery { truncate_response, domain, include_unverified } = query;
        Self {
            truncated: truncate_response.unwrap_or(true),
            domain: domain.filter(|domain| !domain.is_empty()).map(|domain| domain.to_lowercase()),
            unverified: include_unverified.unwrap_or(true),
        }
    }
}

impl AccountFilter {
    fn includes(&self, breach: &Breach) -> bool {
        let Self { truncated: _, domain, unverified } = self;
        breach.shown_for_address()
            && (*unverified || breach.flags.verified)
            && domain.as_ref().is_none_or(|domain| *domain == breach.domain)
    }
}

/// The breaches of an address as a JSON array.
///
/// # Errors
/// Those of the order of checks; [`Error::NotFound`] when no breach may be shown.
pub async fn breached_account(
    state: &State,
    request: KeyedRequest,
    input: Result<(EmailAddress, AccountFilter), Error>,
) -> Result<String, Error> {
    run_keyed_search(state, request, input, |db, context, caller, mut searched, filter| {
        caller.check_scope(context, searched.address.domain())?;
        let row = searched.account(db)?;
        if context.opt_out(db, &searched.digest)?.is_some() {
            return Err(Error::NotFound);
        }
        let indexes = context.catalogue().indexes(&row.breaches, |breach| filter.includes(breach));
        if indexes.is_empty() {
            return Err(Error::NotFound);
        }
        Ok(context.snapshot.answers.array(&indexes, filter.truncated))
    })
    .await
}

/// The pastes of an address.
///
/// # Errors
/// Those of the order of checks; [`Error::NotFound`] when there is none.
pub async fn pastes_of_account(
    state: &State,
    request: KeyedRequest,
    address: Result<EmailAddress, Error>,
) -> Result<Vec<Paste>, Error> {
    let input = address.map(|address| (address, ()));
    run_keyed_search(state, request, input, |db, context, caller, mut searched, ()| {
        caller.check_scope(context, searched.address.domain())?;
        let row = searched.account(db)?;
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

/// The addresses whose hashes begin with a prefix, with their breaches, as a JSON array.
///
/// # Errors
/// Those of the order of checks.
pub async fn breached_range(
    state: &State,
    request: KeyedRequest,
    prefix: Result<EmailPrefix, Error>,
) -> Result<Vec<u8>, Error> {
    run_keyed(state, request, move |db, context, caller| {
        let (low, high) = prefix?.keys();
        let mut entries = Vec::new();
        for row in accounts::range(db, low, high)? {
            entries.extend(range_entry(db, context, caller, &row)?);
        }
        entries.sort_unstable();
        let mut body = Vec::with_capacity(entries.len() * TYPICAL_ENTRY + 2);
        match serde_json::to_writer(&mut body, &entries) {
            Ok(()) => Ok(body),
            Err(error) => Err(Error::Internal(error.to_string())),
        }
    })
    .await
}

/// The entry of an account in the answer, if it may be shown.
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
