//! The API key of a subscriber.

use auth::KeyError;
use database::Db;

use crate::app::subscriber_plan;
use crate::error::Error;
use crate::model::plan::Family;
use crate::state::State;
use crate::store::{admin_events, api_keys};

/// What is shown of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyView {
    /// The first characters of the live key, and when it was made.
    pub live: Option<(String, i64)>,
    /// Whether the plan has keys at all.
    pub offered: bool,
}

/// The key of a subscriber.
///
/// # Errors
/// Those of the database.
pub async fn key_of(state: &State, subscriber: i64, email: &str) -> Result<KeyView, Error> {
    let (email, now) = (email.to_owned(), state.clock().unix());
    let read = move |db: &mut Db| {
        let live = api_keys::live(db, &email, now)?;
        let plan = subscriber_plan::current(db, subscriber, now)?.plan;
        Ok::<_, Error>(KeyView { live, offered: plan.features.family != Family::Free })
    };
    state.pools().read(read).await
}

/// Makes a key for a subscriber, which ends the older one; its text is shown once.
///
/// # Errors
/// [`Error::NotInPlan`] without a plan that has keys; those of the database.
pub async fn issue_key(state: &State, subscriber: i64, email: &str) -> Result<String, Error> {
    let (email, now) = (email.to_owned(), state.clock().unix());
    let issue = move |db: &mut Db| {
        let plan = subscriber_plan::current(db, subscriber, now)?.plan;
        if plan.features.family == Family::Free {
            return Err(Error::NotInPlan);
        }
        auth::revoke_owner(db, &email, now)?;
        let issued = auth::issue(db, &email, None, None, now);
        let (_, text) = issued.map_err(|error| match error {
            KeyError::Store(error) => error.into(),
            other => Error::Internal(other.to_string()),
        })?;
        admin_events::add(db, now, "keys issue", &email, "by the subscriber")?;
        Ok(text)
    };
    state.pools().write(issue).await
}
