//! Settings of services that use keys.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use database::{DatabaseError, DatabaseSettings, MigrateCommand, Migrations, Pools};
use shell::{ServiceInfo, ShellSettings};

/// All settings of a service with keys: shell settings, database settings and its own.
#[derive(Clone, Debug, clap::Args)]
pub struct ServiceSettings<S: clap::Args> {
    /// Listeners, limits, transport.
    #[command(flatten)]
    pub shell: ShellSettings,
    /// The database.
    #[command(flatten)]
    pub database: DatabaseSettings,
    /// The service's own settings.
    #[command(flatten)]
    pub service: S,
}

impl<S: clap::Args> ServiceSettings<S> {
    /// Opens the database, migrating it first if the settings say so.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`DatabaseSettings::open`].
    pub fn open(
        &self,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<Pools, DatabaseError> {
        self.database.open(&self.shell.data_dir, info.name, migrations)
    }

    /// Opens the database for a command that must not change it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`DatabaseSettings::open_unchanged`].
    pub fn open_unchanged(
        &self,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<Pools, DatabaseError> {
        self.database.open_unchanged(&self.shell.data_dir, info.name, migrations)
    }

    /// Checks that the database exists, for a command that only makes sense with existing data. In
    /// a folder named by mistake, the command would otherwise create an empty database.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`DatabaseSettings::refuse_missing`].
    pub fn refuse_missing(&self, info: &ServiceInfo) -> Result<(), DatabaseError> {
        self.database.refuse_missing(&self.shell.data_dir, info.name)
    }

    /// Describes the database for the output of `serve --check`, with a warning if its folder isn't
    /// writable.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`DatabaseSettings::preview`], and also an error if the database
    /// couldn't be created.
    pub fn preview(
        &self,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<String, DatabaseError> {
        let found = self.database.preview(&self.shell.data_dir, info.name, migrations)?;
        let Some(file) = self.database.file(&self.shell.data_dir, info.name)? else {
            return Ok(found);
        };
        match shell::require_creatable(&file) {
            Ok(()) => Ok(found),
            // `serve` can still answer requests that only read.
            Err(error) if file.exists() => Ok(format!(
                "{found}; warning: its folder cannot be written ({error}), so `/readyz` would \
                 respond with 503"
            )),
            Err(error) => {
                let file = file.display();
                Err(DatabaseError::Setup(format!("cannot create the database {file}: {error}")))
            }
        }
    }

    /// Runs the `migrate` subcommand.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`MigrateCommand::run`].
    pub fn migrate(
        &self,
        command: MigrateCommand,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<ExitCode, DatabaseError> {
        command.run(&self.database, &self.shell.data_dir, info.name, migrations)
    }

    /// Adds the database to the backup in `folder`. PostgreSQL has its own tools for this, so in
    /// that case we only log how to back it up.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`DatabaseSettings::back_up`].
    pub fn back_up(&self, info: &ServiceInfo, folder: &Path) -> Result<(), DatabaseError> {
        let copy = folder.join(file_of(info));
        if !self.database.back_up(&self.shell.data_dir, info.name, &copy)? {
            log::warn!(
                "the database is not in this backup: take it with pg_dump --format=custom while no load runs"
            );
        }
        Ok(())
    }

    /// Returns the file that [`restore`](Self::restore) would write, or `None` if the database has
    /// to be restored with PostgreSQL's tools.
    ///
    /// # Errors
    ///
    /// Returns [`DatabaseError::Setup`] if the backup in `folder` is for a different kind of
    /// database.
    pub fn restored_file(
        &self,
        info: &ServiceInfo,
        folder: &Path,
    ) -> Result<Option<PathBuf>, DatabaseError> {
        let file = self.database.file(&self.shell.data_dir, info.name)?;
        match (&file, folder.join(file_of(info)).exists()) {
            (Some(_), true) | (None, false) => Ok(file),
            (Some(_), false) => Err(DatabaseError::Setup(
                "the backup does not contain a SQLite database: restore the dump of PostgreSQL, \
                 then set DATABASE_URL"
                    .to_owned(),
            )),
            (None, true) => Err(DatabaseError::Setup(
                "the backup contains a SQLite database: unset DATABASE_URL".to_owned(),
            )),
        }
    }

    /// Restores the database from the backup in `folder`. PostgreSQL has its own tools for this, so
    /// in that case we only log a hint.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`DatabaseSettings::restore`].
    pub fn restore(&self, info: &ServiceInfo, folder: &Path) -> Result<(), DatabaseError> {
        self.database.restore(&self.shell.data_dir, info.name, &folder.join(file_of(info)))?;
        if self.database.file(&self.shell.data_dir, info.name)?.is_none() {
            log::warn!("the database is not in this backup: restore its dump with pg_restore");
        }
        Ok(())
    }
}

fn file_of(info: &ServiceInfo) -> String {
    format!("{}.db", info.name)
}
