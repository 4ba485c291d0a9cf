//! The subscription commands, which act on behalf of the first user.

use anyhow::anyhow;
use database::Db;
use serde_json::{Map, Value};

use super::super::load::first_user;
use crate::app::subscriptions::{self, Step};
use crate::app::{Undone, with_context};
use crate::error::Error;
use crate::model::role::User;
use crate::model::subscription::PlanChange;
use crate::state::State;
use crate::store::sql;
use crate::wire::params::Params;
use crate::wire::subscription::SubscriptionJson;
use crate::wire::subscription_input::release;

/// Runs a write transaction. Its error messages use the API's field names.
fn write<T>(
    state: &State,
    work: impl FnOnce(&mut Db, i64) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let now = state.clock.unix();
    let done = state.pools.write_blocking(|db| {
        sql::one_writer(db)?;
        work(db, now)
    });
    done.map_err(explained)
}

fn explained(error: Error) -> anyhow::Error {
    match Undone::from(error) {
        Undone::Faulty(message) => anyhow!(message),
        Undone::Failed(error) => error.into(),
        Undone::Unchanged | Undone::Outdated => anyhow!("nothing changed"),
    }
}

/// Decodes a subscription's settings on behalf of the first user. Also returns that user.
fn decode(
    state: &State,
    db: &mut Db,
    fields: Map<String, Value>,
    creating: bool,
) -> Result<(User, PlanChange), Error> {
    let user = first_user(db)?;
    let params = Params::from_json(fields.into());
    let change = with_context(state, db, &user, &params, |context| {
        subscriptions::decode(state, context, &user, &params, creating)
    })?;
    Ok((user, change))
}

/// Adds a subscription. The fields are the same as in the API.
///
/// # Errors
/// Returns an error if a field is invalid, or the database fails.
pub fn add_subscription(
    state: &State,
    fields: Map<String, Value>,
) -> anyhow::Result<SubscriptionJson> {
    write(state, |db, now| {
        let (user, change) = decode(state, db, fields, true)?;
        let id = subscriptions::add(db, (state, &user), change, now)?;
        subscriptions::show(db, id, now)
    })
}

/// Changes a subscription's settings. The fields are the same as in the API.
///
/// # Errors
/// Returns an error if the subscription does not exist, a field is invalid, or the database fails.
pub fn change_subscription(
    state: &State,
    id: i64,
    fields: Map<String, Value>,
) -> anyhow::Result<SubscriptionJson> {
    write(state, |db, now| {
        let (_, change) = decode(state, db, fields, false)?;
        subscriptions::change(db, id, change, now)?;
        subscriptions::show(db, id, now)
    })
}

/// Pauses, resumes or runs a subscription, or accepts the events missing from its file.
///
/// # Errors
/// Returns an error if the subscription does not exist or is in the wrong state, or the database
/// fails.
pub fn step_subscription(state: &State, id: i64, step: Step) -> anyhow::Result<SubscriptionJson> {
    write(state, |db, now| {
        subscriptions::step(db, id, step, now)?;
        subscriptions::show(db, id, now)
    })
}

/// Releases an event that a user has changed, some of its fields, or a series that users ended. The
/// fields are the same as in the API.
///
/// # Errors
/// Returns an error if the event is not part of the subscription, a field is invalid, or the
/// database fails.
pub fn release_subscribed(
    state: &State,
    id: i64,
    fields: Map<String, Value>,
) -> anyhow::Result<SubscriptionJson> {
    write(state, |db, now| {
        let target = release(&Params::from_json(fields.into()))?;
        subscriptions::release(db, id, &target, now)?;
        subscriptions::show(db, id, now)
    })
}

/// Removes a subscription.
///
/// # Errors
/// Returns an error if the subscription does not exist, or the database fails.
pub fn remove_subscription(state: &State, id: i64, with_events: bool) -> anyhow::Result<()> {
    write(state, |db, now| subscriptions::remove(db, id, with_events, now))
}

/// Reads a subscription.
///
/// # Errors
/// Returns an error if the subscription does not exist, or the database fails.
pub fn show_subscription(state: &State, id: i64) -> anyhow::Result<SubscriptionJson> {
    let now = state.clock.unix();
    state.pools.read_blocking(|db| subscriptions::show(db, id, now)).map_err(explained)
}

/// Reads all subscriptions.
///
/// # Errors
/// Returns any database error.
pub fn list_subscriptions(state: &State) -> anyhow::Result<Vec<SubscriptionJson>> {
    let now = state.clock.unix();
    state.pools.read_blocking(|db| subscriptions::show_all(db, now)).map_err(explained)
}
