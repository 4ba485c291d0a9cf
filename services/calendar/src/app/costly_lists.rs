//! Lists that cost more than a few rows: their turn, their time, and another try when a writer was
//! faster.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

use super::request::Request;
use crate::error::Error;
use crate::state::State;
use crate::store::event_index::{Deadline, ListError};
use crate::wire::parameters::{Declared, EventListParameters, LinkedListParameters};
use crate::wire::params::Params;

/// How often a list is read again because a writer was faster.
const ATTEMPTS: usize = 5;

/// Parameters that one index of the database answers, or that need no reading; any other makes a list
/// costly, so that a new filter waits for its turn until it stands here.
const CHEAP: [&str; 19] = [
    "page",
    "per_page",
    "start_date",
    "end_date",
    "starts_before",
    "starts_after",
    "ends_before",
    "ends_after",
    "strict_dates",
    "overlaps",
    "status",
    "geoloc_radius",
    "geoloc_unit",
    "ticketed",
    "after_id",
    "password",
    "order",
    "event",
    "_fields",
];

/// Parameters that an index answers one at a time: two of them make a list costly.
const LINKS: [&str; 4] = ["categories", "tags", "venue", "organizer"];

/// What a list may use until it is read.
#[derive(Clone)]
pub struct ListTurn {
    /// When the list is given up.
    pub deadline: Deadline,
    /// Held until the work is done, also when the caller has gone away; none where it is cheap.
    _permit: Option<Arc<OwnedSemaphorePermit>>,
}

impl ListTurn {
    /// Waits for the turn of a list.
    ///
    /// # Errors
    /// The time was over before.
    pub async fn wait(state: &State, request: &Request) -> Result<ListTurn, Error> {
        let deadline = Instant::now() + Duration::from_millis(state.site.settings.list_time_ms);
        if !request.params.as_ref().is_ok_and(is_costly) {
            return Ok(ListTurn { deadline: Deadline(deadline), _permit: None });
        }
        let permit = state.costly_lists.clone().acquire_owned();
        match tokio::time::timeout_at(deadline.into(), permit).await {
            Ok(Ok(permit)) => {
                let _permit = Some(Arc::new(permit));
                Ok(ListTurn { deadline: Deadline(deadline), _permit })
            }
            Ok(Err(_)) | Err(_) => Err(Error::ListTakesTooLong),
        }
    }
}

fn is_costly(params: &Params) -> bool {
    let given = |name: &&str| params.get(name).is_some();
    costly().any(|name| given(&name)) || LINKS.iter().filter(|name| given(name)).count() > 1
}

/// The declared parameters that make a list costly.
fn costly() -> impl Iterator<Item = &'static str> {
    let declared =
        EventListParameters::parameters().iter().chain(LinkedListParameters::parameters());
    let names = declared.map(|parameter| parameter.name.as_str());
    names.filter(|name| !CHEAP.contains(name) && !LINKS.contains(name))
}

/// Reads a list, and reads it again where a writer was faster than its reader, which happens to lists
/// that need the index in memory.
pub async fn until_current<T, F>(mut read: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    for _ in 1..ATTEMPTS {
        match read().await {
            Err(Error::Outdated) => {}
            outcome => return outcome,
        }
    }
    read().await
}

impl From<ListError> for Error {
    fn from(error: ListError) -> Error {
        match error {
            ListError::Store(error) => Error::Store(error),
            ListError::Outdated => Error::Outdated,
            ListError::TooLong => Error::ListTakesTooLong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_index_of_the_database_answers_is_costly() {
        let costly: Vec<&str> = costly().collect();
        assert_eq!(
            costly,
            [
                "search",
                "featured",
                "geoloc",
                "geoloc_lat",
                "geoloc_lng",
                "include",
                "post_parent",
                "modified_after",
                "orderby",
                "search",
                "has_events",
                "only_with_upcoming",
            ]
        );
    }
}
