//! Queues the monthly domain emails once a month is over. Only one replica at a time does this, in
//! small batches.

use std::time::Duration;

use database::Db;

use super::leased_round::{Failures, LeasedRound, Stop};
use crate::app;
use crate::error::Error;
use crate::model::month::Month;
use crate::state::State;
use crate::store::monthly_reports::{self, DueReport};

/// How long to wait after the end of a month, in seconds. By then, all replicas show everything
/// that was added in that month.
const SETTLED: i64 = 3_600;
/// Meta entry for the lease on queuing monthly emails.
const LEASE: &str = "monthly_reports_until";
/// Maximum number of emails per pass. The lease is released after each pass.
const MAILS: i64 = 100;
/// Pause before the next pass if more emails are due, which gives other replicas a chance.
const NEXT: Duration = Duration::from_secs(1);
/// Pause after the last email, or after a failure that ended a pass.
const IDLE: Duration = Duration::from_secs(600);

/// Outcome of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// There is nothing left to try. The next pass starts over.
    Complete,
    /// There are more emails to queue.
    More,
    /// Another replica holds the lease.
    Elsewhere,
}

/// A replica's position in the list of emails.
///
/// Each pass starts where the previous one stopped, so emails that can't be created don't hold up
/// the others.
#[derive(Debug, Default)]
pub struct MonthlyMails {
    /// Id of the domain control tried last.
    after: i64,
}

/// Queues monthly emails forever. This is separate from other maintenance because each email
/// requires reading a whole domain.
pub async fn write_monthly_mails(state: State) {
    let mut mails = MonthlyMails::default();
    loop {
        let pause = match mails.pass(&state, MAILS).await {
            Ok(Pass::More) => NEXT,
            Ok(Pass::Complete | Pass::Elsewhere) => IDLE,
            Err(error) => {
                log::warn!("monthly emails could not be queued, retrying: {error}");
                IDLE
            }
        };
        tokio::time::sleep(pause).await;
    }
}

impl MonthlyMails {
    /// Queues up to `limit` outstanding emails about the last full month. Emails that can't be
    /// created are logged and retried after all the others.
    ///
    /// # Errors
    /// Fails on database errors, or with the last of several failures in a row. The next pass
    /// starts after these.
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
        // Another replica may have queued some of them just before it released the lease.
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
                log::warn!("the monthly email about {domain} could not be queued: {error}");
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
