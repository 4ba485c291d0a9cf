//! Whether the database answers at all, asked on a connection of its own.
//!
//! The library of PostgreSQL waits for an answer without a limit. A server that was stopped, or a
//! frozen machine, still acknowledges what it receives, so that no option of TCP helps. So the
//! requests that wait look whether the server answers somebody else; where it does not, they give up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use diesel::prelude::*;
use diesel::sql_types::Bool;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use crate::connect::{Connector, Role};
use crate::off_worker::off_worker;
use crate::writability::Writability;
use crate::{DatabaseError, Db};

/// How long a request waits for PostgreSQL before it looks whether the server answers at all.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest that an answer may take.
const ANSWER: Duration = Duration::from_secs(2);
/// A question without an answer for so long is given up; the next one gets a new connection.
const GIVE_UP: Duration = Duration::from_secs(5);
/// A sign of life counts for so long where several requests look at once.
const FRESH: Duration = Duration::from_millis(500);

/// Why a server that answers cannot be written.
const STANDBY: &str = "the database is read-only: the server is a standby";

/// The signs of life of one database.
#[derive(Debug)]
pub(crate) struct Pulse {
    connector: Connector,
    writability: Writability,
    /// The turn of those who try to write. A disk that hangs keeps one of them, and never more.
    trials: Arc<tokio::sync::Mutex<()>>,
    /// Set while the database does not answer.
    hangs: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The connection between two questions.
    db: Option<Db>,
    /// The question that has no answer yet.
    open: Option<Question>,
    answered: Option<Instant>,
}

#[derive(Clone)]
struct Question {
    asked: Instant,
    answer: watch::Receiver<Option<Answer>>,
}

/// Whether the database answered and, where it did, whether it only follows another server.
type Answer = Result<bool, String>;

/// Why there is no sign of life.
enum Silence {
    /// No answer came in time.
    Hangs,
    /// The attempt failed at once, as for a server that is away.
    Refused(String),
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("answered", &self.answered).finish_non_exhaustive()
    }
}

impl Pulse {
    pub fn new(connector: Connector) -> Arc<Self> {
        let writability = Writability::new(&connector);
        let (hangs, state) = (AtomicBool::new(false), Mutex::default());
        Arc::new(Self { connector, writability, trials: Arc::default(), hangs, state })
    }

    /// What is known of writing.
    pub fn writability(&self) -> &Writability {
        &self.writability
    }

    /// Refuses new work while the database does not answer.
    pub async fn admit(self: &Arc<Self>) -> Result<(), DatabaseError> {
        if !self.hangs.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.ask(Duration::ZERO).await.map(drop).map_err(|_| DatabaseError::Busy)
    }

    /// Returns once the database has stopped answering; looks from time to time.
    pub async fn lost(self: &Arc<Self>) {
        loop {
            tokio::time::sleep(PATIENCE).await;
            // A server that refuses connections may still finish the work at hand.
            if matches!(self.ask(FRESH).await, Err(Silence::Hangs)) {
                return;
            }
        }
    }

    /// Whether the database answers and can be written.
    pub async fn ready(self: &Arc<Self>) -> Result<(), DatabaseError> {
        match self.ask(Duration::ZERO).await {
            Ok(false) => self.writable().await,
            Ok(true) => Err(DatabaseError::Storage(STANDBY.to_owned())),
            Err(Silence::Hangs) => Err(DatabaseError::Busy),
            Err(Silence::Refused(cause)) => {
                log::debug!("the database is not ready: {cause}");
                Err(DatabaseError::Busy)
            }
        }
    }

    /// Whether something can be written. Apart from the question whether the database answers: a disk
    /// that takes long is no reason to give up requests.
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

    /// Notes that the database does not answer. Returns whether this is news.
    pub fn note_hang(&self) -> bool {
        !self.hangs.swap(true, Ordering::Relaxed)
    }

    /// Asks, or waits for the answer to the question that is open, or takes one that is no older than
    /// `fresh`.
    async fn ask(self: &Arc<Self>, fresh: Duration) -> Result<bool, Silence> {
        let Some(Question { asked, mut answer }) = self.question(fresh) else { return Ok(false) };
        let answered = answer.wait_for(Option::is_some);
        match tokio::time::timeout_at((asked + ANSWER).into(), answered).await {
            Ok(Ok(answer)) => match answer.clone() {
                Some(Ok(is_standby)) => Ok(is_standby),
                Some(Err(cause)) => Err(Silence::Refused(cause)),
                None => Err(Silence::Hangs),
            },
            // The thread ended without an answer: it panicked.
            Ok(Err(_)) => Err(Silence::Refused("the question was lost".to_owned())),
            Err(_) => Err(Silence::Hangs),
        }
    }

    fn question(self: &Arc<Self>, fresh: Duration) -> Option<Question> {
        let mut state = self.state();
        if state.answered.is_some_and(|at| at.elapsed() < fresh) {
            return None;
        }
        if let Some(open) = state.open.as_ref().filter(|open| open.asked.elapsed() < GIVE_UP) {
            return Some(open.clone());
        }
        let (sender, answer) = watch::channel(None);
        let question = Question { asked: Instant::now(), answer };
        state.open = Some(question.clone());
        let (db, pulse, asked) = (state.db.take(), Arc::clone(self), question.asked);
        drop(state);
        // A thread of its own: it may wait long, and nothing has to wait for it.
        let thread = std::thread::Builder::new().name("database-pulse".to_owned());
        let spawned = thread.spawn(move || {
            let answer = pulse.answer(db, asked);
            sender.send_replace(Some(answer));
        });
        if let Err(error) = spawned {
            log::warn!("the database cannot be asked for a sign of life: {error}");
        }
        Some(question)
    }

    /// Waits for the answer to the question that was asked at a moment.
    fn answer(&self, db: Option<Db>, asked: Instant) -> Answer {
        let answered = self.living(db);
        let mut state = self.state();
        let is_open = state.open.as_ref().is_some_and(|open| open.asked == asked);
        if is_open {
            state.open = None;
        }
        let (db, is_standby) = match answered {
            Ok(answered) => answered,
            Err(error) => return Err(error.to_string()),
        };
        state.answered = Some(Instant::now());
        if is_open {
            state.db = Some(db);
        }
        drop(state);
        if self.hangs.swap(false, Ordering::Relaxed) {
            log::info!("the database answers again");
        }
        Ok(is_standby)
    }

    /// A connection that has just answered, the one from before or a new one, and what it answered.
    fn living(&self, db: Option<Db>) -> Result<(Db, bool), DatabaseError> {
        if let Some(mut db) = db
            && let Ok(is_standby) = answers(&mut db)
        {
            return Ok((db, is_standby));
        }
        let mut db = self.connector.connect(Role::Reader)?;
        let is_standby = answers(&mut db)?;
        Ok((db, is_standby))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Asks for a row, which says whether the server only follows another one; SQLite, which never does, has
/// to look into its file for it.
fn answers(db: &mut Db) -> Result<bool, DatabaseError> {
    let text = match db {
        Db::Sqlite(_) => "(SELECT count(*) < 0 FROM sqlite_master)",
        Db::Pg(_) => "pg_is_in_recovery()",
    };
    Ok(diesel::select(diesel::dsl::sql::<Bool>(text)).get_result(db)?)
}
