//! Changes of single breaches, and the export of the catalogue.

use database::{DatabaseError, Db};

use super::operator_error::OperatorError;
use crate::model::Breach;
use crate::store::{admin_events, breaches, versions};
use crate::wire;

/// Changes a breach in the transaction of `db` and publishes a new version of the catalogue if it
/// differs.
///
/// `action` names the change in the audit trail.
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

/// The listed breaches in catalogue order.
///
/// # Errors
/// Returns errors of the database.
pub fn listed_breaches(db: &mut Db) -> Result<Vec<wire::Breach>, DatabaseError> {
    let catalogue = breaches::catalogue(db)?;
    let listed = catalogue.all().iter().filter(|breach| breach.listed());
    Ok(listed.map(wire::Breach::from).collect())
}
