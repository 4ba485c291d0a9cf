//! The command line: opens what a command needs and runs it.

use std::fs::File;
use std::io::{BufReader, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use auth::Owners;
use database::{DatabaseError, Db, Pools};
use domain::{Clock, SystemClock};
use shell::{Cli, CommonCommand, Service, ServiceInfo, ShellSettings};

use crate::config::{Command, ImageMode, Settings, UsersCommand};
use crate::fetch::{Fetcher, Reach};
use crate::jobs::{first_start, load};
use crate::service::Calendar;
use crate::state::State;
use crate::store::{MIGRATIONS, people};

/// Everything that makes up the database.
const ALL_MIGRATIONS: [&database::Migrations; 2] = [&auth::MIGRATIONS, &MIGRATIONS];

impl Cli for Settings {
    const INFO: ServiceInfo = Calendar::INFO;

    fn shell(&self) -> &ShellSettings {
        &self.shell
    }

    fn run(mut self) -> anyhow::Result<ExitCode> {
        match self.command.take().unwrap_or(Command::Common(CommonCommand::Serve)) {
            Command::Common(CommonCommand::Serve) => self.serve(),
            Command::Common(CommonCommand::Openapi) => shell::cli::print_openapi::<Calendar>(),
            Command::Common(CommonCommand::Healthcheck) => shell::cli::healthcheck(&self.shell),
            Command::Migrate => self.migrate(),
            Command::Keys(command) => command.run(&self.open()?, &Logins, SystemClock.unix()),
            Command::Users(command) => users(command, &self.open()?),
            Command::Load { file } => self.load(&file),
        }
    }
}

impl Settings {
    fn open(&self) -> anyhow::Result<Pools> {
        let name = Calendar::INFO.name;
        let pools = self.database.open(&self.shell.data_dir, name, &ALL_MIGRATIONS)?;
        first_start::seed(&pools, &self.site, SystemClock.unix())?;
        Ok(pools)
    }

    fn state(self) -> anyhow::Result<State> {
        let pools = self.open()?;
        let media = self.site.media(&self.shell.data_dir);
        let fetches = self.site.image_mode == ImageMode::Fetch;
        let state = State::new(pools, SystemClock::shared(), self.site, media);
        match fetches {
            true => Ok(state.fetching(Fetcher::new(Reach::public())?)),
            false => Ok(state),
        }
    }

    fn serve(self) -> anyhow::Result<ExitCode> {
        let web = self.shell.clone();
        shell::serve(&web, Calendar { state: self.state()? })
    }

    fn migrate(&self) -> anyhow::Result<ExitCode> {
        let name = Calendar::INFO.name;
        let applied = self.database.migrate(&self.shell.data_dir, name, &ALL_MIGRATIONS)?;
        eprintln!("{} migrations applied", applied.len());
        Ok(ExitCode::SUCCESS)
    }

    fn load(self, file: &std::path::Path) -> anyhow::Result<ExitCode> {
        let lines =
            File::open(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let state = self.state()?;
        let loaded = load::load(&state, BufReader::new(lines))
            .with_context(|| file.display().to_string())?;
        eprintln!("{} created, {} there already", loaded.created, loaded.kept);
        Ok(ExitCode::SUCCESS)
    }
}

/// Keys belong to logins.
struct Logins;

impl Owners for Logins {
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String> {
        match people::by_login(db, owner)? {
            Some(person) => Ok(person.login),
            None => bail!("there is no user {owner}: add one by `calendar users add`"),
        }
    }
}

fn users(command: UsersCommand, pools: &Pools) -> anyhow::Result<ExitCode> {
    match command {
        UsersCommand::Add { login, role } => {
            let added = pools.write_blocking(|db| people::add(db, &login, &login, role));
            match added {
                Ok(id) => eprintln!("user {id} added: {login}, {}", role.name()),
                Err(DatabaseError::Conflict) => bail!("there is a user {login} already"),
                Err(error) => return Err(error.into()),
            }
        }
        UsersCommand::SetRole { login, role } => {
            if !pools.write_blocking(|db| people::set_role(db, &login, role))? {
                bail!("there is no user {login}");
            }
            eprintln!("{login} is {} now", role.name());
        }
        UsersCommand::List => {
            let mut out = std::io::stdout().lock();
            for person in pools.read_blocking(people::list)? {
                writeln!(out, "{}\t{}\t{}", person.id, person.login, person.role.name())?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
