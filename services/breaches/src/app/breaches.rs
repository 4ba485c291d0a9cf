//! Breaches: changes by the operator, the export, and the catalogue as shown on pages.

use database::{DatabaseError, Db};

use super::operator_error::OperatorError;
use crate::model::{Breach, Catalogue};
use crate::state::State;
use crate::store::{admin_events, breaches, versions};
use crate::wire;

/// Changes a breach in the transaction of `db`. If it differs, publishes a new version of the
/// catalogue.
///
/// `action` is the name of the change in the audit trail.
///
/// # Errors
/// [`OperatorError::Rejected`] if no breach has this name, and errors of `change`.
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
    admin_events::add(db, now, action, &breach.name, "")?;
    Ok(wire::Breach::from(&breach))
}

/// Returns the listed breaches in catalogue order.
///
/// # Errors
/// Returns errors of the database.
pub fn listed_breaches(db: &mut Db) -> Result<Vec<wire::Breach>, DatabaseError> {
    let catalogue = breaches::catalogue(db)?;
    let listed = catalogue.all().iter().filter(|breach| breach.listed());
    Ok(listed.map(wire::Breach::from).collect())
}

/// The size of the catalogue, and its latest breaches.
#[derive(Clone, Debug)]
pub struct CatalogueSummary {
    /// The number of listed breaches.
    pub breaches: usize,
    /// The number of accounts in them.
    pub accounts: i64,
    /// The latest breaches, newest first.
    pub latest: Vec<Breach>,
}

fn newest_first(catalogue: &Catalogue) -> Vec<&Breach> {
    let mut listed: Vec<&Breach> = catalogue.all().iter().filter(|b| b.listed()).collect();
    listed.sort_by(|a, b| (b.added, &a.name).cmp(&(a.added, &b.name)));
    listed
}

/// Returns the size of the catalogue and its `latest` newest breaches.
pub fn summary(state: &State, latest: usize) -> CatalogueSummary {
    let snapshot = state.snapshot();
    let listed = newest_first(&snapshot.answers.catalogue);
    // Each count fits into an `i64`, but their sum may not.
    let accounts = listed.iter().fold(0_i64, |sum, breach| sum.saturating_add(breach.pwn_count));
    CatalogueSummary {
        breaches: listed.len(),
        accounts,
        latest: listed.into_iter().take(latest).cloned().collect(),
    }
}

/// Returns the listed breaches whose title, name or domain contains a string, newest first.
pub fn find_breaches(state: &State, text: &str) -> Vec<Breach> {
    let (snapshot, text) = (state.snapshot(), text.trim().to_lowercase());
    let has = |part: &String| part.to_lowercase().contains(&text);
    let mut found = newest_first(&snapshot.answers.catalogue);
    found.retain(|breach| [&breach.title, &breach.name, &breach.domain].into_iter().any(has));
    found.into_iter().cloned().collect()
}

/// Returns the listed breach with a name, if there is one.
pub fn listed_breach(state: &State, name: &str) -> Option<Breach> {
    let snapshot = state.snapshot();
    let catalogue = &snapshot.answers.catalogue;
    let index = catalogue.listed_index(name)?;
    catalogue.all().get(index).cloned()
}
