//! Writes the monthly mails about domains after the end of each month. One replica writes at a time.

use database::Db;

use super::leased_round::{Failures, LeasedRound, Stop};
use crate::app;
use crate::error::Error;
use crate::model::month::Month;
use crate::state::State;
use crate::store::monthly_reports::{self, DueReport};

/// Seconds after the end of a month until every replica serves what was added in it.
const SETTLED: i64 = 3_600;
/// The key of the lease.
const LEASE: &str = "monthly_reports_until";

/// Posts the mails about the last complete month that are not posted yet. Returns false while another
/// replica does.
///
/// # Errors
/// Returns the first failure. Other mails are posted all the same, unless the database is unavailable;
/// the rest follows when this is called again.
pub async fn post_monthly_reports(state: &State) -> Result<bool, Error> {
    let month = Month::last_before(state.clock().unix() - SETTLED);
    let due = move |db: &mut Db| monthly_reports::due(db, month);
    if state.pools().read(due).await?.is_empty() {
        return Ok(true);
    }
    let Some(mut round) = LeasedRound::begin(state, LEASE).await? else { return Ok(false) };
    // Another replica may have posted some of them before it released the lease.
    let posted = match state.pools().read(due).await {
        Ok(reports) => post_all(&mut round, reports, month).await,
        Err(error) => Err(error.into()),
    };
    let ended = round.end(|_| Ok(())).await;
    match posted {
        Ok(()) => Ok(ended?),
        Err(Stop::LeaseLost) => Ok(false),
        Err(Stop::Failed(error)) => Err(error),
    }
}

async fn post_all(
    round: &mut LeasedRound,
    reports: Vec<DueReport>,
    month: Month,
) -> Result<(), Stop> {
    let mut failures = Failures::default();
    for report in reports {
        failures.note(post_one(round, report, month).await)?;
    }
    failures.result()
}

async fn post_one(round: &mut LeasedRound, report: DueReport, month: Month) -> Result<(), Stop> {
    let (context, wanted) = (app::RequestContext::new(round.state()), report.clone());
    let notice = round.read(move |db| app::monthly_notice(db, &context, &wanted, month)).await?;
    let post =
        move |db: &mut Db, now| app::post_monthly_report(db, &report, month, notice.as_ref(), now);
    round.write(post).await
}
