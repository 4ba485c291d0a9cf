//! Reads a number from PostgreSQL directly on a server's worker threads.

use std::cell::RefCell;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

use crate::off_worker::off_worker;
use crate::server_connection::ServerConnection;
use crate::{Backend, Pools};

/// How long a query can take before its callers have to use a pool instead. The server cancels it
/// then, because a query that waits for a lock would otherwise occupy a server process long after
/// its connection was closed.
const ANSWER: Duration = Duration::from_millis(500);

/// Pause after a failed query or a failed attempt to connect.
const PAUSE: Duration = Duration::from_secs(1);

/// Age at which a connection is replaced, as in the pools. By then, the host name might refer to
/// another server.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Reads a number that most requests need, such as the version of a service's content.
///
/// On PostgreSQL, most of the cost of such a read is switching to a thread that uses a pool, and
/// back. Here, each worker thread has its own connection, and waits for the response in the same
/// way as it waits for clients. Requests that arrive during a query share the next query, so the
/// number is never older than the request. If anything goes wrong, the caller reads the number
/// through a pool instead, which reports the error.
///
/// Clones share everything. Worker threads must run a [`LocalSet`](tokio::task::LocalSet), as they
/// do in actix.
#[derive(Clone)]
pub struct NumberReader {
    inner: Arc<Inner>,
}

struct Inner {
    /// Identifies the reader within this process.
    id: u64,
    pools: Pools,
    query: &'static CStr,
}

/// A worker thread's connection, and the requests that are waiting for it.
struct Line {
    /// The reader that this connection belongs to.
    reader: u64,
    state: State,
    /// Requests that are waiting for the next query.
    waiting: Vec<oneshot::Sender<i64>>,
}

enum State {
    /// Not connected. Includes the time of the failure that led to this.
    Closed(Option<Instant>),
    /// A task is connecting.
    Connecting,
    /// A task is using the connection.
    Asking,
    /// The connection is free.
    Idle(Connection),
}

struct Connection {
    server: ServerConnection,
    /// Becomes readable when something has arrived.
    readiness: AsyncFd<OwnedFd>,
    opened: Instant,
    /// [`Pools::renewals`] before the connection was opened.
    renewals: u64,
}

thread_local! {
    static LINE: RefCell<Option<Line>> = const { RefCell::new(None) };
}

impl NumberReader {
    /// Creates a reader for a query that returns an integer, such as `SELECT n FROM t`.
    pub fn new(pools: Pools, query: &'static CStr) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let id = COUNTER.fetch_add(1, Ordering::Relaxed);
        Self { inner: Arc::new(Inner { id, pools, query }) }
    }

    /// Reads the number. Returns `None` if the caller has to use a pool, which is the case on
    /// SQLite, while the worker isn't connected, and after an error.
    pub async fn read(&self) -> Option<i64> {
        if self.inner.pools.backend() == Backend::Sqlite {
            return None;
        }
        let answer = self.ask()?;
        answer.await.ok()
    }

    /// Waits for the next query, or starts to connect.
    fn ask(&self) -> Option<oneshot::Receiver<i64>> {
        let inner = &self.inner;
        LINE.with_borrow_mut(|slot| {
            let own = slot.take().filter(|line| line.reader == inner.id);
            let line = slot.insert(own.unwrap_or_else(|| Line::new(inner.id)));
            let (sender, receiver) = oneshot::channel();
            match line.take_state(&inner.pools) {
                State::Closed(since) => {
                    if since.is_some_and(|since| since.elapsed() < PAUSE) {
                        line.state = State::Closed(since);
                    } else {
                        tokio::task::spawn_local(connect(Arc::clone(inner)));
                    }
                    return None;
                }
                State::Connecting => return None,
                State::Asking => line.state = State::Asking,
                State::Idle(connection) => {
                    line.state = State::Asking;
                    tokio::task::spawn_local(answer(Arc::clone(inner), connection));
                }
            }
            line.waiting.push(sender);
            Some(receiver)
        })
    }
}

impl Line {
    fn new(reader: u64) -> Line {
        Line { reader, state: State::Closed(None), waiting: Vec::new() }
    }

    /// Takes the state and leaves `Connecting`. An outdated connection is closed.
    fn take_state(&mut self, pools: &Pools) -> State {
        match std::mem::replace(&mut self.state, State::Connecting) {
            State::Idle(connection) if connection.is_outdated(pools) => State::Closed(None),
            state => state,
        }
    }
}

/// Calls `work` with the thread's line if it still belongs to this reader.
fn with_line<T>(reader: u64, work: impl FnOnce(&mut Line) -> T) -> Option<T> {
    LINE.with_borrow_mut(|slot| slot.as_mut().filter(|line| line.reader == reader).map(work))
}

async fn connect(inner: Arc<Inner>) {
    let (opened, renewals) = (Instant::now(), inner.pools.renewals());
    let reader = inner.id;
    let server = off_worker(move || inner.pools.connect_server(inner.query, ANSWER)).await;
    let server = server.and_then(|server| server).map_err(|error| error.to_string());
    let state = match server.and_then(|server| Ok((server.readiness()?, server))) {
        Ok((readiness, server)) => State::Idle(Connection { server, readiness, opened, renewals }),
        Err(error) => {
            log::debug!("a worker cannot connect to the database: {error}");
            State::Closed(Some(Instant::now()))
        }
    };
    with_line(reader, |line| line.state = state);
}

/// Sends queries for as long as requests are waiting and the connection isn't outdated.
async fn answer(inner: Arc<Inner>, mut connection: Connection) {
    let reader = inner.id;
    loop {
        let waiting = with_line(reader, |line| std::mem::take(&mut line.waiting));
        let waiting = waiting.unwrap_or_default();
        // If the connection is outdated, the requests use a pool, and the next one reconnects.
        if waiting.is_empty() || connection.is_outdated(&inner.pools) {
            with_line(reader, |line| line.state = State::Idle(connection));
            return;
        }
        let answered = tokio::time::timeout(ANSWER, connection.ask()).await;
        match answered.unwrap_or_else(|_| Err("timeout".to_owned())) {
            Ok(number) => {
                for sender in waiting {
                    // Fails if the request has ended.
                    let _ = sender.send(number);
                }
            }
            Err(error) => {
                log::debug!("a worker cannot read from the database: {error}");
                with_line(reader, |line| {
                    line.state = State::Closed(Some(Instant::now()));
                    line.waiting.clear();
                });
                return;
            }
        }
    }
}

impl Connection {
    fn is_outdated(&self, pools: &Pools) -> bool {
        self.opened.elapsed() > LONGEST || self.renewals != pools.renewals()
    }

    /// Sends the query and waits for the number.
    async fn ask(&mut self) -> Result<i64, String> {
        self.server.send_prepared()?;
        loop {
            let mut ready = self.readiness.readable().await.map_err(|error| error.to_string())?;
            let received = self.server.receive();
            ready.clear_ready();
            match received {
                Poll::Ready(value) => {
                    let value = value?.ok_or("no rows")?;
                    return value.parse().map_err(|_| format!("not an integer: {value}"));
                }
                Poll::Pending => {}
            }
        }
    }
}
