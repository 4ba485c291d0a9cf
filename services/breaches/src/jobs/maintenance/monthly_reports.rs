//! Writes the monthly mails about domains after the end of each month, a limited number at a time. One
//! replica writes at a time.

use std::time::Duration;

use database::Db;

use super::leased_round::{Failures, LeasedRound, Stop};
use crate::app;
use crate::error::Error;
use crate::model::month::Month;
use crate::state::State;
use crate::store::monthly_reports::{self, DueReport};

/// Seconds after the end of a month until all replicas show everything that was added in it.
const SETTLED: i64 = 3_600;
/// The key of the lease for writing monthly mails.
const LEASE: &str = "monthly_reports_until";
/// Maximum number of mails in a pass. The lease is released after each.
const MAILS: i64 = 100;
/// The pause before the next mails of the same month, in which another replica may take its turn.
const NEXT: Duration = Duration::from_secs(1);
/// The pause after the last mail, and after a failure that ends a pass.
const IDLE: Duration = Duration::from_secs(600);

/// The result of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// All mails after the place were tried. The next pass begins with the first one.
    Complete,
    /// More mails are due.
    More,
    /// Another replica writes.
    Elsewhere,
}

/// The place of a replica in the list of mails.
///
/// A pass begins after the last mail that the previous one tried, so mails that cannot be written do not
/// delay the others.
#[derive(Debug, Default)]
pub struct MonthlyMails {
    /// The number of the last domain row that was tried.
    after: i64,
}

/// Writes monthly mails forever, apart from other maintenance, because each mail reads a whole domain.
pub async fn write_monthly_mails(state: State) {
    let mut mails = MonthlyMails::default();
    loop {
        let pause = match mails.pass(&state, MAILS).await {
            Ok(Pass::More) => NEXT,
            Ok(Pass::Complete | Pass::Elsewhere) => IDLE,
            Err(error) => {
                log::warn!("monthly mails could not be written, retrying: {error}");
                IDLE
            }
        };
        tokio::time::sleep(pause).await;
    }
}

impl MonthlyMails {
    /// Posts at most `limit` mails about the last complete month that are not posted yet. A mail that
    /// cannot be written is logged and tried again after the others.
    ///
    /// # Errors
    /// Returns errors of the database, and the last of several failures in a row. The next pass begins
    /// after them.
    pub async fn pass(&mut self, state: &State, limit: i64) -> Result<Pass, Error> {
        let month = Month::last_before(state.clock().unix() - SETTLED);
        let after = self.after;
        let due = move |db: &mut Db| monthly_reports::due(db, month, after, limit);
        if state.pools().read(due).await?.is_empty() {
            self.after = 0;
            return Ok(Pass::Complete);
        }
        let Some(mut round) = LeasedRound::begin(state, LEASE).await? else {
            return Ok(Pass::Elsewhere);
        };
        // Another replica may have posted some of them before it released the lease.
        let posted = match state.pools().read(due).await {
            Ok(reports) => self.post(&mut round, reports, limit, month).await,
            Err(error) => Err(error.into()),
        };
        let is_held = round.end(|_| Ok(())).await;
        match posted {
            Ok(pass) if is_held? => Ok(pass),
            Ok(_) | Err(Stop::LeaseLost) => Ok(Pass::Elsewhere),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    async fn post(
        &mut self,
        round: &mut LeasedRound,
        reports: Vec<DueReport>,
        limit: i64,
        month: Month,
    ) -> Result<Pass, Stop> {
        let is_full = i64::try_from(reports.len()).is_ok_and(|found| found >= limit);
        let mut failures = Failures::default();
        for report in reports {
            let (control, domain) = (report.control, report.domain.clone());
            let done = post_one(round, report, month).await;
            self.after = control;
            if let Err(Stop::Failed(error)) = &done {
                log::warn!("the monthly mail about {domain} could not be written: {error}");
            }
            failures.note(done)?;
        }
        if !is_full {
            self.after = 0;
        }
        Ok(if is_full { Pass::More } else { Pass::Complete })
    }
}

async fn post_one(round: &mut LeasedRound, report: DueReport, month: Month) -> Result<(), Stop> {
    let (context, wanted) = (app::RequestContext::new(round.state()), report.clone());
    let notice = round.read(move |db| app::monthly_notice(db, &context, &wanted, month)).await?;
    let post =
        move |db: &mut Db, now| app::post_monthly_report(db, &report, month, notice.as_ref(), now);
    round.write(post).await
}
