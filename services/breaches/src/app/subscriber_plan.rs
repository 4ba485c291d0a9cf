//! Looks up a subscriber's plan.

use database::{DatabaseError, Db};

use crate::error::Error;
use crate::model::plan::{self, Plan};
use crate::state::State;
use crate::store::{domain_controls, plan_features, subscribers};

/// Code of the plan for people without a subscription.
const FREE: &str = "free";

/// A subscriber's plan at a particular time.
#[derive(Clone, Debug)]
pub struct CurrentPlan {
    /// The plan. If there is no active subscription, this is the free plan.
    pub plan: Plan,
    /// End of the active subscription in Unix seconds.
    pub until: Option<i64>,
}

/// Looks up a subscriber's plan at the Unix time `now` in seconds.
///
/// # Errors
/// Returns an error if a query fails.
pub fn current(db: &mut Db, subscriber: i64, now: i64) -> Result<CurrentPlan, DatabaseError> {
    let subscription = subscribers::subscription_of(db, subscriber)?;
    if let Some(running) = subscription.filter(|subscription| subscription.until > now)
        && let Some(plan) = read(db, &running.plan_code)?
    {
        return Ok(CurrentPlan { plan, until: Some(running.until) });
    }
    let plan = match read(db, FREE)? {
        Some(plan) => plan,
        None => plan::free(),
    };
    Ok(CurrentPlan { plan, until: None })
}

fn read(db: &mut Db, code: &str) -> Result<Option<Plan>, DatabaseError> {
    let (Some(found), Some(features)) = (auth::plan(db, code)?, plan_features::get(db, code)?)
    else {
        return Ok(None);
    };
    let per_minute = i32::try_from(found.per_minute).unwrap_or(i32::MAX);
    Ok(Some(Plan { code: code.to_owned(), name: found.name, per_minute, features }))
}

/// A subscriber's plan and usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlan {
    pub plan: Plan,
    /// End of the subscription in Unix seconds.
    pub until: Option<i64>,
    /// Number of the subscriber's domains that count toward the limit on large domains.
    pub larger_domains: usize,
}

/// Reads a subscriber's plan.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn own_plan(state: &State, subscriber: i64) -> Result<OwnPlan, Error> {
    let now = state.clock().unix();
    let read = move |db: &mut Db| {
        let current = current(db, subscriber, now)?;
        let larger_domains = domain_controls::larger_domains(db, subscriber)?.len();
        Ok::<_, Error>(OwnPlan { plan: current.plan, until: current.until, larger_domains })
    };
    state.pools().read(read).await
}
