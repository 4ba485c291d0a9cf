//! The `verify` subcommand.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use batch::Output;

use super::threads::cores;
use crate::jobs::{self, Findings};

/// The exit code for a damaged corpus.
const DAMAGED: u8 = 10;

/// Options of `verify`.
#[derive(Clone, Debug, clap::Args)]
pub struct Verify {
    /// Verify only the header and the index
    #[arg(long)]
    quick: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Corpus file to verify
    file: PathBuf,
}

impl Verify {
    /// Checks the file and prints a report. The exit code is 0 if the file is intact and 10 if it
    /// is damaged. Returns an error if the file cannot be read.
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let findings = jobs::verify(&self.file, self.quick, cores())?;
        Output::from_json_flag(self.json).print(&findings, Text(&findings))?;
        Ok(if findings.good { ExitCode::SUCCESS } else { ExitCode::from(DAMAGED) })
    }
}

/// Formats each problem on a separate line, followed by a verdict.
struct Text<'a>(&'a Findings);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.0;
        for problem in &findings.problems {
            writeln!(f, "{}: {}", problem.prefix.as_deref().unwrap_or("file"), problem.reason)?;
        }
        if findings.good {
            write!(f, "good: {} entries", findings.entries.unwrap_or_default())
        } else {
            write!(f, "damaged: {} problems", findings.damaged)
        }
    }
}
