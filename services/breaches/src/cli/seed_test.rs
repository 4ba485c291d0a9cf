//! `seed-test`.

use std::process::ExitCode;

use serde_json::json;

use super::output::Output;
use crate::jobs::{self, JobContext};

/// The command `seed-test`.
#[derive(clap::Args)]
pub struct SeedTest {
    /// Remove the test accounts
    #[arg(long, conflicts_with = "use_catalogue")]
    remove: bool,
    /// Use breaches from the loaded catalogue instead of the built-in fixtures
    #[arg(long)]
    use_catalogue: bool,
    #[command(flatten)]
    output: Output,
}

impl SeedTest {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let state = if self.remove {
            jobs::remove_test(context)?;
            "removed"
        } else {
            jobs::seed_test(context, self.use_catalogue)?;
            "made"
        };
        self.output.print(&json!({ "test_accounts": state }), format!("test accounts {state}"))
    }
}
