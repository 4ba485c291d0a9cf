//! Opens and configures connections.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::r2d2::R2D2Connection;
use diesel::{Connection, ConnectionError, PgConnection, SqliteConnection};

use crate::displaced::{refuse_displaced, refuse_replaced};
use crate::sqlite_hook::set_up_connections;
use crate::target::{MALFORMED, Target, split_user, with_option};
use crate::{DatabaseError, Db, SqliteOptions};

/// PostgreSQL connections that have been idle for longer than this are checked before use.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// If PostgreSQL hears nothing from a client for this many milliseconds, it aborts the client's
/// open transaction. Otherwise, a suspended process would hold its locks forever and block all of
/// the service's writes.
const IDLE_MS: u32 = 60_000;
/// Statement timeout of pooled PostgreSQL connections, in milliseconds.
const STATEMENT_MS: u32 = 30_000;

/// After a checkpoint, SQLite truncates the WAL to at most this many bytes.
const LONGEST_IDLE_WAL: u64 = 64 << 20;

/// Pause before trying again to configure a SQLite file. If two connections changed the journal
/// mode at once, they would deadlock, so SQLite rejects one of them right away regardless of
/// `busy_timeout`.
const LOCKED_RETRY: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Pooled and read-only.
    Reader,
    /// Pooled, for short transactions.
    Writer,
    /// For a single job. Doesn't have a statement timeout.
    Job,
}

/// Opens connections to a database.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    pub target: Target,
    pub sqlite: SqliteOptions,
    /// Whether readers open a SQLite file as read-only. When the last connection is closed, SQLite
    /// otherwise copies the write-ahead log to the file, for example after a crash.
    pub read_only: bool,
}

impl Connector {
    /// Opens and configures a connection. Error messages never contain any secrets.
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
        // SQLite would create a missing file. If the file is removed while a server is running, a
        // new connection must not put an empty database in its place.
        std::fs::metadata(path).map_err(|error| setup(error.to_string()))?;
        refuse_displaced(path)?;
        refuse_replaced(path)?;
        // With a leading `./`, SQLite doesn't interpret names like `file:` or `:memory:`.
        let name = if path.is_absolute() { path.to_path_buf() } else { Path::new(".").join(path) };
        let name = name.to_str().ok_or_else(|| setup("its name is not UTF-8".into()))?;
        set_up_connections();
        let read_only = self.read_only && role == Role::Reader;
        let name = if read_only { read_only_uri(name) } else { name.to_owned() };
        let mut conn = SqliteConnection::establish(&name)
            .map_err(|error| setup(explained(path, error.to_string())))?;
        let pragmas = self.pragmas(role);
        let deadline = Instant::now() + Duration::from_millis(wait_ms(role));
        while let Err(error) = conn.batch_execute(&pragmas) {
            let text = error.to_string();
            let locked = matches!(DatabaseError::from(error), DatabaseError::Busy);
            if !locked || Instant::now() >= deadline {
                return Err(setup(explained(path, text)));
            }
            std::thread::sleep(LOCKED_RETRY);
        }
        Ok(Db::Sqlite(conn))
    }

    /// Returns the statements that configure a SQLite connection. The lock timeout comes first
    /// because the other statements might have to wait for a lock.
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
        if self.sqlite.secure_delete {
            sql += "PRAGMA secure_delete = ON;";
        }
        if role == Role::Reader {
            sql += "PRAGMA query_only = ON;";
        }
        sql
    }
}

/// Returns the URI that makes SQLite open a file as read-only. The path starts with `/` or `./`.
fn read_only_uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:" });
    for byte in path.bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(byte));
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri + "?mode=ro"
}

/// Adds the cause to SQLite's message if the database file can't be read, or the usual cause if
/// SQLite can't create its journals, for example on a read-only disk. SQLite's message only mentions
/// the database file.
fn explained(path: &Path, text: String) -> String {
    let is_refused = ["unable to open database file", "attempt to write a readonly database"]
        .iter()
        .any(|refusal| text.contains(refusal));
    let journals = ["-wal", "-shm"].map(|ending| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        path.with_file_name(name)
    });
    if !is_refused || path.is_dir() || journals.iter().all(|journal| journal.is_file()) {
        return text;
    }
    // SQLite's message is the same if the user may not read the database file. Without journals,
    // nothing in this process holds a lock on the file, so closing it again doesn't release any.
    if let Err(error) = File::open(path) {
        return format!("{text}: {error}");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let [wal, shm] = journals
        .map(|journal| journal.file_name().unwrap_or_default().to_string_lossy().into_owned());
    format!(
        "{text}. SQLite needs to create {wal} and {shm} in the folder {}, which must be writable",
        folder.unwrap_or(Path::new(".")).display()
    )
}

/// Returns how many milliseconds a SQLite connection waits for a lock.
const fn wait_ms(role: Role) -> u64 {
    match role {
        Role::Reader | Role::Writer => 5_000,
        Role::Job => 60_000,
    }
}

/// Creates the error for a failed PostgreSQL connection, leaving out the password.
pub(crate) fn server_error(url: &str, text: &str) -> DatabaseError {
    let text = one_line(&redact(text, url));
    DatabaseError::Setup(format!("cannot connect to PostgreSQL: {text}"))
}

fn open_server(url: &str, role: Role) -> Result<Db, DatabaseError> {
    let setup = |what: String| server_error(url, &what);
    let mut conn = PgConnection::establish(&with_network_limits(url)).map_err(|error| {
        setup(match error {
            ConnectionError::BadConnection(text) => text,
            other => other.to_string(),
        })
    })?;
    let mut sql = String::from(
        "SET TIME ZONE 'UTC'; SET client_min_messages = warning;
         SET default_transaction_isolation = 'read committed';",
    );
    sql += &format!("SET idle_in_transaction_session_timeout = {IDLE_MS};");
    // Jobs also need this, because the server, database or user can set a default timeout.
    let longest = if role == Role::Job { 0 } else { STATEMENT_MS };
    sql += &format!("SET statement_timeout = {longest};");
    if role == Role::Reader {
        sql += "SET default_transaction_read_only = on;";
    }
    conn.batch_execute(&sql).map_err(|error| setup(error.to_string()))?;
    Ok(Db::Pg(conn))
}

/// Network timeouts in the units used by libpq, which would otherwise wait forever. An idle
/// connection is probed after 5 s, and closed if 3 probes sent 2 s apart go unanswered. Data that
/// was sent must be acknowledged within 10 s.
const NETWORK_LIMITS: [(&str, u32); 5] = [
    ("connect_timeout", 5),
    ("keepalives_idle", 5),
    ("keepalives_interval", 2),
    ("keepalives_count", 3),
    ("tcp_user_timeout", 10_000),
];

/// Adds the network timeouts that the URL doesn't already set.
pub(crate) fn with_network_limits(url: &str) -> String {
    let mut limited = url.to_owned();
    for (name, value) in NETWORK_LIMITS {
        if !url.contains(&format!("{name}=")) {
            limited = with_option(&limited, &format!("{name}={value}"));
        }
    }
    limited
}

/// Removes parts of the URL from an error message, in particular the password.
fn redact(message: &str, url: &str) -> String {
    // A name before an `@` could be part of a password that contains a question mark.
    let credentials = url.rsplit_once('@').map_or("", |(before, _)| before);
    if let Some(name) = unknown_parameter(message).filter(|name| !credentials.contains(*name)) {
        return format!("DATABASE_URL has an unknown parameter: {name}");
    }
    let parse_fault =
        ["URI", "percent-encoded", "missing \"=\"", "invalid port", "invalid integer"];
    if parse_fault.iter().any(|text| message.contains(text)) {
        return MALFORMED.to_owned();
    }
    let password = url
        .strip_prefix("postgres://")
        .and_then(|rest| split_user(rest).0.split_once(':'))
        .map(|(_, password)| password)
        .filter(|password| !password.is_empty());
    match password {
        Some(password) => without_word(message, password),
        None => message.to_owned(),
    }
}

/// Returns the name of a parameter that libpq rejects. Other texts than a plain name could be part
/// of a password.
fn unknown_parameter(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("invalid URI query parameter: \"")?;
    let (name, _) = rest.split_once('"')?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    (is_plain && !name.is_empty()).then_some(name)
}

/// Masks `word` in a message with `***`, except within other words. Otherwise, masking a short
/// password would garble the message, and the gaps would reveal the password.
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

/// A pooled connection and its state.
pub(crate) struct Pooled {
    pub db: Db,
    used: Instant,
    epoch: u64,
    dead: bool,
}

/// Opens and checks the connections in a pool.
pub(crate) struct Manager {
    connector: Connector,
    role: Role,
    /// Incremented whenever a connection breaks, after which older connections have to be checked.
    epoch: Arc<AtomicU64>,
}

impl Manager {
    pub fn new(connector: Connector, role: Role, epoch: Arc<AtomicU64>) -> Self {
        Self { connector, role, epoch }
    }
}

/// Returns whether a connection from the pool is still usable.
///
/// Since a ping costs a round trip, we only check PostgreSQL connections that have been idle, or
/// that haven't been checked since another connection broke.
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

/// Logs failed attempts to connect. Requests waiting for a connection get `Busy`.
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
    fn passwords_are_removed_from_messages() {
        let url = "postgres://u:geheim@h/d";
        assert_eq!(redact("login geheim failed", url), "login *** failed");
        assert_eq!(redact("no user geheim, \"geheim\"", url), "no user ***, \"***\"");
        assert!(!redact("invalid percent-encoded token: \"geheim\"", url).contains("geheim"));
        let url = "postgres://u:geheim@h/d?application_name=a@b";
        assert_eq!(redact("login geheim failed", url), "login *** failed");
    }

    #[test]
    fn a_short_password_does_not_garble_the_text() {
        let url = "postgres://u:a@h/d";
        assert_eq!(redact("a database was at hand: a", url), "*** database was at hand: ***");
        assert_eq!(redact("password \"e\"", "postgres://u:e@h/d"), "password \"***\"");
    }

    #[test]
    fn special_characters_of_a_path_are_encoded_in_its_uri() {
        assert_eq!(read_only_uri("/a b/1%?#.db"), "file:///a%20b/1%25%3F%23.db?mode=ro");
        assert_eq!(read_only_uri("./a:é.db"), "file:./a%3A%C3%A9.db?mode=ro");
    }

    #[test]
    fn urls_get_network_timeouts() {
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
