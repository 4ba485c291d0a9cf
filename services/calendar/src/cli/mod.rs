//! The command line. Opens the resources that a command needs and then runs the command.

mod doctor;
mod export;
mod import;
mod import_site;
mod keys;
mod load;
mod purge;
mod subscriptions;
mod users;
mod webhooks;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use auth::{KeysCommand, ServiceSettings};
use batch::{Backup, Restore};
use clap::{Parser, Subcommand};
use database::{MigrateCommand, Pools};
use domain::{Clock, SystemClock};
use outbound::WebhookSender;
use shell::{CommonCommand, Preview, Service, ServiceInfo, ShellSettings};

use self::doctor::DoctorCommand;
use self::export::ExportCommand;
use self::import::ImportCommand;
use self::import_site::ImportSiteCommand;
use self::keys::Logins;
use self::load::LoadCommand;
use self::purge::PurgeCommand;
use self::subscriptions::SubscriptionsCommand;
use self::users::UsersCommand;
use self::webhooks::WebhooksCommand;
use crate::config::{ImageMode, Settings};
use crate::jobs::{Announce, require_finished, seed};
use crate::service::Calendar;
use crate::state::State;
use crate::store::MIGRATIONS;
use crate::store::media::Media;
use crate::store::remote_calendars::CalendarFetcher;
use crate::store::remote_images::ImageFetcher;

/// The migrations of all tables.
const ALL_MIGRATIONS: [&database::Migrations; 2] = [&auth::MIGRATIONS, &MIGRATIONS];

/// The command line.
#[derive(Parser)]
pub struct Cli {
    #[command(flatten)]
    settings: ServiceSettings<Settings>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The subcommands.
#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Common(CommonCommand),
    /// Migrate the database to the current schema
    Migrate(MigrateCommand),
    /// Issue, list, revoke and rotate API keys. Each key belongs to a user
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Add, list and remove users, and set their roles
    #[command(subcommand)]
    Users(UsersCommand),
    /// Load events, venues, organizers and terms from JSON lines or CSV, or a whole calendar from
    /// an export
    Load(LoadCommand),
    /// Export the whole calendar to a file for `load`, which can load it into any supported
    /// database
    Export(ExportCommand),
    /// Add, list and remove webhooks, which are notified of every change to an event
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
    /// Import an iCalendar file
    Import(ImportCommand),
    /// Manage subscriptions, which regularly import iCalendar files from other sites
    #[command(subcommand)]
    Subscriptions(SubscriptionsCommand),
    /// Import a site that runs The Events Calendar, through its REST API. Run again to import
    /// changes
    ImportSite(ImportSiteCommand),
    /// Permanently remove trashed items or individual events
    Purge(PurgeCommand),
    /// Check the database and the image files without changing them
    Doctor(DoctorCommand),
}

impl Command {
    /// Returns whether the command only makes sense with existing data. A key needs a user.
    fn needs_data(&self) -> bool {
        match self {
            Self::Keys(_) | Self::Export(_) | Self::Purge(_) | Self::Doctor(_) => true,
            Self::Users(command) => !matches!(command, UsersCommand::Add { .. }),
            Self::Webhooks(command) => !matches!(command, WebhooksCommand::Add { .. }),
            Self::Subscriptions(command) => !matches!(command, SubscriptionsCommand::Add { .. }),
            _ => false,
        }
    }
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = Calendar::INFO;

    fn shell(&self) -> &ShellSettings {
        &self.settings.shell
    }

    fn preview(&self, preview: &mut Preview) {
        let settings = &self.settings;
        let database = settings.preview(&Calendar::INFO, &ALL_MIGRATIONS);
        preview.add("database", database.map_err(Into::into));
        let site = settings.service.check().map(|()| "settings are valid".to_owned());
        preview.add("site", site.map_err(Into::into));
        let folder = settings.service.media_dir(&settings.shell.data_dir);
        // The default folder is created when the first image is stored.
        let is_made = settings.service.media_dir.as_ref().is_some_and(|folder| !folder.exists());
        let usable = if is_made { shell::require_creatable(&folder) } else { Ok(()) };
        let shown = folder.display().to_string();
        let usable =
            usable.with_context(|| format!("cannot create the folder {shown} (MEDIA_DIR)"));
        preview.add("media", usable.map(|()| shown));
    }

    fn back_up(&self, folder: &Path) -> anyhow::Result<()> {
        let shell = &self.settings.shell;
        let backup = Backup::begin(folder, Calendar::INFO.name, Calendar::INFO.version)?;
        let media = self.settings.service.media_dir(&shell.data_dir);
        // Link the media folder both before and after copying the database. Each image in the copy
        // had a file when the copy started, but that file might be removed in the meantime.
        backup.link("media", &media)?;
        self.settings.back_up(&Calendar::INFO, backup.folder())?;
        backup.link("media", &media)?;
        backup.copy("tls", &shell.tls_folder())?;
        backup.finish()
    }

    fn restore(&self, folder: &Path) -> anyhow::Result<()> {
        let shell = &self.settings.shell;
        let restore = Restore::open(folder, Calendar::INFO.name)?;
        let (media, tls) = (self.settings.service.media_dir(&shell.data_dir), shell.tls_folder());
        let database = self.settings.restored_file(&Calendar::INFO, folder)?;
        restore.require_free([&media, &tls].into_iter().chain(&database))?;
        restore.link("media", &media)?;
        restore.copy("tls", &tls)?;
        Ok(self.settings.restore(&Calendar::INFO, folder)?)
    }

    fn run(mut self) -> anyhow::Result<ExitCode> {
        // Erased text must not remain in free pages.
        self.settings.database.sqlite.secure_delete = true;
        let command =
            self.command.take().unwrap_or_else(|| Command::Common(CommonCommand::default()));
        if command.needs_data() {
            // Reports wrong settings first.
            self.settings.service.check()?;
            self.settings.refuse_missing(&Calendar::INFO)?;
        }
        match command {
            Command::Common(command) => command.run::<Calendar, _>(self, Self::serve),
            Command::Migrate(command) => {
                Ok(self.settings.migrate(command, &Calendar::INFO, &ALL_MIGRATIONS)?)
            }
            Command::Keys(command) => {
                command.run(&self.open(Announce::WhenWritten)?, &Logins, SystemClock.unix())
            }
            Command::Users(command) => command.run(&self.open(Announce::WhenWritten)?),
            Command::Load(command) => {
                let lines = command.open()?;
                let state = match lines.is_export() && !command.dry_run {
                    // The export contains the users.
                    true => self.state_without_users()?,
                    false => self.state_for(command.dry_run)?,
                };
                command.run(&state, lines)
            }
            Command::Export(command) => command.run(&self.state_for(true)?),
            Command::Webhooks(command) => {
                let reach = self.settings.service.webhook_reach();
                command.run(&self.open(Announce::WhenWritten)?, &reach, SystemClock.unix())
            }
            Command::Import(command) => {
                let input = command.input()?;
                command.run(&self.state_for(command.dry_run)?, &input)
            }
            Command::Subscriptions(command) => command.run(&self.state(Announce::WhenWritten)?),
            Command::ImportSite(command) => command.run(&self.state(Announce::WhenWritten)?),
            Command::Doctor(command) => command.run(&self.state_to_examine()?),
            Command::Purge(command) => {
                let state = self.state_for(command.dry_run)?;
                command.run(&state)
            }
        }
    }
}

impl Cli {
    fn open(&self, announce: Announce) -> anyhow::Result<Pools> {
        self.settings.service.check()?;
        let pools = self.settings.open(&Calendar::INFO, &ALL_MIGRATIONS)?;
        require_finished(&pools)?;
        let data_dir = &self.settings.shell.data_dir;
        seed(&pools, &self.settings.service, (data_dir, announce), SystemClock.unix())?;
        Ok(pools)
    }

    /// Returns the state for a command that writes. A dry run must not create anything.
    fn state_for(self, dry_run: bool) -> anyhow::Result<State> {
        if !dry_run {
            return self.state(Announce::WhenWritten);
        }
        let state = self.state_to_examine()?;
        require_finished(&state.pools)?;
        Ok(state)
    }

    /// Returns the state for a command that only reads an existing database.
    fn state_to_examine(self) -> anyhow::Result<State> {
        self.settings.service.check()?;
        let pools = self.settings.open_unchanged(&Calendar::INFO, &ALL_MIGRATIONS)?;
        self.state_on(pools)
    }

    /// Returns the state for a database that might not have any users yet.
    fn state_without_users(self) -> anyhow::Result<State> {
        self.settings.service.check()?;
        let pools = self.settings.open(&Calendar::INFO, &ALL_MIGRATIONS)?;
        self.state_on(pools)
    }

    fn state(self, announce: Announce) -> anyhow::Result<State> {
        let pools = self.open(announce)?;
        if let Some(folder) = &self.settings.service.media_dir {
            // Fail at startup rather than on the first upload.
            let made = Media::new(folder.clone()).make_folder();
            made.with_context(|| {
                format!("cannot create the folder {} (MEDIA_DIR)", folder.display())
            })?;
        }
        self.state_on(pools)
    }

    fn state_on(self, pools: Pools) -> anyhow::Result<State> {
        let settings = self.settings.service;
        let media = Media::new(settings.media_dir(&self.settings.shell.data_dir));
        let fetches = settings.image_mode == ImageMode::Fetch;
        let user_agent = concat!("calendar/", env!("CARGO_PKG_VERSION"));
        let webhooks = WebhookSender::new(settings.webhook_reach(), user_agent)?;
        let bytes = usize::try_from(settings.subscription_file_mb << 20)?;
        let time = Duration::from_secs(settings.subscription_time_s);
        let calendars = CalendarFetcher::new(settings.subscription_reach(), bytes, time)?;
        let hosts = self.settings.shell.hosts();
        let state = State::new(pools, SystemClock::shared(), settings, media)
            .with_hosts(hosts)
            .with_public_url(self.settings.shell.public_url)
            .with_webhooks(webhooks)
            .with_calendar_fetcher(calendars);
        match fetches {
            true => Ok(state.with_image_fetcher(ImageFetcher::public()?)),
            false => Ok(state),
        }
    }

    fn serve(self) -> anyhow::Result<ExitCode> {
        let shell = self.settings.shell.clone();
        let state = self.state(Announce::Always)?;
        state.pools.register_server();
        shell::serve(&shell, Calendar { state })
    }
}
