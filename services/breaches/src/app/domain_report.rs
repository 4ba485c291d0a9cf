//! Lists the addresses at a domain for its controllers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::time::Duration;

use auth::{QuotaId, Rate};
use database::off_worker;
use domain::DomainName;

use super::admission::Caller;
use super::context::RequestContext;
use super::domain_names::DomainNames;
use super::domain_search::{Found, record_counts, search};
use super::subscriber_plan;
use crate::error::Error;
use crate::model::Catalogue;
use crate::model::domain_size::Access;
use crate::state::State;

/// Limit on searches per subscriber, as (count, period). Every search reads the whole domain.
const SEARCHES: (u32, Duration) = (30, Duration::from_secs(60));
/// Maximum number of aliases per page.
const ROWS: usize = 500;

#[derive(Clone, Debug, Default)]
pub struct ReportFilter {
    /// Show only aliases that contain this text. If it's empty, all are shown.
    pub alias: String,
    /// Show only addresses in the domain's latest breach.
    pub latest: bool,
}

/// An address and its breaches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AliasRow {
    /// Number of breaches.
    pub count: usize,
    /// Local part. It's reversed because the heap pops its greatest element first.
    pub alias: Reverse<String>,
    /// Breach names.
    pub breaches: Vec<String>,
}

/// The addresses at a domain.
#[derive(Debug)]
pub struct DomainReport {
    /// The addresses with the most breaches.
    pub rows: Vec<AliasRow>,
    /// Number of addresses that pass the filter.
    pub matching: usize,
    /// Number of addresses, ignoring the filter.
    pub all: usize,
    /// The domain's most recently added breach.
    pub latest: Option<String>,
    /// Whether breaches that need a subscription were left out.
    pub limited: bool,
    /// The error to report if nothing may be shown.
    pub refused: Option<Error>,
}

/// Searches a verified domain for the report page.
///
/// # Errors
/// [`Error::NotVerified`] or a database error.
pub async fn domain_report(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    filter: ReportFilter,
) -> Result<DomainReport, Error> {
    let found = searched(state, subscriber, domain).await?;
    let (limited, refused) = found.verdict();
    let report =
        DomainReport { rows: Vec::new(), matching: 0, all: 0, latest: None, limited, refused };
    if report.refused.is_some() {
        return Ok(report);
    }
    let snapshot = state.snapshot();
    let fill = move || fill(report, found.names, &snapshot.answers.catalogue, &filter);
    off_worker(fill).await?.map_err(|error| Error::Internal(error.to_string()))
}

/// Reads all aliases and keeps the ones with the most breaches.
fn fill(
    mut report: DomainReport,
    mut names: DomainNames,
    catalogue: &Catalogue,
    filter: &ReportFilter,
) -> io::Result<DomainReport> {
    let wanted = filter.alias.trim().to_lowercase();
    let (mut most, mut newest) = (BinaryHeap::with_capacity(ROWS + 1), i64::MIN);
    while let Some((alias, breaches)) = names.next_alias()? {
        report.all += 1;
        for name in &breaches {
            let added = catalogue.by_name(name).map_or(i64::MIN, |breach| breach.added);
            if added > newest {
                (newest, report.latest) = (added, Some((*name).to_owned()));
                if filter.latest {
                    // The addresses kept so far aren't in this newer breach, so start over.
                    most.clear();
                    report.matching = 0;
                }
            }
        }
        let recent = report.latest.as_deref().is_some_and(|latest| breaches.contains(&latest));
        if (filter.latest && !recent) || !alias.contains(&wanted) {
            continue;
        }
        report.matching += 1;
        let breaches: Vec<String> = breaches.into_iter().map(str::to_owned).collect();
        most.push(Reverse(AliasRow { count: breaches.len(), alias: Reverse(alias), breaches }));
        if most.len() > ROWS {
            most.pop();
        }
    }
    report.rows = most.into_sorted_vec().into_iter().map(|Reverse(row)| row).collect();
    Ok(report)
}

/// Returns the full search result for an export.
///
/// # Errors
/// [`Error::NotVerified`], [`Error::NotFound`] if there is nothing to export, or an error if the
/// plan doesn't cover the domain.
pub async fn domain_export(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
) -> Result<DomainNames, Error> {
    let found = searched(state, subscriber, domain).await?;
    match found.verdict() {
        (_, Some(error)) => Err(error),
        (_, None) if found.is_empty() => Err(Error::NotFound),
        _ => Ok(found.names),
    }
}

/// Searches a verified domain for its controller and saves the new counts.
///
/// # Errors
/// [`Error::NotVerified`], [`Error::TooMany`], or a database error.
pub async fn searched(state: &State, subscriber: i64, domain: &DomainName) -> Result<Found, Error> {
    let (count, period) = SEARCHES;
    let id = QuotaId::Owner(subscriber).purpose("page-domain");
    let charged = state.quotas().check(id, Rate::per(count, period), 1);
    charged.map_err(|error| Error::TooMany(error.retry_after))?;
    let (context, domain) = (RequestContext::new(state), domain.clone());
    let read = move |db: &mut database::Db| {
        let current = subscriber_plan::current(db, subscriber, context.now)?;
        let until = current.until.unwrap_or_default();
        let caller = Caller { subscriber: Some(subscriber), plan: current.plan.into(), until };
        search(db, &context, &caller, &domain)
    };
    let found = state.pools().read_long(read).await?;
    record_counts(state, &found).await;
    Ok(found)
}

impl Found {
    /// Returns whether only some of the breaches may be shown, and the error to report if none may
    /// be.
    pub fn verdict(&self) -> (bool, Option<Error>) {
        match self.access {
            Access::Full => (false, None),
            _ => match self.refusal() {
                Some(error) => (false, Some(error)),
                None => (true, None),
            },
        }
    }
}
