//! Operator changes to breaches, the catalogue export, and the catalogue data for the web pages.

use database::{DatabaseError, Db};

use super::operator_error::OperatorError;
use crate::model::{Breach, Catalogue};
use crate::state::State;
use crate::store::{admin_events, breaches, versions};
use crate::wire;

/// Edits a breach in the current transaction. If this changes anything, a new catalogue version is
/// published.
///
/// `action` is the name of the change in the audit log.
///
/// # Errors
/// [`OperatorError::Rejected`] if the breach doesn't exist or its new title is taken, and any error
/// from `change`.
pub fn change_breach(
    db: &mut Db,
    name: &str,
    action: &str,
    now: i64,
    change: impl FnOnce(&mut Breach) -> Result<(), OperatorError>,
) -> Result<wire::Breach, OperatorError> {
    versions::lock_accounts(db)?;
    let mut breach = breaches::by_name(db, name)?
        .ok_or_else(|| OperatorError::Rejected(format!("there is no breach {name}")))?;
    let before = breach.clone();
    change(&mut breach)?;
    if breach == before {
        return Ok(wire::Breach::from(&breach));
    }
    breaches::update(db, &breach).map_err(|error| match error {
        DatabaseError::Conflict => {
            OperatorError::Rejected(format!("another breach has the title {}", breach.title))
        }
        other => other.into(),
    })?;
    versions::bump_catalogue(db, now)?;
    let mut attributes = before.differences(&breach);
    // Nearly every change sets this one.
    attributes.retain(|name| *name != "ModifiedDate");
    admin_events::add(db, now, action, &breach.name, &attributes.join(", "))?;
    Ok(wire::Breach::from(&breach))
}

/// Returns the listed breaches in catalogue order.
///
/// # Errors
/// Returns an error if the query fails.
pub fn listed_breaches(db: &mut Db) -> Result<Vec<wire::Breach>, DatabaseError> {
    let catalogue = breaches::catalogue(db)?;
    let listed = catalogue.all().iter().filter(|breach| breach.listed());
    Ok(listed.map(wire::Breach::from).collect())
}

/// The size of the catalogue and its latest breaches.
#[derive(Clone, Debug)]
pub struct CatalogueSummary {
    /// Number of listed breaches.
    pub breaches: usize,
    /// Total number of accounts in those breaches.
    pub accounts: i64,
    /// Latest breaches, newest first.
    pub latest: Vec<Breach>,
}

fn newest_first(catalogue: &Catalogue) -> Vec<&Breach> {
    let mut listed: Vec<&Breach> = catalogue.all().iter().filter(|b| b.listed()).collect();
    listed.sort_by(|a, b| (b.added, &a.name).cmp(&(a.added, &b.name)));
    listed
}

/// Summarizes the catalogue and returns the `latest` newest breaches.
pub fn summary(state: &State, latest: usize) -> CatalogueSummary {
    let snapshot = state.snapshot();
    let listed = newest_first(&snapshot.answers.catalogue);
    // Each count fits in an `i64`, but the sum might not.
    let accounts = listed.iter().fold(0_i64, |sum, breach| sum.saturating_add(breach.pwn_count));
    CatalogueSummary {
        breaches: listed.len(),
        accounts,
        latest: listed.into_iter().take(latest).cloned().collect(),
    }
}

/// Finds listed breaches by a substring of their title, name or domain, newest first.
pub fn find_breaches(state: &State, text: &str) -> Vec<Breach> {
    let (snapshot, text) = (state.snapshot(), text.trim().to_lowercase());
    let has = |part: &String| part.to_lowercase().contains(&text);
    let mut found = newest_first(&snapshot.answers.catalogue);
    found.retain(|breach| [&breach.title, &breach.name, &breach.domain].into_iter().any(has));
    found.into_iter().cloned().collect()
}

/// Looks up a listed breach by name.
pub fn listed_breach(state: &State, name: &str) -> Option<Breach> {
    let snapshot = state.snapshot();
    let catalogue = &snapshot.answers.catalogue;
    let index = catalogue.listed_index(name)?;
    catalogue.all().get(index).cloned()
}
