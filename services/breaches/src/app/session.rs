//! One database access per request.
//!
//! On SQLite, reads that are too short for a change of threads use a read-only connection of the
//! worker thread. Requests that are ready together share a read transaction, because SQLite locks
//! its file for each transaction and one more statement checks whether the cached keys are valid.
//! The transaction ends before the thread looks for further requests, so that these see all commits
//! until then.

use std::cell::RefCell;
use std::sync::Arc;

use database::{Backend, DatabaseError, Db};
use futures_util::FutureExt;
use futures_util::future::ready;

use crate::error::Error;
use crate::state::State;
use crate::store::account_runs::RunView;
use crate::store::key_holders::KnownKeys;

/// A connection for the work of one request, with its cached keys.
pub struct Session<'s> {
    /// The connection.
    pub db: &'s mut Db,
    /// Keys cached by this connection.
    pub known_keys: Option<&'s mut KnownKeys>,
    /// The runs of its transaction, if it has one.
    pub runs: Option<Arc<RunView>>,
}

/// Runs all database work of a request on one connection.
///
/// `short` work, a few point reads, stays on the worker thread if the database is SQLite, because a
/// change of threads costs more than the reads. PostgreSQL never blocks a worker. Work on the
/// worker thread is finished when this function returns, before the future is awaited.
///
/// # Errors
/// Returns errors of `work`, or an error if no connection is available.
pub fn with_connection<T: Send + 'static, W>(
    state: &State,
    short: bool,
    work: W,
) -> impl Future<Output = Result<T, Error>> + use<T, W>
where
    W: FnOnce(Session<'_>) -> Result<T, Error> + Send + 'static,
{
    if short && state.pools().backend() == Backend::Sqlite {
        return ready(on_worker(state, work)).left_future();
    }
    let pools = state.pools().clone();
    // Boxed; otherwise the future of every request would have its size.
    let read =
        async move { pools.read(|db| work(Session { db, known_keys: None, runs: None })).await };
    Box::pin(read).right_future()
}

/// The connection of a worker thread.
struct WorkerConnection {
    /// The state that it belongs to.
    state: u64,
    db: Db,
    known_keys: KnownKeys,
    /// The runs of its transaction; `None` before the first one.
    runs: Option<Arc<RunView>>,
    /// True while a read transaction is open.
    open: bool,
}

thread_local! {
    static CONNECTION: RefCell<Option<Box<WorkerConnection>>> = const { RefCell::new(None) };
}

fn on_worker<T>(
    state: &State,
    work: impl FnOnce(Session<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let own = CONNECTION.with_borrow_mut(Option::take).filter(|own| own.state == state.id());
    let mut own = match own {
        Some(own) => own,
        None => Box::new(WorkerConnection {
            state: state.id(),
            db: state.pools().connect_reader()?,
            known_keys: KnownKeys::default(),
            runs: None,
            open: false,
        }),
    };
    own.begin(state)?;
    let runs = own.runs.clone();
    let result = work(Session { db: &mut own.db, known_keys: Some(&mut own.known_keys), runs });
    CONNECTION.set(Some(own));
    result
}

impl WorkerConnection {
    fn begin(&mut self, state: &State) -> Result<(), DatabaseError> {
        if self.open {
            return Ok(());
        }
        database::begin_reading(&mut self.db)?;
        let changed = self.known_keys.renew(&mut self.db)?;
        if changed || self.runs.is_none() {
            self.runs = Some(Arc::new(RunView::read(&mut self.db, state.run_filters())?));
        }
        self.open = true;
        // Runs after the requests that are ready now and before later ones.
        tokio::task::spawn_local(async { end() });
        Ok(())
    }
}

/// Ends the read transaction. The connection is closed if that fails.
fn end() {
    CONNECTION.with_borrow_mut(|own| {
        let Some(connection) = own.as_mut().filter(|connection| connection.open) else { return };
        connection.open = false;
        if let Err(error) = database::end_reading(&mut connection.db) {
            log::warn!("the read transaction of a worker could not be ended: {error}");
            *own = None;
        }
    });
}

#[cfg(test)]
mod tests {
    use domain::SystemClock;
    use testkit::Database;

    use super::*;
    use crate::config::Settings;
    use crate::external::External;
    use crate::store::{MIGRATIONS, versions};

    #[actix_web::test]
    async fn reads_of_one_turn_share_a_snapshot_and_later_turns_see_new_commits() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        if pools.backend() == Backend::Postgres {
            return;
        }
        let (clock, settings) = (SystemClock::shared(), Settings::for_tests());
        let external = External::unavailable().unwrap();
        let state = State::new(pools.clone(), clock, settings, external).unwrap();
        let version =
            || on_worker(&state, |session| Ok(versions::current(session.db)?.catalogue)).unwrap();
        for round in 1..=3 {
            let before = version();
            pools.write_blocking(|db| versions::bump_catalogue(db, round)).unwrap();
            assert_eq!(version(), before);
            // A search without a result is an error and does not end the transaction.
            assert!(on_worker(&state, |_| Err::<(), _>(Error::NotFound)).is_err());
            assert_eq!(version(), before);
            tokio::task::yield_now().await;
            assert_eq!(version(), before + 1);
            tokio::task::yield_now().await;
        }
    }
}
