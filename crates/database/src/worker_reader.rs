//! Runs short reads directly on a server's worker threads.

use std::any::Any;
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::transaction::{begin_reading, end_reading};
use crate::{Backend, DatabaseError, Db, Pools};

/// A cache that each worker's connection keeps for the service, e.g. for rows that all requests
/// need.
pub trait ReaderCache: Default + 'static {
    /// Values that all connections share.
    type Shared: 'static;

    /// Brings the cache up to date. Called at the start of each read transaction.
    ///
    /// # Errors
    /// Returns any database error.
    fn refresh(&mut self, db: &mut Db, shared: &Self::Shared) -> Result<(), DatabaseError>;
}

/// Runs short reads on whichever thread is cheapest.
///
/// On SQLite, a few point reads cost less than switching threads, so they use a read-only
/// connection on the worker thread itself. Requests that are ready at the same time share a read
/// transaction, so that SQLite only has to lock its file once and a single statement brings the
/// cache up to date. The transaction ends before the thread polls for more requests, so those see
/// all earlier commits. On PostgreSQL, reads go through the pool and aren't cached.
///
/// Clones share everything. Worker threads must run a [`LocalSet`](tokio::task::LocalSet), as they
/// do in actix.
pub struct WorkerReader<C: ReaderCache> {
    inner: Arc<Inner<C::Shared>>,
}

struct Inner<S> {
    /// Identifies the reader within this process.
    id: u64,
    pools: Pools,
    shared: S,
}

struct Connection {
    /// The reader that this connection belongs to.
    reader: u64,
    db: Db,
    cache: Box<dyn Any>,
    /// Whether a read transaction is open.
    open: bool,
}

thread_local! {
    static CONNECTION: RefCell<Option<Box<Connection>>> = const { RefCell::new(None) };
}

impl<C: ReaderCache> Clone for WorkerReader<C> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

impl<C: ReaderCache> WorkerReader<C> {
    /// Creates a reader with its own connections.
    pub fn new(pools: Pools, shared: C::Shared) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let id = COUNTER.fetch_add(1, Ordering::Relaxed);
        Self { inner: Arc::new(Inner { id, pools, shared }) }
    }

    /// Returns the values that all connections share.
    pub fn shared(&self) -> &C::Shared {
        &self.inner.shared
    }

    /// Runs all of a request's database work on a single connection. On SQLite, `short` work (a few
    /// point reads) stays on the worker thread. It is already done when this function returns, even
    /// before the future is awaited.
    ///
    /// # Errors
    /// Returns the error from `work`, or an error from [`Pools::read`].
    pub fn read<T, E, W>(
        &self,
        short: bool,
        work: W,
    ) -> impl Future<Output = Result<T, E>> + use<C, T, E, W>
    where
        W: FnOnce(&mut Db, Option<&mut C>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<DatabaseError> + Send + 'static,
    {
        let Inner { id, pools, shared } = self.inner.as_ref();
        let read = if short && pools.backend() == Backend::Sqlite {
            let own = CONNECTION.with_borrow_mut(Option::take).filter(|own| own.reader == *id);
            let own = own.map_or_else(|| Connection::open::<C>(*id, pools), Ok);
            let done = match own.and_then(|own| own.begin::<C>(shared)) {
                Ok(mut own) => {
                    let result = work(&mut own.db, own.cache.downcast_mut());
                    CONNECTION.set(Some(own));
                    result
                }
                Err(error) => Err(error.into()),
            };
            Read::Done(done)
        } else {
            let pools = pools.clone();
            // Boxed to keep the future of short reads small.
            Read::Pooled(Box::pin(async move { pools.read(|db| work(db, None)).await }))
        };
        async move {
            match read {
                Read::Done(result) => result,
                Read::Pooled(pooled) => pooled.await,
            }
        }
    }
}

enum Read<T> {
    Done(T),
    Pooled(Pin<Box<dyn Future<Output = T> + Send>>),
}

impl Connection {
    fn open<C: ReaderCache>(reader: u64, pools: &Pools) -> Result<Box<Self>, DatabaseError> {
        let (db, cache) = (pools.connect_reader()?, Box::new(C::default()));
        Ok(Box::new(Self { reader, db, cache, open: false }))
    }

    /// Begins a read transaction unless one is open. If this fails, the connection is closed.
    fn begin<C: ReaderCache>(
        mut self: Box<Self>,
        shared: &C::Shared,
    ) -> Result<Box<Self>, DatabaseError> {
        if self.open {
            return Ok(self);
        }
        begin_reading(&mut self.db)?;
        if let Some(cache) = self.cache.downcast_mut::<C>() {
            cache.refresh(&mut self.db, shared)?;
        }
        self.open = true;
        // Runs after all requests that are ready now, but before any that arrive later.
        tokio::task::spawn_local(async { end() });
        Ok(self)
    }
}

/// Ends the read transaction. If this fails, the connection is closed.
fn end() {
    CONNECTION.with_borrow_mut(|own| {
        let Some(connection) = own.as_mut().filter(|connection| connection.open) else { return };
        connection.open = false;
        if let Err(error) = end_reading(&mut connection.db) {
            log::warn!("a worker's read transaction could not be ended: {error}");
            *own = None;
        }
    });
}
