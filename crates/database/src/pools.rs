//! Pools of connections, with a queue in front that waits without a thread.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::connect::{Connector, Role};
use crate::lane::{Lane, Queue};
use crate::metrics::{self, Observed, PoolState};
use crate::off_worker::off_worker;
use crate::pulse::Pulse;
use crate::target::Target;
use crate::transaction::finish;
use crate::{Backend, DatabaseError, Db};

/// How long commands and jobs wait for a pooled connection: they have nobody to answer at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a request waits for its turn to read for long: the reads before it take seconds.
const LONG_PATIENCE: Duration = Duration::from_secs(4);

/// The connections of one service: many readers, and one writer (SQLite) or many (PostgreSQL).
/// Half as many connections again are for reads that take long, which thus never keep others waiting.
///
/// A clone is another handle to the same pools. Readers refuse to write. An async caller waits for
/// its turn at most `DB_WAIT_MS` and then gets [`DatabaseError::Busy`]; the work itself runs on
/// a blocking thread, and goes on to its end when the caller is dropped meanwhile.
///
/// A PostgreSQL connection that broke while it lay idle is replaced before the work sees it. When the
/// server stops answering, async callers get [`DatabaseError::Busy`] within about three seconds, and
/// new ones at once; connections that wait for it are left behind, and their transactions roll back. Only a server that
/// stops during a COMMIT may still have made a write that was refused.
#[derive(Clone)]
pub struct Pools {
    inner: Arc<Inner>,
}

struct Inner {
    connector: Connector,
    readers: Lane,
    /// For reads that take long.
    long: Lane,
    writers: Lane,
    wait: Duration,
    pulse: Arc<Pulse>,
    /// Whether the last look of [`Pools::ready`] found no database.
    was_away: AtomicBool,
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
        });
        let observed: Arc<dyn Observed> = inner.clone();
        metrics::watch(Arc::downgrade(&observed));
        Self { inner }
    }

    /// The kind of database.
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
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.readers, self.inner.wait, run).await
    }

    /// The same as [`read`](Self::read) for walks over many rows. They take turns among themselves, for
    /// which they wait longer, and leave the connections of all other reads alone.
    ///
    /// # Errors
    /// What `work` returns; [`DatabaseError::Busy`] when no connection came free in time.
    pub async fn read_long<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, _: &AtomicBool| work(&mut queue.take(deadline)?.db);
        self.in_turn(|inner| &inner.long, self.inner.wait.max(LONG_PATIENCE), run).await
    }

    /// Runs `work` on a connection of its own, for what a server does beside its requests and takes as long
    /// as it takes: nobody waits for it, and it waits for nobody.
    ///
    /// # Errors
    /// What `work` returns; those of [`connect`](Self::connect).
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
    /// What `work` returns, after a rollback; [`DatabaseError::Busy`] when the write lock or
    /// a connection did not come free in time.
    pub async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&mut Db) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let run = |queue: &Queue, deadline, left_behind: &AtomicBool| {
            queue.transaction(deadline, |db| {
                let value = work(db)?;
                // The caller was told that this failed.
                match left_behind.load(Ordering::Relaxed) {
                    true => Err(DatabaseError::Busy.into()),
                    false => Ok(value),
                }
            })
        };
        self.in_turn(|inner| &inner.writers, self.inner.wait, run).await
    }

    /// Waits for a turn in a lane, then runs blocking work with it, as long as the database answers.
    async fn in_turn<T, E>(
        &self,
        lane: fn(&Inner) -> &Lane,
        wait: Duration,
        run: impl FnOnce(&Queue, Instant, &AtomicBool) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        let deadline = Instant::now() + wait;
        let left_behind = Arc::new(AtomicBool::new(false));
        let working = {
            let (inner, left_behind) = (Arc::clone(&inner), Arc::clone(&left_behind));
            async move {
                inner.pulse.admit().await?;
                let queue = lane(&inner).queue();
                let turn = lane(&inner).turn(&queue, deadline).await?;
                off_worker(move || {
                    let _turn = turn;
                    run(&queue, deadline, &left_behind)
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
                left_behind.store(true, Ordering::Relaxed);
                inner.leave_behind();
                Err(DatabaseError::Busy.into())
            }
        }
    }

    /// The same as [`read`](Self::read) for commands and jobs: waits on the calling thread.
    ///
    /// # Errors
    /// What `work` returns; [`DatabaseError::Busy`] when no connection came free in time.
    pub fn read_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        work(&mut self.inner.readers.queue().take(Instant::now() + PATIENCE)?.db)
    }

    /// The same as [`write`](Self::write) for commands and jobs: waits on the calling thread.
    ///
    /// # Errors
    /// What `work` returns, after a rollback; [`DatabaseError::Busy`] as with [`write`](Self::write).
    pub fn write_blocking<T, E>(&self, work: impl FnOnce(&mut Db) -> Result<T, E>) -> Result<T, E>
    where
        E: From<DatabaseError>,
    {
        self.inner.writers.queue().transaction(Instant::now() + PATIENCE, work)
    }

    /// The same as [`write_blocking`](Self::write_blocking) for what each start makes sure of, such as
    /// the first rows. A database that is read-only is served as it is: the work is left out, which is
    /// logged, and the result is none.
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
        match queue.begin(Instant::now() + PATIENCE) {
            Ok(mut conn) => finish(&mut conn.db, work).map(Some),
            Err(DatabaseError::Storage(cause)) => {
                log::warn!("the start writes nothing, because the database is read-only: {cause}");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
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

    /// Whether the database answers and can be written, for readiness checks. They have a connection of
    /// their own, so that requests which use up the pools do not matter.
    ///
    /// Writing is tried at most every five seconds, by a small file beside a SQLite database, and by
    /// a transaction after a request could not write.
    ///
    /// # Errors
    /// [`DatabaseError::Busy`] when no answer comes within two seconds; [`DatabaseError::Storage`]
    /// when it cannot be written within two more, with a text that names no path.
    pub async fn ready(&self) -> Result<(), DatabaseError> {
        let ready = self.inner.pulse.ready().await;
        if self.backend() == Backend::Sqlite {
            return ready;
        }
        if matches!(ready, Err(DatabaseError::Busy)) {
            self.inner.was_away.store(true, Ordering::Relaxed);
        } else if self.inner.was_away.swap(false, Ordering::Relaxed) {
            // A pool whose attempts failed pauses up to two seconds before the next one; a new pool does
            // not, so that a service which says that it is ready serves.
            self.inner.renew();
        }
        ready
    }

    /// Has [`ready`](Self::ready) try a further folder that the service writes, called `name` in what
    /// it says.
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
    /// Gives later requests new connections, since the present ones wait for a server that does not
    /// answer, and may do so for ever.
    fn leave_behind(&self) {
        if self.pulse.note_hang() {
            log::error!("the database does not answer: requests are refused until it does");
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
