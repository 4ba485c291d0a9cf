//! Gives every test its own database.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use database::{DatabaseSettings, Migrations, Pools};
use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection};

use crate::Folder;
use crate::must::must;

/// The environment variable for the URL of the PostgreSQL server.
const SERVER: &str = "TEST_DATABASE_URL";
/// The environment variable for the comma-separated URLs of the Citus workers, if the server is a
/// Citus coordinator.
const WORKERS: &str = "TEST_CITUS_WORKERS";

/// An empty database that is removed at the end of the test.
///
/// It is either a SQLite file in a temporary folder, or a database on the PostgreSQL server given
/// by `TEST_DATABASE_URL`, so that the same tests run on both. If `TEST_CITUS_WORKERS` is set, that
/// server is the coordinator of a Citus cluster, and the database is created on all servers of the
/// cluster.
///
/// ```
/// use diesel::prelude::*;
/// use database::DatabaseError;
///
/// let database = testkit::Database::new();
/// let pools = database.open(&[]);
/// let two = pools.read_blocking(|db| -> Result<i32, DatabaseError> {
///     Ok(diesel::select(diesel::dsl::sql::<diesel::sql_types::Integer>("1 + 1")).get_result(db)?)
/// });
/// assert_eq!(two.unwrap(), 2);
/// ```
#[derive(Debug)]
pub struct Database {
    url: String,
    folder: Folder,
    server: Option<Server>,
}

#[derive(Debug)]
struct Server {
    url: String,
    workers: Vec<String>,
    name: String,
}

impl Default for Database {
    fn default() -> Self {
        Self::new()
    }
}

impl Database {
    /// Creates an empty database, on PostgreSQL if `TEST_DATABASE_URL` is set.
    ///
    /// # Panics
    /// Panics if the database can't be created.
    pub fn new() -> Self {
        match std::env::var(SERVER) {
            Ok(url) if !url.is_empty() => Self::on_server(&url),
            _ => Self::in_file(),
        }
    }

    /// Creates a SQLite file, even if `TEST_DATABASE_URL` is set.
    ///
    /// # Panics
    /// Panics if no temporary folder can be created.
    pub fn in_file() -> Self {
        let folder = Folder::new();
        let url = format!("sqlite://{}", folder.path().join("test.db").display());
        Self { url, folder, server: None }
    }

    fn on_server(server: &str) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("quintet_{}_{count}_{nanos}", std::process::id());
        // A template can't be copied while it has connections, and template0 doesn't allow any.
        let create = format!("CREATE DATABASE {name} TEMPLATE template0");
        execute(server, &create);
        let url = with_database(server, &name);
        let workers = std::env::var(WORKERS).unwrap_or_default();
        let workers: Vec<String> =
            workers.split(',').filter(|url| !url.is_empty()).map(str::to_owned).collect();
        if !workers.is_empty() {
            let (host, port) = host_and_port(server);
            execute(&url, "CREATE EXTENSION citus");
            execute(&url, &format!("SELECT citus_set_coordinator_host('{host}', {port})"));
        }
        for worker in &workers {
            execute(worker, &create);
            execute(&with_database(worker, &name), "CREATE EXTENSION citus");
            let (host, port) = host_and_port(worker);
            execute(&url, &format!("SELECT citus_add_node('{host}', {port})"));
        }
        let server = Server { url: server.to_owned(), workers, name };
        Self { url, folder: Folder::new(), server: Some(server) }
    }

    /// Returns the URL, in `DATABASE_URL` format.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the address of the PostgreSQL server. `None` for SQLite, and for a server on a Unix
    /// socket.
    pub fn server_address(&self) -> Option<SocketAddr> {
        let (host, _) = self.authority()?;
        host.to_socket_addrs().ok()?.next()
    }

    /// Returns settings that connect to the database through another address, e.g. a
    /// [`TcpProxy`](crate::TcpProxy).
    ///
    /// # Panics
    /// Panics if the database is a SQLite file.
    pub fn settings_by(&self, address: SocketAddr) -> DatabaseSettings {
        let (host, at) = must("find the server", self.authority().ok_or("this is SQLite"));
        let mut url = self.url.clone();
        url.replace_range(at..at + host.len(), &address.to_string());
        DatabaseSettings { database_url: Some(url), ..self.settings() }
    }

    /// Returns the host and port in the URL, and their offset within the URL.
    fn authority(&self) -> Option<(&str, usize)> {
        self.server.as_ref()?;
        let start = self.url.find("://")? + 3;
        let end = start + self.url[start..].find('/')?;
        let at = self.url[start..end].rfind('@').map_or(start, |at| start + at + 1);
        Some((&self.url[at..end], at))
    }

    /// Returns a temporary folder that contains the database. It can be used as `DATA_DIR`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the SQLite file, or `None` for PostgreSQL.
    pub fn file(&self) -> Option<PathBuf> {
        self.url.strip_prefix("sqlite://").map(PathBuf::from)
    }

    /// Returns settings for this database, with four readers, automatic migration, and timeouts
    /// that are long enough for a busy machine.
    pub fn settings(&self) -> DatabaseSettings {
        DatabaseSettings {
            database_url: Some(self.url.clone()),
            db_pool: 4,
            auto_migrate: true,
            db_wait_ms: 20_000,
            ..DatabaseSettings::default()
        }
    }

    /// Runs SQL statements on the PostgreSQL server.
    ///
    /// # Panics
    /// Panics if the server rejects a statement.
    pub fn run(&self, statements: &str) {
        execute(&self.url, statements);
    }

    /// Opens and migrates the database. Each call returns separate pools, as another process would
    /// have.
    ///
    /// # Panics
    /// Panics if the database can't be opened or a migration fails.
    pub fn open(&self, migrations: &[&Migrations]) -> Pools {
        let pools = self.settings().open(self.folder(), "test", migrations);
        must("open the test database", pools)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let Some(Server { url, workers, name }) = &self.server else { return };
        // FORCE closes connections that are still open in the test's pools.
        let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        for url in std::iter::once(url).chain(workers) {
            let dropped = PgConnection::establish(url).map(|mut conn| conn.batch_execute(&sql));
            if !matches!(dropped, Ok(Ok(()))) && !std::thread::panicking() {
                eprintln!("the test database {name} could not be dropped");
            }
        }
    }
}

/// Runs a statement on the server. Retries a few times, since the server might be busy.
fn execute(server: &str, sql: &str) {
    let mut attempts = 0;
    loop {
        let done = PgConnection::establish(server)
            .map_err(|error| error.to_string())
            .and_then(|mut conn| conn.batch_execute(sql).map_err(|error| error.to_string()));
        match done {
            Err(_) if attempts < 5 => {
                attempts += 1;
                std::thread::sleep(Duration::from_millis(200 * attempts));
            }
            last => return must(SERVER, last),
        }
    }
}

/// Returns the host and port in the URL of a server.
fn host_and_port(server: &str) -> (&str, &str) {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host.rsplit_once(':').unwrap_or((host, "5432"))
}

/// Returns the URL of another database on the same server.
fn with_database(server: &str, name: &str) -> String {
    let (base, options) = match server.split_once('?') {
        Some((base, options)) => (base, format!("?{options}")),
        None => (server, String::new()),
    };
    let scheme = base.find("://").map_or(0, |at| at + 3);
    let end = base[scheme..].find('/').map_or(base.len(), |at| scheme + at);
    format!("{}/{name}{options}", &base[..end])
}

#[cfg(test)]
mod tests {
    use super::{host_and_port, with_database};

    #[test]
    fn host_and_port_are_found_in_urls() {
        assert_eq!(host_and_port("postgres://u:p@h:1/a?x=/y"), ("h", "1"));
        assert_eq!(host_and_port("postgres://h"), ("h", "5432"));
    }

    #[test]
    fn database_name_is_replaced_or_added() {
        assert_eq!(with_database("postgres://u@h:1/a", "b"), "postgres://u@h:1/b");
        assert_eq!(with_database("postgres://u@h:1", "b"), "postgres://u@h:1/b");
        assert_eq!(with_database("postgres://h/a?x=/y", "b"), "postgres://h/b?x=/y");
    }
}
