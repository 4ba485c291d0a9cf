//! A load that writes nothing.

use std::sync::Arc;
use std::time::Instant;

use super::context::JobContext;
use super::error::LoadError;
use super::formats::{self, Bad, Item, Sink, Skipped};
use super::intake::{Intake, IntakeState};
use super::options::LoadOptions;
use super::report::Report;

/// Reads sources without writing anything but the reject file.
pub fn dry_run(context: &JobContext, options: &LoadOptions) -> Result<Report, LoadError> {
    let started = Instant::now();
    let mut sink = DryRun { intake: options.intake(context, 0, IntakeState::default())? };
    for (index, source) in options.sources.iter().enumerate() {
        sink.intake.begin_source(index, &source.name());
        let input = source.open(Arc::default())?;
        formats::read(&source.path, input, &options.defaults(), &mut sink)?;
        sink.intake.end_source();
    }
    let tally = sink.intake.state.tally.clone();
    Ok(Report { tally, seconds: started.elapsed().as_secs_f64(), ..Report::default() })
}

struct DryRun {
    intake: Intake,
}

impl Sink for DryRun {
    fn file(&mut self, item: &Item<'_>) -> Result<(), LoadError> {
        self.intake.file(item)?;
        self.intake.files.clear();
        Ok(())
    }

    fn bad(&mut self, bad: Bad) -> Result<(), LoadError> {
        self.intake.bad(bad)
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), LoadError> {
        self.intake.skipped(what)
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), LoadError> {
        self.intake.page(bucket, kind, truncated)
    }

    fn broken(&mut self, reason: String) -> Result<(), LoadError> {
        self.intake.broken(reason)
    }
}
