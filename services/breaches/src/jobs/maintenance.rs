//! What the server does beside its requests: sizes of domains after loads, notices of pastes, and what
//! is over is removed. One replica counts domains at a time; notices of pastes and the removal of what is
//! over run in each, and do no harm twice.

use std::time::Duration;

use database::{DatabaseError, Db};

use crate::app::{self, Delivery};
use crate::error::Error;
use crate::state::State;
use crate::store::{
    domain_controls, domain_walk, mail_tokens, messages, notices, sessions, versions,
};

/// The version of the catalogue at which the domains were counted.
const COUNTED_AT: &str = "domains_counted_at_version";
/// Until when a replica does this work.
const LEASE: &str = "maintenance_until";
/// Between two looks into the outbox.
const DELIVERY_PAUSE: Duration = Duration::from_secs(2);
/// How long a replica may take for one domain, in seconds.
const LEASE_SECONDS: i64 = 300;
/// Failures in a row that end a round.
const MOST_FAILURES: usize = 5;
/// Seconds until a round that failed is tried again: at first, and at most. Each failure doubles them.
const RETRY_SECONDS: (i64, i64) = (10, 3_600);
/// Subscribers in one transaction.
const BATCH: i64 = 200;
/// Seconds after which delivered messages are forgotten, and links that are too old: until then they are
/// told from links that never were.
const KEPT_SECONDS: i64 = 30 * 86_400;
/// Seconds between two removals of what is over.
const PRUNE_SECONDS: i64 = 3600;

/// Does this work for ever.
pub async fn maintain(state: State) {
    let pause = Duration::from_millis(state.settings().catalogue_poll_ms.max(1));
    let (mut counted, mut pasted, mut pruned) = (None, None, 0);
    let (mut retry_at, mut wait) = (0, RETRY_SECONDS.0);
    loop {
        tokio::time::sleep(pause).await;
        let version = state.snapshot_version();
        let pastes = state.pools().read(|db| versions::get(db, versions::PASTES_VERSION)).await;
        let pastes = pastes.unwrap_or_else(|error| {
            log::warn!("whether there are new pastes could not be read: {error}");
            pasted
        });
        if pasted != pastes {
            match tell_listeners(&state).await {
                Ok(()) => pasted = pastes,
                Err(error) => log::warn!("notices of pastes could not be written: {error}"),
            }
        }
        let now = state.clock().unix();
        if counted != Some(version) && now >= retry_at {
            match recount_domains(&state, version).await {
                Ok(true) => (counted, wait) = (Some(version), RETRY_SECONDS.0),
                Ok(false) => {}
                Err(error) => {
                    log::warn!("some domains could not be counted, retrying in {wait} s: {error}");
                    (retry_at, wait) = (now + wait, (wait * 2).min(RETRY_SECONDS.1));
                }
            }
        }
        if now >= pruned + PRUNE_SECONDS {
            pruned = now;
            if let Err(error) = prune(&state).await {
                log::warn!("what is over could not be removed: {error}");
            }
        }
    }
}

/// Delivers mails for ever.
pub async fn deliver_mails(state: State) {
    let delivery = Delivery::of_mails(state);
    outbound::deliver_for_ever(&delivery, &delivery, DELIVERY_PAUSE).await;
}

/// Delivers to webhooks for ever.
pub async fn deliver_webhooks(state: State) {
    let delivery = Delivery::of_webhooks(state);
    outbound::deliver_for_ever(&delivery, &delivery, DELIVERY_PAUSE).await;
}

/// Delivers what is due now; returns how many messages were taken.
///
/// # Errors
/// Those of the outbox.
pub async fn deliver_due(state: &State) -> Result<usize, outbound::OutboxError> {
    let mails = Delivery::of_mails(state.clone());
    let mails = outbound::deliver_due(&mails, &mails).await?;
    let webhooks = Delivery::of_webhooks(state.clone());
    Ok(mails + outbound::deliver_due(&webhooks, &webhooks).await?)
}

/// Counts the verified domains at a version of the catalogue, and adds the subdomains that a load
/// brought where plans include them. Whether the version is counted; not so while another replica
/// is at it.
///
/// # Errors
/// The first one of the database. What comes after it is done all the same, unless everything fails, and the
/// lease ends, so that the rest is tried again soon.
pub async fn recount_domains(state: &State, version: i64) -> Result<bool, Error> {
    let pools = state.pools();
    let known = pools.read(move |db| versions::get(db, COUNTED_AT)).await?;
    if known.is_some_and(|known| known >= version) {
        return Ok(true);
    }
    if !take_lease(state).await? {
        return Ok(false);
    }
    let done = recount(state).await;
    let is_done = done.is_ok();
    let finish = move |db: &mut Db| -> Result<(), DatabaseError> {
        if is_done {
            versions::set(db, COUNTED_AT, version)?;
        }
        versions::set(db, LEASE, 0)
    };
    let finished = pools.write(finish).await;
    done?;
    finished?;
    Ok(true)
}

/// Does what follows a change of the catalogue, while it has the lease.
async fn recount(state: &State) -> Result<(), Error> {
    let mut failures = Failures::default();
    for domain in state.pools().read(domain_controls::verified_names).await? {
        failures.note(recount_one(state, domain).await)?;
    }
    failures.note(tell_listeners(state).await)?;
    let now = state.clock().unix();
    for (subscriber, root) in state.pools().read(move |db| app::outgrown_domains(db, now)).await? {
        failures.note(add_subdomains(state, subscriber, root).await)?;
    }
    failures.first.map_or(Ok(()), Err)
}

/// Counts a domain, and tells those who control it what is new.
async fn recount_one(state: &State, domain: String) -> Result<(), Error> {
    let (pools, name, snapshot) = (state.pools(), domain.clone(), state.snapshot());
    let count = move |db: &mut Db| {
        let count = |db: &mut Db| app::count_domain(db, &snapshot.answers.catalogue, &name);
        domain_walk::as_of_one_moment(db, count)
    };
    let count = pools.read_apart(count).await?;
    let (now, snapshot) = (state.clock().unix(), state.snapshot());
    let note = move |db: &mut Db| -> Result<(), Error> {
        app::note_size(db, &domain, &count, now)?;
        app::tell_of_domain(db, &snapshot.answers.catalogue, &domain, &count.told, now)?;
        Ok(versions::set(db, LEASE, now + LEASE_SECONDS)?)
    };
    pools.write(note).await
}

/// Failures of a round. One domain that fails does not keep the others waiting; a database that is away
/// ends the round.
#[derive(Default)]
struct Failures {
    first: Option<Error>,
    in_a_row: usize,
}

impl Failures {
    fn note(&mut self, done: Result<(), Error>) -> Result<(), Error> {
        let Err(error) = done else {
            self.in_a_row = 0;
            return Ok(());
        };
        self.in_a_row += 1;
        if self.in_a_row >= MOST_FAILURES {
            return Err(error);
        }
        self.first.get_or_insert(error);
        Ok(())
    }
}

/// Adds the subdomains that became known below a domain, and counts them.
async fn add_subdomains(state: &State, subscriber: i64, root: String) -> Result<(), Error> {
    let (pools, now) = (state.pools(), state.clock().unix());
    let add = move |db: &mut Db| app::add_subdomains(db, subscriber, &root, now);
    for added in pools.write(add).await? {
        app::count_added(state, added).await?;
        let now = state.clock().unix();
        pools.write(move |db| versions::set(db, LEASE, now + LEASE_SECONDS)).await?;
    }
    Ok(())
}

/// Tells subscribers of breaches and pastes that their own addresses are in.
///
/// # Errors
/// Those of the database.
pub async fn tell_listeners(state: &State) -> Result<(), Error> {
    let mut after = 0;
    loop {
        let batch = state.pools().read(move |db| notices::listeners(db, after, BATCH)).await?;
        let Some((last, _)) = batch.last() else { return Ok(()) };
        after = *last;
        let (now, snapshot) = (state.clock().unix(), state.snapshot());
        let tell =
            move |db: &mut Db| app::tell_listeners(db, &snapshot.answers.catalogue, &batch, now);
        state.pools().write(tell).await?;
    }
}

async fn take_lease(state: &State) -> Result<bool, DatabaseError> {
    let now = state.clock().unix();
    state.pools().write(move |db| versions::take_lease(db, LEASE, now, LEASE_SECONDS)).await
}

async fn prune(state: &State) -> Result<(), DatabaseError> {
    let now = state.clock().unix();
    let prune = move |db: &mut Db| {
        mail_tokens::prune(db, now - KEPT_SECONDS)?;
        sessions::prune(db, now)?;
        messages::prune(db, now - KEPT_SECONDS)?;
        app::prune_mail_counts(db, now)?;
        Ok(())
    };
    state.pools().write(prune).await
}
