//! Decides whether a run may publish, once its sources have been read.

use super::error::JobError;
use super::intake::Intake;
use super::intake_state::IntakeState;
use super::max_errors::MaxErrors;
use super::sources::Source;

/// Number of lines from which on the fraction of bad lines is checked at the end.
const JUDGED_FROM: u64 = 100;

impl Intake {
    /// For runs that replace the index: fails if a source or a listing is incomplete.
    pub fn refuse_incomplete(&self) -> Result<(), JobError> {
        if let Some(first) = self.state.tally.incomplete.first() {
            return Err(JobError::Invalid(format!("{first}: the index is unchanged")));
        }
        match self.named().iter().filter(|bucket| bucket.partial).count() {
            0 => Ok(()),
            buckets => Err(JobError::Invalid(format!(
                "buckets with an incomplete listing: {buckets} (load adds such listings): the index is unchanged"
            ))),
        }
    }

    /// Fails at the end if none of the sources could be read.
    pub fn refuse_unread(&self, sources: &[Source]) -> Result<(), JobError> {
        let tally = &self.state.tally;
        if tally.incomplete.len() < sources.len() || tally.lines() > 0 {
            return Ok(());
        }
        let reasons = tally.incomplete.join("; ");
        Err(JobError::Invalid(format!("no source could be read: {reasons}")))
    }

    /// Fails at the end if too many lines are bad, or if all of them are and no explicit limit was
    /// given.
    pub fn judge(&self) -> Result<(), JobError> {
        self.judge_from(JUDGED_FROM)?;
        let (bad, lines) = (self.state.tally.bad, self.state.tally.lines());
        let is_limited =
            matches!(self.max_errors, MaxErrors::Percent(share) if share < MaxErrors::ALL);
        if is_limited && bad > 0 && bad == lines {
            return Err(JobError::TooManyBad { bad, lines });
        }
        Ok(())
    }

    /// Fails if the sources neither contain a line nor name a bucket.
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
            "{name} has no lines, so nothing was loaded; check what made the list"
        )))
    }

    /// Fails if too many lines are bad. The fraction is only checked from `least` lines on.
    pub(super) fn judge_from(&self, least: u64) -> Result<(), JobError> {
        let (bad, lines) = (self.state.tally.bad, self.state.tally.lines());
        let too_many = match self.max_errors {
            MaxErrors::Count(most) => bad > most,
            MaxErrors::Percent(share) => {
                lines >= least && bad as f64 * 100.0 > share * lines as f64
            }
        };
        if too_many { Err(JobError::TooManyBad { bad, lines }) } else { Ok(()) }
    }
}
