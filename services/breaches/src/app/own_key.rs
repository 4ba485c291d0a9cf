//! A subscriber's API key.

use auth::{KeyError, KeyLimit};
use database::Db;

use super::subscriber_plan;
use crate::error::Error;
use crate::model::plan::Family;
use crate::state::State;
use crate::store::{admin_events, key_holders};

/// Maximum number of new keys per day. Each new key replaces the previous one, but the old row is
/// kept forever.
const LIMIT: KeyLimit = KeyLimit { most: 10, seconds: 24 * 60 * 60 };

/// A subscriber's API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnKey {
    /// The first characters and the creation time of the live key.
    pub live: Option<(String, i64)>,
    /// Whether the plan comes with a key.
    pub offered: bool,
}

/// Looks up a subscriber's key.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn key_of(state: &State, subscriber: i64, email: &str) -> Result<OwnKey, Error> {
    let (email, now) = (email.to_owned(), state.clock().unix());
    let read = move |db: &mut Db| {
        let live = key_holders::live(db, &email, now)?;
        let plan = subscriber_plan::current(db, subscriber, now)?.plan;
        Ok::<_, Error>(OwnKey { live, offered: plan.features.family != Family::Free })
    };
    state.pools().read(read).await
}

/// Issues a new key and revokes the previous one. The returned key can't be shown again.
///
/// # Errors
/// [`Error::NotInPlan`] if the plan doesn't come with a key, [`Error::TooMany`] beyond [`LIMIT`],
/// or a database error.
pub async fn issue_key(state: &State, subscriber: i64, email: &str) -> Result<String, Error> {
    let (email, now) = (email.to_owned(), state.clock().unix());
    let issue = move |db: &mut Db| {
        let plan = subscriber_plan::current(db, subscriber, now)?.plan;
        if plan.features.family == Family::Free {
            return Err(Error::NotInPlan);
        }
        let issued = auth::issue_only(db, &email, None, None, Some(LIMIT), now);
        let (key, text, _) = issued.map_err(|error| match error {
            KeyError::Store(error) => error.into(),
            KeyError::TooManyKeys { retry_after } => {
                Error::TooMany(u64::try_from(retry_after).unwrap_or(1))
            }
            other => Error::Internal(other.to_string()),
        })?;
        let detail = format!("key {}, by the subscriber", key.id);
        admin_events::add(db, now, "keys issue", &email, &detail)?;
        Ok(text)
    };
    state.pools().write_as(Some(&subscriber.to_string()), issue).await
}
