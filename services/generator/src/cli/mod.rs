//! The command line.

mod check;
mod into;
mod lines;
mod make;
mod records;
mod schema;
mod subject;
mod table;
#[cfg(test)]
mod tests;
mod threads;

pub use check::CheckCommand;
pub use subject::Subject;

use std::io::{BufWriter, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

use auth::{AnyOwner, KeysCommand, NoColumns, PlansCommand, ServiceSettings};
use batch::{Backup, Restore};
use database::{DoctorCommand, MigrateCommand, Migrations, Pools};
use domain::{Clock, SystemClock};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use shell::{CommonCommand, Preview, Service, ServiceInfo, ShellSettings};

use self::make::MakeCommand;
use self::records::RecordsCommand;
use self::schema::SchemaCommand;
use crate::config::Settings;
use crate::policy::{self, STANDARD};
use crate::service::Generator;
use crate::store;

/// The database migrations: one set for keys and plans, one for saved schemas.
const MIGRATIONS: [&Migrations; 2] = [&auth::MIGRATIONS, &store::MIGRATIONS];

/// Generates and checks synthetic test data
#[derive(clap::Parser)]
#[command(mut_arg("write_timeout", |argument| argument.default_value("60")))]
pub struct Cli {
    #[command(flatten)]
    settings: ServiceSettings<Settings>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Common(CommonCommand),
    /// Generate values without a server
    Make(MakeCommand),
    /// Generate rows for a schema's tables without a server
    Records(RecordsCommand),
    /// Print a schema for `records` that matches SQL tables, a JSON Schema or a CSV sample
    Schema(SchemaCommand),
    /// Check values from standard input, one per line, without a server. Exits with status 1 if any
    /// value is invalid
    Check(CheckCommand),
    /// Migrate the database to the current schema
    Migrate(MigrateCommand),
    /// Check the database. Exits with status 1 if it finds a problem
    Doctor(DoctorCommand),
    /// Issue, list, revoke and rotate API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// List and change plans
    #[command(subcommand)]
    Plans(PlansCommand),
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = Generator::INFO;

    fn shell(&self) -> &ShellSettings {
        &self.settings.shell
    }

    fn preview(&self, preview: &mut Preview) {
        let database = self.settings.preview(&Generator::INFO, &MIGRATIONS);
        preview.add("database", database.map_err(Into::into));
    }

    fn back_up(&self, folder: &Path) -> anyhow::Result<()> {
        let backup = Backup::begin(folder, Generator::INFO.name, Generator::INFO.version)?;
        backup.copy("tls", &self.settings.shell.tls_folder())?;
        self.settings.back_up(&Generator::INFO, backup.folder())?;
        backup.finish()
    }

    fn restore(&self, folder: &Path) -> anyhow::Result<()> {
        let restore = Restore::open(folder, Generator::INFO.name)?;
        let tls = self.settings.shell.tls_folder();
        let database = self.settings.restored_file(&Generator::INFO, folder)?;
        restore.require_free([&tls].into_iter().chain(&database))?;
        restore.copy("tls", &tls)?;
        Ok(self.settings.restore(&Generator::INFO, folder)?)
    }

    fn run(mut self) -> anyhow::Result<ExitCode> {
        let command =
            self.command.take().unwrap_or_else(|| Command::Common(CommonCommand::default()));
        match command {
            Command::Common(command) => command.run::<Generator, _>(self, Self::serve),
            Command::Make(command) => command.run_to(today(), &mut BufWriter::new(stdout().lock())),
            Command::Records(command) => {
                command.run_to(today(), &mut BufWriter::new(stdout().lock()))
            }
            Command::Schema(command) => command.run_to(&mut BufWriter::new(stdout().lock())),
            Command::Check(command) => {
                batch::refuse_overwriting(&["/dev/stdout"], ["-"])?;
                command.run_to(today(), stdin().lock(), &mut BufWriter::new(stdout().lock()))
            }
            Command::Migrate(command) => {
                Ok(self.settings.migrate(command, &Generator::INFO, &MIGRATIONS)?)
            }
            Command::Doctor(command) => Ok(command.run(&self.pools_of(true)?)?),
            Command::Keys(command) => {
                if command.needs_data() {
                    self.settings.refuse_missing(&Generator::INFO)?;
                }
                let owners = AnyOwner { default_plan: Some(STANDARD) };
                let pools = self.pools_of(matches!(command, KeysCommand::List { .. }))?;
                command.run(&pools, &owners, SystemClock.unix())
            }
            Command::Plans(command) => {
                if command.needs_data() {
                    self.settings.refuse_missing(&Generator::INFO)?;
                }
                let pools = self.pools_of(matches!(command, PlansCommand::List { .. }))?;
                command.run(&pools, &NoColumns::default())
            }
        }
    }
}

impl Cli {
    fn serve(self) -> anyhow::Result<ExitCode> {
        let Self { settings, .. } = &self;
        let pools = self.pools()?;
        pools.register_server();
        let service = Generator::new(pools, SystemClock::shared(), &settings.service)?;
        let idle = settings.service.stream_idle_timeout;
        // The shell already detects clients that stop reading, and responses that aren't streamed
        // are short.
        let write_timeout = settings.shell.write_timeout.min(idle);
        shell::serve(&ShellSettings { write_timeout, ..settings.shell.clone() }, service)
    }

    /// Opens the database for a command. If `reads_only` is true, the database isn't created or
    /// modified.
    fn pools_of(&self, reads_only: bool) -> anyhow::Result<Pools> {
        match reads_only {
            true => Ok(self.settings.open_unchanged(&Generator::INFO, &MIGRATIONS)?),
            false => self.pools(),
        }
    }

    /// Opens the database and inserts the initial plans, which keys may need before the first
    /// `serve`.
    fn pools(&self) -> anyhow::Result<Pools> {
        let pools = self.settings.open(&Generator::INFO, &MIGRATIONS)?;
        policy::seed_plans(&pools)?;
        Ok(pools)
    }
}

fn today() -> Date {
    SystemClock.now().to_zoned_datetime(TimeZone::UTC).date()
}
