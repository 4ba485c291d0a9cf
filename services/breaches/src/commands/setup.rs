//! `migrate`, `seed-test` and `doctor`.

use std::path::Path;
use std::process::ExitCode;

use store::StoreSettings;

use super::report::Output;
use crate::jobs::{Context, doctor, seed};
use crate::service::INFO;

/// `migrate`.
#[derive(clap::Args)]
pub struct Migrate {
    /// Partitions of the account tables when PostgreSQL makes them: 16, 64 or 256
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = partitions)]
    partitions: u16,
}

fn partitions(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(number @ (16 | 64 | 256)) => Ok(number),
        _ => Err("16, 64 or 256".to_owned()),
    }
}

impl Migrate {
    /// Brings the database up to date.
    pub fn run(&self, store: &StoreSettings, data_dir: &Path) -> anyhow::Result<ExitCode> {
        let migrations = [&auth::MIGRATIONS, &crate::store::MIGRATIONS];
        let mut store = store.clone();
        if let Some(url) = store.database_url.as_mut().filter(|url| url.starts_with("postgres")) {
            let joint = if url.contains('?') { '&' } else { '?' };
            let setting = format!("{joint}options=-c%20breaches.partitions%3D{}", self.partitions);
            url.push_str(&setting);
        }
        let applied = store.migrate(data_dir, INFO.name, &migrations)?;
        for version in &applied {
            println!("{version}");
        }
        eprintln!("{} migrations applied", applied.len());
        Ok(ExitCode::SUCCESS)
    }
}

/// `seed-test`.
#[derive(clap::Args)]
pub struct SeedTest {
    /// Removes the test accounts
    #[arg(long, conflicts_with = "use_catalogue")]
    remove: bool,
    /// Lets entries of a loaded catalogue play the parts of the fixtures
    #[arg(long)]
    use_catalogue: bool,
}

impl SeedTest {
    /// Makes or removes the test accounts.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        if self.remove {
            seed::remove_test(context)?;
        } else {
            seed::seed_test(context, self.use_catalogue)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// `doctor`.
#[derive(clap::Args)]
pub struct Doctor {
    #[command(flatten)]
    output: Output,
}

impl Doctor {
    /// Examines the database; exit code 1 when something is wrong.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let found = doctor::examine(context)?;
        let text = format!(
            "{} breaches, {} accounts, {} stealer pairs, {} pastes, {} opt-outs\n\
             of {} accounts sampled: {} with a wrong key, {} with orphan ids, {} with an unsorted \
             list, {} opted out",
            found.breaches,
            found.accounts,
            found.stealer_pairs,
            found.pastes,
            found.opt_outs,
            found.sampled,
            found.wrong_keys,
            found.orphan_ids,
            found.unsorted_lists,
            found.opted_out
        );
        self.output.say(&found, text)?;
        Ok(if found.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
