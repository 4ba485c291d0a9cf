//! Monthly emails about new exposures at a domain.

use database::{DatabaseError, Db};
use domain::DomainName;

use super::admission::Caller;
use super::context::RequestContext;
use super::domain_search::search;
use super::exposure_report::ReportRows;
use super::subscriber_plan;
use crate::error::Error;
use crate::model::month::Month;
use crate::model::notice::{BreachCount, DomainReport, Notice, REPORT_KEY, Recipient};
use crate::model::report::Period;
use crate::state::State;
use crate::store::monthly_reports::{self, DueReport};
use crate::store::{domain_controls, messages, subscribers};

/// Maximum number of breaches listed in an email.
const LISTED_BREACHES: usize = 20;

/// Returns `true` if the subscriber gets a monthly email about the domain.
///
/// # Errors
/// Returns an error if the query fails.
pub async fn has_monthly_report(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
) -> Result<bool, Error> {
    let domain = domain.to_string();
    let read = move |db: &mut Db| domain_controls::verified(db, subscriber, &domain);
    Ok(state.pools().read(read).await?.is_some_and(|control| control.monthly))
}

/// Turns a subscriber's monthly email about a domain on or off.
///
/// # Errors
/// [`Error::NotVerified`] or a database error.
pub async fn set_monthly_report(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    monthly: bool,
) -> Result<(), Error> {
    let (domain, now) = (domain.to_string(), state.clock().unix());
    let change = move |db: &mut Db| change_monthly_report(db, subscriber, &domain, monthly, now);
    match state.pools().write_as(Some(&subscriber.to_string()), change).await? {
        true => Ok(()),
        false => Err(Error::NotVerified),
    }
}

/// Turns the monthly email on or off, starting with the current month. Returns `false` if that's
/// impossible because the subscriber doesn't control the domain.
///
/// # Errors
/// Returns an error if the query fails.
pub fn change_monthly_report(
    db: &mut Db,
    subscriber: i64,
    domain: &str,
    monthly: bool,
    now: i64,
) -> Result<bool, DatabaseError> {
    monthly_reports::set(db, subscriber, domain, monthly, Month::last_before(now))
}

/// Builds a subscriber's email about the months since the last report, up to and including `month`.
/// Returns `None` if the subscriber isn't allowed to see the domain.
///
/// # Errors
/// Fails on database and disk errors.
pub fn monthly_notice(
    db: &mut Db,
    context: &RequestContext,
    report: &DueReport,
    month: Month,
) -> Result<Option<Notice>, Error> {
    let DueReport { subscriber, reported, .. } = *report;
    let Ok(domain) = DomainName::parse(&report.domain) else { return Ok(None) };
    if subscribers::has_ended(db, subscriber, context.now)? {
        return Ok(None);
    }
    let current = subscriber_plan::current(db, subscriber, context.now)?;
    let until = current.until.unwrap_or_default();
    let caller = Caller { subscriber: Some(subscriber), plan: current.plan.into(), until };
    let found = match search(db, context, &caller, &domain) {
        Ok(found) => found,
        Err(Error::NotVerified) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (limited, None) = found.verdict() else { return Ok(None) };
    let period = Period { since: reported.next().start(), until: month.next().start() };
    let mut rows = ReportRows::new(domain.clone(), period, found.names);
    while rows.next_row().map_err(|error| Error::Internal(error.to_string()))?.is_some() {}
    let totals = rows.found();
    let breaches = rows.breaches();
    let listed = breaches.iter().take(LISTED_BREACHES);
    Ok(Some(Notice::DomainReport(DomainReport {
        domain: domain.to_string(),
        since: period.since,
        until: period.until,
        exposed: totals.exposed,
        first: totals.first,
        repeated: totals.repeated,
        limited,
        count: breaches.len(),
        breaches: listed
            .map(|breach| BreachCount { breach: breach.name.clone(), addresses: breach.addresses })
            .collect(),
    })))
}

/// Marks the month as reported and queues the email, if any. Since this is a single transaction,
/// the email is queued exactly once, even if several replicas create it or one of them is killed.
///
/// # Errors
/// Returns an error if a query fails.
pub fn post_monthly_report(
    db: &mut Db,
    report: &DueReport,
    month: Month,
    notice: Option<&Notice>,
    now: i64,
) -> Result<(), DatabaseError> {
    let is_taken = monthly_reports::take(db, report, month)?;
    let Some(notice) = notice.filter(|_| is_taken) else { return Ok(()) };
    let DueReport { subscriber, domain, .. } = report;
    let key = format!("{REPORT_KEY} {domain} {} {subscriber}", month.number());
    messages::post(db, &key, Recipient::mail(*subscriber), notice, now)
}
