//! Pools of connections, with a queue that waits without blocking a thread.

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

/// How long a request waits to start a long read, because those before it take seconds.
const LONG_READ_WAIT: Duration = Duration::from_secs(4);

/// The connections of one service: many readers, and one writer (SQLite) or many (PostgreSQL). Long
/// reads have half as many additional connections, so they do not delay others.
///
/// Clones share the pools. Readers refuse to write. An async caller waits at most `DB_WAIT_MS` and
/// then gets [`DatabaseError::Busy`]. The work runs on a blocking thread, and completes even if the
/// caller is dropped.
///
/// A PostgreSQL connection that broke while it was idle is replaced before use. When the server
/// stops answering, waiting async callers get [`DatabaseError::Busy`] within about three seconds,
/// and new ones immediately. The connections that wait for the server are abandoned, and their
/// transactions roll back. Only if the server stops during a COMMIT, a write that was reported as
/// failed may have been made.
#[derive(Clone)]
pub struct Pools {
    inner: Arc<Inner>,
}

struct Inner {
    connector: Connector,
    readers: Lane,
    /// For long reads.
    long: Lane,
    writers: Lane,
    wait: Duration,
    pulse: Arc<Pulse>,
    /// Whether the last call of [`Pools::ready`] found no database.
    was_away: AtomicBool,
    /// The lock of a server on a SQLite file.
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

    /// The file of a SQLite database.
    pub fn file(&self) -> Option<&Path> {
        match &self.inner.connector.target {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        }
    }

    /// Registers a server on a SQLite file until the last clone of the pools is dropped. If another server
    /// or a load already uses the file, logs a warning and returns false.
    ///
    /// Servers share a lock, so one that starts before another ends holds it as well. A server that starts
    /// during a load gets it when the load ends. On a read-only disk there is no lock, and nothing that
    /// servers could do to each other.
    pub fn register_server(&self) -> bool {
        let Some(lock) = self.server_file() else { return true };
        let is_alone = !matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
        if is_alone {
            // Others may share the lock from now on.
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

    /// Takes the lock of servers on a SQLite file, until the file is dropped. `None` if a server or another
    /// caller uses the database, and on PostgreSQL.
    pub fn lock_out_servers(&self) -> Option<File> {
        let lock = self.server_file()?;
        lock.try_lock().is_ok().then_some(lock)
    }

    /// Opens the file that servers on a SQLite file lock.
    fn server_file(&self) -> Option<File> {
        let path = self.file()?.with_added_extension("server");
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(path).ok()
    }

    /// Runs queries that only read, without a transaction.
    ///
    /// # Errors
    /// The error of `work`; [`DatabaseError::Busy`] if no connection was free in time.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.readers, None, self.inner.wait, run).await
    }

    /// Like [`read`](Self::read), for reads of many rows. They have their own connections, for which they
    /// wait longer.
    ///
    /// # Errors
    /// The error of `work`; [`DatabaseError::Busy`] if no connection was free in time.
    pub async fn read_long<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.long, None, self.inner.wait.max(LONG_READ_WAIT), run).await
    }

    /// Runs `work` on a connection of its own, without limits. For background work of a server.
    ///
    /// # Errors
    /// The error of `work`; those of [`connect`](Self::connect).
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
    /// The error of `work`, after a rollback; [`DatabaseError::Busy`] if the write lock or a connection was
    /// not free in time.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        self.write_as(None, work).await
    }

    /// Like [`write`](Self::write), for requests of a caller. Callers take turns and have one connection
    /// each, so the requests of one caller do not delay all others.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub async fn write_as<T, E, F>(&self, caller: Option<&str>, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, is_abandoned: &AtomicBool| {
            queue.transaction(deadline, |db| {
                let value = work(db)?;
                // The caller got an error already.
                match is_abandoned.load(Ordering::Relaxed) {
                    true => Err(DatabaseError::Busy.into()),
                    false => Ok(value),
                }
            })
        };
        self.in_turn(|inner| &inner.writers, caller, self.inner.wait, run).await
    }

    /// Waits for a permit of a lane, then runs blocking work, as long as the database answers.
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

    /// Like [`read`](Self::read), for commands and jobs. Blocks the calling thread.
    ///
    /// # Errors
    /// The error of `work`; [`DatabaseError::Busy`] if no connection was free in time.
    pub fn read_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        work(&mut self.inner.readers.queue().take(Instant::now() + BLOCKING_WAIT)?.db)
    }

    /// Like [`write`](Self::write), for commands and jobs. Blocks the calling thread.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn write_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        self.inner.writers.queue().transaction(Instant::now() + BLOCKING_WAIT, work)
    }

    /// Like [`write_blocking`](Self::write_blocking), for writes of each start, such as initial rows. On a
    /// read-only database it logs a warning, skips the work and returns `None`.
    ///
    /// # Errors
    /// Those of [`write_blocking`](Self::write_blocking).
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
    /// Each statement commits unless [`transaction`](crate::transaction()) groups them. There is no
    /// statement timeout. Waits for locks up to a minute.
    ///
    /// # Errors
    /// [`DatabaseError::Setup`] with one sentence for the operator.
    pub fn connect(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Job)
    }

    /// Opens a read-only connection outside of the pools with their lock timeout, for a thread that reads
    /// too often to use a pool.
    ///
    /// # Errors
    /// [`DatabaseError::Setup`] with one sentence for the operator.
    pub fn connect_reader(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Reader)
    }

    /// Checks whether the database answers and can be written, for readiness checks. Uses a
    /// connection of its own, so busy pools do not matter.
    ///
    /// Writing is tried at most every five seconds: with a small file next to a SQLite database,
    /// and with a transaction after a request failed to write.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] without an answer within two seconds; [`DatabaseError::Storage`] if
    /// it cannot be written within two more seconds, with a text without paths.
    pub async fn ready(&self) -> Result<(), DatabaseError> {
        let ready = self.inner.pulse.ready().await;
        if self.backend() == Backend::Sqlite {
            return ready;
        }
        if matches!(ready, Err(DatabaseError::Busy)) {
            self.inner.was_away.store(true, Ordering::Relaxed);
        } else if self.inner.was_away.swap(false, Ordering::Relaxed) {
            // A pool pauses up to two seconds after failed attempts. A new pool does not, so a
            // ready service serves requests.
            self.inner.renew();
        }
        ready
    }

    /// Makes [`ready`](Self::ready) check another folder of the service, called `name` in errors.
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
    /// Gives later requests new connections, because the present ones can wait for the server forever.
    fn abandon_connections(&self) {
        if self.pulse.note_hang() {
            log::error!("the database is not responding: requests fail until it recovers");
            self.renew();
        }
    }

    /// Gives later requests new connections.
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
