//! Rules of series that subscriptions decide.

use database::Db;

use super::series_plans::invalid;
use crate::error::Error;
use crate::model::series::Series;
use crate::store::subscribed_events;

/// Fails if the rule of a series comes from the file of a subscription. The next run would keep some
/// dates of each of two rules.
pub fn refuse_other_rule(db: &mut Db, of: &Series) -> Result<(), Error> {
    let Some(subscription) = subscribed_events::of_series(db, of.id)? else { return Ok(()) };
    let text = format!(
        "must not change, because subscription {subscription} takes the rule of this series from \
         its file"
    );
    Err(invalid("recurrence", &text))
}
