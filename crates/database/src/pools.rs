//! Pools of connections, with a queue in front that waits without a thread.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use diesel::r2d2::R2D2Connection;
use r2d2::PooledConnection;
use tokio::sync::Semaphore;

use crate::connect::{Connector, LogAttempts, Manager, Role, is_alive};
use crate::metrics::{self, Observed, PoolMetrics, PoolState};
use crate::off_worker::off_worker;
use crate::transaction::{begin, finish};
use crate::{Backend, DatabaseError, Db};

/// How long commands and jobs wait for a pooled connection: they have nobody to answer at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// The connections of one service: many readers, and one writer (SQLite) or many (PostgreSQL).
///
/// A clone is another handle to the same pools. Readers refuse to write. An async caller waits for
/// its turn at most `DB_WAIT_MS` and then gets [`DatabaseError::Busy`]; the work itself runs on
/// a blocking thread, and goes on to its end when the caller is dropped meanwhile.
///
/// A PostgreSQL connection that broke while it lay idle is replaced before the work sees it.
#[derive(Clone)]
pub struct Pools {
    inner: Arc<Inner>,
}

struct Inner {
    connector: Connector,
    readers: Lane,
    writers: Lane,
    wait: Duration,
}

/// One pool and the queue in front of it.
struct Lane {
    pool: r2d2::Pool<Manager>,
    metrics: PoolMetrics,
    turns: Arc<Semaphore>,
    epoch: Arc<AtomicU64>,
}

impl Pools {
    pub(crate) fn new(connector: Connector, size: usize, wait: Duration) -> Self {
        let size = size.clamp(1, 1_000);
        let writers = if connector.target.backend() == Backend::Sqlite { 1 } else { size };
        let epoch = Arc::new(AtomicU64::new(0));
        let readers = Lane::new(&connector, Role::Reader, size, &epoch);
        let writers = Lane::new(&connector, Role::Writer, writers, &epoch);
        let inner = Arc::new(Inner { connector, readers, writers, wait });
        let observed: Arc<dyn Observed> = inner.clone();
        metrics::watch(Arc::downgrade(&observed));
        Self { inner }
    }

    /// The kind of database.
    pub fn backend(&self) -> Backend {
        self.inner.connector.target.backend()
    }

    /// Runs queries that only read, without a transaction.
    ///
    /// # Errors
    /// What `work` returns; [`DatabaseError::Busy`] when no connection came free in time.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |lane: &Lane, deadline| work(&mut lane.take(deadline)?.db);
        self.in_turn(|inner| &inner.readers, run).await
    }

    /// Runs `work` in a transaction that commits when it returns `Ok`.
    ///
    /// # Errors
    /// What `work` returns, after a rollback; [`DatabaseError::Busy`] when the write lock or
    /// a connection did not come free in time.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        self.in_turn(|inner| &inner.writers, |lane, deadline| lane.transaction(deadline, work))
            .await
    }

    /// Waits for a turn in a lane, then runs blocking work with it.
    async fn in_turn<T, E>(
        &self,
        lane: fn(&Inner) -> &Lane,
        run: impl FnOnce(&Lane, Instant) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        let deadline = Instant::now() + inner.wait;
        let turn = lane(&inner).turn(deadline).await?;
        off_worker(move || {
            let _turn = turn;
            run(lane(&inner), deadline)
        })
        .await?
    }

    /// The same as [`read`](Self::read) for commands and jobs: waits on the calling thread.
    ///
    /// # Errors
    /// What `work` returns; [`DatabaseError::Busy`] when no connection came free in time.
    pub fn read_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        work(&mut self.inner.readers.take(Instant::now() + PATIENCE)?.db)
    }

    /// The same as [`write`](Self::write) for commands and jobs: waits on the calling thread.
    ///
    /// # Errors
    /// What `work` returns, after a rollback; [`DatabaseError::Busy`] as with [`write`](Self::write).
    pub fn write_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        self.inner.writers.transaction(Instant::now() + PATIENCE, work)
    }

    /// Opens a connection outside the pools, for a job that takes long.
    ///
    /// It commits each statement by itself unless [`transaction`](crate::transaction()) groups them,
    /// has no statement timeout and waits for locks up to a minute.
    ///
    /// # Errors
    /// [`DatabaseError::Setup`] with one sentence for the operator.
    pub fn connect(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Job)
    }

    /// Opens a connection outside the pools that refuses to write and waits for locks no longer than
    /// those in them, for a thread that reads too often to take turns.
    ///
    /// # Errors
    /// [`DatabaseError::Setup`] with one sentence for the operator.
    pub fn connect_reader(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Reader)
    }

    /// Asks the database for a sign of life, for readiness checks.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] when it gives none in time.
    pub async fn ping(&self) -> Result<(), DatabaseError> {
        self.read(|db| Ok(db.ping()?)).await
    }
}

impl std::fmt::Debug for Pools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pools").field("target", &self.inner.connector.target).finish()
    }
}

impl Observed for Inner {
    fn states(&self) -> Vec<PoolState> {
        let lanes = [&self.readers, &self.writers];
        let states = lanes.map(|lane| {
            let (name, size, state) = (lane.metrics.name, lane.pool.max_size(), lane.pool.state());
            let in_use = state.connections.saturating_sub(state.idle_connections);
            PoolState { name, size, open: state.connections, in_use }
        });
        states.into()
    }
}

impl Lane {
    fn new(connector: &Connector, role: Role, size: usize, epoch: &Arc<AtomicU64>) -> Self {
        let manager = Manager::new(connector.clone(), role, Arc::clone(epoch));
        let keep = connector.target.backend() == Backend::Sqlite;
        let idle = (!keep).then(|| Duration::from_secs(600));
        let age = (!keep).then(|| Duration::from_secs(3_600));
        // The timeout also spaces the attempts while a server is away: at most half of it.
        let pool = r2d2::Pool::builder()
            .max_size(u32::try_from(size).unwrap_or(u32::MAX))
            .min_idle(Some(0))
            .idle_timeout(idle)
            .max_lifetime(age)
            .connection_timeout(Duration::from_secs(4))
            .test_on_check_out(false)
            .error_handler(Box::new(LogAttempts))
            .build_unchecked(manager);
        let metrics = PoolMetrics::new(if role == Role::Reader { "read" } else { "write" });
        Self { pool, metrics, turns: Arc::new(Semaphore::new(size)), epoch: Arc::clone(epoch) }
    }

    async fn turn(
        &self,
        deadline: Instant,
    ) -> Result<tokio::sync::OwnedSemaphorePermit, DatabaseError> {
        let turns = Arc::clone(&self.turns);
        if let Ok(turn) = Arc::clone(&turns).try_acquire_owned() {
            return Ok(turn);
        }
        let _waiting = self.metrics.wait();
        match tokio::time::timeout_at(deadline.into(), turns.acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => {
                self.metrics.count_timeout();
                Err(DatabaseError::Busy)
            }
        }
    }

    /// Takes a living connection from the pool; dead ones are dropped on the way.
    fn take(&self, deadline: Instant) -> Result<PooledConnection<Manager>, DatabaseError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut conn = self.pool.get_timeout(left).map_err(|_| DatabaseError::Busy)?;
            if is_alive(&mut conn, &self.epoch) {
                return Ok(conn);
            }
        }
    }

    /// Runs a writing transaction; one that cannot even begin because the connection broke gets
    /// a second connection.
    fn transaction<T, E>(
        &self,
        deadline: Instant,
        work: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        let mut conn = self.take(deadline)?;
        if let Err(error) = begin(&mut conn.db) {
            if !conn.db.is_broken() {
                return Err(DatabaseError::from(error).into());
            }
            drop(conn);
            conn = self.take(deadline)?;
            begin(&mut conn.db).map_err(DatabaseError::from)?;
        }
        finish(&mut conn.db, work)
    }
}
