//! The command line: settings and subcommands.

use std::io::{BufWriter, stdin, stdout};
use std::process::ExitCode;

use auth::{AnyOwner, KeysCommand, NoColumns, PlansCommand, seed_plans};
use database::{DatabaseSettings, Pools};
use domain::{Clock, SystemClock};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use shell::{CommonCommand, Service, ServiceInfo, ShellSettings};

use crate::access::{CallerSettings, STANDARD, plans};
use crate::commands::{Check, Make};
use crate::service::Generator;

/// Makes and checks synthetic test data.
#[derive(Clone, Debug, clap::Parser)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    shell: ShellSettings,
    #[command(flatten)]
    database: DatabaseSettings,
    #[command(flatten)]
    callers: CallerSettings,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Common(CommonCommand),
    /// Make values without a server, one a line
    Make(Make),
    /// Check values without a server, one a line of stdin
    Check(Check),
    /// Bring the database up to date
    Migrate,
    /// Issue, list, end and renew API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// List and change plans
    #[command(subcommand)]
    Plans(PlansCommand),
}

impl shell::Cli for Cli {
    const INFO: ServiceInfo = Generator::INFO;

    fn shell(&self) -> &ShellSettings {
        &self.shell
    }

    fn run(self) -> anyhow::Result<ExitCode> {
        match self.command.clone().unwrap_or(Command::Common(CommonCommand::Serve)) {
            Command::Common(CommonCommand::Serve) => {
                let clock = SystemClock::shared();
                let service = Generator::new(self.open()?, clock, &self.callers)?;
                shell::serve(&self.shell, service)
            }
            Command::Common(CommonCommand::Openapi) => shell::cli::print_openapi::<Generator>(),
            Command::Common(CommonCommand::Healthcheck) => shell::cli::healthcheck(&self.shell),
            Command::Make(make) => make.run_to(today(), &mut BufWriter::new(stdout().lock())),
            Command::Check(check) => {
                check.run_to(today(), stdin().lock(), &mut BufWriter::new(stdout().lock()))
            }
            Command::Migrate => self.migrate(),
            Command::Keys(command) => {
                let owners = AnyOwner { default_plan: Some(STANDARD) };
                command.run(&self.open()?, &owners, SystemClock.unix())
            }
            Command::Plans(command) => command.run(&self.open()?, &NoColumns::default()),
        }
    }
}

fn today() -> Date {
    SystemClock.now().to_zoned(TimeZone::UTC).date()
}

impl Cli {
    /// The database with its plans, which keys may need before the first `serve`.
    fn open(&self) -> anyhow::Result<Pools> {
        let name = Generator::INFO.name;
        let pools = self.database.open(&self.shell.data_dir, name, &[&auth::MIGRATIONS])?;
        pools.write_blocking(|db| seed_plans(db, &plans()))?;
        Ok(pools)
    }

    fn migrate(&self) -> anyhow::Result<ExitCode> {
        let name = Generator::INFO.name;
        let applied = self.database.migrate(&self.shell.data_dir, name, &[&auth::MIGRATIONS])?;
        for version in &applied {
            println!("{version}");
        }
        eprintln!("{} migrations applied", applied.len());
        Ok(ExitCode::SUCCESS)
    }
}
