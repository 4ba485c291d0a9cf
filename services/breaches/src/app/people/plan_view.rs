//! The plan of a subscriber as its owner reads it.

use database::Db;

use super::catalogue_pages::grouped;
use crate::app::subscriber_plan;
use crate::error::Error;
use crate::model::instant;
use crate::model::plan::{Family, UNLIMITED};
use crate::state::State;
use crate::store::domain_controls;

/// What is shown of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanView {
    /// Name.
    pub name: String,
    /// A sentence on the scope.
    pub description: String,
    /// The day on which it ends.
    pub until: Option<String>,
    /// Searches in a minute.
    pub per_minute: String,
    /// Whether it has keys.
    pub has_key: bool,
    /// The largest domain.
    pub max_size: String,
    /// How many larger domains it covers.
    pub max_domains: String,
    /// How many there are.
    pub larger_domains: String,
}

/// The plan of a subscriber.
///
/// # Errors
/// Those of the database.
pub async fn plan_view(state: &State, subscriber: i64) -> Result<PlanView, Error> {
    let now = state.clock().unix();
    let read = move |db: &mut Db| {
        let current = subscriber_plan::current(db, subscriber, now)?;
        let larger = domain_controls::larger_domains(db, subscriber)?.len();
        let (plan, features) = (&current.plan, &current.plan.features);
        let max_size = match features.max_domain_size {
            UNLIMITED => "any size".to_owned(),
            size => format!("{} breached addresses", grouped(i64::from(size))),
        };
        Ok::<_, Error>(PlanView {
            name: plan.name.clone(),
            description: features.description.clone(),
            until: current.until.map(instant::date),
            per_minute: grouped(i64::from(plan.per_minute)),
            has_key: features.family != Family::Free,
            max_size,
            max_domains: grouped(i64::from(features.max_domains)),
            larger_domains: grouped(i64::try_from(larger).unwrap_or(i64::MAX)),
        })
    };
    state.pools().read(read).await
}
