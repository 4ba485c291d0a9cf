//! A connection pool and the queue of requests that are waiting for it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use diesel::r2d2::R2D2Connection;
use parking_lot::RwLock;
use r2d2::PooledConnection;

use crate::connect::{Connector, LogAttempts, Manager, Role, is_alive};
use crate::fair_turns::{FairTurns, Turn};
use crate::metrics::{PoolMetrics, PoolState};
use crate::transaction::{begin, finish};
use crate::{Backend, DatabaseError, Db};

/// The connections for one role, such as readers.
pub(crate) struct Lane {
    connector: Connector,
    role: Role,
    size: usize,
    epoch: Arc<AtomicU64>,
    metrics: PoolMetrics,
    queue: RwLock<Arc<Queue>>,
}

/// A connection pool, and the turns for using it.
pub(crate) struct Queue {
    pool: r2d2::Pool<Manager>,
    turns: Arc<FairTurns>,
    epoch: Arc<AtomicU64>,
}

impl Lane {
    pub fn new(
        name: &'static str,
        connector: &Connector,
        role: Role,
        size: usize,
        epoch: &Arc<AtomicU64>,
    ) -> Self {
        let metrics = PoolMetrics::new(name);
        let queue = RwLock::new(Arc::new(Queue::new(connector, role, size, epoch)));
        let (connector, epoch) = (connector.clone(), Arc::clone(epoch));
        Self { connector, role, size, epoch, metrics, queue }
    }

    /// Returns the queue for new requests.
    pub fn queue(&self) -> Arc<Queue> {
        Arc::clone(&self.queue.read())
    }

    /// Replaces the queue. Connections from the old queue are closed once they are no longer in
    /// use.
    pub fn renew(&self) {
        let queue = Arc::new(Queue::new(&self.connector, self.role, self.size, &self.epoch));
        let mut present = self.queue.write();
        let old = std::mem::replace(&mut *present, queue);
        drop(present);
        // Closing a connection writes to the network, so do it on another thread. If that thread
        // can't be started, the connections are closed right here.
        let _ = std::thread::Builder::new().spawn(move || drop(old));
    }

    /// Returns the current state of the pool.
    pub fn state(&self) -> PoolState {
        let queue = self.queue();
        let (name, size, state) = (self.metrics.name, queue.pool.max_size(), queue.pool.state());
        let in_use = state.connections.saturating_sub(state.idle_connections);
        PoolState { name, size, open: state.connections, in_use }
    }

    /// Waits for a turn. Callers are served round robin.
    pub async fn turn(
        &self,
        queue: &Queue,
        caller: Option<&str>,
        deadline: Instant,
    ) -> Result<Turn, DatabaseError> {
        if let Some(turn) = queue.turns.try_take(caller) {
            return Ok(turn);
        }
        let _waiting = self.metrics.wait();
        let turn = tokio::time::timeout_at(deadline.into(), queue.turns.take(caller)).await;
        turn.map_err(|_| {
            self.metrics.count_timeout();
            DatabaseError::Busy
        })
    }
}

impl Queue {
    fn new(connector: &Connector, role: Role, size: usize, epoch: &Arc<AtomicU64>) -> Self {
        let manager = Manager::new(connector.clone(), role, Arc::clone(epoch));
        let keep = connector.target.backend() == Backend::Sqlite;
        let idle = (!keep).then(|| Duration::from_secs(600));
        let age = (!keep).then(|| Duration::from_secs(3_600));
        // While a server is unavailable, r2d2 pauses for up to half of this timeout between
        // attempts.
        let pool = r2d2::Pool::builder()
            .max_size(u32::try_from(size).unwrap_or(u32::MAX))
            .min_idle(Some(0))
            .idle_timeout(idle)
            .max_lifetime(age)
            .connection_timeout(Duration::from_secs(4))
            .test_on_check_out(false)
            .error_handler(Box::new(LogAttempts))
            .build_unchecked(manager);
        Self { pool, turns: FairTurns::new(size), epoch: Arc::clone(epoch) }
    }

    /// Takes a usable connection from the pool, dropping any that are broken.
    pub fn take(&self, deadline: Instant) -> Result<PooledConnection<Manager>, DatabaseError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut conn = self.pool.get_timeout(left).map_err(|_| DatabaseError::Busy)?;
            if is_alive(&mut conn, &self.epoch) {
                return Ok(conn);
            }
        }
    }

    /// Runs a write transaction.
    pub fn transaction<T, E>(
        &self,
        deadline: Instant,
        work: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        finish(&mut self.begin(deadline)?.db, work)
    }

    /// Takes a connection and begins a write transaction. If the connection turns out to be broken,
    /// this is retried once with another one.
    pub fn begin(&self, deadline: Instant) -> Result<PooledConnection<Manager>, DatabaseError> {
        let mut conn = self.take(deadline)?;
        let Err(error) = begin(&mut conn.db) else { return Ok(conn) };
        if !conn.db.is_broken() {
            return Err(error.into());
        }
        drop(conn);
        let mut conn = self.take(deadline)?;
        begin(&mut conn.db)?;
        Ok(conn)
    }
}
