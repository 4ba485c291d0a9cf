//! Settings and commands of the service.

use std::process::ExitCode;
use std::thread;

use domain::SystemClock;
use shell::{CommonCommand, ServiceInfo, ShellSettings, Switch, TlsMode};

use crate::PasswordRanges;
use crate::jobs::activate::Activate;
use crate::jobs::build::Build;
use crate::jobs::export::Export;
use crate::jobs::info::Info;
use crate::jobs::lookup::Check;
use crate::jobs::merge::Merge;
use crate::jobs::prune::Prune;
use crate::jobs::verify::Verify;
use crate::model::Kind;

/// The constants of the service.
pub const INFO: ServiceInfo = ServiceInfo {
    name: "passwords",
    title: "Password range service",
    about: "Tells by hash prefix how often a password was exposed.",
    version: env!("CARGO_PKG_VERSION"),
    http_port: 8084,
    https_port: 8484,
    admin_port: 9084,
    tls_mode: TlsMode::Native,
};

/// Settings of the range service itself.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Ranges")]
pub struct RangeSettings {
    /// Kinds to serve; those that have a corpus are loaded
    #[arg(long, env, global = true, value_delimiter = ',', default_value = "sha1,ntlm")]
    pub kinds: Vec<Kind>,
    /// How long answers without padding may be cached, in seconds
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 2_678_400)]
    pub max_age: u32,
    /// Whether answers are compressed for clients that take gzip
    #[arg(long, env, global = true, value_enum, default_value = "on")]
    pub gzip: Switch,
    /// Corpora up to this size are held in memory, in MiB; 0 reads always from disk
    #[arg(long, env, global = true, value_name = "MIB", default_value_t = 1024)]
    pub in_memory_limit_mb: u64,
    /// Whether requests without a user agent are refused
    #[arg(long, env, global = true, value_enum, default_value = "off")]
    pub require_user_agent: Switch,
    /// Whether each bucket is compared with its digest before it is served
    #[arg(long, env, global = true, value_enum, default_value = "off")]
    pub verify_on_read: Switch,
    /// Seconds between looks for a newly activated corpus; 0 looks on SIGHUP only
    #[arg(long, env, global = true, value_name = "SECONDS", default_value_t = 30)]
    pub reload_interval: u64,
}

impl Default for RangeSettings {
    fn default() -> Self {
        Self {
            kinds: Kind::ALL.to_vec(),
            max_age: 2_678_400,
            gzip: Switch::On,
            in_memory_limit_mb: 1024,
            require_user_agent: Switch::Off,
            verify_on_read: Switch::Off,
            reload_interval: 30,
        }
    }
}

/// The command line.
#[derive(Debug, clap::Parser)]
pub struct Cli {
    #[command(flatten)]
    shell: ShellSettings,
    #[command(flatten)]
    ranges: RangeSettings,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Common(CommonCommand),
    /// Build a corpus from hash lists, folders of ranges or password lists
    Build(Build),
    /// Build a new corpus from an old one and more lists
    Merge(Merge),
    /// Serve a corpus file from now on
    Activate(Activate),
    /// Remove corpus files that are not in use
    Prune(Prune),
    /// Read a corpus file whole and report damage; exit code 10 if there is any
    Verify(Verify),
    /// Show what a corpus file says about itself
    Info(Info),
    /// Look up passwords without a server; exit code 10 if any was exposed
    Check(Check),
    /// Write a corpus as lists
    Export(Export),
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = INFO;

    fn shell(&self) -> &ShellSettings {
        &self.shell
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        let data_dir = &self.shell.data_dir;
        match self.command.unwrap_or(Command::Common(CommonCommand::Serve)) {
            Command::Common(CommonCommand::Serve) => {
                shell::serve(&self.shell, PasswordRanges::open(&self.ranges, data_dir))
            }
            Command::Common(CommonCommand::Openapi) => {
                shell::cli::print_openapi::<PasswordRanges>()
            }
            Command::Common(CommonCommand::Healthcheck) => shell::cli::healthcheck(&self.shell),
            Command::Build(build) => done(build.run(data_dir, &SystemClock)),
            Command::Merge(merge) => done(merge.run(data_dir, &SystemClock)),
            Command::Activate(activate) => done(activate.run(data_dir)),
            Command::Prune(prune) => done(prune.run(data_dir)),
            Command::Verify(verify) => verify.run(cores()),
            Command::Info(info) => done(info.run()),
            Command::Check(check) => check.run(data_dir),
            Command::Export(export) => done(export.run()),
        }
    }
}

fn done(outcome: anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    outcome.map(|()| ExitCode::SUCCESS)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
