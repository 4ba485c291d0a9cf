//! A long-running round of work, reserved for the replica that holds a lease.

use std::time::Duration;

use database::{DatabaseError, Db};

use crate::error::Error;
use crate::state::State;
use crate::store::lease::Lease;

/// Seconds until the lease expires if it isn't renewed.
const LEASE_SECONDS: i64 = 300;
/// Time between renewals of the lease during a long read.
const RENEW_EVERY: Duration = Duration::from_secs(60);
/// End the round after this many failures in a row.
const MAX_FAILURES: usize = 5;

/// The reason a step of a round failed.
pub enum Stop {
    /// Another replica has taken the lease.
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

/// A round of work. Every transaction starts by renewing the lease, so a slow replica can't
/// overwrite newer data written by another one.
pub struct LeasedRound {
    state: State,
    lease: Lease,
}

impl LeasedRound {
    /// Takes a lease and starts a round. Returns `None` if another replica has the lease.
    ///
    /// # Errors
    /// Returns an error if a query fails.
    pub async fn begin(state: &State, key: &'static str) -> Result<Option<Self>, Error> {
        let now = state.clock().unix();
        let take = move |db: &mut Db| Lease::take(db, key, now, LEASE_SECONDS);
        let lease = state.pools().write(take).await?;
        Ok(lease.map(|lease| Self { state: state.clone(), lease }))
    }

    /// Returns the server state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Releases the lease. If it was still ours, runs `finish` in the same transaction and returns
    /// `true`.
    ///
    /// # Errors
    /// Returns an error if a query fails.
    pub async fn end(
        self,
        finish: impl FnOnce(&mut Db) -> Result<(), DatabaseError> + Send + 'static,
    ) -> Result<bool, DatabaseError> {
        let lease = self.lease;
        let release = move |db: &mut Db| -> Result<bool, DatabaseError> {
            let is_held = lease.release(db)?;
            if is_held {
                finish(db)?;
            }
            Ok(is_held)
        };
        self.state.pools().write(release).await
    }

    /// Runs a long read, renewing the lease as needed.
    pub async fn read<T, E>(
        &mut self,
        read: impl FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Stop>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Into<Error> + Send + 'static,
    {
        let pools = self.state.pools().clone();
        let mut reading = std::pin::pin!(pools.read_apart(read));
        loop {
            tokio::select! {
                done = &mut reading => return Ok(done.map_err(Into::into)?),
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

    /// Renews the lease, then runs `work` in the same transaction.
    pub async fn write<T, E>(
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

/// Keeps track of failures in a round. If a single domain fails, the round continues with the
/// others, but not if the database is down.
#[derive(Default)]
pub struct Failures {
    first: Option<Error>,
    in_a_row: usize,
}

impl Failures {
    /// Records the outcome of a step.
    ///
    /// # Errors
    /// Returns the failure if it ends the round.
    pub fn note(&mut self, done: Result<(), Stop>) -> Result<(), Stop> {
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

    /// Finishes the round.
    ///
    /// # Errors
    /// Returns the first failure, if any.
    pub fn result(self) -> Result<(), Stop> {
        self.first.map_or(Ok(()), |error| Err(Stop::Failed(error)))
    }
}
