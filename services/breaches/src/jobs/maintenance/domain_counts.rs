//! Counts verified domains after changes of the catalogue. One replica counts at a time.

use std::time::Duration;

use database::{DatabaseError, Db};

use crate::app;
use crate::error::Error;
use crate::jobs::notices::notify_listeners;
use crate::state::State;
use crate::store::accounts::domain_walk;
use crate::store::lease::Lease;
use crate::store::{domain_controls, versions};

/// The version of the catalogue at which the domains were counted.
const COUNTED_AT: &str = "domains_counted_at_version";
/// The key of the lease for counting domains.
const LEASE: &str = "maintenance_until";
/// Seconds after which the lease expires unless it is renewed.
const LEASE_SECONDS: i64 = 300;
/// Time between two renewals during a long count.
const RENEW_EVERY: Duration = Duration::from_secs(60);
/// Consecutive failures that end a round.
const MAX_FAILURES: usize = 5;

/// Counts the verified domains at a version of the catalogue, and adds new subdomains where plans
/// include them. Returns false while another replica counts.
///
/// # Errors
/// Returns the first failure. The round continues after a failure unless [`MAX_FAILURES`] occur in
/// a row. The lease is released so that the rest is soon retried.
pub async fn recount_domains(state: &State, version: i64) -> Result<bool, Error> {
    let pools = state.pools();
    let known = pools.read(move |db| versions::get(db, COUNTED_AT)).await?;
    if known.is_some_and(|known| known >= version) {
        return Ok(true);
    }
    let now = state.clock().unix();
    let take = move |db: &mut Db| Lease::take(db, LEASE, now, LEASE_SECONDS);
    let Some(lease) = pools.write(take).await? else { return Ok(false) };
    let mut round = Round { state: state.clone(), lease };
    let done = round.recount().await;
    let (lease, is_done) = (round.lease, done.is_ok());
    let finish = move |db: &mut Db| -> Result<bool, DatabaseError> {
        let is_held = lease.release(db)?;
        if is_held && is_done {
            versions::set(db, COUNTED_AT, version)?;
        }
        Ok(is_held)
    };
    let finished = pools.write(finish).await;
    match done {
        Ok(()) => Ok(finished?),
        Err(Stop::LeaseLost) => Ok(false),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Why a step of a round failed.
enum Stop {
    /// Another replica took the lease.
    LeaseLost,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<DatabaseError> for Stop {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(error.into())
    }
}

/// A round of counting. Every transaction first renews the lease, so a slow count never replaces a
/// newer one of another replica.
struct Round {
    state: State,
    lease: Lease,
}

impl Round {
    /// Counts all domains.
    async fn recount(&mut self) -> Result<(), Stop> {
        let (state, mut failures) = (self.state.clone(), Failures::default());
        for domain in state.pools().read(domain_controls::verified_names).await? {
            failures.note(self.recount_one(domain).await)?;
        }
        failures.note(notify_listeners(&state).await.map_err(Stop::from))?;
        let now = state.clock().unix();
        let outgrown = state.pools().read(move |db| app::outgrown_domains(db, now)).await?;
        for (subscriber, root) in outgrown {
            failures.note(self.add_subdomains(subscriber, root).await)?;
        }
        failures.first.map_or(Ok(()), |error| Err(Stop::Failed(error)))
    }

    /// Counts a domain and posts notices about new addresses.
    async fn recount_one(&mut self, domain: String) -> Result<(), Stop> {
        // Notices use the catalogue of the count: a later one shows breaches that were not counted.
        let snapshot = self.state.snapshot();
        let (name, counted) = (domain.clone(), snapshot.clone());
        let count = move |db: &mut Db| {
            let count = |db: &mut Db| app::count_domain(db, &counted.answers.catalogue, &name);
            domain_walk::in_one_snapshot(db, count)
        };
        let count = self.count(count).await?;
        self.write(move |db, now| {
            app::note_size(db, &domain, &count, now)?;
            app::post_domain_notices(
                db,
                &snapshot.answers.catalogue,
                &domain,
                &count.announced,
                now,
            )
        })
        .await
    }

    /// Adds newly known subdomains of a domain and counts them.
    async fn add_subdomains(&mut self, subscriber: i64, root: String) -> Result<(), Stop> {
        let add = move |db: &mut Db, now| app::add_subdomains(db, subscriber, &root, now);
        for added in self.write(add).await? {
            let name = added.clone();
            let count = self.count(move |db| app::count_now(db, &name)).await?;
            self.write(move |db, now| app::note_count(db, &added, &count, now)).await?;
        }
        Ok(())
    }

    /// Counts a domain while renewing the lease.
    async fn count<T: Send + 'static>(
        &mut self,
        count: impl FnOnce(&mut Db) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, Stop> {
        let pools = self.state.pools().clone();
        let mut counting = std::pin::pin!(pools.read_apart(count));
        loop {
            tokio::select! {
                counted = &mut counting => return Ok(counted?),
                () = tokio::time::sleep(RENEW_EVERY) => {
                    match self.write(|_, _| Ok::<_, Error>(())).await {
                        Err(Stop::LeaseLost) => return Err(Stop::LeaseLost),
                        Err(Stop::Failed(error)) => log::warn!("the lease was not renewed: {error}"),
                        Ok(()) => {}
                    }
                }
            }
        }
    }

    /// Runs a transaction that first renews the lease.
    async fn write<T, E>(
        &mut self,
        work: impl FnOnce(&mut Db, i64) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Stop>
    where
        T: Send + 'static,
        E: Into<Error>,
    {
        let now = self.state.clock().unix();
        self.lease.expect_renewal(now, LEASE_SECONDS);
        let lease = self.lease;
        let renew_and_work = move |db: &mut Db| -> Result<_, Error> {
            let Some(lease) = lease.renew(db, now, LEASE_SECONDS)? else { return Ok(None) };
            Ok(Some((lease, work(db, now).map_err(Into::into)?)))
        };
        let done = self.state.pools().write(renew_and_work).await?;
        let (lease, value) = done.ok_or(Stop::LeaseLost)?;
        self.lease = lease;
        Ok(value)
    }
}

/// Failures of a round. One failing domain does not delay the others; an unavailable database ends
/// the round.
#[derive(Default)]
struct Failures {
    first: Option<Error>,
    in_a_row: usize,
}

impl Failures {
    fn note(&mut self, done: Result<(), Stop>) -> Result<(), Stop> {
        match done {
            Ok(()) => {
                self.in_a_row = 0;
                Ok(())
            }
            Err(Stop::Failed(error)) if self.in_a_row + 1 < MAX_FAILURES => {
                self.in_a_row += 1;
                self.first.get_or_insert(error);
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }
}
