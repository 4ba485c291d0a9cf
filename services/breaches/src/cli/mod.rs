//! The command line: `serve` and commands for operators.

mod account;
mod accounts;
mod address;
mod block;
mod breach;
mod catalogue;
mod doctor;
mod domain;
mod external;
mod input_flags;
mod job;
mod keys;
mod migrate;
mod output;
mod pastes;
mod plans;
mod report;
mod seed_test;
mod stealer_logs;
mod subscriber;
mod subscription;
mod webhook;

use std::path::Path;
use std::process::ExitCode;

use ::domain::SystemClock;
use auth::ServiceSettings;
use batch::{Backup, Restore};
use clap::Parser;
use database::{DatabaseSettings, Pools};
use shell::{CommonCommand, Preview, Service, ServiceInfo, ShellSettings};

use self::accounts::AccountsCommand;
use self::block::BlockCommand;
use crate::config::Settings;
use crate::jobs::{self, JobContext};
use crate::service::Breaches;
use crate::state::{self, State};

/// The command line of `breaches`.
#[derive(Parser)]
#[command(max_term_width = 100)]
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
    /// Create or update the database schema
    Migrate(migrate::Migrate),
    /// Manage the API keys of subscribers
    Keys(keys::Keys),
    /// List and change subscription plans
    Plans(plans::Plans),
    /// Import the breach catalogue
    #[command(subcommand)]
    Catalogue(catalogue::CatalogueCommand),
    /// Load addresses into breaches, or clean up stored addresses
    #[command(subcommand)]
    Accounts(AccountsCommand),
    /// Load pastes
    #[command(subcommand)]
    Pastes(pastes::PastesCommand),
    /// Load addresses and websites from stealer logs
    #[command(subcommand)]
    StealerLogs(stealer_logs::StealerLogsCommand),
    /// Export the addresses in a breach
    #[command(subcommand)]
    Account(account::AccountCommand),
    /// Change, publish, hide or retire a breach, or export the catalogue
    #[command(subcommand)]
    Breach(breach::BreachCommand),
    /// Show, opt out or remove an address
    #[command(subcommand)]
    Address(address::AddressCommand),
    /// Manage verified domains
    #[command(subcommand)]
    Domain(domain::DomainCommand),
    /// Report a domain's new exposures: its addresses in breaches added since a date
    Report(report::Report),
    /// List, resume and cancel jobs (loads and purges)
    #[command(subcommand)]
    Job(job::JobCommand),
    /// Manage the block list
    #[command(subcommand)]
    Block(BlockCommand),
    /// Check the database for inconsistencies. The exit code is 1 if any are found
    Doctor(doctor::Doctor),
    /// Add subscribers
    #[command(subcommand)]
    Subscriber(subscriber::SubscriberCommand),
    /// Start and end subscriptions
    #[command(subcommand)]
    Subscription(subscription::SubscriptionCommand),
    /// Manage the webhooks of subscribers
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Create or remove the test accounts
    SeedTest(seed_test::SeedTest),
}

impl Command {
    /// Dry runs must not change the database.
    fn is_dry_run(&self) -> bool {
        match self {
            Self::Catalogue(command) => command.is_dry_run(),
            Self::Accounts(command) => command.is_dry_run(),
            Self::Pastes(command) => command.is_dry_run(),
            Self::StealerLogs(command) => command.is_dry_run(),
            _ => false,
        }
    }

    /// Returns whether the command only makes sense with existing data, so that a mistyped path
    /// doesn't create a new database. Keys, subscriptions and webhooks need a subscriber.
    fn needs_data(&self) -> bool {
        match self {
            Self::Doctor(_)
            | Self::Account(_)
            | Self::Job(_)
            | Self::Address(_)
            | Self::Report(_)
            | Self::Keys(_)
            | Self::Breach(_)
            | Self::Domain(_)
            | Self::Subscription(_)
            | Self::Webhook(_)
            | Self::Accounts(AccountsCommand::Clean { .. })
            | Self::Block(BlockCommand::List { .. } | BlockCommand::Remove { .. }) => true,
            Self::Plans(command) => command.needs_data(),
            _ => self.is_dry_run(),
        }
    }
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = Breaches::INFO;

    fn shell(&self) -> &ShellSettings {
        &self.settings.shell
    }

    fn preview(&self, preview: &mut Preview) {
        let migrations = [&auth::MIGRATIONS, &crate::store::MIGRATIONS];
        let database = self.settings.preview(&Breaches::INFO, &migrations);
        preview.add("database", database.map_err(Into::into));
        let external = external::external(&self.settings.shell, &self.settings.service);
        let external = external.and_then(|_| state::deny_list(&self.settings.service));
        preview.add("email, DNS, webhooks", external.map(|_| "settings are valid".to_owned()));
    }

    fn back_up(&self, folder: &Path) -> anyhow::Result<()> {
        let shell = &self.settings.shell;
        let backup = Backup::begin(folder, Breaches::INFO.name, Breaches::INFO.version)?;
        self.settings.back_up(&Breaches::INFO, backup.folder())?;
        backup.copy("mail", &self.settings.service.mail.folder(&shell.data_dir))?;
        backup.copy("tls", &shell.tls_folder())?;
        backup.finish()
    }

    fn restore(&self, folder: &Path) -> anyhow::Result<()> {
        let shell = &self.settings.shell;
        let restore = Restore::open(folder, Breaches::INFO.name)?;
        let mail = self.settings.service.mail.folder(&shell.data_dir);
        let tls = shell.tls_folder();
        let database = self.settings.restored_file(&Breaches::INFO, folder)?;
        restore.require_free([&mail, &tls].into_iter().chain(&database))?;
        restore.copy("mail", &mail)?;
        restore.copy("tls", &tls)?;
        Ok(self.settings.restore(&Breaches::INFO, folder)?)
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => CommonCommand::default().run::<Breaches, _>(self, Self::serve),
            Some(Command::Common(ref command)) => {
                command.clone().run::<Breaches, _>(self, Self::serve)
            }
            Some(Command::Migrate(ref migrate)) => {
                let data_dir = &self.settings.shell.data_dir;
                migrate.run(&self.database(), Breaches::INFO.name, data_dir)
            }
            Some(ref command) => {
                let settings = &self.settings;
                if command.needs_data() {
                    settings.refuse_missing(&Breaches::INFO)?;
                }
                let context = self.context()?;
                self.operate(context)
            }
        }
    }
}

impl Cli {
    /// Returns the database settings, tuned for this service.
    fn database(&self) -> DatabaseSettings {
        let mut database = self.settings.database.clone();
        database.sqlite.page_size = Some(8_192);
        database.sqlite.mmap_bytes = self.settings.service.sqlite_mmap;
        // Once people have had their data removed, free pages must not contain any of it.
        database.sqlite.secure_delete = true;
        database
    }

    /// Opens the database. New databases receive plans and test accounts.
    fn context(&self) -> anyhow::Result<JobContext> {
        let pools = self.open(&self.database())?;
        // Session settings depend on what the database contains, so connect again.
        let mut database = self.database();
        let pools = match migrate::set_up_sessions(&mut database, &pools, self.serves())? {
            true => self.open(&database)?,
            false => pools,
        };
        let settings = self.settings.service.clone();
        let context = JobContext { pools, clock: SystemClock::shared(), settings };
        if !self.is_dry_run() {
            jobs::first_start(&context)?;
        }
        Ok(context)
    }

    fn open(&self, database: &DatabaseSettings) -> anyhow::Result<Pools> {
        let migrations = [&auth::MIGRATIONS, &crate::store::MIGRATIONS];
        let (data_dir, name) = (&self.settings.shell.data_dir, Breaches::INFO.name);
        Ok(match self.is_dry_run() {
            true => database.open_unchanged(data_dir, name, &migrations)?,
            false => database.open(data_dir, name, &migrations)?,
        })
    }

    fn is_dry_run(&self) -> bool {
        self.command.as_ref().is_some_and(Command::is_dry_run)
    }

    fn serves(&self) -> bool {
        matches!(self.command, None | Some(Command::Common(_)))
    }

    fn serve(self) -> anyhow::Result<ExitCode> {
        // If a setting prevents the server from starting, it must not create or migrate the
        // database.
        let external = external::external(&self.settings.shell, &self.settings.service)?;
        let context = self.context()?;
        context.pools.register_server();
        let state = State::new(context.pools, context.clock, context.settings, external)?;
        shell::serve(&self.settings.shell, Breaches::new(state))
    }

    fn operate(self, context: JobContext) -> anyhow::Result<ExitCode> {
        match self.command {
            Some(Command::Keys(command)) => command.run(&context),
            Some(Command::Plans(command)) => command.run(&context),
            Some(Command::Catalogue(command)) => command.run(&context),
            Some(Command::Accounts(command)) => command.run(&context),
            Some(Command::Pastes(command)) => command.run(&context),
            Some(Command::StealerLogs(command)) => command.run(&context),
            Some(Command::Account(command)) => command.run(&context),
            Some(Command::Breach(command)) => command.run(&context),
            Some(Command::Address(command)) => {
                let data_dir = &self.settings.shell.data_dir;
                command.run(&context, context.settings.mail.folder(data_dir))
            }
            Some(Command::Domain(command)) => command.run(&context),
            Some(Command::Report(command)) => command.run(&context),
            Some(Command::Job(command)) => command.run(&context),
            Some(Command::Block(command)) => command.run(&context),
            Some(Command::Doctor(command)) => command.run(&context),
            Some(Command::Subscriber(command)) => command.run(&context),
            Some(Command::Subscription(command)) => command.run(&context),
            Some(Command::Webhook(command)) => command.run(&context),
            Some(Command::SeedTest(command)) => command.run(&context),
            Some(Command::Common(_) | Command::Migrate(_)) | None => Ok(ExitCode::SUCCESS),
        }
    }
}
