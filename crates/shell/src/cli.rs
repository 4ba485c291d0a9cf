//! The command line shared by all services.
//!
//! Settings come from flags and environment variables. Flags override the environment, which
//! overrides the defaults. The default subcommand is `serve`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{OsStr, Resettable};
use clap::error::{ContextKind, ContextValue};

use crate::healthcheck::healthcheck;
use crate::private_files::keep_private;
use crate::server::require_usable;
use crate::{
    LogFormat, Preview, Service, ServiceInfo, SettingError, ShellSettings, logs, memory, openapi,
    preview, reference, settings, signals,
};

/// The subcommands of every binary.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum CommonCommand {
    /// Serve requests (the default)
    Serve {
        /// Check the settings, addresses, certificate, database and files, print the settings and
        /// exit without changing anything. The exit code is 2 if `serve` would fail
        #[arg(long)]
        check: bool,
    },
    /// Print the OpenAPI document as JSON
    Openapi,
    /// Check whether the service is ready by requesting /readyz on ADMIN_BIND. The exit code is 0
    /// if it is ready and 1 otherwise
    Healthcheck,
    /// Print a shell completion script
    Completions {
        /// Shell to generate completions for
        shell: clap_complete::Shell,
    },
    /// Write a man page for each command
    Man {
        /// Folder to write the man pages to. It must exist
        folder: PathBuf,
    },
    /// Print the licences and notices of the libraries included in this program
    Licenses,
    /// Back up all data that the service stores on disk. The service can keep running
    Backup {
        /// Folder to create; it must not exist yet. If it is on the same file system as the data,
        /// immutable files are hard-linked and need no extra space
        folder: PathBuf,
    },
    /// Restore a backup into an empty data folder. Stop the service first
    Restore {
        /// Folder that contains the backup
        folder: PathBuf,
    },
}

impl Default for CommonCommand {
    fn default() -> Self {
        Self::Serve { check: false }
    }
}

impl CommonCommand {
    /// Runs the command that was selected on the command line. `serve` starts the service.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`preview::distinct`], [`require_usable`],
    /// [`serve`](crate::serve), [`print_openapi`], [`healthcheck`], [`Cli::back_up`] and
    /// [`Cli::restore`].
    pub fn run<S: Service, C: Cli>(
        self,
        cli: C,
        serve: impl FnOnce(C) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<ExitCode> {
        match self {
            Self::Serve { .. } => {
                preview::distinct(cli.shell())?;
                require_usable(&C::INFO, cli.shell())?;
                serve(cli)
            }
            Self::Openapi => print_openapi::<S>(),
            Self::Healthcheck => healthcheck(cli.shell()),
            Self::Completions { shell } => reference::print_completions(command::<C>(), shell),
            Self::Man { folder } => reference::write_manual(command::<C>(), &folder),
            Self::Licenses => reference::print_licenses(),
            Self::Backup { folder } => cli.back_up(&folder).map(|()| ExitCode::SUCCESS),
            Self::Restore { folder } => {
                cli.restore(&folder)?;
                let (name, folder) = (C::INFO.name, folder.display());
                log::info!(target: "notice", "{name} was restored from {folder}");
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// A service's command line.
pub trait Cli: clap::Parser {
    /// The service's constants.
    const INFO: ServiceInfo;

    /// Returns the settings that all services share.
    fn shell(&self) -> &ShellSettings;

    /// Checks everything that `serve` uses in addition to the shared settings, such as the
    /// database. Called by `serve --check`, so it must not create or change anything.
    fn preview(&self, preview: &mut Preview);

    /// Copies all of the service's data into a new folder, for the `backup` command.
    ///
    /// # Errors
    /// Errors are printed on stderr as a single line.
    fn back_up(&self, folder: &Path) -> anyhow::Result<()>;

    /// Restores a backup, for the `restore` command. The service must not have any data yet.
    ///
    /// # Errors
    /// Errors are printed on stderr as a single line.
    fn restore(&self, folder: &Path) -> anyhow::Result<()>;

    /// Runs the selected command.
    ///
    /// # Errors
    /// Errors are printed on stderr as a single line. The exit code is 2 for a [`SettingError`],
    /// and 1 for all others.
    fn run(self) -> anyhow::Result<ExitCode>;
}

/// The `main` function of a service. Parses the command line, starts logging, and runs the command.
///
/// The exit code is 2 for usage errors and invalid settings, and 1 for all other errors. Otherwise,
/// it is up to the command.
pub fn main<C: Cli>() -> ExitCode {
    signals::hold();
    logs::queue();
    let arguments: Vec<_> = std::env::args_os().collect();
    let format = logs::format_of(&arguments, std::env::var_os("LOG_FORMAT").as_deref());
    let parsed = parse_command::<C>(arguments);
    let serves = matches!(&parsed, Ok(parsed) if parsed.serves);
    if !serves {
        signals::release();
        memory::share_arenas();
    }
    let Parsed { cli, checked, .. } = match parsed {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() => {
            match format {
                LogFormat::Json => logs::refuse(format, &usage_fault(&error)),
                LogFormat::Text => logs::refuse_with(&error.render()),
            }
            return ExitCode::from(2);
        }
        Err(error) => error.exit(),
    };
    if let Err(fault) = logs::start(cli.shell().log_format, C::INFO.name) {
        logs::refuse(format, &fault);
        return ExitCode::from(2);
    }
    if serves {
        logs::never_wait();
        if let Err(error) = signals::receive() {
            logs::fail(format, "fatal", &format!("cannot start the thread for signals: {error}"));
            return ExitCode::FAILURE;
        }
    }
    let outcome = match checked {
        Some(settings) => preview::report(&C::INFO, cli.shell(), &settings, |own| cli.preview(own)),
        None => {
            keep_private(&C::INFO, &cli.shell().data_dir, &cli.shell().tls_folder());
            cli.run()
        }
    };
    let code = outcome.unwrap_or_else(|error| {
        logs::fail(format, "fatal", &format!("{error:#}"));
        match error.downcast_ref::<SettingError>() {
            Some(_) => ExitCode::from(2),
            None => ExitCode::FAILURE,
        }
    });
    logs::flush();
    code
}

/// Returns the message of a usage error as a single line.
fn usage_fault(error: &clap::Error) -> String {
    let text = error.to_string();
    let fault = text.split("\n\n").next().unwrap_or_default();
    let fault = fault.strip_prefix("error: ").unwrap_or(fault);
    fault.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Parses a command line, given the service's defaults.
///
/// # Errors
/// Returns an error for usage errors, and also for `--help` and `--version`, whose output it
/// contains.
pub fn parse<C: Cli>(
    arguments: impl IntoIterator<Item = std::ffi::OsString>,
) -> Result<C, clap::Error> {
    parse_command(arguments.into_iter().collect()).map(|parsed| parsed.cli)
}

/// A parsed command line.
struct Parsed<C> {
    cli: C,
    /// Whether the command is `serve`.
    serves: bool,
    /// The settings with their values, for `serve --check`.
    checked: Option<Vec<(String, String)>>,
}

/// Returns the service's command line with the service's defaults.
fn command<C: Cli>() -> clap::Command {
    let info = C::INFO;
    let command = C::command().name(info.name).about(info.about).version(info.version);
    settings::with_defaults(command, &info)
}

/// Parses a command line, given the service's defaults.
fn parse_command<C: Cli>(arguments: Vec<std::ffi::OsString>) -> Result<Parsed<C>, clap::Error> {
    let command = command::<C>();
    // These commands don't open the database, so an invalid URL doesn't matter.
    let mut lenient = without_empty_variables(command.clone(), &[]);
    if let Ok(mut matches) = lenient.try_get_matches_from_mut(&arguments)
        && matches.subcommand_name().is_some_and(|name| WITHOUT_DATABASE.contains(&name))
    {
        let cli = C::from_arg_matches_mut(&mut matches);
        let cli = cli.map_err(|error| error.format(&mut lenient))?;
        return Ok(Parsed { cli, serves: false, checked: None });
    }
    let mut command = without_empty_variables(command, &[DATABASE_URL]);
    let parsed = command.try_get_matches_from_mut(&arguments);
    let mut matches = parsed.map_err(|error| with_plain_usage(error, &mut command, &arguments))?;
    let serves = matches.subcommand_name().is_none_or(|name| name == "serve");
    let checks = matches.subcommand().is_some_and(|(name, options)| {
        name == "serve" && matches!(options.try_get_one("check"), Ok(Some(true)))
    });
    let checked = checks.then(|| preview::values(&command, &matches));
    let cli = C::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
    Ok(Parsed { cli, serves: serves && !checks, checked })
}

const DATABASE_URL: &str = "database_url";

/// Commands that don't open the database.
const WITHOUT_DATABASE: [&str; 5] = ["completions", "healthcheck", "licenses", "man", "openapi"];

/// Ignores empty environment variables, since deployments often define variables without a value.
/// The settings in `except` are exempt. In particular, an empty database URL must be rejected,
/// because otherwise each replica would silently create its own database.
fn without_empty_variables(command: clap::Command, except: &'static [&str]) -> clap::Command {
    let command = command.mut_args(|arg| {
        let is_empty = arg.get_env().and_then(std::env::var_os).is_some_and(|v| v.is_empty());
        if is_empty && !except.contains(&arg.get_id().as_str()) {
            return arg.env(Resettable::<OsStr>::Reset);
        }
        arg
    });
    command.mut_subcommands(|command| without_empty_variables(command, except))
}

/// Replaces the usage line in an error, because clap's own also lists settings that come from the
/// environment.
fn with_plain_usage(
    mut error: clap::Error,
    command: &mut clap::Command,
    arguments: &[std::ffi::OsString],
) -> clap::Error {
    if error.get(ContextKind::Usage).is_some() {
        command.build();
        let mut named: &clap::Command = command;
        for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
            let Some(inner) = named.find_subcommand(word) else { break };
            named = inner;
        }
        let usage = named.clone().render_usage();
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    error
}

/// Returns the settings for an empty command line.
pub fn defaults<S: clap::Args>() -> S {
    #[derive(clap::Parser)]
    struct Defaults<S: clap::Args> {
        #[command(flatten)]
        settings: S,
    }
    let defaults: Defaults<S> = clap::Parser::parse_from(["defaults"]);
    defaults.settings
}

/// Prints a service's OpenAPI document.
///
/// # Errors
/// Returns an error if writing to stdout fails.
fn print_openapi<S: Service>() -> anyhow::Result<ExitCode> {
    std::io::stdout().write_all(openapi::<S>().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
