//! Checks on a separate connection whether the database responds at all.
//!
//! libpq waits forever for a response. TCP timeouts don't help, because the operating system of a
//! suspended server still acknowledges data. While a request is waiting, we therefore regularly
//! query the server on another connection, and make the request fail if there is no answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use diesel::prelude::*;
use diesel::sql_types::Text;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use crate::connect::{Connector, Role, server_error, with_network_limits};
use crate::off_worker::off_worker;
use crate::presence::{Health, Presence};
use crate::server_connection::ServerConnection;
use crate::target::Target;
use crate::writability::Writability;
use crate::{DatabaseError, Db, Migrations};

/// How long a request waits for PostgreSQL before we check whether the server responds at all.
const CHECK_EVERY: Duration = Duration::from_secs(1);
const ANSWER: Duration = Duration::from_secs(2);
/// If PostgreSQL hasn't answered a query within this time, the query and its connection are
/// dropped.
const GIVE_UP: Duration = Duration::from_secs(5);
/// How long an answer can be reused, for when several requests check at the same time.
const FRESH: Duration = Duration::from_millis(500);

/// The error if a server responds but isn't writable.
const STANDBY: &str = "the database is read-only: the server is a standby";

/// Keeps track of whether a database responds.
///
/// Only one thread sends queries at a time. A PostgreSQL query times out after [`GIVE_UP`], whereas
/// a SQLite query takes as long as the disk hangs.
#[derive(Debug)]
pub(crate) struct Pulse {
    connector: Connector,
    presence: Presence,
    writability: Writability,
    give_up: Duration,
    /// Held during a test write, so that a hanging disk only blocks one thread.
    trials: Arc<tokio::sync::Mutex<()>>,
    /// Whether the database is currently not responding.
    hangs: AtomicBool,
    /// Whether the database didn't answer the latest readiness check.
    is_away: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The connection. `None` while it is in use.
    connection: Option<Connection>,
    /// The latest query.
    last: Option<Question>,
    answered: Option<Instant>,
    /// Whether the service could not use the database when it last answered.
    was_lost: bool,
}

enum Connection {
    File(Db),
    Server(ServerConnection),
}

#[derive(Clone)]
struct Question {
    asked: Instant,
    answer: watch::Receiver<Option<Answer>>,
}

/// The state of the database, or the reason that the query failed.
type Answer = Result<Health, String>;

/// The reason that the database didn't answer.
enum NoAnswer {
    /// The query timed out.
    Hangs,
    /// The query failed, for example because the server is unavailable.
    Refused(String),
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("answered", &self.answered).finish_non_exhaustive()
    }
}

impl Pulse {
    /// Keeps track of a database that has been migrated with `migrations`.
    pub fn new(connector: Connector, migrations: &[&Migrations]) -> Arc<Self> {
        let presence = Presence::new(&connector.target, migrations);
        let writability = Writability::new(&connector);
        Arc::new(Self {
            connector,
            presence,
            writability,
            give_up: GIVE_UP,
            trials: Arc::default(),
            hangs: AtomicBool::new(false),
            is_away: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    /// Returns the state of the check for writable disks.
    pub fn writability(&self) -> &Writability {
        &self.writability
    }

    /// Returns the inode of the SQLite file, or `None` for PostgreSQL.
    pub fn inode(&self) -> Option<u64> {
        self.presence.inode()
    }

    /// Rejects new work while the database isn't responding.
    pub async fn admit(self: &Arc<Self>) -> Result<(), DatabaseError> {
        if !self.hangs.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.ask(Duration::ZERO).await.map(drop).map_err(|_| DatabaseError::Busy)
    }

    /// Checks at intervals, and returns once the database stops responding.
    pub async fn lost(self: &Arc<Self>) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            // A server that rejects new connections might still finish statements that are already
            // running.
            if matches!(self.ask(FRESH).await, Err(NoAnswer::Hangs)) {
                return;
            }
        }
    }

    /// Checks that the database responds, has its tables and is writable.
    pub async fn ready(self: &Arc<Self>) -> Result<(), DatabaseError> {
        let answer = self.ask(Duration::ZERO).await;
        self.log_outage(&answer);
        match answer {
            Ok(Health::Usable) => self.writable().await,
            Ok(Health::Standby) => Err(DatabaseError::Storage(STANDBY.to_owned())),
            Ok(Health::Lost(fault)) => Err(DatabaseError::Setup(fault)),
            Err(NoAnswer::Hangs | NoAnswer::Refused(_)) => Err(DatabaseError::Busy),
        }
    }

    /// Logs the beginning and the end of an outage, because an idle server has no requests that
    /// fail.
    fn log_outage(&self, answer: &Result<Health, NoAnswer>) {
        let is_away = answer.is_err();
        let was_away = self.is_away.swap(is_away, Ordering::Relaxed);
        match answer {
            Ok(_) if was_away => log::info!("the database answers again"),
            Err(NoAnswer::Hangs) if !was_away => log::error!("the database does not answer"),
            Err(NoAnswer::Refused(cause)) if !was_away => {
                log::error!("the database cannot be reached: {cause}");
            }
            _ => {}
        }
    }

    /// Checks that the database is writable. This is a separate check because requests shouldn't
    /// fail just because a disk is slow.
    async fn writable(self: &Arc<Self>) -> Result<(), DatabaseError> {
        let pulse = Arc::clone(self);
        let trial = async move {
            let turn = Arc::clone(&pulse.trials).lock_owned().await;
            off_worker(move || {
                let _turn = turn;
                pulse.writability.fault(&pulse.connector)
            })
            .await
        };
        match tokio::time::timeout(ANSWER, trial).await {
            Ok(fault) => fault?.map_or(Ok(()), |cause| Err(DatabaseError::Storage(cause))),
            Err(_) => Err(DatabaseError::Storage("writing takes too long".to_owned())),
        }
    }

    /// Records that the database isn't responding. Returns true if it was responding before.
    pub fn note_hang(&self) -> bool {
        !self.hangs.swap(true, Ordering::Relaxed)
    }

    /// Sends a query, or waits for the pending one. Reuses the last answer if it isn't older than
    /// `fresh`.
    async fn ask(self: &Arc<Self>, fresh: Duration) -> Result<Health, NoAnswer> {
        let Some(Question { asked, mut answer }) = self.question(fresh) else {
            return Ok(Health::Usable);
        };
        let answered = answer.wait_for(Option::is_some);
        match tokio::time::timeout_at((asked + ANSWER).into(), answered).await {
            Ok(Ok(answer)) => match answer.clone() {
                Some(Ok(health)) => Ok(health),
                Some(Err(cause)) => Err(NoAnswer::Refused(cause)),
                None => Err(NoAnswer::Hangs),
            },
            // The thread has panicked or couldn't be started.
            Ok(Err(_)) => Err(NoAnswer::Refused("the query was lost".to_owned())),
            Err(_) => Err(NoAnswer::Hangs),
        }
    }

    fn question(self: &Arc<Self>, fresh: Duration) -> Option<Question> {
        let mut state = self.state();
        if state.answered.is_some_and(|at| at.elapsed() < fresh) {
            return None;
        }
        if let Some(open) = state.last.as_ref().filter(|last| last.is_open()) {
            return Some(open.clone());
        }
        let (sender, answer) = watch::channel(None);
        let question = Question { asked: Instant::now(), answer };
        state.last = Some(question.clone());
        let (connection, pulse) = (state.connection.take(), Arc::clone(self));
        drop(state);
        // This needs its own thread, since it might wait for a long time. The thread is never
        // joined.
        let thread = std::thread::Builder::new().name("database-pulse".to_owned());
        let spawned = thread.spawn(move || {
            let answer = pulse.answer(connection);
            drop(pulse);
            sender.send_replace(Some(answer));
        });
        if let Err(error) = spawned {
            log::warn!("cannot start a thread to check the database: {error}");
        }
        Some(question)
    }

    /// Sends a query on the existing connection or a new one, and waits for the answer.
    fn answer(&self, connection: Option<Connection>) -> Answer {
        let asked = match &self.connector.target {
            Target::Sqlite(_) => self.ask_file(connection),
            Target::Postgres(url) => self.ask_server(url, connection),
        };
        let (connection, health) = asked.map_err(|error| error.to_string())?;
        let mut state = self.state();
        state.answered = Some(Instant::now());
        state.connection = connection;
        let is_lost = matches!(health, Health::Lost(_));
        let was_lost = std::mem::replace(&mut state.was_lost, is_lost);
        drop(state);
        match &health {
            Health::Lost(fault) if !was_lost => log::error!("{fault}"),
            Health::Usable if was_lost => log::info!("the database can be used again"),
            _ => {}
        }
        if self.hangs.swap(false, Ordering::Relaxed) {
            log::info!("the database is responding again");
        }
        Ok(health)
    }

    /// Checks the file, and reads rows, which makes SQLite access it. A connection to a file that
    /// was replaced is kept, because the file might be put back.
    fn ask_file(
        &self,
        kept: Option<Connection>,
    ) -> Result<(Option<Connection>, Health), DatabaseError> {
        if let Some(fault) = self.presence.file_fault() {
            return Ok((kept, Health::Lost(fault.to_owned())));
        }
        let question = || diesel::select(diesel::dsl::sql::<Text>(self.presence.query()));
        if let Some(Connection::File(mut db)) = kept
            && let Ok(answer) = question().get_result::<String>(&mut db)
        {
            return Ok((Some(Connection::File(db)), Presence::health(&answer)));
        }
        let mut db = self.connector.connect(Role::Reader)?;
        let answer = question().get_result::<String>(&mut db)?;
        Ok((Some(Connection::File(db)), Presence::health(&answer)))
    }

    fn ask_server(
        &self,
        url: &str,
        kept: Option<Connection>,
    ) -> Result<(Option<Connection>, Health), DatabaseError> {
        let deadline = Instant::now() + self.give_up;
        let query = self.presence.query();
        if let Some(Connection::Server(mut server)) = kept
            && let Ok(answer) = server.evaluate(query, deadline)
        {
            return Ok((Some(Connection::Server(server)), Presence::health(&answer)));
        }
        // If the existing connection failed right away, there is still time for a new one.
        let asked = ServerConnection::connect(&with_network_limits(url), deadline).and_then(
            |mut server| {
                let answer = server.evaluate(query, deadline)?;
                Ok((Some(Connection::Server(server)), Presence::health(&answer)))
            },
        );
        asked.map_err(|text| server_error(url, &text))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Question {
    /// Returns whether a thread is still waiting for the answer. The thread drops the sender when
    /// it is done.
    fn is_open(&self) -> bool {
        self.answer.has_changed().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;
    use crate::SqliteOptions;

    /// How long a query can hang before the test fails.
    const TIMEOUT: Duration = Duration::from_secs(60);

    /// Starts a peer that accepts connections but never answers queries, like a connection pooler
    /// whose server hangs, and returns its port. Optionally, it answers the login.
    fn silent_peer(answers_login: bool) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for mut stream in listener.incoming().map_while(Result::ok) {
                if answers_login {
                    let mut startup = [0; 1_000];
                    let _ = stream.read(&mut startup);
                    // AuthenticationOk and ReadyForQuery.
                    let _ = stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I");
                }
                open.push(stream);
            }
        });
        port
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn silent_peer_occupies_at_most_one_thread() {
        for answers_login in [false, true] {
            let port = silent_peer(answers_login);
            let url = format!("postgres://u@127.0.0.1:{port}/d?sslmode=disable");
            let target = Target::Postgres(url);
            let sqlite = SqliteOptions::default();
            let connector = Connector { target, sqlite, read_only: false };
            let pulse = Pulse::new(connector, &[]);
            let give_up = Duration::from_millis(5);
            let pulse = Arc::new(Pulse { give_up, ..Arc::into_inner(pulse).unwrap() });
            for _ in 0..50 {
                let Some(mut question) = pulse.question(Duration::ZERO) else { continue };
                // The thread of the query keeps a handle to the pulse until the answer arrives.
                assert!(Arc::strong_count(&pulse) <= 2, "{}", Arc::strong_count(&pulse));
                let answer = question.answer.wait_for(Option::is_some);
                let answer = tokio::time::timeout(TIMEOUT, answer).await.unwrap().unwrap().clone();
                assert!(answer.unwrap().unwrap_err().contains("no response in time"));
                while question.is_open() {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
