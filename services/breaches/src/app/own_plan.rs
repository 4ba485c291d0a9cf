//! The plan of a subscriber.

use database::Db;

use super::subscriber_plan;
use crate::error::Error;
use crate::model::plan::Plan;
use crate::state::State;
use crate::store::domain_controls;

/// The plan of a subscriber and its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlan {
    /// The plan.
    pub plan: Plan,
    /// When it ends, in Unix seconds.
    pub until: Option<i64>,
    /// The number of the subscriber's larger domains, which the plan limits.
    pub larger_domains: usize,
}

/// Reads the plan of a subscriber.
///
/// # Errors
/// Returns errors of the database.
pub async fn own_plan(state: &State, subscriber: i64) -> Result<OwnPlan, Error> {
    let now = state.clock().unix();
    let read = move |db: &mut Db| {
        let current = subscriber_plan::current(db, subscriber, now)?;
        let larger_domains = domain_controls::larger_domains(db, subscriber)?.len();
        Ok::<_, Error>(OwnPlan { plan: current.plan, until: current.until, larger_domains })
    };
    state.pools().read(read).await
}
