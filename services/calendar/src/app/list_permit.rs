//! Permits, time limits and retries for list requests. Expensive requests wait for a permit, and
//! long pages wait for memory. If the in-memory index is ahead of the connection, the list is read
//! again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use batch::{PagePermit, PagePermits};
use tokio::sync::OwnedSemaphorePermit;

use super::context::RequestContext;
use super::interrupt::ListInterrupt;
use super::request::Request;
use super::transactions::read_list;
use crate::error::Error;
use crate::metrics::WaitingList;
use crate::state::State;
use crate::store::event_index::Deadline;
use crate::wire::parameter_errors::ParameterErrors;
use crate::wire::params::Params;

/// Maximum number of attempts to read a list while concurrent writes keep moving the index ahead of
/// the connection.
const ATTEMPTS: usize = 5;

/// Parameters that make a list request expensive, because it has to search all words, or read every
/// venue's or organizer's events from the database.
const COSTLY: [&str; 3] = ["search", "has_events", "only_with_upcoming"];

/// The permits and deadline of a list request.
#[derive(Clone)]
pub struct ListPermit {
    /// When to abandon the request.
    pub deadline: Deadline,
    /// Held until the work is done, even if the client disconnects. `None` for cheap lists.
    _permit: Option<Arc<OwnedSemaphorePermit>>,
    /// Maximum bytes of text per page.
    page_bytes: usize,
    /// The memory permit for a long page.
    page: Option<PagePermit>,
}

/// Pages with more than this many bytes of text need a memory permit.
const SHORT_PAGE: usize = 256 << 10;

/// Maximum bytes of text on any page.
pub const LONGEST_PAGE: usize = 32 << 20;

/// A list along with the memory permit for its page. Hold the permit until the response has been
/// built.
pub struct ReadList<T> {
    pub list: T,
    pub page: Option<PagePermit>,
}

impl<T> ReadList<T> {
    /// Wraps a list that never has long pages.
    pub fn short(list: T) -> ReadList<T> {
        ReadList { list, page: None }
    }
}

impl ListPermit {
    /// Waits for a permit if the request is expensive.
    ///
    /// # Errors
    /// Returns an error if the deadline passes.
    pub async fn acquire(state: &State, request: &Request) -> Result<ListPermit, Error> {
        let time = Duration::from_millis(state.site.settings.list_time_ms);
        let deadline = Instant::now() + time;
        let cheap = ListPermit {
            deadline: Deadline(deadline),
            _permit: None,
            page_bytes: SHORT_PAGE,
            page: None,
        };
        if !request.params.as_ref().is_ok_and(is_costly) {
            return Ok(cheap);
        }
        let waiting = WaitingList::begin();
        let permit = state.costly_lists.clone().acquire_owned();
        match tokio::time::timeout_at(deadline.into(), permit).await {
            Ok(Ok(permit)) => Ok(ListPermit { _permit: Some(Arc::new(permit)), ..cheap }),
            Ok(Err(_)) | Err(_) => {
                waiting.refuse();
                Err(Error::ListTakesTooLong)
            }
        }
    }

    /// Returns the maximum bytes of text per page.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Reads a list. If the in-memory index is ahead of the connection, reads it again. If the page
    /// turns out to be long, reads it again with a memory permit.
    pub async fn read<T, F>(
        mut self,
        state: &State,
        mut read: impl FnMut(ListPermit) -> F,
    ) -> Result<ReadList<T>, Error>
    where
        F: Future<Output = Result<T, ListInterrupt>>,
    {
        let mut attempts = 1;
        loop {
            match read(self.clone()).await {
                Ok(list) => return Ok(ReadList { list, page: self.page }),
                Err(ListInterrupt::Outdated) if attempts < ATTEMPTS => attempts += 1,
                Err(ListInterrupt::LongPage(bytes)) => {
                    self.page = None;
                    let page = page_permit(&state.long_pages, bytes, self.deadline).await?;
                    (self.page_bytes, self.page) = (bytes, Some(page));
                }
                Err(interrupt) => return Err(interrupt.into_error()),
            }
        }
    }

    /// Like [`ListPermit::read`], but takes a connection for each attempt.
    pub async fn list<T, W>(
        self,
        state: &State,
        request: Request,
        work: W,
    ) -> Result<ReadList<T>, Error>
    where
        T: Send + 'static,
        W: Fn(&mut RequestContext<'_>, &Params, &ListPermit) -> Result<T, ListInterrupt>,
        W: Clone + Send + 'static,
    {
        let Request { login, params, urls, if_match } = request;
        let once = |request, permit: ListPermit| {
            let work = work.clone();
            read_list(state, request, move |context, params| work(context, params, &permit))
        };
        match params {
            Ok(params) => {
                let again = || {
                    let (login, params, urls) = (login.clone(), Ok(params.clone()), urls.clone());
                    Request { login, params, urls, if_match: None }
                };
                self.read(state, |permit| once(again(), permit)).await
            }
            Err(_) => {
                let request = Request { login, params, urls, if_match };
                let list = once(request, self).await;
                Ok(ReadList::short(list.map_err(ListInterrupt::into_error)?))
            }
        }
    }
}

/// Waits for a memory permit for a page with this many bytes of text.
async fn page_permit(
    long_pages: &PagePermits,
    bytes: usize,
    deadline: Deadline,
) -> Result<PagePermit, Error> {
    if bytes > LONGEST_PAGE {
        let (mib, most) = (bytes >> 20, LONGEST_PAGE >> 20);
        let text = format!("must be smaller: the page would have {mib} MiB of text, over {most}");
        return Err(ParameterErrors::one("per_page", &text).into());
    }
    let permit = tokio::time::timeout_at(deadline.0.into(), long_pages.acquire(bytes)).await;
    permit.map_err(|_| Error::ListTakesTooLong)
}

fn is_costly(params: &Params) -> bool {
    COSTLY.iter().any(|name| params.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_page_waits_until_earlier_pages_release_their_permits() {
        const ALL: usize = 8 << 20;
        let long_pages = PagePermits::new(8 << 20);
        let permit = |bytes| {
            let soon = Deadline(Instant::now() + Duration::from_millis(20));
            page_permit(&long_pages, bytes, soon)
        };
        let first = permit(ALL / 2).await.unwrap();
        let second = permit(ALL / 2).await.unwrap();
        assert!(matches!(permit(SHORT_PAGE + 1).await, Err(Error::ListTakesTooLong)));
        let kept = first.clone();
        drop((first, second));
        assert!(permit(ALL).await.is_err());
        drop(kept);
        let _longest = permit(LONGEST_PAGE).await.unwrap();
        assert!(matches!(permit(SHORT_PAGE + 1).await, Err(Error::ListTakesTooLong)));
        assert!(matches!(permit(LONGEST_PAGE + 1).await, Err(Error::Parameters(_))));
    }
}
