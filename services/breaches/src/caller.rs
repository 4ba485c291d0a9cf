//! The order of checks of keyed operations: key, rate, subscription and plan, scope of test keys.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use auth::{Quota, QuotaId, Rate};
use database::Db;
use domain::{DomainName, EmailAddress, Sha1Digest};

use crate::config::Settings;
use crate::error::Error;
use crate::model::plan::{self, Bucket, Operation, Plan};
use crate::model::{AccountKey, instant};
use crate::state::{Session, State, View};
use crate::store::account::{self, AccountRow};
use crate::store::caller::{self, Holder, Known};
use crate::store::domain_control::{self, Control};

/// The end of the built-in subscription of test keys: 2099-12-31T23:59:59.
pub const TEST_UNTIL: i64 = 4_102_444_799;

const ZERO_KEY: &str = "00000000000000000000000000000000";

/// Who calls, let through by every check that does not depend on the target.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The subscriber; none for a test key.
    pub subscriber: Option<i64>,
    /// The plan.
    pub plan: Arc<Plan>,
    /// When the subscription ends.
    pub until: i64,
}

/// A request as the checks see it.
#[derive(Clone, Debug)]
pub struct Asked {
    key: String,
    address: IpAddr,
    operation: Operation,
    target: String,
}

impl Asked {
    /// Reads the key; the target is the domain whose own bucket pays, where there is one.
    pub fn read(
        request: &HttpRequest,
        settings: &Settings,
        operation: Operation,
        target: &str,
    ) -> Result<Self, Error> {
        Ok(Self {
            key: key(request, settings)?,
            address: shell::client_ip(request),
            operation,
            target: target.to_ascii_lowercase(),
        })
    }
}

/// The name of the key header that messages quote.
fn header_name(settings: &Settings) -> String {
    settings.api_key_headers.first().map_or_else(|| "breach-api-key".into(), Clone::clone)
}

/// The key of a request, if it has the form of one.
fn key(request: &HttpRequest, settings: &Settings) -> Result<String, Error> {
    let names = settings.api_key_headers.iter();
    let value = names
        .filter_map(|name| request.headers().get(name.as_str()))
        .map(|value| value.to_str().unwrap_or("?").trim())
        .find(|value| !value.is_empty());
    match value {
        None => Err(Error::KeyMissing(header_name(settings))),
        Some(text) if auth::is_well_formed(text) => Ok(text.to_owned()),
        Some(_) => Err(Error::KeyMalformed(header_name(settings))),
    }
}

/// Steps 5 to 7 of the order of checks.
pub fn admit(session: &mut Session<'_>, view: &View, asked: &Asked) -> Result<Caller, Error> {
    let digest = auth::digest(&asked.key);
    let known = match &mut session.kept {
        Some(kept) => kept.find(session.db, &digest, view.now)?,
        None => caller::find(session.db, &digest, view.now)?,
    };
    let asked = paying(session.db, view, asked, &known)?;
    admit_known(view, &asked, known)
}

/// A search of a domain that the caller does not control has no domain whose bucket could pay: a
/// client cannot make buckets at will.
fn paying<'a>(
    db: &mut Db,
    view: &View,
    asked: &'a Asked,
    known: &Known,
) -> Result<Cow<'a, Asked>, Error> {
    let (Known::Live(holder), Bucket::DomainSearch) = (known, asked.operation.bucket()) else {
        return Ok(Cow::Borrowed(asked));
    };
    let test = &view.state.settings().test_email_domain;
    let domain = DomainName::parse(&asked.target).ok();
    let controlled = match &domain {
        Some(domain) if domain == test => true,
        Some(domain) => domain_control::verified(db, holder.subscriber, domain.as_str())?.is_some(),
        None => false,
    };
    let target = domain.filter(|_| controlled).map_or(String::new(), |name| name.to_string());
    Ok(Cow::Owned(Asked { target, ..asked.clone() }))
}

/// Steps 5 to 7 for a search by address. Where the key has to be asked for, the accounts with the
/// key `wanted` come along: one round trip instead of two.
fn admit_with_account(
    session: &mut Session<'_>,
    view: &View,
    asked: &Asked,
    wanted: AccountKey,
) -> Result<(Caller, Option<Vec<AccountRow>>), Error> {
    if session.kept.is_some() {
        return Ok((admit(session, view, asked)?, None));
    }
    let digest = auth::digest(&asked.key);
    let (known, rows) = caller::find_with_account(session.db, &digest, wanted, view.now)?;
    Ok((admit_known(view, asked, known)?, rows))
}

fn admit_known(view: &View, asked: &Asked, known: Known) -> Result<Caller, Error> {
    match known {
        Known::Live(holder) => {
            view.state.keys().note_use(holder.key);
            admit_holder(view, asked, &holder)
        }
        Known::Dead => Err(invalid(&view.state)),
        Known::Unknown => admit_test(view, asked),
    }
}

fn invalid(state: &State) -> Error {
    Error::KeyInvalid(header_name(state.settings()))
}

fn admit_test(view: &View, asked: &Asked) -> Result<Caller, Error> {
    let settings = view.state.settings();
    let fits = !asked.operation.needs_zero_test_key() || asked.key == ZERO_KEY;
    if !settings.test_keys.is_on() || !fits {
        return Err(invalid(&view.state));
    }
    let rate = Quota::per_minute(settings.test_keys_rpm).shared_by(settings.rate_replicas);
    view.state.quotas().check(QuotaId::Address(asked.address).purpose("test"), rate, 1)?;
    Ok(Caller { subscriber: None, plan: Arc::new(plan::test()), until: TEST_UNTIL })
}

fn admit_holder(view: &View, asked: &Asked, holder: &Holder) -> Result<Caller, Error> {
    charge(view, asked, holder)?;
    let Some((plan, until)) = holder.subscription.clone() else { return Err(Error::NotInPlan) };
    if until <= view.now && asked.operation != Operation::SubscriptionStatus {
        return Err(Error::Ended(instant::date(until)));
    }
    if !plan.features.include(asked.operation) {
        return Err(Error::NotInPlan);
    }
    Ok(Caller { subscriber: Some(holder.subscriber), plan, until })
}

fn charge(view: &View, asked: &Asked, holder: &Holder) -> Result<(), Error> {
    let settings = view.state.settings();
    let replicas = settings.rate_replicas;
    let key = QuotaId::Key(holder.key);
    let minute = |n: u32| Quota::per_minute(n).shared_by(replicas);
    let (id, rate, cost) = match asked.operation.bucket() {
        Bucket::Search => {
            let plan = holder.subscription.as_ref().map(|(plan, _)| plan);
            let rpm = plan.map_or(1, |plan| u32::try_from(plan.per_minute).unwrap_or(1));
            let range = asked.operation == Operation::BreachedAccountRange;
            let own = plan.and_then(|plan| plan.features.kanon_cost);
            let price =
                own.and_then(|cost| u32::try_from(cost).ok()).unwrap_or(settings.kanon_cost);
            (key, minute(rpm), if range { price } else { 1 })
        }
        Bucket::StealerDomain => (key.purpose("stealer-domain"), minute(10), 1),
        Bucket::Management => (key.purpose("management"), minute(120), 1),
        Bucket::DomainSearch if asked.target == settings.test_email_domain.as_str() => {
            return Ok(());
        }
        Bucket::DomainSearch if asked.target.is_empty() => {
            (key.purpose("domain-search"), minute(120), 1)
        }
        Bucket::DomainSearch => {
            let (version, domain) = (view.snapshot.catalogue.version, &asked.target);
            let id = QuotaId::Named(format!("domain-search {} {version} {domain}", holder.key));
            let Rate { every, burst } = Rate::per(10, Duration::from_secs(600));
            (id, Rate { every: every.saturating_mul(replicas.max(1)), burst }, 1)
        }
    };
    view.state.quotas().check(id, rate, cost)?;
    Ok(())
}

impl Caller {
    /// Step 9: a test key may ask only at or below the test domain.
    pub fn check_scope(&self, view: &View, domain: &str) -> Result<(), Error> {
        if self.subscriber.is_none() && !view.state.settings().test_email_domain.covers(domain) {
            return Err(invalid(&view.state));
        }
        Ok(())
    }

    /// Steps 9 and 10: the caller controls the domain. None for a test key, whose domains have
    /// no row.
    pub fn check_control(
        &self,
        db: &mut Db,
        view: &View,
        domain: &str,
    ) -> Result<Option<Control>, Error> {
        self.check_scope(view, domain)?;
        let Some(subscriber) = self.subscriber else { return Ok(None) };
        match domain_control::verified(db, subscriber, domain)? {
            Some(control) => Ok(Some(control)),
            None => Err(Error::NotVerified),
        }
    }
}

/// The address that a search is for.
#[derive(Debug)]
pub struct Sought {
    /// The address.
    pub address: EmailAddress,
    /// Its digest.
    pub digest: Sha1Digest,
    /// Accounts with its key, where they were read already.
    rows: Option<Vec<AccountRow>>,
}

impl Sought {
    /// Its account.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn account(&mut self, db: &mut Db) -> Result<AccountRow, Error> {
        let rows = match self.rows.take() {
            Some(rows) => rows,
            None => account::with_key(db, AccountKey::of(&self.digest))?,
        };
        account::pick(rows, &self.address).ok_or(Error::NotFound)
    }
}

impl State {
    /// Runs a keyed search by address: all checks and all reads in one hop. What is wrong with the
    /// input is told where its turn is in the order of checks.
    pub async fn keyed_search<I: Send + 'static, T: Send + 'static>(
        &self,
        asked: Asked,
        input: Result<(EmailAddress, I), Error>,
        work: impl FnOnce(&mut Db, &View, &Caller, Sought, I) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let view = self.view();
        self.hop(true, move |mut session| {
            let (address, input) = match input {
                Ok(input) => input,
                Err(error) => {
                    return Err(admit(&mut session, &view, &asked).err().unwrap_or(error));
                }
            };
            let digest = address.sha1();
            let key = AccountKey::of(&digest);
            let (caller, rows) = admit_with_account(&mut session, &view, &asked, key)?;
            work(session.db, &view, &caller, Sought { address, digest, rows }, input)
        })
        .await
    }

    /// Runs a keyed operation: all checks and all reads in one hop.
    pub async fn keyed<T: Send + 'static>(
        &self,
        asked: Asked,
        work: impl FnOnce(&mut Db, &View, &Caller) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let view = self.view();
        let short = asked.operation.bucket() == Bucket::Search;
        self.hop(short, move |mut session| {
            let caller = admit(&mut session, &view, &asked)?;
            work(session.db, &view, &caller)
        })
        .await
    }

    /// Charges a keyless request to its address, where there is a limit.
    pub fn keyless(&self, request: &HttpRequest) -> Result<(), Error> {
        let settings = self.settings();
        if settings.keyless_rpm_per_ip > 0 {
            let rate =
                Quota::per_minute(settings.keyless_rpm_per_ip).shared_by(settings.rate_replicas);
            let id = QuotaId::Address(shell::client_ip(request)).purpose("keyless");
            self.quotas().check(id, rate, 1)?;
        }
        Ok(())
    }
}
