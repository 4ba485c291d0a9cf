//! Implements `load --dry-run`.

use std::time::Instant;

use batch::ByteCounter;

use super::context::JobContext;
use super::error::JobError;
use super::formats::{self, Sink};
use super::intake::Intake;
use super::intake_state::IntakeState;
use super::options::LoadOptions;
use super::remote::{Listing, PageSink, Place, read_pages};
use super::report::Report;

/// Reads the sources without writing anything but the reject file.
pub fn dry_run(context: &JobContext, options: &LoadOptions) -> Result<Report, JobError> {
    let started = Instant::now();
    let mut intake = options.intake_above(context, 0, IntakeState::default())?;
    intake.is_dry_run = true;
    for (index, source) in options.sources.iter().enumerate() {
        intake.begin_source(index, &source.name());
        let defaults = options.defaults();
        if let Some(url) = source.url() {
            let listing = Listing::of(url, &defaults)?;
            let kind = defaults.kind.as_deref();
            match read_pages(&listing, kind, &options.remote, None, &mut intake) {
                // Continue with the other sources, which might be on different hosts.
                Err(JobError::Unreachable { reason, .. }) if options.sources.len() > 1 => {
                    intake.broken(reason)?;
                }
                read => read?,
            }
        } else {
            let input = source.open(ByteCounter::default())?;
            formats::read(&source.path, input, &options.defaults_of(source), &mut intake)?;
            source.check()?;
        }
        intake.end_source();
    }
    intake.settle_pages();
    intake.refuse_unread(&options.sources)?;
    intake.judge()?;
    intake.refuse_empty(&options.sources)?;
    Ok(Report {
        tally: intake.tally(),
        seconds: started.elapsed().as_secs_f64(),
        ..Report::default()
    })
}

impl PageSink for Intake {
    fn page_done(&mut self, _: Option<&Place>, _: &[u8]) -> Result<(), JobError> {
        Ok(())
    }
}
