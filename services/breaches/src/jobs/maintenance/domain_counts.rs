//! Counts verified domains after the catalogue changed. One replica counts at a time.

use database::{DatabaseError, Db};

use crate::app;
use crate::error::Error;
use crate::jobs::notices::tell_listeners;
use crate::state::State;
use crate::store::{domain_controls, domain_walk, versions};

/// The version of the catalogue at which the domains were counted.
const COUNTED_AT: &str = "domains_counted_at_version";
/// Until when a replica does this work.
const LEASE: &str = "maintenance_until";
/// How long a replica may take for one domain, in seconds.
const LEASE_SECONDS: i64 = 300;
/// Failures in a row that end a round.
const MOST_FAILURES: usize = 5;

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

async fn take_lease(state: &State) -> Result<bool, DatabaseError> {
    let now = state.clock().unix();
    state.pools().write(move |db| versions::take_lease(db, LEASE, now, LEASE_SECONDS)).await
}
