//! The command line.

mod keys;
mod load;
mod upkeep;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use auth::KeysCommand;
use database::{DatabaseSettings, Pools};
use domain::SystemClock;
use shell::{CommonCommand, ServiceInfo, ShellSettings};

use crate::config::Settings;
use crate::jobs::session::Workshop;
use crate::service::{Buckets, INFO};
use crate::state::State;
use crate::store::{MIGRATIONS, package};

pub use keys::PackageFlags;

/// Searches an index of files in open cloud-storage buckets
#[derive(clap::Parser)]
pub struct Cli {
    #[command(flatten)]
    shell: ShellSettings,
    #[command(flatten)]
    database: DatabaseSettings,
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Common(CommonCommand),
    /// Bring the database up to date
    Migrate,
    /// Load listings of buckets and publish them in one step
    Load(load::LoadArguments),
    /// Make a new generation of the index, of the sources or of the present one
    Rebuild(upkeep::RebuildArguments),
    /// Remove a bucket, or its files below a prefix, and purge their bytes
    Remove(upkeep::RemoveArguments),
    /// List removals
    Removals {
        /// Print a JSON array instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Take a bucket off the removal list; its files come back with the next load
    Unremove(upkeep::UnremoveArguments),
    /// Show generation, counts, runs and their progress
    Status {
        /// Print JSON instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Check the index against itself and against the bucket table
    Verify,
    /// Write the index, or one bucket, as NDJSON that loads again
    Export {
        /// Only this bucket
        #[arg(long, value_name = "ADDRESS")]
        bucket: Option<String>,
    },
    /// Keys of accounts
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Packages
    #[command(subcommand)]
    Plans(auth::PlansCommand<PackageFlags>),
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = INFO;

    fn shell(&self) -> &ShellSettings {
        &self.shell
    }

    fn run(mut self) -> anyhow::Result<ExitCode> {
        let command = self.command.take().unwrap_or(Command::Common(CommonCommand::Serve));
        match command {
            Command::Common(CommonCommand::Serve) => self.serve(),
            Command::Common(CommonCommand::Openapi) => shell::cli::print_openapi::<Buckets>(),
            Command::Common(CommonCommand::Healthcheck) => shell::cli::healthcheck(&self.shell),
            Command::Migrate => self.migrate(),
            Command::Load(arguments) => {
                load::run(&self.workshop()?, arguments, self.settings.checkpoints())
            }
            Command::Rebuild(arguments) => {
                upkeep::rebuild(&self.workshop()?, arguments, self.settings.checkpoints())
            }
            Command::Remove(arguments) => upkeep::remove(&self.workshop()?, &arguments),
            Command::Removals { json } => upkeep::removals(&self.workshop()?, json),
            Command::Unremove(arguments) => upkeep::unremove(&self.workshop()?, &arguments),
            Command::Status { json } => upkeep::status(&self.workshop()?, json),
            Command::Verify => upkeep::verify(&self.workshop()?),
            Command::Export { bucket } => upkeep::export(&self.workshop()?, bucket.as_deref()),
            Command::Keys(command) => {
                let shop = self.workshop()?;
                let owners = auth::AnyOwner { default_plan: Some("free") };
                command.run(&shop.pools, &owners, shop.clock.unix())
            }
            Command::Plans(command) => command.run(&self.pools()?, &keys::Packages),
        }
    }
}

impl Cli {
    fn serve(self) -> anyhow::Result<ExitCode> {
        let shop = self.workshop()?;
        let state =
            State::open(shop, self.settings.clone()).context("the index cannot be opened")?;
        shell::serve(&self.shell, Buckets::new(state))
    }

    fn migrate(&self) -> anyhow::Result<ExitCode> {
        let sources = [&auth::MIGRATIONS, &MIGRATIONS];
        let done = self.database.migrate(&self.shell.data_dir, INFO.name, &sources)?;
        eprintln!("{} migrations applied", done.len());
        Ok(ExitCode::SUCCESS)
    }

    /// The database with its plans and packages.
    fn pools(&self) -> anyhow::Result<Pools> {
        let sources = [&auth::MIGRATIONS, &MIGRATIONS];
        let pools = self.database.open(&self.shell.data_dir, INFO.name, &sources)?;
        pools.write_blocking(package::seed)?;
        Ok(pools)
    }

    fn workshop(&self) -> anyhow::Result<Workshop> {
        Ok(Workshop {
            pools: self.pools()?,
            clock: Arc::new(SystemClock),
            generations: self.settings.generations(&self.shell.data_dir)?,
            memory_mb: self.settings.load_memory_mb,
        })
    }
}
