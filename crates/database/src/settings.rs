//! Database settings.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::backup::{check_pages, copy_file, place_file};
use crate::connect::{Connector, Role};
use crate::displaced::{is_empty, refuse_displaced};
use crate::migrate::{migrate, pending};
use crate::presence::Presence;
use crate::target::Target;
use crate::{Backend, DatabaseError, Db, Migrations, Pools, SqliteOptions};

/// Size of the largest SQLite database whose pages `serve --check` reads, so that it remains quick.
const MOST_CHECKED: i64 = 64 << 20;

/// Database settings. A service flattens these into its own settings.
///
/// ```
/// use clap::Parser;
///
/// #[derive(Parser)]
/// struct Cli {
///     #[command(flatten)]
///     store: database::DatabaseSettings,
/// }
/// let cli = Cli::parse_from(["notes", "--db-pool", "3"]);
/// assert_eq!(cli.store.db_pool, 3);
/// ```
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Database", about = None, long_about = None)]
pub struct DatabaseSettings {
    /// Database URL, either `sqlite://PATH` or `postgres://…` [default: sqlite://DATA_DIR/NAME.db]
    #[arg(long, env, hide_env_values = true, value_name = "URL", value_parser = UrlParser, global = true)]
    pub database_url: Option<String>,

    /// Number of read connections, 1 to 1000. PostgreSQL uses an equal number of write connections
    #[arg(long, env, default_value_t = cores(), value_name = "N", value_parser = pool_size, global = true)]
    pub db_pool: usize,

    /// Migrate a PostgreSQL database at startup. SQLite databases are always migrated
    #[arg(long, env, value_parser = boolean, global = true)]
    pub auto_migrate: bool,

    /// Milliseconds that a request waits for a database connection before it is rejected, 1 to
    /// 600000
    #[arg(long, env, default_value_t = 500, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=600_000), global = true)]
    pub db_wait_ms: u64,

    /// SQLite tuning options, which each service sets in code.
    #[arg(skip)]
    pub sqlite: SqliteOptions,
}

impl Default for DatabaseSettings {
    fn default() -> Self {
        Self {
            database_url: None,
            db_pool: cores(),
            auto_migrate: false,
            db_wait_ms: 500,
            sqlite: SqliteOptions::default(),
        }
    }
}

impl std::fmt::Debug for DatabaseSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseSettings")
            .field("database_url", &self.database_url.as_ref().map(|_| ".."))
            .field("db_pool", &self.db_pool)
            .field("auto_migrate", &self.auto_migrate)
            .field("db_wait_ms", &self.db_wait_ms)
            .field("sqlite", &self.sqlite)
            .finish()
    }
}

impl DatabaseSettings {
    /// Opens the database and makes sure that it is fully migrated.
    ///
    /// On SQLite, this creates the folder and the file if necessary, and migrates the file. A
    /// PostgreSQL database is only migrated if `auto_migrate` is set, since older replicas might
    /// still be using it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let settings = database::DatabaseSettings::default();
    /// let pools = settings.open(folder.path(), "notes", &[])?;
    /// assert_eq!(pools.backend(), database::Backend::Sqlite);
    /// assert!(folder.path().join("notes.db").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator if the scheme is
    /// unknown, the file or server can't be used, or migrations are pending.
    pub fn open(
        &self,
        data_dir: &Path,
        name: &str,
        migrations: &[&Migrations],
    ) -> Result<Pools, DatabaseError> {
        let connector = self.connector(data_dir, name)?;
        self.create_file(&connector.target)?;
        let mut db = connector.connect(Role::Job)?;
        if connector.target.backend() == Backend::Sqlite || self.auto_migrate {
            migrate(&mut db, migrations)?;
        } else {
            refuse_pending(&mut db, name, migrations)?;
        }
        Ok(self.pools(connector, migrations))
    }

    /// Opens the database for a command that must not change it, such as a dry run. The database is
    /// neither created nor migrated.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let settings = database::DatabaseSettings::default();
    /// assert!(settings.open_unchanged(folder.path(), "notes", &[]).is_err());
    /// assert!(!folder.path().join("notes.db").exists());
    /// settings.open(folder.path(), "notes", &[])?;
    /// settings.open_unchanged(folder.path(), "notes", &[])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator if the database
    /// does not exist, migrations are pending, the scheme is unknown, or the file or server cannot
    /// be used.
    pub fn open_unchanged(
        &self,
        data_dir: &Path,
        name: &str,
        migrations: &[&Migrations],
    ) -> Result<Pools, DatabaseError> {
        self.refuse_missing(data_dir, name)?;
        let connector = Connector { read_only: true, ..self.connector(data_dir, name)? };
        refuse_pending(&mut connector.connect(examining(&connector))?, name, migrations)?;
        Ok(self.pools(connector, migrations))
    }

    /// Describes the database for the output of `serve --check`, without creating or changing it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let settings = database::DatabaseSettings::default();
    /// assert!(settings.preview(folder.path(), "notes", &[])?.ends_with("`serve` creates it"));
    /// assert!(!folder.path().join("notes.db").exists());
    /// settings.open(folder.path(), "notes", &[])?;
    /// assert!(settings.preview(folder.path(), "notes", &[])?.ends_with("its schema is current"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] if `serve` couldn't open it, if it lacks a table that
    /// requests need, or if a SQLite database of up to 64 MiB is damaged.
    pub fn preview(
        &self,
        data_dir: &Path,
        name: &str,
        migrations: &[&Migrations],
    ) -> Result<String, DatabaseError> {
        let connector = Connector { read_only: true, ..self.connector(data_dir, name)? };
        let mut place = match &connector.target {
            Target::Sqlite(path) => {
                refuse_displaced(path)?;
                format!("the SQLite file {}", path.display())
            }
            Target::Postgres(_) => "PostgreSQL".to_owned(),
        };
        if self.missing_file(data_dir, name)?.is_some() {
            return Ok(format!("{place} does not exist; `serve` creates it"));
        }
        let mut db = connector.connect(examining(&connector))?;
        if let (Target::Sqlite(path), Db::Sqlite(conn)) = (&connector.target, &mut db) {
            require_log(conn, path)?;
            // While a load is running, most pages can be in the write-ahead log.
            let bytes: i64 = diesel::dsl::sql::<BigInt>(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            )
            .get_result(conn)?;
            if bytes > MOST_CHECKED {
                place += ", whose pages were not checked because they exceed 64 MiB";
            } else {
                check_pages(conn, path)?;
            }
        }
        let migrates = connector.target.backend() == Backend::Sqlite || self.auto_migrate;
        if !migrates {
            refuse_pending(&mut db, name, migrations)?;
        }
        Ok(match pending(&mut db, migrations)?.len() {
            0 => {
                Presence::new(&connector.target, migrations).require(&mut db)?;
                format!("{place}; its schema is current")
            }
            1 => format!("{place}; `serve` applies 1 migration"),
            number => format!("{place}; `serve` applies {number} migrations"),
        })
    }

    /// Migrates the database and returns the versions that were applied.
    ///
    /// Commands use [`MigrateCommand`](crate::MigrateCommand), which also prints these.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator.
    pub fn migrate(
        &self,
        data_dir: &Path,
        name: &str,
        migrations: &[&Migrations],
    ) -> Result<Vec<String>, DatabaseError> {
        let connector = self.connector(data_dir, name)?;
        self.create_file(&connector.target)?;
        migrate(&mut connector.connect(Role::Job)?, migrations)
    }

    /// Returns the path of the SQLite file if it doesn't exist yet, and `None` otherwise.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let settings = database::DatabaseSettings::default();
    /// assert_eq!(settings.missing_file(folder.path(), "notes")?, Some(folder.path().join("notes.db")));
    /// settings.open(folder.path(), "notes", &[])?;
    /// assert_eq!(settings.missing_file(folder.path(), "notes")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] for an unknown scheme.
    pub fn missing_file(
        &self,
        data_dir: &Path,
        name: &str,
    ) -> Result<Option<PathBuf>, DatabaseError> {
        Ok(self.file(data_dir, name)?.filter(|path| !path.exists()))
    }

    /// Copies a snapshot of the SQLite database to a new file, while others can keep using the
    /// database. Returns false for PostgreSQL, which has its own tools for this.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let settings = database::DatabaseSettings::default();
    /// settings.open(folder.path(), "notes", &[])?;
    /// let copy = folder.path().join("copy.db");
    /// assert!(settings.back_up(folder.path(), "notes", &copy)?);
    /// let other = folder.path().join("other");
    /// settings.restore(&other, "notes", &copy)?;
    /// settings.open_unchanged(&other, "notes", &[])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator if the database
    /// doesn't exist, or if `to` already exists or isn't writable.
    pub fn back_up(&self, data_dir: &Path, name: &str, to: &Path) -> Result<bool, DatabaseError> {
        self.refuse_missing(data_dir, name)?;
        let connector = self.connector(data_dir, name)?;
        let copies = connector.target.backend() == Backend::Sqlite;
        if copies {
            copy_file(&connector, to)?;
        }
        Ok(copies)
    }

    /// Returns the path of the SQLite file, or `None` for PostgreSQL.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] for an unknown scheme.
    pub fn file(&self, data_dir: &Path, name: &str) -> Result<Option<PathBuf>, DatabaseError> {
        Ok(match self.target(data_dir, name)? {
            Target::Sqlite(path) => Some(path),
            Target::Postgres(_) => None,
        })
    }

    /// Checks a copy of a SQLite database, and then puts it in place. Does nothing for PostgreSQL.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator if the copy is
    /// damaged or the folder isn't writable.
    pub fn restore(&self, data_dir: &Path, name: &str, from: &Path) -> Result<(), DatabaseError> {
        self.file(data_dir, name)?.map_or(Ok(()), |path| place_file(from, &path))
    }

    /// Returns the database that the settings point to.
    fn target(&self, data_dir: &Path, name: &str) -> Result<Target, DatabaseError> {
        match &self.database_url {
            Some(url) => Target::parse(url),
            None => Ok(Target::file_in(data_dir, name)),
        }
    }

    /// Checks that the database exists, without creating it. Does nothing for PostgreSQL.
    ///
    /// # Errors
    /// Returns [`DatabaseError::Setup`] with a one-line message for the operator if the file is
    /// missing or empty.
    pub fn refuse_missing(&self, data_dir: &Path, name: &str) -> Result<(), DatabaseError> {
        let Some(path) = self.file(data_dir, name)? else { return Ok(()) };
        let shown = path.display();
        let text = if !path.exists() {
            format!("the database {shown} does not exist; nothing was created")
        } else if is_empty(&path) {
            refuse_displaced(&path)?;
            format!(
                "the database {shown} is empty; nothing was changed: put its file back, or create \
                 a new database with `{name} migrate`"
            )
        } else {
            return Ok(());
        };
        Err(DatabaseError::Setup(text))
    }

    fn pools(&self, connector: Connector, migrations: &[&Migrations]) -> Pools {
        Pools::new(connector, migrations, self.db_pool, Duration::from_millis(self.db_wait_ms))
    }

    fn connector(&self, data_dir: &Path, name: &str) -> Result<Connector, DatabaseError> {
        let target = self.target(data_dir, name)?;
        if let Target::Sqlite(path) = &target {
            self.check_path(path, name)?;
        }
        Ok(Connector { target, sqlite: self.sqlite, read_only: false })
    }

    /// Checks that the path of a SQLite file doesn't lead to a folder or through another file.
    fn check_path(&self, path: &Path, name: &str) -> Result<(), DatabaseError> {
        let example = match self.setting() {
            "DATA_DIR" => format!("a folder such as DATA_DIR=/var/lib/{name}"),
            _ => format!("a file such as DATABASE_URL=sqlite:///var/lib/{name}/{name}.db"),
        };
        let fault = if path.is_dir() {
            format!("{} is a folder, but must be the database file", path.display())
        } else if let Some(file) = path.ancestors().skip(1).find(|above| above.is_file()) {
            format!("{} is a file, but must be a folder", file.display())
        } else {
            return Ok(());
        };
        Err(DatabaseError::Setup(format!("{}: {fault}; name {example}", self.setting())))
    }

    /// Creates the SQLite file and its folder, unless the file exists. Only its owner may read the
    /// file, regardless of the umask. SQLite gives its journals the same mode.
    fn create_file(&self, target: &Target) -> Result<(), DatabaseError> {
        let Target::Sqlite(path) = target else { return Ok(()) };
        if path.exists() {
            return Ok(());
        }
        refuse_displaced(path)?;
        let create = || -> io::Result<()> {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder)?;
            }
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600).open(path).map(drop)
        };
        create().map_err(|error| {
            let (path, setting) = (path.display(), self.setting());
            DatabaseError::Setup(format!("cannot create the database {path} ({setting}): {error}"))
        })
    }

    /// Returns the name of the setting that the database's location comes from.
    fn setting(&self) -> &'static str {
        if self.database_url.is_some() { "DATABASE_URL" } else { "DATA_DIR" }
    }
}

/// Returns the role for examining a database without changing it. For a job, SQLite would turn on
/// the write-ahead log. On PostgreSQL, a reader couldn't list the pending migrations.
fn examining(connector: &Connector) -> Role {
    match connector.target.backend() {
        Backend::Sqlite => Role::Reader,
        Backend::Postgres => Role::Job,
    }
}

/// Checks that the write-ahead log could be turned on for a SQLite file, without doing so.
fn require_log(conn: &mut SqliteConnection, path: &Path) -> Result<(), DatabaseError> {
    let mode: String = diesel::dsl::sql::<Text>("SELECT journal_mode FROM pragma_journal_mode")
        .get_result(conn)?;
    if mode == "wal" {
        return Ok(());
    }
    OpenOptions::new().write(true).open(path).map(drop).map_err(|error| {
        DatabaseError::Setup(format!("cannot write the database {}: {error}", path.display()))
    })
}

fn refuse_pending(
    db: &mut Db,
    name: &str,
    migrations: &[&Migrations],
) -> Result<(), DatabaseError> {
    let lacking = pending(db, migrations)?;
    if lacking.is_empty() {
        return Ok(());
    }
    let otherwise = match db {
        Db::Sqlite(_) => "start the server, which migrates the file",
        Db::Pg(_) => "start with --auto-migrate",
    };
    Err(DatabaseError::Setup(format!(
        "the database is missing {} migration{}: run `{name} migrate` first, or {otherwise}",
        lacking.len(),
        if lacking.len() == 1 { "" } else { "s" },
    )))
}

/// Validates the database URL on the command line, so that an invalid one is a usage error. clap's
/// own errors would quote the URL, which may contain a password.
#[derive(Clone, Copy)]
struct UrlParser;

impl TypedValueParser for UrlParser {
    type Value = String;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let refuse = |why: &str| clap::Error::raw(ErrorKind::ValueValidation, format!("{why}\n"));
        let url = value.to_str().ok_or_else(|| refuse("DATABASE_URL is not UTF-8"))?;
        Target::parse(url).map_err(|error| refuse(&error.to_string()))?;
        Ok(url.to_owned())
    }
}

fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "on" | "1" => Ok(true),
        "false" | "f" | "no" | "n" | "off" | "0" => Ok(false),
        _ => Err("must be true or false, as in AUTO_MIGRATE=true".to_owned()),
    }
}

fn pool_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size @ 1..=1_000) => Ok(size),
        _ => Err("a number from 1 to 1000".to_owned()),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_words_for_true_or_false() {
        assert_eq!(["true", "YES", "1"].map(|text| boolean(text).unwrap()), [true; 3]);
        assert_eq!(["false", "off", "0"].map(|text| boolean(text).unwrap()), [false; 3]);
        assert!(boolean("maybe").unwrap_err().ends_with("as in AUTO_MIGRATE=true"));
    }
}
