//! Decides whether a run can be published, once all sources have been read.

use database::Pools;

use super::error::JobError;
use super::intake::Intake;
use super::intake_state::IntakeState;
use super::max_errors::MaxErrors;
use super::sources::Source;
use crate::store::buckets;

/// Minimum number of lines for the share of bad lines to matter.
const JUDGED_FROM: u64 = 100;
/// Advice if a rebuild is refused.
const REMEDY: &str = "provide the whole list, or use load, which adds what can be read";

impl Intake {
    /// Returns an error if a source is incomplete. Used for runs that replace the whole index.
    pub fn refuse_incomplete(&self) -> Result<(), JobError> {
        match self.state.tally.incomplete.first() {
            None => Ok(()),
            Some(first) => {
                Err(JobError::Invalid(format!("{first}; {REMEDY}: the index is unchanged")))
            }
        }
    }

    /// Returns an error if a listing doesn't cover its bucket. Used for runs that replace the whole
    /// index. Call this at the end, because later sources can have the other pages of a listing.
    pub fn refuse_partial(&mut self, pools: &Pools) -> Result<(), JobError> {
        let named = self.named();
        let partial = || named.iter().filter(|bucket| bucket.partial).map(|bucket| bucket.id);
        let Some(first) = partial().next() else { return Ok(()) };
        let why = match self.state.tally.partial.first() {
            Some(note) => note.clone(),
            None => {
                self.flush_rows(pools)?;
                let found = pools.read_blocking(|db| buckets::by_ids(db, &[first]))?;
                let addresses: String = found.into_iter().map(|bucket| bucket.address).collect();
                format!("no source has a complete listing of {addresses}")
            }
        };
        let count = partial().count();
        Err(JobError::Invalid(format!(
            "{why}; {REMEDY} (buckets with an incomplete listing: {count}): the index is unchanged"
        )))
    }

    /// Returns an error if none of the sources could be read. Call this at the end.
    pub fn refuse_unread(&self, sources: &[Source]) -> Result<(), JobError> {
        let tally = &self.state.tally;
        if tally.incomplete.len() < sources.len() || tally.lines() > 0 {
            return Ok(());
        }
        let reasons = tally.incomplete.join("; ");
        Err(JobError::Invalid(format!("no source could be read: {reasons}")))
    }

    /// Returns an error if too many lines are bad, or if every line is bad and there is no explicit
    /// limit. Call this at the end.
    pub fn judge(&self) -> Result<(), JobError> {
        self.judge_from(JUDGED_FROM)?;
        let (bad, lines) = (self.state.tally.bad, self.state.tally.lines());
        let is_limited =
            matches!(self.max_errors, MaxErrors::Percent(share) if share < MaxErrors::ALL);
        if is_limited && bad > 0 && bad == lines {
            return Err(self.too_many_bad());
        }
        Ok(())
    }

    /// Returns an error if the sources don't contain any lines or buckets.
    pub fn refuse_empty(&self, sources: &[Source]) -> Result<(), JobError> {
        let IntakeState { tally, named, .. } = &self.state;
        if !tally.is_empty() || !named.is_empty() {
            return Ok(());
        }
        let name = match sources {
            [source] if source.is_stdin() => "standard input".to_owned(),
            [source] => source.name(),
            _ => format!("each of the {} sources", sources.len()),
        };
        Err(JobError::Invalid(format!(
            "{name} contains no data, so nothing was loaded; check how the list was created"
        )))
    }

    /// Returns an error if too many lines are bad. The share of bad lines only matters if there are
    /// at least `least` lines.
    pub(super) fn judge_from(&self, least: u64) -> Result<(), JobError> {
        let (bad, lines) = (self.state.tally.bad, self.state.tally.lines());
        let too_many = match self.max_errors {
            MaxErrors::Count(most) => bad > most,
            MaxErrors::Percent(share) => {
                lines >= least && bad as f64 * 100.0 > share * lines as f64
            }
        };
        if too_many { Err(self.too_many_bad()) } else { Ok(()) }
    }

    fn too_many_bad(&self) -> JobError {
        let IntakeState { tally, first_bad, .. } = &self.state;
        JobError::TooManyBad { bad: tally.bad, lines: tally.lines(), first: first_bad.clone() }
    }
}
