//! Counts new subdomains, and recounts verified domains when the catalogue has changed. Only one
//! replica at a time does this.

use database::{DatabaseError, Db};

use super::leased_round::{Failures, LeasedRound, Stop};
use crate::app;
use crate::error::Error;
use crate::jobs::notices::notify_listeners;
use crate::state::State;
use crate::store::accounts::domain_walk;
use crate::store::versions::Versions;
use crate::store::{domain_controls, unfiled_accounts, versions};

/// Meta entry for the time of the catalogue change that the last complete count included. A counter
/// could repeat; see [`Versions`].
const COUNTED_AT: &str = "domains_counted_at_change";
/// Meta entry for the counting lease.
const LEASE: &str = "maintenance_until";

/// Counts all verified domains as of the catalogue in `versions`. Also verifies new subdomains for
/// plans that include them. Returns `false` if another replica is already counting, or if the
/// by-domain index is incomplete.
///
/// # Errors
/// Returns the first failure. After a failure, counting continues with the next domain unless
/// several in a row fail. The lease is released so that the rest can be retried soon.
pub async fn recount_domains(state: &State, versions: Versions) -> Result<bool, Error> {
    let (pools, changed_at) = (state.pools(), versions.catalogue_changed_at);
    let known = pools.read(move |db| versions::get(db, COUNTED_AT)).await?;
    if known.is_some_and(|known| known >= changed_at) {
        return Ok(true);
    }
    if pools.read(unfiled_accounts::any).await? {
        return Ok(false);
    }
    let Some(round) = LeasedRound::begin(state, LEASE).await? else { return Ok(false) };
    let mut round = Round { state: state.clone(), round };
    let done = round.recount().await;
    let is_done = done.is_ok();
    let finish = move |db: &mut Db| -> Result<(), DatabaseError> {
        match is_done {
            true => versions::set(db, COUNTED_AT, changed_at),
            false => Ok(()),
        }
    };
    let finished = round.round.end(finish).await;
    match done {
        Ok(()) => Ok(finished?),
        Err(Stop::LeaseLost) => Ok(false),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Counts verified domains that haven't been counted yet. These are inherited subdomains that were
/// left for later when their parent was verified, or whose count failed. Does nothing if another
/// replica is counting, or if the by-domain index is incomplete.
///
/// # Errors
/// Returns the first failure, like [`recount_domains`].
pub async fn count_new_domains(state: &State) -> Result<(), Error> {
    let domains = state.pools().read(domain_controls::uncounted_names).await?;
    if domains.is_empty() || state.pools().read(unfiled_accounts::any).await? {
        return Ok(());
    }
    let Some(round) = LeasedRound::begin(state, LEASE).await? else { return Ok(()) };
    let mut round = Round { state: state.clone(), round };
    let done = round.count_new(domains).await;
    round.round.end(|_| Ok(())).await?;
    match done {
        Ok(()) | Err(Stop::LeaseLost) => Ok(()),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// A round of counting.
struct Round {
    state: State,
    round: LeasedRound,
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
        failures.result()
    }

    /// Counts a domain and posts notices about new addresses.
    async fn recount_one(&mut self, domain: String) -> Result<(), Stop> {
        // Use the same catalogue for the notices as for the count, since a newer one might have
        // breaches that weren't counted.
        let snapshot = self.state.snapshot();
        let (name, counted) = (domain.clone(), snapshot.clone());
        let count = move |db: &mut Db| {
            let count = |db: &mut Db| app::count_domain(db, &counted.answers.catalogue, &name);
            domain_walk::in_one_snapshot(db, count)
        };
        let count = self.round.read(count).await?;
        self.round
            .write(move |db, now| {
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

    /// Verifies and counts new subdomains of a domain.
    async fn add_subdomains(&mut self, subscriber: i64, root: String) -> Result<(), Stop> {
        let add = move |db: &mut Db, now| app::add_subdomains(db, subscriber, &root, now);
        for added in self.round.write(add).await? {
            self.count_one(added).await?;
        }
        Ok(())
    }

    async fn count_new(&mut self, domains: Vec<String>) -> Result<(), Stop> {
        let mut failures = Failures::default();
        for domain in domains {
            failures.note(self.count_one(domain).await)?;
        }
        failures.result()
    }

    /// Counts a domain for the first time, which doesn't post any notices.
    async fn count_one(&mut self, domain: String) -> Result<(), Stop> {
        let name = domain.clone();
        let count = self.round.read(move |db| app::count_now(db, &name)).await?;
        self.round.write(move |db, now| app::note_count(db, &domain, &count, now)).await
    }
}
