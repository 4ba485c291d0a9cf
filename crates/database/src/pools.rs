//! Connection pools. Requests wait for a connection without blocking a thread.

use std::ffi::CStr;
use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::connect::{Connector, Role, server_error, with_network_limits};
use crate::displaced::{lock_path, record_inode, try_lock_alone};
use crate::lane::{Lane, Queue};
use crate::metrics::{self, Observed, PoolState};
use crate::off_worker::off_worker;
use crate::pulse::Pulse;
use crate::retry::{RETRY_LIMIT, retry_while_busy};
use crate::server_connection::ServerConnection;
use crate::target::Target;
use crate::transaction::finish;
use crate::{Backend, DatabaseError, Db, Migrations};

/// How long commands and jobs wait for a pooled connection.
const BLOCKING_WAIT: Duration = Duration::from_secs(30);

/// How long a request waits to start a long read. The reads ahead of it can take seconds.
const LONG_READ_WAIT: Duration = Duration::from_secs(4);

/// How long [`Pools::connect_server`] takes at most.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// A service's database connections. There are many readers, and either a single writer (SQLite) or
/// many (PostgreSQL). Long reads use a separate pool, half the size of the other one, so that they
/// don't delay other reads.
///
/// Clones share the pools. Readers reject writes. Async callers wait no longer than `DB_WAIT_MS`
/// before they get [`DatabaseError::Busy`]. Their work runs on a blocking thread, and completes
/// even if the caller is dropped.
///
/// A PostgreSQL connection that broke while idle is replaced before use. If the server stops
/// responding, async callers that are already waiting get [`DatabaseError::Busy`] within about
/// three seconds, and new ones right away. Connections stuck waiting for the server are abandoned,
/// and their transactions roll back. A write that was reported as failed can only take effect if
/// the server stopped during the COMMIT.
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
    /// Whether the database was unreachable in the last call to [`Pools::ready`].
    was_away: AtomicBool,
    renewals: AtomicU64,
    /// The lock that a server holds on its SQLite file.
    server_lock: Mutex<Option<File>>,
}

impl Pools {
    pub(crate) fn new(
        connector: Connector,
        migrations: &[&Migrations],
        size: usize,
        wait: Duration,
    ) -> Self {
        let size = size.clamp(1, 1_000);
        let writers = if connector.target.backend() == Backend::Sqlite { 1 } else { size };
        let epoch = Arc::new(AtomicU64::new(0));
        let readers = Lane::new("read", &connector, Role::Reader, size, &epoch);
        let long = Lane::new("long", &connector, Role::Reader, (size / 2).max(1), &epoch);
        let writers = Lane::new("write", &connector, Role::Writer, writers, &epoch);
        let pulse = Pulse::new(connector.clone(), migrations);
        let inner = Arc::new(Inner {
            connector,
            readers,
            long,
            writers,
            wait,
            pulse,
            was_away: AtomicBool::new(false),
            renewals: AtomicU64::new(0),
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

    /// Returns the path of the SQLite file, or `None` for PostgreSQL.
    pub fn file(&self) -> Option<&Path> {
        match &self.inner.connector.target {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        }
    }

    /// Marks the SQLite file as used by a server until the last clone of the pools is dropped. If
    /// another server or a load is already using the file, logs a warning and returns false.
    ///
    /// The lock is shared, so a server that starts before another one has stopped gets it as well.
    /// A server that starts during a load gets it once the load is done. On a read-only disk, the
    /// lock can't be taken, but isn't needed either because nothing is written.
    pub fn register_server(&self) -> bool {
        let Some(lock) = self.server_file() else { return true };
        let is_alone = !matches!(try_lock_alone(&lock), Err(TryLockError::WouldBlock));
        if is_alone {
            // Downgrade to a shared lock, so that other servers can take it, too.
            let _ = lock.unlock();
        } else {
            let file = self.file().unwrap_or(Path::new("")).display();
            log::warn!(
                "the database {file} is in use by another server or a load: give each server its \
                 own DATA_DIR, or use PostgreSQL"
            );
        }
        self.record_file(&lock);
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

    /// Takes the lock exclusively, which keeps servers out until the returned file is dropped.
    /// Returns `None` if a server or another caller is using the database, and also for PostgreSQL.
    pub fn lock_out_servers(&self) -> Option<File> {
        let lock = self.server_file()?;
        try_lock_alone(&lock).ok()?;
        self.record_file(&lock);
        Some(lock)
    }

    /// Records which file is in use, so that other processes refuse a file that replaces it.
    fn record_file(&self, lock: &File) {
        if let Some(inode) = self.inner.pulse.inode() {
            record_inode(lock, inode);
        }
    }

    /// Opens the lock file that servers use for a SQLite database.
    fn server_file(&self) -> Option<File> {
        let path = lock_path(self.file()?);
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(path).ok()
    }

    /// Runs read-only queries outside of a transaction.
    ///
    /// # Errors
    /// Returns the error from `work`, or [`DatabaseError::Busy`] if no connection was free in time.
    pub async fn read<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.readers, None, self.inner.wait, run).await
    }

    /// Like [`read`](Self::read), but for reading many rows. Such reads have separate connections,
    /// for which they wait longer.
    ///
    /// # Errors
    /// Returns the error from `work`, or [`DatabaseError::Busy`] if no connection was free in time.
    pub async fn read_long<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.long, None, self.inner.wait.max(LONG_READ_WAIT), run).await
    }

    /// Runs `work` on a separate connection without any timeouts, for background work in a server.
    ///
    /// # Errors
    /// Returns the error from `work`, or an error from [`connect`](Self::connect).
    pub async fn read_apart<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let pools = self.clone();
        off_worker(move || work(&mut pools.connect()?)).await?
    }

    /// Runs `work` in a transaction, which is committed if `work` returns `Ok`.
    ///
    /// # Errors
    /// Returns the error from `work` after a rollback, or [`DatabaseError::Busy`] if the write lock
    /// or a connection was not free in time.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        self.write_as(None, work).await
    }

    /// Like [`write`](Self::write), but on behalf of `caller`. Each caller gets one connection at a
    /// time and waiting callers are served round robin, so that a busy caller doesn't hold up
    /// everyone else.
    ///
    /// # Errors
    /// Returns the same errors as [`write`](Self::write).
    pub async fn write_as<T, E, F>(&self, caller: Option<&str>, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, is_abandoned: &AtomicBool| {
            queue.transaction(deadline, |db| {
                let value = work(db)?;
                // The caller has already got an error.
                match is_abandoned.load(Ordering::Relaxed) {
                    true => Err(DatabaseError::Busy.into()),
                    false => Ok(value),
                }
            })
        };
        self.in_turn(|inner| &inner.writers, caller, self.inner.wait, run).await
    }

    /// Like [`write`](Self::write), but for recurring jobs. If a long write keeps the database
    /// busy, this is retried for five seconds before it fails.
    ///
    /// # Errors
    /// Returns the same errors as [`write`](Self::write).
    pub async fn write_with_retries<T, E, F>(
        &self,
        is_busy: fn(&E) -> bool,
        work: F,
    ) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Clone + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        retry_while_busy(RETRY_LIMIT, is_busy, move || self.write(work.clone())).await
    }

    /// Waits for a turn and then runs blocking work. Fails as soon as PostgreSQL stops responding.
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

    /// Like [`read`](Self::read), but blocks the calling thread. For use in commands and jobs.
    ///
    /// # Errors
    /// Returns the error from `work`, or [`DatabaseError::Busy`] if no connection was free in time.
    pub fn read_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        work(&mut self.inner.readers.queue().take(Instant::now() + BLOCKING_WAIT)?.db)
    }

    /// Like [`write`](Self::write), but blocks the calling thread. For use in commands and jobs.
    ///
    /// # Errors
    /// Returns the same errors as [`write`](Self::write).
    pub fn write_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        self.inner.writers.queue().transaction(Instant::now() + BLOCKING_WAIT, work)
    }

    /// Like [`write_blocking`](Self::write_blocking), but for writes that happen at every start,
    /// such as seeding tables. If the database is read-only, logs a warning and returns `None`
    /// without doing anything.
    ///
    /// # Errors
    /// Returns the same errors as [`write_blocking`](Self::write_blocking).
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
                log::warn!("skipping startup writes, because the database is read-only: {cause}");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a connection outside of the pools, for a long-running job.
    ///
    /// Each statement is committed separately unless statements are grouped with
    /// [`transaction`](crate::transaction()). There is no statement timeout, and the lock timeout
    /// is a minute.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator.
    pub fn connect(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Job)
    }

    /// Opens a read-only connection outside of the pools, for threads that read so often that going
    /// through a pool would be too slow.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator.
    pub fn connect_reader(&self) -> Result<Db, DatabaseError> {
        self.inner.connector.connect(Role::Reader)
    }

    /// Returns how often the connections have been replaced because the database had been away.
    pub(crate) fn renewals(&self) -> u64 {
        self.inner.renewals.load(Ordering::Relaxed)
    }

    /// Opens a PostgreSQL connection that doesn't block, and prepares a query, which the server
    /// cancels after `limit`.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`], also for SQLite.
    pub(crate) fn connect_server(
        &self,
        query: &CStr,
        limit: Duration,
    ) -> Result<ServerConnection, DatabaseError> {
        let Target::Postgres(url) = &self.inner.connector.target else {
            return Err(DatabaseError::Setup("SQLite has no server".to_owned()));
        };
        let deadline = Instant::now() + CONNECT_LIMIT;
        let connected = ServerConnection::connect(&with_network_limits(url), deadline);
        let prepared = connected.and_then(|mut server| {
            server.prepare(query, limit, deadline)?;
            Ok(server)
        });
        prepared.map_err(|text| server_error(url, &text))
    }

    /// Checks for readiness, i.e. that the database responds, has its tables and is writable. Uses
    /// a separate connection, so that busy pools don't affect the result.
    ///
    /// A test write is done at most once every five seconds. On SQLite, this creates a small file
    /// next to the database. After a request has failed to write, a transaction is tried as well.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Busy`] if the database doesn't respond within two seconds,
    /// [`DatabaseError::Setup`] if its tables are missing or another file has replaced its SQLite
    /// file, and [`DatabaseError::Storage`] if it isn't writable within another two seconds. The
    /// message doesn't contain any paths.
    pub async fn ready(&self) -> Result<(), DatabaseError> {
        let ready = self.inner.pulse.ready().await;
        if self.backend() == Backend::Sqlite {
            return ready;
        }
        if matches!(ready, Err(DatabaseError::Busy)) {
            self.inner.was_away.store(true, Ordering::Relaxed);
        } else if self.inner.was_away.swap(false, Ordering::Relaxed) {
            // After failed attempts, a pool pauses for up to two seconds. A new pool doesn't, so
            // once we report that we are ready, requests can be served right away.
            self.inner.renew();
        }
        ready
    }

    /// Makes [`ready`](Self::ready) also check a folder of the service, which errors refer to as
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
    /// Gives later requests new connections, since the current ones might wait for the server
    /// forever.
    fn abandon_connections(&self) {
        if self.pulse.note_hang() {
            log::error!("the database is not responding: requests fail until it recovers");
            self.renew();
        }
    }

    /// Makes later requests use new connections.
    fn renew(&self) {
        self.renewals.fetch_add(1, Ordering::Relaxed);
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
