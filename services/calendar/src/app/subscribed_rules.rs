//! Protects rules that come from a subscription's file.

use database::Db;

use super::series_plans::invalid;
use crate::error::Error;
use crate::model::series::Series;
use crate::store::subscribed_events;

/// Returns an error if the rule of a series comes from a subscription's file. Otherwise, the next
/// run would mix the dates of both rules.
pub fn refuse_other_rule(db: &mut Db, of: &Series) -> Result<(), Error> {
    let Some(subscription) = subscribed_events::of_series(db, of.id)? else { return Ok(()) };
    let text = format!(
        "must not change, because subscription {subscription} takes the rule of this series from \
         its file"
    );
    Err(invalid("recurrence", &text))
}
