//! A look at the first rows of a load, before anything is stored: is the file what it is taken for?

use domain::{DomainName, EmailAddress};

use super::tally::Tally;
use crate::jobs::error::JobError;

/// Rows after which a load is judged.
const FIRST: i64 = 10_000;
/// A shorter file is judged at its end, if it has as many rows.
const LEAST: i64 = 1_000;
/// Domains that are no host names: more than one in so many addresses, and at least [`LEAST_ODD`], stop
/// a load. Leaked addresses have few of them.
const ODD_SHARE: i64 = 20;
const LEAST_ODD: i64 = 10;

/// Judges the first rows of a load.
pub struct SanityCheck {
    judged: bool,
    odd: i64,
    /// How to go on.
    advice: &'static str,
}

const OF_ACCOUNTS: &str = "Lists with a secret behind each address are read with --format combo, other \
    files with --format csv or text, --delimiter and --encoding; --dry-run tells what a load would do, \
    --unchecked loads the file as it is";
const OF_PAIRS: &str = "--email-column and --website-column name the columns, --delimiter and --encoding \
    say how the file is written, --unchecked loads it as it is";

impl SanityCheck {
    /// Judges nothing where the operator wants the load as it is.
    pub fn new(unchecked: bool) -> Self {
        Self { judged: unchecked, odd: 0, advice: OF_ACCOUNTS }
    }

    /// The same for pairs of address and website.
    pub fn of_pairs(unchecked: bool) -> Self {
        Self { advice: OF_PAIRS, ..Self::new(unchecked) }
    }

    /// Looks at an address that is taken.
    pub fn see(&mut self, address: &EmailAddress) {
        if !self.judged && DomainName::parse(address.domain()).is_err() {
            self.odd += 1;
        }
    }

    /// Judges once enough rows are read.
    ///
    /// # Errors
    /// How to go on.
    pub fn judge(&mut self, tally: &Tally) -> Result<(), JobError> {
        if self.judged || tally.counts.read < FIRST {
            return Ok(());
        }
        self.decide(tally)
    }

    /// Judges a file that ended before.
    ///
    /// # Errors
    /// How to go on.
    pub fn judge_whole(&mut self, tally: &Tally) -> Result<(), JobError> {
        if self.judged { Ok(()) } else { self.decide(tally) }
    }

    fn decide(&mut self, tally: &Tally) -> Result<(), JobError> {
        self.judged = true;
        let (read, accepted) = (tally.counts.read, tally.counts.accepted);
        let refused = tally.counts.skipped;
        let found = if read >= LEAST && refused * 2 > read {
            let reasons: Vec<String> =
                tally.reasons().iter().map(|(reason, rows)| format!("{rows} {reason}")).collect();
            format!("{refused} of the first {read} rows are refused ({})", reasons.join(", "))
        } else if self.odd >= LEAST_ODD && self.odd * ODD_SHARE > accepted {
            format!(
                "{} of the first {accepted} addresses have a domain that is no host name",
                self.odd
            )
        } else {
            return Ok(());
        };
        let advice = self.advice;
        Err(JobError::Rejected(format!("{found}: nothing was loaded. {advice}")))
    }
}
