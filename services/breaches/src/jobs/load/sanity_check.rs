//! Checks the first rows of a load before anything is stored.

use domain::{DomainName, EmailAddress};

use super::tally::Tally;
use crate::jobs::error::JobError;

/// Number of rows that are checked.
const FIRST: i64 = 10_000;
/// Minimum number of rows of a shorter file that is checked.
const MIN_ROWS: i64 = 1_000;
/// A load stops if more than 1 in `ODD_SHARE` addresses, and at least [`MIN_ODD`], have a domain
/// that is not a host name. Leaked lists contain few of these.
const ODD_SHARE: i64 = 20;
const MIN_ODD: i64 = 10;

/// Checks the first rows of a load.
pub struct SanityCheck {
    judged: bool,
    odd: i64,
    /// Advice for the operator.
    advice: &'static str,
}

const OF_ACCOUNTS: &str = "Lists with a secret after each address need --format combo, other \
    files may need --format csv or text, --delimiter or --encoding; --dry-run predicts the result, \
    --unchecked skips this check";
const OF_PAIRS: &str = "--email-column and --website-column name the columns, --delimiter and --encoding \
    set the format of the file, --unchecked skips this check";

impl SanityCheck {
    /// Creates a check, or one without effect if the operator passed `--unchecked`.
    pub fn new(unchecked: bool) -> Self {
        Self { judged: unchecked, odd: 0, advice: OF_ACCOUNTS }
    }

    /// Creates a check for pairs of address and website.
    pub fn of_pairs(unchecked: bool) -> Self {
        Self { advice: OF_PAIRS, ..Self::new(unchecked) }
    }

    /// Examines an accepted address.
    pub fn see(&mut self, address: &EmailAddress) {
        if !self.judged && DomainName::parse(address.domain()).is_err() {
            self.odd += 1;
        }
    }

    /// Checks the load once enough rows are read.
    ///
    /// # Errors
    /// Returns advice for the operator.
    pub fn judge(&mut self, tally: &Tally) -> Result<(), JobError> {
        if self.judged || tally.counts.read < FIRST {
            return Ok(());
        }
        self.decide(tally)
    }

    /// Checks a file that ended before.
    ///
    /// # Errors
    /// Returns advice for the operator.
    pub fn judge_whole(&mut self, tally: &Tally) -> Result<(), JobError> {
        if self.judged { Ok(()) } else { self.decide(tally) }
    }

    fn decide(&mut self, tally: &Tally) -> Result<(), JobError> {
        self.judged = true;
        let (read, accepted) = (tally.counts.read, tally.counts.accepted);
        let refused = tally.counts.skipped;
        let found = if read >= MIN_ROWS && refused * 2 > read {
            let reasons: Vec<String> =
                tally.reasons().iter().map(|(reason, rows)| format!("{rows} {reason}")).collect();
            format!("{refused} of the first {read} rows are refused ({})", reasons.join(", "))
        } else if self.odd >= MIN_ODD && self.odd * ODD_SHARE > accepted {
            format!(
                "{} of the first {accepted} addresses have a domain that is not a host name",
                self.odd
            )
        } else {
            return Ok(());
        };
        let advice = self.advice;
        Err(JobError::Rejected(format!("{found}; nothing was loaded. {advice}")))
    }
}
