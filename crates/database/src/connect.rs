//! How connections are made and set up.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::r2d2::R2D2Connection;
use diesel::{Connection, ConnectionError, PgConnection, SqliteConnection};

use crate::sqlite_hook::set_up_connections;
use crate::target::Target;
use crate::{DatabaseError, Db, SqliteOptions};

/// A PostgreSQL connection idle for longer is asked whether it still lives before it is used.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// The longest a pooled PostgreSQL statement may run, in milliseconds.
const STATEMENT_MS: u32 = 30_000;

/// Bytes that the WAL of SQLite keeps once its content is in the database.
const LONGEST_IDLE_WAL: u64 = 64 << 20;

/// How long to leave a SQLite file to others that set it up. Two that change its journal at once
/// would wait for each other, so SQLite refuses one at once instead of waiting its `busy_timeout`.
const LOCKED_RETRY: Duration = Duration::from_millis(10);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Pooled, refuses to write.
    Reader,
    /// Pooled, for short transactions.
    Writer,
    /// Owned by one job; statements may take as long as they need.
    Job,
}

/// Makes connections to one database.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    pub target: Target,
    pub sqlite: SqliteOptions,
}

impl Connector {
    /// Opens and sets up one connection; the error is a sentence that holds no secret.
    pub fn connect(&self, role: Role) -> Result<Db, DatabaseError> {
        match &self.target {
            Target::Sqlite(path) => self.open_file(path, role),
            Target::Postgres(url) => open_server(url, role),
        }
    }

    fn open_file(&self, path: &Path, role: Role) -> Result<Db, DatabaseError> {
        let setup = |what: String| {
            DatabaseError::Setup(format!("cannot open the database {}: {what}", path.display()))
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| setup(error.to_string()))?;
        }
        // Nobody else may read it, whatever the umask; its journals get the mode of the file. SQLite
        // itself says what is wrong when this cannot be done.
        let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        // A leading `./` keeps SQLite from reading `file:` or `:memory:` into a name.
        let name = if path.is_absolute() { path.to_path_buf() } else { Path::new(".").join(path) };
        let name = name.to_str().ok_or_else(|| setup("its name is not UTF-8".into()))?;
        set_up_connections();
        let mut conn =
            SqliteConnection::establish(name).map_err(|error| setup(error.to_string()))?;
        let pragmas = self.pragmas(role);
        let deadline = Instant::now() + Duration::from_millis(wait_ms(role));
        while let Err(error) = conn.batch_execute(&pragmas) {
            let text = error.to_string();
            let locked = matches!(DatabaseError::from(error), DatabaseError::Busy);
            if !locked || Instant::now() >= deadline {
                return Err(setup(text));
            }
            std::thread::sleep(LOCKED_RETRY);
        }
        Ok(Db::Sqlite(conn))
    }

    /// The statements that set up a SQLite connection; the time to wait for locks comes first,
    /// because the later ones may already meet one.
    fn pragmas(&self, role: Role) -> String {
        let mut sql = format!("PRAGMA busy_timeout = {};", wait_ms(role));
        if role != Role::Reader {
            if let Some(size) = self.sqlite.page_size {
                sql += &format!("PRAGMA page_size = {size};");
            }
            sql += "PRAGMA journal_mode = WAL;";
        }
        sql += &format!(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -{}; PRAGMA mmap_size = {}; PRAGMA journal_size_limit = {};",
            self.sqlite.cache_kib, self.sqlite.mmap_bytes, LONGEST_IDLE_WAL
        );
        if role == Role::Reader {
            sql += "PRAGMA query_only = ON;";
        }
        sql
    }
}

/// The longest a SQLite connection waits for a lock, in milliseconds.
const fn wait_ms(role: Role) -> u64 {
    match role {
        Role::Reader | Role::Writer => 5_000,
        Role::Job => 60_000,
    }
}

fn open_server(url: &str, role: Role) -> Result<Db, DatabaseError> {
    let setup = |what: String| {
        DatabaseError::Setup(format!(
            "cannot connect to PostgreSQL: {}",
            one_line(&redact(&what, url))
        ))
    };
    let mut conn = PgConnection::establish(&with_network_limits(url)).map_err(|error| {
        setup(match error {
            ConnectionError::BadConnection(text) => text,
            other => other.to_string(),
        })
    })?;
    let mut sql = String::from("SET TIME ZONE 'UTC'; SET client_min_messages = warning;");
    if role != Role::Job {
        sql += &format!("SET statement_timeout = {STATEMENT_MS};");
    }
    if role == Role::Reader {
        sql += "SET default_transaction_read_only = on;";
    }
    conn.batch_execute(&sql).map_err(|error| setup(error.to_string()))?;
    Ok(Db::Pg(conn))
}

/// Limits of the network, in the units of libpq: without them it waits for ever. An unused connection is
/// probed after 5 s and given up when 3 probes, 2 s apart, are lost; sent data must be acknowledged
/// within 10 s.
const NETWORK_LIMITS: [(&str, u32); 5] = [
    ("connect_timeout", 5),
    ("keepalives_idle", 5),
    ("keepalives_interval", 2),
    ("keepalives_count", 3),
    ("tcp_user_timeout", 10_000),
];

/// Adds the limits that a URL does not name itself.
fn with_network_limits(url: &str) -> String {
    let mut limited = url.to_owned();
    for (name, value) in NETWORK_LIMITS {
        if !url.contains(&format!("{name}=")) {
            let joint = if limited.contains('?') { '&' } else { '?' };
            limited += &format!("{joint}{name}={value}");
        }
    }
    limited
}

/// Keeps parts of the URL, and so the password, out of a message.
fn redact(message: &str, url: &str) -> String {
    let parse_fault =
        ["URI", "percent-encoded", "missing \"=\"", "invalid port", "invalid integer"];
    if parse_fault.iter().any(|text| message.contains(text)) {
        return "DATABASE_URL is not a well-formed PostgreSQL URL".to_owned();
    }
    let password = url
        .strip_prefix("postgres://")
        .and_then(|rest| rest.rsplit_once('@'))
        .and_then(|(user, _)| user.split_once(':'))
        .map(|(_, password)| password)
        .filter(|password| !password.is_empty());
    match password {
        Some(password) => without_word(message, password),
        None => message.to_owned(),
    }
}

/// A message with `***` for a word. Inside other words it stays, since a short password would
/// eat the text, and what is left would show where it stood.
fn without_word(message: &str, word: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let inside = before.ends_with(char::is_alphanumeric)
            && word.starts_with(char::is_alphanumeric)
            || after.starts_with(char::is_alphanumeric) && word.ends_with(char::is_alphanumeric);
        shown.push_str(before);
        shown.push_str(if inside { word } else { "***" });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A pooled connection and what is known of its health.
pub(crate) struct Pooled {
    pub db: Db,
    used: Instant,
    epoch: u64,
    dead: bool,
}

/// Makes and judges the connections of one pool.
pub(crate) struct Manager {
    connector: Connector,
    role: Role,
    /// Grows each time a connection breaks: older ones are then suspect.
    epoch: Arc<AtomicU64>,
}

impl Manager {
    pub fn new(connector: Connector, role: Role, epoch: Arc<AtomicU64>) -> Self {
        Self { connector, role, epoch }
    }
}

/// Whether a connection taken from the pool can be used.
///
/// A ping costs a round trip, so only PostgreSQL connections that idled or that are older than the
/// last break are asked.
pub(crate) fn is_alive(conn: &mut Pooled, epoch: &AtomicU64) -> bool {
    let now = epoch.load(Ordering::Relaxed);
    if matches!(conn.db, Db::Sqlite(_)) || (conn.epoch == now && conn.used.elapsed() < TRUSTED_IDLE)
    {
        return true;
    }
    conn.dead = conn.db.ping().is_err();
    conn.epoch = now;
    !conn.dead
}

impl r2d2::ManageConnection for Manager {
    type Connection = Pooled;
    type Error = DatabaseError;

    fn connect(&self) -> Result<Pooled, DatabaseError> {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let db = self.connector.connect(self.role)?;
        Ok(Pooled { db, used: Instant::now(), epoch, dead: false })
    }

    fn is_valid(&self, conn: &mut Pooled) -> Result<(), DatabaseError> {
        Ok(conn.db.ping()?)
    }

    fn has_broken(&self, conn: &mut Pooled) -> bool {
        conn.used = Instant::now();
        if std::thread::panicking() {
            return true;
        }
        let broken = conn.dead || conn.db.is_broken();
        if broken {
            self.epoch.fetch_add(1, Ordering::Relaxed);
        }
        broken
    }
}

/// Logs failed connection attempts of a pool; those who wait get `Busy`.
#[derive(Debug)]
pub(crate) struct LogAttempts;

impl r2d2::HandleError<DatabaseError> for LogAttempts {
    fn handle_error(&self, error: DatabaseError) {
        log::warn!("{error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_stay_out_of_messages() {
        let url = "postgres://u:geheim@h/d";
        assert_eq!(redact("login geheim failed", url), "login *** failed");
        assert_eq!(redact("no user geheim, \"geheim\"", url), "no user ***, \"***\"");
        assert!(!redact("invalid percent-encoded token: \"geheim\"", url).contains("geheim"));
    }

    #[test]
    fn a_short_password_does_not_eat_the_text() {
        let url = "postgres://u:a@h/d";
        assert_eq!(redact("a database was at hand: a", url), "*** database was at hand: ***");
        assert_eq!(redact("password \"e\"", "postgres://u:e@h/d"), "password \"***\"");
    }

    #[test]
    fn waiting_for_a_server_has_limits() {
        let others = "keepalives_idle=5&keepalives_interval=2&keepalives_count=3";
        assert_eq!(
            with_network_limits("postgres://h/d"),
            format!("postgres://h/d?connect_timeout=5&{others}&tcp_user_timeout=10000")
        );
        assert_eq!(
            with_network_limits("postgres://h/d?sslmode=require&tcp_user_timeout=1"),
            format!("postgres://h/d?sslmode=require&tcp_user_timeout=1&connect_timeout=5&{others}")
        );
    }
}
