//! The settings of a service with keys.

use std::process::ExitCode;

use database::{DatabaseError, DatabaseSettings, MigrateCommand, Migrations, Pools};
use shell::{ServiceInfo, ShellSettings};

/// All settings of a service with keys: those of the shell, those of the database, its own.
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
    /// Opens the database, and migrates it if the settings say so.
    ///
    /// # Errors
    ///
    /// As [`DatabaseSettings::open`].
    pub fn open(
        &self,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<Pools, DatabaseError> {
        self.database.open(&self.shell.data_dir, info.name, migrations)
    }

    /// Opens the database of a command that must not change it.
    ///
    /// # Errors
    ///
    /// As [`DatabaseSettings::open_unchanged`].
    pub fn open_unchanged(
        &self,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<Pools, DatabaseError> {
        self.database.open_unchanged(&self.shell.data_dir, info.name, migrations)
    }

    /// Describes the database for `serve --check`.
    ///
    /// # Errors
    ///
    /// As [`DatabaseSettings::preview`].
    pub fn preview(
        &self,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<String, DatabaseError> {
        self.database.preview(&self.shell.data_dir, info.name, migrations)
    }

    /// Runs the command `migrate`.
    ///
    /// # Errors
    ///
    /// As [`MigrateCommand::run`].
    pub fn migrate(
        &self,
        command: MigrateCommand,
        info: &ServiceInfo,
        migrations: &[&Migrations],
    ) -> Result<ExitCode, DatabaseError> {
        command.run(&self.database, &self.shell.data_dir, info.name, migrations)
    }
}
