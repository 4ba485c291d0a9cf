//! The command line: `serve` and the operator's commands.

mod address;
mod block;
mod breach;
mod catalogue;
mod domain;
mod job;
mod keys;
mod load;
mod report;
mod setup;
mod subscriber;

use std::process::ExitCode;

use ::domain::SystemClock;
use clap::Parser;
use database::DatabaseSettings;
use shell::{CommonCommand, ServiceInfo, ShellSettings};

use crate::config::Settings;
use crate::jobs::{self, Context};
use crate::service::{Breaches, INFO};
use crate::state::State;

/// The command line of `breaches`.
#[derive(Parser)]
#[command(max_term_width = 100)]
pub struct Arguments {
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
    Migrate(setup::Migrate),
    /// API keys of subscribers
    Keys(keys::Keys),
    /// Plans of subscriptions
    Plans(keys::Plans),
    /// The breach catalogue
    #[command(subcommand)]
    Catalogue(catalogue::CatalogueCommand),
    /// Addresses of a breach
    #[command(subcommand)]
    Accounts(load::AccountsCommand),
    /// Pastes
    #[command(subcommand)]
    Pastes(load::PastesCommand),
    /// Pairs of address and website from stealer logs
    #[command(subcommand)]
    StealerLogs(load::StealerLogsCommand),
    /// Accounts
    #[command(subcommand)]
    Account(load::AccountCommand),
    /// One breach of the catalogue, or an export of all
    #[command(subcommand)]
    Breach(breach::BreachCommand),
    /// One address: what is held of it, opt-outs, removal
    #[command(subcommand)]
    Address(address::AddressCommand),
    /// Control of domains
    #[command(subcommand)]
    Domain(domain::DomainCommand),
    /// Jobs: loads and purges
    #[command(subcommand)]
    Job(job::JobCommand),
    /// The block list
    #[command(subcommand)]
    Block(block::BlockCommand),
    /// Check the database
    Doctor(setup::Doctor),
    /// Subscribers
    #[command(subcommand)]
    Subscriber(subscriber::SubscriberCommand),
    /// Subscriptions
    #[command(subcommand)]
    Subscription(subscriber::SubscriptionCommand),
    /// Make the test accounts, or remove them
    SeedTest(setup::SeedTest),
}

impl shell::Cli for Arguments {
    const INFO: ServiceInfo = INFO;

    fn shell(&self) -> &ShellSettings {
        &self.shell
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Some(Command::Common(CommonCommand::Openapi)) => {
                shell::cli::print_openapi::<Breaches>()
            }
            Some(Command::Common(CommonCommand::Healthcheck)) => {
                shell::cli::healthcheck(&self.shell)
            }
            Some(Command::Migrate(ref migrate)) => migrate.run(&self.store(), &self.shell.data_dir),
            None | Some(Command::Common(CommonCommand::Serve)) => self.serve(),
            Some(_) => {
                let context = self.context()?;
                self.operate(context)
            }
        }
    }
}

impl Arguments {
    /// The settings of the database with the tuning of this service.
    fn store(&self) -> DatabaseSettings {
        let mut store = self.database.clone();
        store.sqlite.page_size = Some(8_192);
        store.sqlite.mmap_bytes = self.settings.sqlite_mmap;
        store
    }

    /// Opens the database; a new one gets its plans and test accounts.
    fn context(&self) -> anyhow::Result<Context> {
        let pools = self.store().open(
            &self.shell.data_dir,
            INFO.name,
            &[&auth::MIGRATIONS, &crate::store::MIGRATIONS],
        )?;
        let context =
            Context { pools, clock: SystemClock::shared(), settings: self.settings.clone() };
        jobs::seed::first_start(&context)?;
        Ok(context)
    }

    fn serve(mut self) -> anyhow::Result<ExitCode> {
        setup::keep_plans(&mut self.database);
        let context = self.context()?;
        let state = State::new(context.pools, context.clock, context.settings)?;
        shell::serve(&self.shell, Breaches::new(state))
    }

    fn operate(self, context: Context) -> anyhow::Result<ExitCode> {
        match self.command {
            Some(Command::Keys(command)) => command.run(&context),
            Some(Command::Plans(command)) => command.run(&context),
            Some(Command::Catalogue(command)) => command.run(&context),
            Some(Command::Accounts(command)) => command.run(&context),
            Some(Command::Pastes(command)) => command.run(&context),
            Some(Command::StealerLogs(command)) => command.run(&context),
            Some(Command::Account(command)) => command.run(&context),
            Some(Command::Breach(command)) => command.run(&context),
            Some(Command::Address(command)) => command.run(&context),
            Some(Command::Domain(command)) => command.run(&context),
            Some(Command::Job(command)) => command.run(&context),
            Some(Command::Block(command)) => command.run(&context),
            Some(Command::Doctor(command)) => command.run(&context),
            Some(Command::Subscriber(command)) => command.run(&context),
            Some(Command::Subscription(command)) => command.run(&context),
            Some(Command::SeedTest(command)) => command.run(&context),
            Some(Command::Common(_) | Command::Migrate(_)) | None => Ok(ExitCode::SUCCESS),
        }
    }
}
