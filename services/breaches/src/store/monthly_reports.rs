//! Subscriptions to monthly emails about domains, and the last month covered by each.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::domain_controls::VERIFIED;
use super::schema::{domain_control, outbox};
use crate::model::month::Month;
use crate::model::notice::REPORT_KEY;

/// A monthly email that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueReport {
    /// Domain control id.
    pub control: i64,
    /// Recipient.
    pub subscriber: i64,
    pub domain: String,
    /// Last month that was already reported.
    pub reported: Month,
}

/// Turns the monthly email about a domain on or off. Reports begin with the month after `reported`.
///
/// Returns `false` if that's impossible because the subscriber doesn't control the domain. The email
/// can be turned off for a domain that exceeds the plan's limit, since the subscriber might regain
/// control without a new verification.
pub fn set(
    db: &mut Db,
    subscriber: i64,
    domain: &str,
    monthly: bool,
    reported: Month,
) -> Result<bool, DatabaseError> {
    let own = domain_control::table
        .filter(domain_control::subscriber_id.eq(subscriber))
        .filter(domain_control::domain.eq(domain));
    let columns = (domain_control::monthly, domain_control::state);
    let found: Option<(bool, String)> = own.select(columns).first(db).optional()?;
    let Some((before, state)) = found else { return Ok(false) };
    let is_verified = state == VERIFIED;
    if before != monthly && (is_verified || !monthly) {
        let changed = (
            domain_control::monthly.eq(monthly),
            domain_control::reported.eq(Some(reported.number())),
        );
        diesel::update(own).set(changed).execute(db)?;
    }
    if !monthly {
        drop_pending(db, subscriber, domain)?;
    }
    Ok(is_verified || !monthly)
}

/// Drops pending monthly emails about a domain.
fn drop_pending(db: &mut Db, subscriber: i64, domain: &str) -> Result<(), DatabaseError> {
    let reports = outbox::table
        .filter(outbox::subscriber_id.eq(subscriber))
        .filter(outbox::domain.eq(domain))
        .filter(outbox::key.like(format!("{REPORT_KEY} %")))
        .filter(outbox::sent_at.is_null())
        .filter(outbox::failed_at.is_null());
    diesel::delete(reports).execute(db)?;
    Ok(())
}

/// Lists emails for which months up to `month` haven't been reported yet, starting after row
/// `after`.
pub fn due(
    db: &mut Db,
    month: Month,
    after: i64,
    limit: i64,
) -> Result<Vec<DueReport>, DatabaseError> {
    let rows: Vec<(i64, i64, String, Option<i64>)> = domain_control::table
        .filter(domain_control::monthly.eq(true))
        .filter(domain_control::state.eq(VERIFIED))
        .filter(domain_control::reported.lt(month.number()))
        .filter(domain_control::id.gt(after))
        .order(domain_control::id)
        .limit(limit)
        .select((
            domain_control::id,
            domain_control::subscriber_id,
            domain_control::domain,
            domain_control::reported,
        ))
        .load(db)?;
    let report = |(control, subscriber, domain, reported): (_, _, _, Option<i64>)| {
        let reported = Month::from_number(reported?);
        Some(DueReport { control, subscriber, domain, reported })
    };
    Ok(rows.into_iter().filter_map(report).collect())
}

/// Marks a month as reported. Returns `false` if it already was, or if the email was turned off or
/// the domain lost in the meantime. If two replicas race, only one gets `true`.
pub fn take(db: &mut Db, report: &DueReport, month: Month) -> Result<bool, DatabaseError> {
    let row = domain_control::table
        .filter(domain_control::id.eq(report.control))
        .filter(domain_control::monthly.eq(true))
        .filter(domain_control::state.eq(VERIFIED))
        .filter(domain_control::reported.eq(report.reported.number()));
    let taken = domain_control::reported.eq(Some(month.number()));
    Ok(diesel::update(row).set(taken).execute(db)? == 1)
}
