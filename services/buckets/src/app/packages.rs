//! Reads and seeds packages, which extend the shared plans with this service's own columns.

use database::{DatabaseError, Db};

use crate::model::package::Package;
use crate::store::packages;

/// Seeds a new database with the default plans and packages.
pub fn seed_packages(db: &mut Db) -> Result<(), DatabaseError> {
    let plans = [
        auth::Plan::new("free", "Free", 60, 10),
        auth::Plan::new("premium", "Premium", 300, 20),
        auth::Plan::new("enterprise", "Enterprise", 1_200, 60),
    ];
    if auth::seed_plans(db, &plans)? {
        for package in Package::seeds() {
            packages::put(db, &package)?;
        }
    }
    Ok(())
}

/// Returns all packages, cheapest first.
pub(super) fn all_packages(db: &mut Db) -> Result<Vec<Package>, DatabaseError> {
    let plans = auth::list_plans(db)?;
    let codes: Vec<String> = plans.iter().map(|plan| plan.code.clone()).collect();
    let packages = packages::of_plans(db, &codes)?.into_iter().zip(plans);
    Ok(packages.map(|(package, plan)| Package { hidden: plan.hidden, ..package }).collect())
}
