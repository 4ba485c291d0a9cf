//! `buckets export`

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use crate::jobs::{self, JobContext, JobError};

/// Writes the export to standard output.
pub fn run(context: &JobContext, bucket: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = jobs::export(context, bucket, &mut out).map_err(source_of);
    batch::until_closed(written.and_then(|_| Ok(out.flush()?)))?;
    Ok(ExitCode::SUCCESS)
}

/// Unwraps I/O errors so that a closed pipe is recognised.
fn source_of(error: JobError) -> anyhow::Error {
    match error {
        JobError::Io(error) => error.into(),
        other => other.into(),
    }
}
