//! `migrate`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{anyhow, ensure};
use database::{Backend, DatabaseSettings, Pools, log_applied, with_option};

use super::output::Output;
use crate::store::layout::Layout;
use crate::store::load_connections;

/// The `migrate` command.
#[derive(clap::Args)]
pub struct Migrate {
    /// Number of partitions for the account tables on PostgreSQL: 16, 64 or 256
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = partitions)]
    partitions: u16,
    /// Distribute the account tables of a new PostgreSQL database across a Citus cluster
    #[arg(long, conflicts_with = "partitions")]
    distributed: bool,
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
    pub fn run(
        &self,
        database: &DatabaseSettings,
        name: &str,
        data_dir: &Path,
    ) -> anyhow::Result<ExitCode> {
        let migrations = [&auth::MIGRATIONS, &crate::store::MIGRATIONS];
        let mut database = database.clone();
        let is_server =
            database.database_url.as_ref().is_some_and(|url| url.starts_with("postgres"));
        if self.distributed {
            ensure!(is_server, "--distributed needs a PostgreSQL database; set DATABASE_URL");
            set_for_sessions(&mut database, "breaches.distributed=on");
        } else {
            set_for_sessions(&mut database, &format!("breaches.partitions={}", self.partitions));
        }
        let applied = database.migrate(data_dir, name, &migrations).map_err(|error| {
            // Without the Citus extension, the call that distributes a table fails before anything
            // else does.
            if error.to_string().contains("create_distributed_table") {
                anyhow!(
                    "the citus extension is not installed; run CREATE EXTENSION citus; on every \
                     server"
                )
            } else {
                error.into()
            }
        })?;
        if self.distributed {
            let pools = database.open(data_dir, name, &migrations)?;
            ensure!(
                pools.read_blocking(Layout::of)?.is_distributed(),
                "this database's tables are already on a single server; use a new database"
            );
        }
        log_applied(&applied);
        self.output.print_list(&applied, String::clone)
    }
}

/// Applies a setting to every session of a PostgreSQL database.
fn set_for_sessions(database: &mut DatabaseSettings, setting: &str) {
    if let Some(url) = database.database_url.as_mut().filter(|url| url.starts_with("postgres")) {
        *url = with_setting(url, setting);
    }
}

/// Adds a setting to a URL, ahead of its options.
fn with_setting(url: &str, setting: &str) -> String {
    let setting = format!("options=-c%20{}", setting.replace('=', "%3D"));
    match url.split_once("options=") {
        Some((before, after)) if after.is_empty() || after.starts_with('&') => {
            format!("{before}{setting}{after}")
        }
        Some((before, after)) => format!("{before}{setting}%20{after}"),
        None => with_option(url, &setting),
    }
}

/// Adds session settings that suit the database. Returns `true` if there are any.
///
/// On a single PostgreSQL server, `serve` uses generic plans for prepared statements. Otherwise,
/// lookups in partitioned tables would be replanned every time, which takes longer than the lookups
/// themselves. Jobs perform better with plans for the actual values, and Citus needs these to
/// determine which server has a key. If the URL has options, even empty ones, it isn't changed,
/// because a pooler might reject ours.
pub fn set_up_sessions(
    database: &mut DatabaseSettings,
    pools: &Pools,
    serves: bool,
) -> anyhow::Result<bool> {
    let has_options = database.database_url.as_ref().is_some_and(|url| url.contains("options="));
    if pools.backend() == Backend::Sqlite || has_options {
        return Ok(false);
    }
    match pools.read_blocking(Layout::of)? {
        Layout::Distributed => {
            for (name, value) in load_connections::CLUSTER_SESSION {
                set_for_sessions(database, &format!("{name}={value}"));
            }
            Ok(true)
        }
        Layout::OneServer => {
            if serves {
                set_for_sessions(database, "plan_cache_mode=force_generic_plan");
            }
            Ok(serves)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_is_added_to_the_options_of_a_url() {
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
    fn plan_setting_is_added_for_a_server_unless_the_url_has_options() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let is_server = database.file().is_none();
        for (options, serves) in [("", true), ("", false), ("?options=", true)] {
            let url = format!("{}{options}", database.url());
            let mut settings =
                DatabaseSettings { database_url: Some(url.clone()), ..Default::default() };
            let changed = set_up_sessions(&mut settings, &pools, serves).unwrap();
            assert_eq!(changed, is_server && serves && options.is_empty());
            assert_eq!(settings.database_url.as_ref() != Some(&url), changed, "{url}");
        }
    }
}
