//! `export`.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use crate::jobs::{self, JobContext};

/// Exports to standard output.
pub fn run(context: &JobContext, bucket: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    jobs::export(context, bucket, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
