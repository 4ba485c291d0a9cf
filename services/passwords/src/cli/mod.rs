//! The command line.

mod activate;
mod build;
mod check;
mod export;
mod info;
mod lists;
mod merge;
mod mirror;
mod prune;
mod threads;
mod verify;

use std::path::Path;
use std::process::ExitCode;

use batch::{Backup, Restore};
use domain::SystemClock;
use shell::{CommonCommand, Preview, Service, ServiceInfo, ShellSettings};

use crate::config::Settings;
use crate::jobs;
use crate::service::Passwords;

/// The command line.
#[derive(Debug, clap::Parser)]
pub struct Cli {
    #[command(flatten)]
    shell: ShellSettings,
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Common(CommonCommand),
    /// Build a corpus from hash lists, range folders or password lists
    Build(build::Build),
    /// Build a new corpus from an existing corpus and additional lists
    Merge(merge::Merge),
    /// Build corpora from another range service and activate them
    Mirror(mirror::Mirror),
    /// Switch the service to a corpus file
    Activate(activate::Activate),
    /// Remove unused corpus files
    Prune(prune::Prune),
    /// Check a corpus file for damage. The exit code is 10 if it is damaged
    Verify(verify::Verify),
    /// Print the header of a corpus file
    Info(info::Info),
    /// Look up passwords without a server. The exit code is 10 if any password is found
    Check(check::Check),
    /// Export a corpus as a hash list or a folder of ranges
    Export(export::Export),
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = Passwords::INFO;

    fn shell(&self) -> &ShellSettings {
        &self.shell
    }

    fn preview(&self, preview: &mut Preview) {
        jobs::preview(&self.settings, &self.shell.data_dir, preview);
    }

    fn back_up(&self, folder: &Path) -> anyhow::Result<()> {
        let backup = Backup::begin(folder, Passwords::INFO.name, Passwords::INFO.version)?;
        jobs::back_up(&self.shell.data_dir, &backup)?;
        backup.copy("tls", &self.shell.tls_folder())?;
        backup.finish()
    }

    fn restore(&self, folder: &Path) -> anyhow::Result<()> {
        let data_dir = &self.shell.data_dir;
        let restore = Restore::open(folder, Passwords::INFO.name)?;
        let tls = self.shell.tls_folder();
        restore.require_free([&tls].into_iter().chain(&jobs::kind_folders(data_dir)))?;
        jobs::restore(data_dir, &restore)?;
        restore.copy("tls", &tls)
    }

    fn run(mut self) -> anyhow::Result<ExitCode> {
        let data_dir = &self.shell.data_dir.clone();
        let command = self.command.take();
        match command.unwrap_or_else(|| Command::Common(CommonCommand::default())) {
            Command::Common(command) => command.run::<Passwords, _>(self, |cli| {
                shell::serve(&cli.shell, Passwords::open(&cli.settings, &cli.shell.data_dir))
            }),
            Command::Build(build) => done(build.run(data_dir, &SystemClock)),
            Command::Merge(merge) => done(merge.run(data_dir, &SystemClock)),
            Command::Mirror(mirror) => {
                done(mirror.run(&self.settings.kinds, data_dir, &SystemClock))
            }
            Command::Activate(activate) => done(activate.run(data_dir)),
            Command::Prune(prune) => done(prune.run(data_dir)),
            Command::Verify(verify) => verify.run(),
            Command::Info(info) => done(info.run()),
            Command::Check(check) => check.run(data_dir),
            Command::Export(export) => done(export.run()),
        }
    }
}

fn done(outcome: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    outcome.map(|()| ExitCode::SUCCESS)
}
