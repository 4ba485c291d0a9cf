//! The `doctor` subcommand for a service whose only data is its database.

use std::io::Write;
use std::process::ExitCode;

use crate::structure::structural_faults;
use crate::{DatabaseError, Pools};

/// The subcommand `doctor`: checks the database structure. Exit code 1 means that something is
/// wrong.
///
/// Prints each fault on a line of stdout, or `sound`.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[command(about = None, long_about = None)]
pub struct DoctorCommand {
    /// Print the result as JSON: `{"faults": […]}`
    #[arg(long)]
    pub json: bool,
}

impl DoctorCommand {
    /// Checks a database. Open it without migrating or otherwise changing it. The exit code is 1 if
    /// anything is wrong.
    ///
    /// # Errors
    /// Returns an error if reading the database or writing to stdout fails.
    pub fn run(self, pools: &Pools) -> Result<ExitCode, DatabaseError> {
        let faults = structural_faults(&mut pools.connect_reader()?)?;
        self.report(&faults, &mut std::io::stdout().lock()).map_err(DatabaseError::broken)?;
        Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn report(self, faults: &[String], out: &mut dyn Write) -> std::io::Result<()> {
        if self.json {
            return writeln!(out, "{}", serde_json::json!({ "faults": faults }));
        }
        if faults.is_empty() {
            return writeln!(out, "sound");
        }
        faults.iter().try_for_each(|fault| writeln!(out, "{fault}"))
    }
}
