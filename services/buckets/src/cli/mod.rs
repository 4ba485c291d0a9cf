//! The command-line interface.

mod audit;
mod backup;
mod crawl;
mod export;
mod load;
mod plans;
mod rebuild;
mod remove;
mod report;
mod sources;
mod status;
mod verify;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use auth::{KeysCommand, ServiceSettings};
use database::{MigrateCommand, Pools};
use domain::SystemClock;
use shell::{CommonCommand, Preview, Service, ServiceInfo, SettingError, ShellSettings};

use crate::app::{self, SnapshotError};
use crate::config::{Engine, Settings};
use crate::engine::{Cluster, EngineError, Folders, Generations, RemovalLimit};
use crate::jobs::{CheckpointPolicy, JobContext, JobError};
use crate::service::Buckets;
use crate::store::MIGRATIONS;

pub use plans::PackageFlags;

/// Migrations for the whole database.
const ALL_MIGRATIONS: [&database::Migrations; 2] = [&auth::MIGRATIONS, &MIGRATIONS];

/// Searches an index of files in open cloud-storage buckets
#[derive(clap::Parser)]
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
    Migrate(MigrateCommand),
    /// Load bucket listings and publish them atomically
    Load(load::LoadArguments),
    /// List public buckets, publish the changes and report newly open buckets and files
    Audit(audit::AuditArguments),
    /// Manage and run scheduled crawls of public buckets
    #[command(subcommand)]
    Crawl(crawl::CrawlCommand),
    /// Run due crawls until stopped. Several processes can share the work
    Crawler(crawl::CrawlerArguments),
    /// Build a new index generation from sources or from the current index
    Rebuild(rebuild::RebuildArguments),
    /// Take down a bucket or a prefix: hide its files, erase them and block them from later loads
    Remove(remove::RemoveArguments),
    /// List the removal list
    Removals {
        /// Print a JSON array instead of text
        #[arg(long)]
        json: bool,
    },
    /// Remove a bucket from the removal list. Its files reappear with the next load
    Unremove(remove::UnremoveArguments),
    /// Show the index generation, file counts, and the progress of runs
    Status {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Check the index for damage and compare it with the bucket table
    Verify {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Export the index or one bucket as NDJSON, which `load` can read
    Export {
        /// Address of the bucket to export [default: all buckets]
        #[arg(long, value_name = "ADDRESS")]
        bucket: Option<String>,
    },
    /// Manage API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// List and change plans. The API calls them packages
    #[command(subcommand)]
    Plans(auth::PlansCommand<PackageFlags>),
}

impl Command {
    /// Returns whether the command only makes sense with existing data. `plans`, which doesn't use
    /// the index, checks this itself.
    fn needs_data(&self) -> bool {
        match self {
            Self::Remove(_)
            | Self::Removals { .. }
            | Self::Unremove(_)
            | Self::Status { .. }
            | Self::Verify { .. }
            | Self::Export { .. } => true,
            Self::Crawl(command) => !command.adds(),
            Self::Rebuild(arguments) => !arguments.has_sources(),
            Self::Keys(command) => command.needs_data(),
            _ => false,
        }
    }
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = Buckets::INFO;

    fn shell(&self) -> &ShellSettings {
        &self.settings.shell
    }

    fn preview(&self, preview: &mut Preview) {
        let database = self.settings.preview(&Buckets::INFO, &ALL_MIGRATIONS);
        preview.add("database", database.map_err(Into::into));
        preview.add("index", self.preview_index());
    }

    fn back_up(&self, folder: &Path) -> anyhow::Result<()> {
        backup::back_up(&self.settings, &self.generations()?, folder)
    }

    fn restore(&self, folder: &Path) -> anyhow::Result<()> {
        backup::restore(&self.settings, self.index_folder(), folder)
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        let folder = self.index_folder();
        self.execute().map_err(|error| match folder {
            Some(folder) if is_of_index(&error) => {
                error.context(format!("INDEX_DIR {}", folder.display()))
            }
            _ => error,
        })
    }
}

impl Cli {
    fn execute(mut self) -> anyhow::Result<ExitCode> {
        // Ensures that free database pages don't contain bad lines or crawled pages after a
        // takedown.
        self.settings.database.sqlite.secure_delete = true;
        let command =
            self.command.take().unwrap_or_else(|| Command::Common(CommonCommand::default()));
        if command.needs_data() {
            self.require_data()?;
        }
        match command {
            Command::Common(command) => command.run::<Buckets, _>(self, Self::serve),
            Command::Migrate(command) => {
                Ok(self.settings.migrate(command, &Buckets::INFO, &ALL_MIGRATIONS)?)
            }
            Command::Load(arguments) => {
                let dry_run = arguments.dry_run;
                let plan = arguments.plan(self.removal_limit())?;
                let context = match dry_run {
                    true => {
                        let pools =
                            self.settings.open_unchanged(&Buckets::INFO, &ALL_MIGRATIONS)?;
                        self.context_on(pools)?
                    }
                    false => self.context()?,
                };
                plan.run(&context, self.checkpoints())
            }
            Command::Audit(arguments) => {
                audit::run(&self.context()?, arguments, self.checkpoints(), self.removal_limit())
            }
            Command::Crawl(command) => {
                let limit = self.removal_limit();
                crawl::run(&self.context()?, command, &self.settings.service, limit)
            }
            Command::Crawler(arguments) => {
                let limit = self.removal_limit();
                crawl::crawl_forever(&self.context()?, arguments, &self.settings.service, limit)
            }
            Command::Rebuild(arguments) => {
                rebuild::run(&self.context()?, arguments, self.checkpoints())
            }
            Command::Remove(arguments) => remove::remove(&self.context()?, &arguments),
            Command::Removals { json } => remove::list(&self.context()?, json),
            Command::Unremove(arguments) => remove::unremove(&self.context()?, &arguments),
            Command::Status { json } => status::run(&self.context()?, json),
            Command::Verify { json } => verify::run(&self.context()?, json),
            Command::Export { bucket } => export::run(&self.context()?, bucket.as_deref()),
            Command::Keys(command) => {
                let context = self.context()?;
                let owners = auth::AnyOwner { default_plan: Some("free") };
                command.run(&context.pools, &owners, context.clock.unix())
            }
            Command::Plans(command) => {
                if command.needs_data() {
                    self.settings.refuse_missing(&Buckets::INFO)?;
                }
                command.run(&self.pools()?, &plans::Packages)
            }
        }
    }

    /// Checks that the database exists. In a folder named by mistake, a removal would otherwise
    /// seem to succeed, and an index would seem to be sound.
    fn require_data(&self) -> anyhow::Result<()> {
        // Reports wrong settings first.
        self.generations()?;
        Ok(self.settings.refuse_missing(&Buckets::INFO)?)
    }

    fn serve(self) -> anyhow::Result<ExitCode> {
        let context = self.context()?;
        let JobContext { pools, clock, generations, .. } = context;
        pools.register_server();
        if let Some(folder) = self.index_folder() {
            pools.watch_folder("the index", &folder);
        }
        let state = app::open(pools, clock, generations, self.settings.service.clone())
            .context("the index cannot be opened")?;
        let shell = &self.settings.shell;
        shell::serve(shell, Buckets::new(state, &shell.base_url()))
    }

    /// Opens the database and adds any missing default plans and packages.
    fn pools(&self) -> anyhow::Result<Pools> {
        let pools = self.settings.open(&Buckets::INFO, &ALL_MIGRATIONS)?;
        pools.write_at_start(app::seed_packages)?;
        Ok(pools)
    }

    fn checkpoints(&self) -> CheckpointPolicy {
        CheckpointPolicy::of(&self.settings.service)
    }

    fn removal_limit(&self) -> RemovalLimit {
        let Settings { protected_files, protected_percent, .. } = self.settings.service;
        RemovalLimit { files: protected_files, percent: protected_percent }
    }

    /// Returns the folder of the embedded index, or `None` with the cluster engine.
    fn index_folder(&self) -> Option<PathBuf> {
        let settings = &self.settings.service;
        let embedded = settings.engine == Engine::Embedded;
        embedded.then(|| settings.index_dir(&self.settings.shell.data_dir))
    }

    /// Describes the index for `serve --check`, including its file count if it can be opened.
    fn preview_index(&self) -> anyhow::Result<String> {
        let generations = self.generations()?;
        let place = match self.index_folder() {
            Some(folder) => folder.display().to_string(),
            None => "a cluster".to_owned(),
        };
        let Ok(pools) = self.settings.open_unchanged(&Buckets::INFO, &ALL_MIGRATIONS) else {
            return Ok(format!("{place}; it is compared with the database once that is current"));
        };
        let (index, _) = app::open_index(&pools, &generations)?;
        let files: u64 = index.summary().counts.values().sum();
        Ok(format!("{place}; {files} files"))
    }

    /// Connects to the configured engine.
    fn generations(&self) -> anyhow::Result<Arc<dyn Generations>> {
        if let Some(folder) = self.index_folder() {
            return Ok(Arc::new(Folders::new(folder)));
        }
        let settings = &self.settings.service;
        let url = settings.cluster_url.as_deref();
        let url = url.ok_or_else(|| SettingError("ENGINE=cluster needs CLUSTER_URL".to_owned()))?;
        let name = settings.cluster_name.as_deref();
        Cluster::check_settings(url, name).map_err(SettingError)?;
        Ok(Arc::new(Cluster::connect(url, name)?))
    }

    fn context(&self) -> anyhow::Result<JobContext> {
        self.context_on(self.pools()?)
    }

    fn context_on(&self, pools: Pools) -> anyhow::Result<JobContext> {
        Ok(JobContext {
            pools,
            clock: Arc::new(SystemClock),
            generations: self.generations()?,
            memory_mb: self.settings.service.load_memory_mb,
        })
    }
}

/// Checks whether an error comes from the index files, so that we can add their folder to the
/// message.
fn is_of_index(error: &anyhow::Error) -> bool {
    let cause = match (error.downcast_ref::<JobError>(), error.downcast_ref::<SnapshotError>()) {
        (Some(JobError::Index(cause)), _) | (_, Some(SnapshotError::Index(cause))) => cause,
        _ => return false,
    };
    matches!(cause, EngineError::Broken(_) | EngineError::Io(_) | EngineError::Tantivy(_))
}
