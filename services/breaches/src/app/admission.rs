//! Checks for keyed operations: key, rate limit, subscription, plan, and the scope of test keys.

use std::sync::Arc;

use auth::{Finding, Presented, QuotaId};
use database::{Backend, Db};
use domain::{DomainName, EmailAddress, Sha1Digest};
use futures_util::future::Either;

use super::charge;
use super::context::RequestContext;
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::plan::{self, Bucket, Operation, Plan};
use crate::model::{AccountKey, instant};
use crate::state::State;
use crate::store::accounts::{self, AccountRow};
use crate::store::domain_controls::{self, Control};
use crate::store::key_holders::{self, Holder, KeyLookup};
use crate::store::reader_cache::ReaderCache;

/// End of the test keys' built-in subscription: 2099-12-31T23:59:59 UTC.
const TEST_UNTIL: i64 = 4_102_444_799;

/// The only test key with a built-in subscription.
const ZERO_KEY: &str = "00000000000000000000000000000000";

/// A caller that has passed all checks except those on the requested address or domain.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Subscriber id, or `None` for a test key.
    pub subscriber: Option<i64>,
    pub plan: Arc<Plan>,
    /// End of the subscription.
    pub until: i64,
}

impl Caller {
    /// Performs check 9: test keys can access only the test domain and its subdomains.
    pub fn check_scope(&self, context: &RequestContext, domain: &str) -> Result<(), Error> {
        if self.subscriber.is_none() && !context.settings().test_email_domain.covers(domain) {
            return Err(Error::KeyInvalid(context.settings().key_header().to_owned()));
        }
        Ok(())
    }

    /// Performs checks 9 and 10: the caller must control the domain. Returns `None` for test keys,
    /// whose domains aren't stored.
    pub fn check_control(
        &self,
        db: &mut Db,
        context: &RequestContext,
        domain: &str,
    ) -> Result<Option<Control>, Error> {
        self.check_scope(context, domain)?;
        let Some(subscriber) = self.subscriber else { return Ok(None) };
        match domain_controls::verified(db, subscriber, domain)? {
            Some(control) => Ok(Some(control)),
            None => Err(Error::NotVerified),
        }
    }
}

/// The address to search for.
#[derive(Debug)]
pub struct SearchedAddress {
    pub address: EmailAddress,
    pub digest: Sha1Digest,
    pub row: Option<AccountRow>,
}

/// Runs a keyed operation. The checks and reads use a single connection.
pub fn run_keyed<T: Send + 'static, W>(
    state: &State,
    request: KeyedRequest,
    work: W,
) -> impl Future<Output = Result<T, Error>> + use<T, W>
where
    W: FnOnce(&mut Db, &RequestContext, &Caller) -> Result<T, Error> + Send + 'static,
{
    let short = request.operation.bucket() == Bucket::Search;
    read_keyed(state, short, request, move |db, cache, context, request| {
        let caller = admit(db, cache, context, request)?;
        work(db, context, &caller)
    })
}

/// Runs a keyed search by address. The checks and reads use a single connection.
///
/// Invalid input is reported only after the key, rate limit and plan have been checked.
pub fn run_keyed_search<I: Send + 'static, T: Send + 'static, W>(
    state: &State,
    request: KeyedRequest,
    input: Result<(EmailAddress, I), Error>,
    work: W,
) -> impl Future<Output = Result<T, Error>> + use<I, T, W>
where
    W: FnOnce(&mut Db, &RequestContext, &Caller, SearchedAddress, I) -> Result<T, Error>
        + Send
        + 'static,
{
    read_keyed(state, true, request, move |db, cache, context, request| {
        let caller = admit(db, cache, context, request)?;
        let (address, input) = input?;
        let digest = address.sha1();
        let key = AccountKey::of(&digest);
        let rows = match db.backend() {
            Backend::Sqlite => accounts::with_key(db, context.view.as_deref(), key)?,
            Backend::Postgres => {
                let filters = context.state.account_filters();
                accounts::routed_with_key(db, filters, key, context.now)?
            }
        };
        let row = accounts::pick(rows, &address);
        work(db, context, &caller, SearchedAddress { address, digest, row }, input)
    })
}

/// Runs the database work of a keyed request. On PostgreSQL, its key is first looked up in the
/// cache.
fn read_keyed<T: Send + 'static, W>(
    state: &State,
    short: bool,
    request: KeyedRequest,
    work: W,
) -> impl Future<Output = Result<T, Error>> + use<T, W>
where
    W: FnOnce(&mut Db, Option<&mut ReaderCache>, &RequestContext, KeyedRequest) -> Result<T, Error>
        + Send
        + 'static,
{
    let context = RequestContext::new(state);
    let state = state.clone();
    let digest = *request.presented.digest();
    let read = move |state: &State, mut context: RequestContext| {
        state.reader().read(short, move |db, cache| {
            context.view = cache.as_ref().and_then(|cache| cache.view.clone());
            work(db, cache, &context, request)
        })
    };
    if state.shared_keys().is_none() {
        return Either::Left(read(&state, context));
    }
    // Boxed to keep the future small on SQLite.
    Either::Right(Box::pin(async move {
        let mut context = context;
        if let Some(keys) = state.shared_keys() {
            context.known_key = keys.find(&digest, context.now).await;
        }
        read(&state, context).await
    }))
}

/// Performs checks 5 to 7.
fn admit(
    db: &mut Db,
    cache: Option<&mut ReaderCache>,
    context: &RequestContext,
    request: KeyedRequest,
) -> Result<Caller, Error> {
    let digest = request.presented.digest();
    let found = match (cache, &context.known_key.lookup) {
        (Some(cache), _) => cache.known_keys.find(db, digest, context.now)?,
        (None, Some(known)) => known.clone(),
        (None, None) => {
            let found = key_holders::find(db, digest, context.now)?;
            if let Some(keys) = context.state.shared_keys() {
                keys.keep(&context.known_key, digest, &found);
            }
            found
        }
    };
    let domain = match &found {
        KeyLookup::Live(holder) => charged_domain(db, context, &request, holder)?,
        KeyLookup::Dead | KeyLookup::Unknown => None,
    };
    decide(context, KeyedRequest { domain, ..request }, found)
}

/// Returns the searched domain if it has its own quota, i.e. if the caller controls it. Otherwise,
/// clients could create any number of quotas.
fn charged_domain(
    db: &mut Db,
    context: &RequestContext,
    request: &KeyedRequest,
    holder: &Holder,
) -> Result<Option<DomainName>, Error> {
    let Some(domain) = &request.domain else { return Ok(None) };
    let controlled = *domain == context.settings().test_email_domain
        || domain_controls::verified(db, holder.subscriber, domain.as_str())?.is_some();
    Ok(controlled.then(|| domain.clone()))
}

/// Charges the request, then checks subscription and plan.
fn decide(
    context: &RequestContext,
    request: KeyedRequest,
    found: KeyLookup,
) -> Result<Caller, Error> {
    let KeyedRequest { presented, operation, domain, searches } = request;
    let most = match &found {
        KeyLookup::Live(holder) => charge::most_of_holder(context, operation, holder),
        KeyLookup::Unknown | KeyLookup::Dead => charge::most_of_test_key(context),
    };
    // Requests that cost more than a full quota are rejected.
    let payable = searches.filter(|count| *count <= most);
    let finding = match found {
        KeyLookup::Live(holder) => {
            let charge = charge::of_holder(context, operation, &holder, domain.as_ref(), payable);
            let payer = QuotaId::Owner(holder.subscriber);
            Finding::Live { id: holder.key, payer, charge, holder: Some(holder) }
        }
        KeyLookup::Unknown if is_test_key(context, &presented, operation) => {
            Finding::Guest { charge: charge::of_test_key(context, payable), holder: None }
        }
        KeyLookup::Unknown | KeyLookup::Dead => Finding::Refused,
    };
    let header = context.settings().key_header();
    let admitted = presented.admit(finding).map_err(|error| Error::from_auth(error, header))?;
    let caller = match admitted.holder {
        Some(holder) => subscriber(context, operation, &holder)?,
        None => Caller { subscriber: None, plan: Arc::new(plan::test()), until: TEST_UNTIL },
    };
    match operation {
        _ if searches == payable => Ok(caller),
        Operation::BreachedAccounts => Err(Error::TooManyEmails(most)),
        _ => Err(Error::TooManyPrefixes(most)),
    }
}

/// Decides whether an unknown key counts as a test key for the operation.
fn is_test_key(context: &RequestContext, presented: &Presented, operation: Operation) -> bool {
    context.settings().test_keys.is_on()
        && operation.has_test_keys()
        && (!operation.needs_zero_test_key() || presented.is_text(ZERO_KEY))
}

/// Performs check 7: the subscription is active, and the plan includes the operation.
fn subscriber(
    context: &RequestContext,
    operation: Operation,
    holder: &Holder,
) -> Result<Caller, Error> {
    let Some((plan, until)) = holder.subscription.clone() else { return Err(Error::NotInPlan) };
    if until <= context.now && operation != Operation::SubscriptionStatus {
        return Err(Error::Ended(instant::last_day(until)));
    }
    if !plan.features.include(operation) {
        return Err(Error::NotInPlan);
    }
    Ok(Caller { subscriber: Some(holder.subscriber), plan, until })
}
