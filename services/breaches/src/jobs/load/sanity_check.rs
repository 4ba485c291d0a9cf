//! Sanity check of a load before anything is stored.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use batch::ByteSize;
use domain::{DomainName, EmailAddress};

use super::tally::Tally;
use crate::jobs::error::JobError;
use crate::model::website;
use crate::store::jobs::Counts;

/// Number of rows to check.
const FIRST: i64 = 10_000;
/// With fewer rows, percentages aren't meaningful and are ignored.
const MIN_ROWS: i64 = 100;
/// Stop the load if more than 1 in `ODD_SHARE` addresses, and at least [`MIN_ODD`], have a strange
/// domain. Genuine leaks contain few of these.
const ODD_SHARE: i64 = 20;
const MIN_ODD: i64 = 10;

/// Memory per sorted record in bytes, not counting its text.
const ENTRY: usize = 32;

/// Checks the first rows of a load, and that no file is rejected entirely.
///
/// Once the first rows have been checked, the check starts over with the next file, since its
/// content may be different. If the first rows end partway through a later file, the check also
/// starts over for the rest of that file.
pub struct SanityCheck {
    unchecked: bool,
    /// The sorter's memory budget.
    budget: ByteSize,
    judged: bool,
    /// The counts at the first row being checked.
    before: Counts,
    /// Start of the checked rows, for error messages. Empty at the start of the load.
    start: String,
    /// Value of `start` for the rest of the current file. Set if the checked rows began in an
    /// earlier file.
    rest: Option<String>,
    /// How many more bytes of addresses may be accepted before a decision is due. This ensures that
    /// no address has been written to a temporary file before the decision.
    room: usize,
    /// Addresses whose domain isn't a host name.
    odd: i64,
    /// Addresses whose domain doesn't end in a top-level domain, as when lines end in a secret.
    without_top: i64,
    /// Addresses with a symbol that is rare before the `@`, as when lines start with a secret.
    odd_locals: i64,
    /// Hashes of the domains, with `true` for those seen only once.
    domains: HashMap<u64, bool>,
    /// Number of domains seen exactly once.
    once: i64,
    /// Advice for the operator.
    advice: &'static str,
}

const OF_ACCOUNTS: &str = "Lists with a secret after each address need --format combo, other files \
                           may need a different --format, --delimiter or --encoding; --dry-run \
                           predicts the result, --unchecked skips this check";
const OF_COMBO: &str = "The file may need a different --format, --delimiter or --encoding; --dry-run \
                        predicts the result, --unchecked skips this check";
const OF_PAIRS: &str = "--email-column and --website-column name the columns, --delimiter and \
    --encoding describe the file; lines such as https://shop/login:address:secret need --format ulp. \
    --unchecked skips this check";
const OF_PASTES: &str = "Each line must be a JSON object with the fields Source (letters) and Id; \
                         Title, Date (such as 2015-01-31T12:00:00Z), EmailCount (a number) and \
                         Emails (a list) are optional";

impl SanityCheck {
    /// Creates a check. It does nothing if the operator passed `--unchecked`. `budget` is the
    /// sorter's memory budget.
    pub fn new(unchecked: bool, budget: ByteSize) -> Self {
        Self {
            unchecked,
            budget,
            judged: unchecked,
            before: Counts::default(),
            start: String::new(),
            rest: None,
            room: budget.in_memory() / 4,
            odd: 0,
            without_top: 0,
            odd_locals: 0,
            domains: HashMap::new(),
            once: 0,
            advice: OF_ACCOUNTS,
        }
    }

    /// Creates a check for lists with a secret after each address.
    pub fn of_combo(unchecked: bool, budget: ByteSize) -> Self {
        Self { advice: OF_COMBO, ..Self::new(unchecked, budget) }
    }

    /// Creates a check for a stealer log.
    pub fn of_pairs(unchecked: bool, budget: ByteSize) -> Self {
        Self { advice: OF_PAIRS, ..Self::new(unchecked, budget) }
    }

    /// Creates a check for pastes, which only rejects files without a single valid line.
    pub fn of_pastes() -> Self {
        Self { judged: true, advice: OF_PASTES, ..Self::new(false, ByteSize(0)) }
    }

    /// Records that the next rows are from another file.
    pub fn begin_file(&mut self, path: &Path, tally: &Tally) {
        let start = format!(" from {}", path.display());
        if self.judged {
            self.start_over(start, tally);
        } else if tally.counts.read > 0 {
            self.rest = Some(start);
        }
    }

    fn start_over(&mut self, start: String, tally: &Tally) {
        if !self.unchecked {
            let fresh = Self::new(false, self.budget);
            *self = Self { before: tally.counts, start, advice: self.advice, ..fresh };
        }
    }

    /// Takes an accepted address into account.
    pub fn see(&mut self, address: &EmailAddress) {
        if self.judged {
            return;
        }
        let domain = address.domain();
        self.room = self.room.saturating_sub(address.as_str().len() + ENTRY);
        self.odd += i64::from(DomainName::parse(domain).is_err());
        self.without_top += i64::from(!website::is_possible(domain) && !is_number(domain));
        self.odd_locals += i64::from(has_odd_symbol(address.local()));
        let mut hasher = DefaultHasher::new();
        domain.hash(&mut hasher);
        let mut is_new = false;
        let single = self.domains.entry(hasher.finish()).or_insert_with(|| {
            is_new = true;
            true
        });
        if is_new {
            self.once += 1;
        } else if *single {
            *single = false;
            self.once -= 1;
        }
    }

    /// Checks the load once enough rows have been seen.
    ///
    /// # Errors
    /// Fails with advice for the operator.
    pub fn judge(&mut self, tally: &Tally) -> Result<(), JobError> {
        if self.judged || (self.counts(tally).read < FIRST && self.room > 0) {
            return Ok(());
        }
        self.decide(tally)?;
        if let Some(start) = self.rest.take() {
            self.start_over(start, tally);
        }
        Ok(())
    }

    /// Checks a file after all of it has been read. `before` are the counts at its start.
    ///
    /// # Errors
    /// Fails with advice for the operator if nothing was found in the file, or if every row was
    /// rejected.
    pub fn judge_file(&self, path: &Path, before: Counts, tally: &Tally) -> Result<(), JobError> {
        if self.unchecked || tally.counts.accepted > before.accepted {
            return Ok(());
        }
        let (path, reasons) = (path.display(), reasons(tally));
        let found = match tally.counts.skipped - before.skipped {
            0 => "no addresses were found".to_owned(),
            1 => format!("its only row is rejected ({reasons})"),
            refused => format!("all {refused} rows are rejected ({reasons})"),
        };
        Err(self.refusal(&format!("{path}: {found}")))
    }

    /// Checks the last rows if there were too few for [`Self::judge`]. If earlier rows were fine, a
    /// handful of rows can't stop the load.
    ///
    /// # Errors
    /// Fails with advice for the operator.
    pub fn judge_whole(&mut self, tally: &Tally) -> Result<(), JobError> {
        let is_rest = self.before.read > 0 && self.counts(tally).read < MIN_ROWS;
        if self.judged || is_rest { Ok(()) } else { self.decide(tally) }
    }

    /// Returns the counts of the rows being checked.
    fn counts(&self, tally: &Tally) -> Counts {
        let (all, before) = (tally.counts, self.before);
        Counts {
            read: all.read - before.read,
            accepted: all.accepted - before.accepted,
            skipped: all.skipped - before.skipped,
        }
    }

    fn decide(&mut self, tally: &Tally) -> Result<(), JobError> {
        self.judged = true;
        self.domains = HashMap::new();
        let Counts { accepted, skipped: refused, .. } = self.counts(tally);
        // Rows without an address say nothing about the others.
        let rows = accepted + refused;
        let start = &self.start;
        let found = if rows >= MIN_ROWS && refused * 2 > rows {
            let reasons = reasons(tally);
            format!("{refused} of the first {rows} rows{start} are rejected ({reasons})")
        } else if is_share(self.odd, accepted) {
            let odd = self.odd;
            format!(
                "{odd} of the first {accepted} addresses{start} have a domain that is not a host \
                 name"
            )
        } else if is_share(self.without_top, accepted) || self.without_top * 2 > accepted {
            let count = self.without_top;
            format!(
                "{count} of the first {accepted} addresses{start} have a domain that does not end \
                 in a top-level domain, so a secret may be part of it"
            )
        } else if is_share(self.odd_locals, accepted) || self.odd_locals * 2 > accepted {
            let count = self.odd_locals;
            format!(
                "{count} of the first {accepted} addresses{start} have a symbol in front of the @ \
                 that is rare there, so a secret may be part of it"
            )
        } else if accepted >= MIN_ROWS && self.once * 2 > accepted {
            let once = self.once;
            format!(
                "{once} of the first {accepted} addresses{start} are the only ones at their \
                 domain, so a secret may be part of it"
            )
        } else {
            return Ok(());
        };
        Err(self.refusal(&found))
    }

    fn refusal(&self, found: &str) -> JobError {
        JobError::Rejected(format!("{found}; nothing was loaded. {}", self.advice))
    }
}

fn is_share(odd: i64, accepted: i64) -> bool {
    odd >= MIN_ODD && odd * ODD_SHARE > accepted
}

/// Returns `true` if a local part contains a symbol that is rare in genuine ones and may separate a
/// secret from an address, as in `secret=name`.
fn has_odd_symbol(local: &str) -> bool {
    local.bytes().skip(1).any(|byte| byte.is_ascii_punctuation() && !b".-_+'".contains(&byte))
}

/// Returns `true` for IP addresses.
fn is_number(domain: &str) -> bool {
    domain.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn reasons(tally: &Tally) -> String {
    let reasons: Vec<String> =
        tally.reasons().iter().map(|(reason, rows)| format!("{rows} {reason}")).collect();
    reasons.join(", ")
}
