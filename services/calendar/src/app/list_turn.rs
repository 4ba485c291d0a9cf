//! Lists: the turn of those that cost more than a few rows, their time, the room of long pages, and
//! another try when a writer was faster.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;

use super::context::RequestContext;
use super::page_place::PagePlace;
use super::request::Request;
use super::transactions::read;
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
    /// The place of the page.
    pub place: PagePlace,
}

/// A list that was read, and the place of its page: to be kept until the answer is made.
pub struct PlacedList<T> {
    pub list: T,
    pub place: PagePlace,
}

impl<T> PlacedList<T> {
    /// A list whose pages are never long.
    pub fn short(list: T) -> PlacedList<T> {
        PlacedList { list, place: PagePlace::default() }
    }
}

impl ListTurn {
    /// Waits for the turn of a list.
    ///
    /// # Errors
    /// The time was over before.
    pub async fn wait(state: &State, request: &Request) -> Result<ListTurn, Error> {
        let time = Duration::from_millis(state.site.settings.list_time_ms);
        let deadline = Instant::now() + time;
        let turn =
            ListTurn { deadline: Deadline(deadline), _permit: None, place: PagePlace::default() };
        if !request.params.as_ref().is_ok_and(is_costly) {
            return Ok(turn);
        }
        let permit = state.costly_lists.clone().acquire_owned();
        match tokio::time::timeout_at(deadline.into(), permit).await {
            Ok(Ok(permit)) => {
                let _permit = Some(Arc::new(permit));
                Ok(ListTurn { _permit, ..turn })
            }
            Ok(Err(_)) | Err(_) => Err(Error::ListTakesTooLong),
        }
    }

    /// Reads a list: again where a writer was faster than its reader, which happens to lists that need
    /// the index in memory, and once there is room where its page is long.
    pub async fn read<T, F>(
        mut self,
        state: &State,
        mut read: impl FnMut(ListTurn) -> F,
    ) -> Result<PlacedList<T>, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut attempts = 1;
        loop {
            match read(self.clone()).await {
                Err(Error::Outdated) if attempts < ATTEMPTS => attempts += 1,
                Err(Error::LongPage(bytes)) => {
                    self.place = PagePlace::default();
                    self.place = PagePlace::wait(&state.long_pages, bytes, self.deadline).await?;
                }
                outcome => return outcome.map(|list| PlacedList { list, place: self.place }),
            }
        }
    }

    /// Reads a list as [`ListTurn::read`] does, on one connection each time.
    pub async fn list<T, W>(
        self,
        state: &State,
        request: Request,
        work: W,
    ) -> Result<PlacedList<T>, Error>
    where
        T: Send + 'static,
        W: Fn(&mut RequestContext<'_>, &Params, &ListTurn) -> Result<T, Error>,
        W: Clone + Send + 'static,
    {
        let Request { login, params, urls, if_match } = request;
        let once = |request, turn: ListTurn| {
            let work = work.clone();
            read(state, request, move |context, params| work(context, params, &turn))
        };
        match params {
            Ok(params) => {
                let again = || {
                    let (login, params, urls) = (login.clone(), Ok(params.clone()), urls.clone());
                    Request { login, params, urls, if_match: None }
                };
                self.read(state, |turn| once(again(), turn)).await
            }
            Err(_) => {
                let request = Request { login, params, urls, if_match };
                Ok(PlacedList::short(once(request, self).await?))
            }
        }
    }
}

fn is_costly(params: &Params) -> bool {
    let given = |name: &&str| params.get(name).is_some();
    // Turns of clocks matter to windows with times, and only the index in memory knows them.
    let minds_turns = ["overlaps", "strict_dates"].iter().all(given);
    let links = LINKS.iter().filter(|name| given(name)).count();
    costly().any(|name| given(&name)) || links > 1 || minds_turns
}

/// The declared parameters that make a list costly.
fn costly() -> impl Iterator<Item = &'static str> {
    let declared =
        EventListParameters::parameters().iter().chain(LinkedListParameters::parameters());
    let names = declared.map(|parameter| parameter.name.as_str());
    names.filter(|name| !CHEAP.contains(name) && !LINKS.contains(name))
}

impl From<ListError> for Error {
    fn from(error: ListError) -> Error {
        match error {
            ListError::Store(error) => Error::Store(error),
            ListError::Outdated => Error::Outdated,
            ListError::TooLong => Error::ListTakesTooLong,
            ListError::Long(bytes) => Error::LongPage(bytes),
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
