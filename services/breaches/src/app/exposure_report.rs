//! Builds reports on a domain's new exposures.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

use database::{Db, off_worker};
use domain::DomainName;

use super::domain_names::{AliasCollector, DomainNames};
use super::domain_report::{self, AliasRow};
use super::domain_search;
use super::keyed_request::KeyedRequest;
use crate::config::Settings;
use crate::error::Error;
use crate::model::Breach;
use crate::model::domain_size::Access;
use crate::model::report::{Exposures, Period};
use crate::state::{Snapshot, State};
use crate::store::accounts::domain_walk;
use crate::wire::{ReportTotals, ReportedBreach, ReportedClass};

/// Maximum number of addresses per page.
const ROWS: usize = 500;

/// Addresses at a domain that are in new breaches, sorted by alias. They're read and counted
/// lazily.
#[derive(Debug)]
pub struct ReportRows {
    pub domain: DomainName,
    /// The period in which a breach must have been added to count as new.
    pub period: Period,
    names: DomainNames,
    snapshot: Arc<Snapshot>,
    found: Exposures,
}

/// An address that is in at least one new breach.
#[derive(Debug)]
pub struct ReportRow {
    /// The part before the `@`.
    pub alias: String,
    /// Ids of its new breaches.
    pub new: Vec<u16>,
    /// Number of its breaches, new or old.
    pub all: usize,
}

impl ReportRows {
    /// Creates a report from a search result.
    pub fn new(domain: DomainName, period: Period, names: DomainNames) -> Self {
        let snapshot = names.snapshot();
        Self { domain, period, names, snapshot, found: Exposures::default() }
    }

    /// Advances to the next address.
    ///
    /// # Errors
    /// Fails on disk errors.
    pub fn next_row(&mut self) -> io::Result<Option<ReportRow>> {
        while let Some((alias, ids)) = self.names.next_ids()? {
            let catalogue = &self.snapshot.answers.catalogue;
            let breaches = ids.iter().filter_map(|id| catalogue.by_id(*id));
            // Skip breaches added after the period.
            let known: Vec<&Breach> =
                breaches.filter(|breach| breach.added < self.period.until).collect();
            let all = known.len();
            let new: Vec<&Breach> =
                known.into_iter().filter(|breach| self.period.contains(breach)).collect();
            self.found.add(&new, all);
            if !new.is_empty() {
                let new = new.iter().map(|breach| breach.id).collect();
                return Ok(Some(ReportRow { alias, new, all }));
            }
        }
        Ok(None)
    }

    /// Returns the new breaches of an address, sorted by name.
    pub fn breaches_of(&self, row: &ReportRow) -> Vec<&Breach> {
        let catalogue = &self.snapshot.answers.catalogue;
        let mut new: Vec<&Breach> = row.new.iter().filter_map(|id| catalogue.by_id(*id)).collect();
        new.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        new
    }

    /// Returns the counts so far. They're final once every address has been read.
    pub fn found(&self) -> &Exposures {
        &self.found
    }

    /// Returns the new breaches, sorted by the number of addresses they affect, largest first.
    pub fn breaches(&self) -> Vec<ReportedBreach> {
        let catalogue = &self.snapshot.answers.catalogue;
        let known = |(id, addresses)| Some(ReportedBreach::new(catalogue.by_id(id)?, addresses));
        let mut breaches: Vec<ReportedBreach> = self.found.breaches().filter_map(known).collect();
        breaches.sort_by(|a, b| (b.addresses, &a.name).cmp(&(a.addresses, &b.name)));
        breaches
    }

    /// Returns the data classes in the new breaches, sorted by the number of addresses they affect,
    /// largest first.
    pub fn classes(&self) -> Vec<ReportedClass> {
        let class =
            |(name, addresses): (&str, i64)| ReportedClass { name: name.to_owned(), addresses };
        self.found.classes().into_iter().map(class).collect()
    }

    /// Reads everything and keeps the addresses with the most breaches.
    ///
    /// # Errors
    /// Fails on disk errors.
    pub fn summarize(mut self) -> io::Result<ExposureReport> {
        let mut most = BinaryHeap::with_capacity(ROWS + 1);
        while let Some(row) = self.next_row()? {
            let names = self.breaches_of(&row).into_iter().map(|breach| breach.name.clone());
            let breaches = names.collect();
            most.push(Reverse(AliasRow { count: row.all, alias: Reverse(row.alias), breaches }));
            if most.len() > ROWS {
                most.pop();
            }
        }
        Ok(ExposureReport {
            totals: ReportTotals::from(&self.found),
            breaches: self.breaches(),
            classes: self.classes(),
            rows: most.into_sorted_vec().into_iter().map(|Reverse(row)| row).collect(),
            limited: false,
            domain: self.domain,
            period: self.period,
        })
    }
}

/// A report for display.
#[derive(Debug)]
pub struct ExposureReport {
    pub domain: DomainName,
    /// The period in which a breach must have been added to count as new.
    pub period: Period,
    /// Totals for all addresses, including those not in `rows`.
    pub totals: ReportTotals,
    /// The new breaches, sorted by the number of addresses they affect, largest first.
    pub breaches: Vec<ReportedBreach>,
    /// The data classes in the new breaches, sorted in the same way.
    pub classes: Vec<ReportedClass>,
    /// Addresses with the most breaches.
    pub rows: Vec<AliasRow>,
    /// Whether breaches that need a subscription were left out.
    pub limited: bool,
}

/// Reports on a verified domain. `input` is the domain and the start of the period, as a Unix time
/// in seconds. The flag indicates whether breaches that need a subscription were left out.
///
/// # Errors
/// Returns an error if a check fails.
pub async fn reported_domain(
    state: &State,
    request: KeyedRequest,
    input: Result<(DomainName, i64), Error>,
) -> Result<(ReportRows, bool), Error> {
    let (domain, since) = match input {
        Ok((domain, since)) => (Ok(domain), since),
        Err(error) => (Err(error), 0),
    };
    let name = domain.as_ref().ok().cloned();
    let found = domain_search::searched(state, request, domain).await?;
    // Unreachable, since the search fails if the domain is invalid.
    let domain = name.ok_or(Error::Domain)?;
    let limited = found.access == Access::SubscriptionFreeOnly;
    Ok((ReportRows::new(domain, Period { since, until: i64::MAX }, found.names), limited))
}

/// Reports on a subscriber's domain since the Unix time `since` in seconds, for a download.
///
/// # Errors
/// [`Error::NotVerified`], or an error if the plan doesn't cover the domain.
pub async fn report_rows(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    since: i64,
) -> Result<(ReportRows, bool), Error> {
    let found = domain_report::searched(state, subscriber, domain).await?;
    match found.verdict() {
        (_, Some(error)) => Err(error),
        (limited, None) => {
            let period = Period { since, until: i64::MAX };
            Ok((ReportRows::new(domain.clone(), period, found.names), limited))
        }
    }
}

/// Reports on a subscriber's domain since the Unix time `since` in seconds, for a web page.
///
/// # Errors
/// [`Error::NotVerified`], or an error if the plan doesn't cover the domain.
pub async fn report_page(
    state: &State,
    subscriber: i64,
    domain: &DomainName,
    since: i64,
) -> Result<ExposureReport, Error> {
    let (rows, limited) = report_rows(state, subscriber, domain, since).await?;
    let report = off_worker(move || rows.summarize()).await?;
    let report = report.map_err(|error| Error::Internal(error.to_string()))?;
    Ok(ExposureReport { limited, ..report })
}

/// Reports on any domain, for the operator.
///
/// # Errors
/// Returns an error if a query fails.
pub fn operator_report(
    db: &mut Db,
    settings: &Settings,
    domain: &DomainName,
    period: Period,
) -> Result<ReportRows, Error> {
    let snapshot = Arc::new(Snapshot::load(db, settings, None)?);
    let mut names = AliasCollector::new(settings.temporary_folder());
    domain_walk::each_at_domain(db, domain.as_str(), |db, row| {
        if snapshot.is_removed(db, &row)? {
            return Ok(());
        }
        names.add(row.alias(), &row.breaches).map_err(domain_search::unsorted)
    })?;
    let names = names.finish(snapshot, Breach::shown_for_domain);
    Ok(ReportRows::new(domain.clone(), period, names.map_err(domain_search::unsorted)?))
}
