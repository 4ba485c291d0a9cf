//! Connection pools with a queue that waits without blocking a thread.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::connect::{Connector, Role};
use crate::lane::{Lane, Queue};
use crate::metrics::{self, Observed, PoolState};
use crate::off_worker::off_worker;
use crate::pulse::Pulse;
use crate::target::Target;
use crate::transaction::finish;
use crate::{Backend, DatabaseError, Db};

/// How long commands and jobs wait for a pooled connection.
const BLOCKING_WAIT: Duration = Duration::from_secs(30);

/// How long a request waits to start a long read. The reads ahead of it can take seconds.
const LONG_READ_WAIT: Duration = Duration::from_secs(4);

/// The connections of a service: many readers, and one writer (SQLite) or many (PostgreSQL). Long
/// reads have additional connections, half as many, so that they do not delay other reads.
///
/// Clones share the pools. Readers reject writes. An async caller waits at most `DB_WAIT_MS` and
/// then gets [`DatabaseError::Busy`]. The work runs on a blocking thread, and completes even if the
/// caller is dropped.
///
/// A PostgreSQL connection that broke while it was idle is replaced before use. When the server
/// stops responding, waiting async callers get [`DatabaseError::Busy`] within about three seconds,
/// and new ones immediately. The connections that are waiting for the server are abandoned, and
/// their transactions are rolled back. Only if the server stops during a COMMIT can a write take
/// effect although it was reported as failed.
#[derive(Clone)]
pub struct Pools {
    inner: Arc<Inner>,
}

struct Inner {
    connector: Connector,
    readers: Lane,
    /// The pool for long reads.
    long: Lane,
    writers: Lane,
    wait: Duration,
    pulse: Arc<Pulse>,
    /// Whether the last call of [`Pools::ready`] failed to reach the database.
    was_away: AtomicBool,
    /// The lock that a server holds on a SQLite file.
    server_lock: Mutex<Option<File>>,
}

impl Pools {
    pub(crate) fn new(connector: Connector, size: usize, wait: Duration) -> Self {
        let size = size.clamp(1, 1_000);
        let writers = if connector.target.backend() == Backend::Sqlite { 1 } else { size };
        let epoch = Arc::new(AtomicU64::new(0));
        let readers = Lane::new("read", &connector, Role::Reader, size, &epoch);
        let long = Lane::new("long", &connector, Role::Reader, (size / 2).max(1), &epoch);
        let writers = Lane::new("write", &connector, Role::Writer, writers, &epoch);
        let pulse = Pulse::new(connector.clone());
        let inner = Arc::new(Inner {
            connector,
            readers,
            long,
            writers,
            wait,
            pulse,
            was_away: AtomicBool::new(false),
            server_lock: Mutex::new(None),
        });
        let observed: Arc<dyn Observed> = inner.clone();
        metrics::watch(Arc::downgrade(&observed));
        Self { inner }
    }

    /// Returns the kind of database.
    pub fn backend(&self) -> Backend {
        self.inner.connector.target.backend()
    }

    /// Returns the file of a SQLite database, or `None` for PostgreSQL.
    pub fn file(&self) -> Option<&Path> {
        match &self.inner.connector.target {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        }
    }

    /// Registers a server on a SQLite file until the last clone of the pools is dropped. If another
    /// server or a load is already using the file, logs a warning and returns false.
    ///
    /// The lock is shared between servers, so a server that starts before another one ends holds it
    /// as well. A server that starts during a load gets the lock when the load ends. On a read-only
    /// disk the lock cannot be taken, but servers cannot interfere with each other there.
    pub fn register_server(&self) -> bool {
        let Some(lock) = self.server_file() else { return true };
        let is_alone = !matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
        if is_alone {
            // From now on, other servers may share the lock.
            let _ = lock.unlock();
        } else {
            let file = self.file().unwrap_or(Path::new("")).display();
            log::warn!(
                "another server or a load uses the database {file}: give each server its own DATA_DIR, or use \
                 PostgreSQL"
            );
        }
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let inner = Arc::downgrade(&self.inner);
                std::thread::spawn(move || {
                    if lock.lock_shared().is_ok()
                        && let Some(inner) = inner.upgrade()
                    {
                        *inner.server_lock.lock() = Some(lock);
                    }
                });
            }
            _ => *self.inner.server_lock.lock() = Some(lock),
        }
        is_alone
    }

    /// Takes the lock exclusively, which keeps it from servers until the returned file is dropped.
    /// Returns `None` if a server or another caller is using the database, and on PostgreSQL.
    pub fn lock_out_servers(&self) -> Option<File> {
        let lock = self.server_file()?;
        lock.try_lock().is_ok().then_some(lock)
    }

    /// Opens the file that servers on a SQLite database lock.
    fn server_file(&self) -> Option<File> {
        let path = self.file()?.with_added_extension("server");
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(path).ok()
    }

    /// Runs read-only queries, without a transaction.
    ///
    /// # Errors
    /// Returns the error of `work`, or [`DatabaseError::Busy`] if no connection was free in time.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.readers, None, self.inner.wait, run).await
    }

    /// Like [`read`](Self::read), for reads of many rows. They have their own connections and wait
    /// longer for them.
    ///
    /// # Errors
    /// Returns the error of `work`, or [`DatabaseError::Busy`] if no connection was free in time.
    pub async fn read_long<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.long, None, self.inner.wait.max(LONG_READ_WAIT), run).await
    }

    /// Runs `work` on a separate connection without limits. For background work of a server.
    ///
    /// # Errors
    /// Returns the error of `work`, or the errors of [`connect`](Self::connect).
    pub async fn read_apart<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let pools = self.clone();
        off_worker(move || work(&mut pools.connect()?)).await?
    }

    /// Runs `work` in a transaction that commits when it returns `Ok`.
    ///
    /// # Errors
    /// Returns the error of `work` after a rollback, or [`DatabaseError::Busy`] if the write lock
    /// or a connection was not free in time.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        self.write_as(None, work).await
    }

    /// Like [`write`](Self::write), for requests of a caller. Each caller uses one connection at a
    /// time, and waiting callers are served round robin, so that the requests of one caller do not
    /// delay all others.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub async fn write_as<T, E, F>(&self, caller: Option<&str>, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, is_abandoned: &AtomicBool| {
            queue.transaction(deadline, |db| {
                let value = work(db)?;
                // The caller has already received an error.
                match is_abandoned.load(Ordering::Relaxed) {
                    true => Err(DatabaseError::Busy.into()),
                    false => Ok(value),
                }
            })
        };
        self.in_turn(|inner| &inner.writers, caller, self.inner.wait, run).await
    }

    /// Waits for a turn in a lane and then runs blocking work. Fails as soon as PostgreSQL stops
    /// responding.
    async fn in_turn<T, E>(
        &self,
        lane: fn(&Inner) -> &Lane,
        caller: Option<&str>,
        wait: Duration,
        run: impl FnOnce(&Queue, Instant, &AtomicBool) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        let deadline = Instant::now() + wait;
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let working = {
            let (inner, is_abandoned) = (Arc::clone(&inner), Arc::clone(&is_abandoned));
            async move {
                inner.pulse.admit().await?;
                let queue = lane(&inner).queue();
                let turn = lane(&inner).turn(&queue, caller, deadline).await?;
                off_worker(move || {
                    let _turn = turn;
                    run(&queue, deadline, &is_abandoned)
                })
                .await?
            }
        };
        if self.backend() == Backend::Sqlite {
            return working.await;
        }
        tokio::select! {
            biased;
            done = working => done,
            () = inner.pulse.lost() => {
                is_abandoned.store(true, Ordering::Relaxed);
                inner.abandon_connections();
                Err(DatabaseError::Busy.into())
            }
        }
    }

    /// Like [`read`](Self::read), but blocks the calling thread. For commands and jobs.
    ///
    /// # Errors
    /// Returns the error of `work`, or [`DatabaseError::Busy`] if no connection was free in time.
    pub fn read_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        work(&mut self.inner.readers.queue().take(Instant::now() + BLOCKING_WAIT)?.db)
    }

    /// Like [`write`](Self::write), but blocks the calling thread. For commands and jobs.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn write_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        self.inner.writers.queue().transaction(Instant::now() + BLOCKING_WAIT, work)
    }

    /// Like [`write_blocking`](Self::write_blocking), for writes at every start, such as initial
    /// rows. If the database is read-only, logs a warning, skips the work and returns `None`.
    ///
    /// # Errors
    /// Returns the errors of [`write_blocking`](Self::write_blocking).
    pub fn write_at_start<T, E>(
        &self,
        work: impl FnOnce(&mut Db) -> Result<T, E>,
    ) -> Result<Option<T>, E>
    where
        E: From<DatabaseError>,
    {
        let queue = self.inner.writers.queue();
        match queue.begin(Instant::now() + BLOCKING_WAIT) {
            Ok(mut conn) => finish(&mut conn.db, work).map(Some),
            Err(DatabaseError::Storage(cause)) => {
                log::warn!(
                    "skipping the writes of the start, because the database is read-only: {cause}"
                );
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a connection outside of the pools, for a long job.
    ///
    /// Each statement is committed separately unless [`transaction`](crate::transaction()) groups
    /// them. There is no statement timeout. Waits for locks for up to a minute.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with one sentence for the operator.
    pub fn connect(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Job)
    }

    /// Opens a read-only connection outside of the pools, with the same lock timeout. For a thread
    /// that reads too often to use a pool.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with one sentence for the operator.
    pub fn connect_reader(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Reader)
    }

    /// Checks whether the database responds and can be written, for readiness checks. Uses a
    /// separate connection, so that busy pools do not affect the result.
    ///
    /// Writing is tried at most every five seconds: by creating a small file next to a SQLite
    /// database, and by a transaction after a request failed to write.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Busy`] if the database does not respond within two seconds, and
    /// [`DatabaseError::Storage`] if it cannot be written within another two seconds. The text of
    /// the error does not contain paths.
    pub async fn ready(&self) -> Result<(), DatabaseError> {
        let ready = self.inner.pulse.ready().await;
        if self.backend() == Backend::Sqlite {
            return ready;
        }
        if matches!(ready, Err(DatabaseError::Busy)) {
            self.inner.was_away.store(true, Ordering::Relaxed);
        } else if self.inner.was_away.swap(false, Ordering::Relaxed) {
            // After failed attempts, a pool pauses for up to two seconds. A new pool does not, so
            // that a service that reports ready can serve requests immediately.
            self.inner.renew();
        }
        ready
    }

    /// Makes [`ready`](Self::ready) also check another folder of the service. Errors refer to it as
    /// `name`.
    pub fn watch_folder(&self, name: &'static str, folder: &Path) {
        self.inner.pulse.writability().watch(name, folder);
    }
}

impl std::fmt::Debug for Pools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pools").field("target", &self.inner.connector.target).finish()
    }
}

impl Inner {
    /// Gives later requests new connections, because the current ones could wait for the server
    /// forever.
    fn abandon_connections(&self) {
        if self.pulse.note_hang() {
            log::error!("the database is not responding: requests fail until it recovers");
            self.renew();
        }
    }

    /// Makes later requests use new connections.
    fn renew(&self) {
        self.readers.renew();
        self.long.renew();
        self.writers.renew();
    }
}

impl Observed for Inner {
    fn states(&self) -> Vec<PoolState> {
        vec![self.readers.state(), self.long.state(), self.writers.state()]
    }
}
