//! Subscribers and their subscriptions.

use database::{DatabaseError, Db};
use domain::EmailAddress;

use super::admission::run_keyed;
use super::keyed_request::KeyedRequest;
use super::operator_error::OperatorError;
use crate::error::Error;
use crate::model::instant;
use crate::state::State;
use crate::store::{admin_events, subscribers};
use crate::wire::SubscriptionStatus;

/// Describes the caller's subscription.
///
/// # Errors
/// Returns an error if a check fails.
pub async fn subscription_status(
    state: &State,
    request: KeyedRequest,
) -> Result<SubscriptionStatus, Error> {
    run_keyed(state, request, |_, _, caller| {
        Ok(SubscriptionStatus::new(&caller.plan, caller.until))
    })
    .await
}

/// Looks up a subscriber by address.
///
/// # Errors
/// [`OperatorError::Rejected`] if there is no such subscriber.
pub fn subscriber_id(db: &mut Db, email: &EmailAddress) -> Result<i64, OperatorError> {
    subscribers::id(db, email)?
        .ok_or_else(|| OperatorError::Rejected(format!("the subscriber {email} does not exist")))
}

/// Adds a subscriber and returns their id. If `if_missing` is set, it's not an error if the
/// subscriber already exists.
///
/// # Errors
/// [`OperatorError::Rejected`] if the subscriber already exists.
pub fn add_subscriber(
    db: &mut Db,
    email: &EmailAddress,
    if_missing: bool,
    now: i64,
) -> Result<i64, OperatorError> {
    match subscribers::add_if_missing(db, email, now)? {
        Some(id) => {
            admin_events::add(db, now, "subscriber add", email.as_str(), "")?;
            Ok(id)
        }
        None if if_missing => subscriber_id(db, email),
        None => Err(OperatorError::Rejected(format!("the subscriber {email} already exists"))),
    }
}

/// Starts or renews a subscription that runs until the Unix time `until`.
///
/// # Errors
/// [`OperatorError::Rejected`] if the subscriber doesn't exist, the plan isn't on offer, or `until`
/// is in the past.
pub fn set_subscription(
    db: &mut Db,
    email: &EmailAddress,
    plan: &str,
    until: i64,
    now: i64,
) -> Result<(), OperatorError> {
    let id = subscriber_id(db, email)?;
    if until <= now {
        let until = instant::with_zone(until);
        return Err(OperatorError::Rejected(format!(
            "{until} is in the past; to end the subscription now, run `breaches subscription end \
             {email}`"
        )));
    }
    match auth::plan(db, plan)? {
        None => return Err(OperatorError::Rejected(format!("there is no plan {plan}"))),
        Some(found) if found.hidden && !has_plan(db, id, plan)? => {
            let message = format!("the plan {plan} is hidden; only its subscribers can renew it");
            return Err(OperatorError::Rejected(message));
        }
        Some(_) => {}
    }
    subscribers::subscribe(db, id, plan, until, now)?;
    let detail = format!("{plan} until {}", instant::without_zone(until));
    admin_events::add(db, now, "subscription set", email.as_str(), &detail)?;
    Ok(())
}

/// Returns whether the subscriber is on this plan, or was when the last subscription ended.
fn has_plan(db: &mut Db, subscriber: i64, plan: &str) -> Result<bool, DatabaseError> {
    let own = subscribers::subscription_of(db, subscriber)?;
    Ok(own.is_some_and(|own| own.plan_code == plan))
}

/// Ends a subscription immediately.
///
/// # Errors
/// [`OperatorError::Rejected`] if there is no active subscription.
pub fn end_subscription(db: &mut Db, email: &EmailAddress, now: i64) -> Result<(), OperatorError> {
    let id = subscriber_id(db, email)?;
    let plan = subscribers::subscription_of(db, id)?.map(|own| own.plan_code).unwrap_or_default();
    subscribers::end(db, id, now).map_err(|error| match error {
        DatabaseError::NotFound => {
            OperatorError::Rejected(format!("{email} has no active subscription"))
        }
        other => other.into(),
    })?;
    admin_events::add(db, now, "subscription end", email.as_str(), &plan)?;
    Ok(())
}
