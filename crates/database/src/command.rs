//! The `migrate` subcommand.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use crate::{DatabaseError, DatabaseSettings, Migrations};

/// The subcommand `migrate`: brings the database up to date.
///
/// Prints the applied versions to stdout, one per line, and their number to stderr (see
/// [`log_applied`]).
///
/// ```
/// use database::{DatabaseSettings, MigrateCommand};
///
/// #[derive(clap::Subcommand)]
/// enum Command {
///     /// Bring the database up to date
///     Migrate(MigrateCommand),
/// }
///
/// # let folder = tempfile::tempdir()?;
/// let command = MigrateCommand::default();
/// command.run(&DatabaseSettings::default(), folder.path(), "notes", &[])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[command(about = None, long_about = None)]
pub struct MigrateCommand {
    /// Print the applied versions as a JSON array
    #[arg(long)]
    pub json: bool,
}

impl MigrateCommand {
    /// Migrates the database of the service `name`, using all of its migration sources.
    ///
    /// # Errors
    /// Returns the same errors as [`DatabaseSettings::migrate`], or an error if writing to stdout
    /// fails.
    pub fn run(
        self,
        settings: &DatabaseSettings,
        data_dir: &Path,
        name: &str,
        migrations: &[&Migrations],
    ) -> Result<ExitCode, DatabaseError> {
        let applied = settings.migrate(data_dir, name, migrations)?;
        self.report(&applied, &mut std::io::stdout().lock()).map_err(DatabaseError::broken)?;
        log_applied(&applied);
        Ok(ExitCode::SUCCESS)
    }

    fn report(self, applied: &[String], out: &mut dyn Write) -> std::io::Result<()> {
        if self.json {
            writeln!(out, "{}", serde_json::Value::from(applied.to_vec()))
        } else {
            applied.iter().try_for_each(|version| writeln!(out, "{version}"))
        }
    }
}

/// Logs the number of applied migrations as the outcome of a command.
pub fn log_applied(versions: &[String]) {
    log::info!(target: "notice", "{}", outcome(versions.len()));
}

fn outcome(applied: usize) -> String {
    match applied {
        0 => "0 migrations applied: the schema is current".to_owned(),
        1 => "1 migration applied".to_owned(),
        number => format!("{number} migrations applied"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcome_counts_the_applied_migrations() {
        assert_eq!(outcome(0), "0 migrations applied: the schema is current");
        assert_eq!([outcome(1), outcome(2)], ["1 migration applied", "2 migrations applied"]);
    }

    fn printed(json: bool) -> String {
        let applied = ["2026-01-01-000001_note", "2026-01-02-000001_remark"].map(str::to_owned);
        let mut out = Vec::new();
        MigrateCommand { json }.report(&applied, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn versions_are_printed_one_per_line_or_as_json() {
        assert_eq!(printed(false), "2026-01-01-000001_note\n2026-01-02-000001_remark\n");
        assert_eq!(printed(true), "[\"2026-01-01-000001_note\",\"2026-01-02-000001_remark\"]\n");
    }
}
