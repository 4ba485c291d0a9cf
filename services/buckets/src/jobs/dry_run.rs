//! Loads without writing to the index.

use std::time::Instant;

use batch::ByteCounter;

use super::context::JobContext;
use super::error::JobError;
use super::formats::{self, Bad, Item, Part, Sink, Skipped, Taken};
use super::intake::Intake;
use super::intake_state::IntakeState;
use super::options::LoadOptions;
use super::remote::{Listing, PageSink, Place, read_pages};
use super::report::Report;

/// Reads sources without writing anything except the reject file.
pub fn dry_run(context: &JobContext, options: &LoadOptions) -> Result<Report, JobError> {
    let started = Instant::now();
    let mut sink = DryRun { intake: options.intake_above(context, 0, IntakeState::default())? };
    for (index, source) in options.sources.iter().enumerate() {
        sink.intake.begin_source(index, &source.name());
        let defaults = options.defaults();
        if let Some(url) = source.url() {
            let listing = Listing::of(url, &defaults)?;
            let kind = defaults.kind.as_deref();
            read_pages(&listing, kind, &options.remote, None, &mut sink)?;
        } else {
            let input = source.open(ByteCounter::default())?;
            formats::read(&source.path, input, &defaults, &mut sink)?;
            source.check()?;
        }
        sink.intake.end_source();
    }
    sink.intake.judge()?;
    let tally = sink.intake.state.tally.clone();
    Ok(Report { tally, seconds: started.elapsed().as_secs_f64(), ..Report::default() })
}

struct DryRun {
    intake: Intake,
}

impl Sink for DryRun {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        let taken = self.intake.file(item);
        self.intake.files.clear();
        taken
    }

    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        self.intake.bad(bad)
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), JobError> {
        self.intake.skipped(what)
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError> {
        self.intake.page(bucket, kind, truncated)
    }

    fn part(&mut self, why: Part) {
        self.intake.part(why);
    }

    fn rejected(&mut self) -> Result<(), JobError> {
        self.intake.rejected()
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        self.intake.broken(reason)
    }
}

impl PageSink for DryRun {
    fn page_done(&mut self, _: &Place, _: usize) -> Result<(), JobError> {
        Ok(())
    }
}
