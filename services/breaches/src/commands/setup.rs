//! `migrate`, `seed-test` and `doctor`.

use std::path::Path;
use std::process::ExitCode;

use database::DatabaseSettings;
use serde_json::json;

use super::report::Output;
use crate::jobs::{Context, doctor, seed};
use crate::service::INFO;

/// `migrate`.
#[derive(clap::Args)]
pub struct Migrate {
    /// Partitions of the account tables when PostgreSQL makes them: 16, 64 or 256
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = partitions)]
    partitions: u16,
    #[command(flatten)]
    output: Output,
}

fn partitions(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(number @ (16 | 64 | 256)) => Ok(number),
        _ => Err("16, 64 or 256".to_owned()),
    }
}

impl Migrate {
    /// Brings the database up to date.
    pub fn run(&self, store: &DatabaseSettings, data_dir: &Path) -> anyhow::Result<ExitCode> {
        let migrations = [&auth::MIGRATIONS, &crate::store::MIGRATIONS];
        let mut store = store.clone();
        set_for_sessions(&mut store, &format!("breaches.partitions={}", self.partitions));
        let applied = store.migrate(data_dir, INFO.name, &migrations)?;
        eprintln!("{} migrations applied", applied.len());
        self.output.list(&applied, String::clone)
    }
}

/// Has every session of a PostgreSQL database begin with a setting.
fn set_for_sessions(store: &mut DatabaseSettings, setting: &str) {
    if let Some(url) = store.database_url.as_mut().filter(|url| url.starts_with("postgres")) {
        *url = with_setting(url, setting);
    }
}

/// A URL with one more setting in front of the options that it has.
fn with_setting(url: &str, setting: &str) -> String {
    let setting = format!("options=-c%20{}", setting.replace('=', "%3D"));
    match url.split_once("options=") {
        Some((before, after)) if after.is_empty() || after.starts_with('&') => {
            format!("{before}{setting}{after}")
        }
        Some((before, after)) => format!("{before}{setting}%20{after}"),
        None if url.contains('?') => format!("{url}&{setting}"),
        None => format!("{url}?{setting}"),
    }
}

/// Has PostgreSQL keep one plan for each prepared statement of `serve`.
///
/// It would plan lookups in partitioned tables anew each time, which takes longer than they do; jobs
/// read in ways that are better planned for their values. A URL with options of its own, were they
/// empty, keeps those: a pooler in front of the server may refuse others.
pub fn keep_plans(store: &mut DatabaseSettings) {
    if !store.database_url.as_ref().is_some_and(|url| url.contains("options=")) {
        set_for_sessions(store, "plan_cache_mode=force_generic_plan");
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
    #[command(flatten)]
    output: Output,
}

impl SeedTest {
    /// Makes or removes the test accounts.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let state = if self.remove {
            seed::remove_test(context)?;
            "removed"
        } else {
            seed::seed_test(context, self.use_catalogue)?;
            "made"
        };
        self.output.say(&json!({ "test_accounts": state }), format!("test accounts {state}"))
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
            "schema {}: {} breaches, {} accounts, {} stealer pairs, {} pastes, {} opt-outs\n\
             of {} accounts sampled: {} with a wrong key, {} with orphan ids, {} with an unsorted \
             list, {} opted out; {} accounts missing under their domain",
            found.schema_version.as_deref().unwrap_or("unknown"),
            found.breaches,
            found.accounts,
            found.stealer_pairs,
            found.pastes,
            found.opt_outs,
            found.sampled,
            found.wrong_keys,
            found.orphan_ids,
            found.unsorted_lists,
            found.opted_out,
            found.unfiled
        );
        self.output.say(&found, text)?;
        Ok(if found.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_added_to_the_options_of_a_url() {
        for (url, expected) in [
            ("postgres://h/d", "postgres://h/d?options=-c%20a%3D1"),
            ("postgres://h/d?x=y", "postgres://h/d?x=y&options=-c%20a%3D1"),
            ("postgres://h/d?options=&x=y", "postgres://h/d?options=-c%20a%3D1&x=y"),
            ("postgres://h/d?options=-cb%3D2", "postgres://h/d?options=-c%20a%3D1%20-cb%3D2"),
        ] {
            assert_eq!(with_setting(url, "a=1"), expected);
        }
    }

    #[test]
    fn plans_are_kept_unless_the_url_has_options() {
        for (url, changed) in
            [("postgres://h/d", true), ("postgres://h/d?options=", false), ("sqlite://x.db", false)]
        {
            let mut store =
                DatabaseSettings { database_url: Some(url.into()), ..Default::default() };
            keep_plans(&mut store);
            assert_eq!(store.database_url.as_deref() != Some(url), changed, "{url}");
        }
    }
}
