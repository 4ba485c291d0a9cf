//! A crawl that this process has claimed.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::write_session::new_name;
use crate::store::crawls::{self, Claim, Crawl, Held};

/// Signs of life during a lease.
const SIGNS: u64 = 3;

/// A claimed crawl, which is released on drop. A thread renews its lease, because a page or a
/// publish may take longer.
pub(super) struct HeldCrawl {
    pub(super) crawl: Crawl,
    holder: String,
    context: JobContext,
    renewal: Option<(Sender<()>, JoinHandle<()>)>,
}

impl HeldCrawl {
    /// Claims the crawl that has been due longest, except for some; or the one with an id, due or
    /// not. `seconds` is the time after which another process may take over from a dead one.
    pub(super) fn claim(
        context: &JobContext,
        id: Option<i64>,
        except: &[i64],
        seconds: u64,
    ) -> Result<Option<Self>, JobError> {
        let holder = new_name();
        let claimed = context.pools.write_blocking(|db| {
            let now = context.clock.unix();
            let claim = Claim { holder: &holder, now, until: now.saturating_add_unsigned(seconds) };
            match id {
                Some(id) => crawls::claim_one(db, id, claim),
                None => crawls::claim_due(db, claim, except),
            }
        })?;
        let Some(crawl) = claimed else { return Ok(None) };
        let mut held = Self { crawl, holder, context: context.clone(), renewal: None };
        held.renewal = Some(held.renew_regularly(seconds));
        Ok(Some(held))
    }

    fn renew_regularly(&self, seconds: u64) -> (Sender<()>, JoinHandle<()>) {
        let (end, ended) = channel::<()>();
        let (id, holder, context) = (self.crawl.id, self.holder.clone(), self.context.clone());
        let pause = Duration::from_millis(seconds.saturating_mul(1_000) / SIGNS);
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let until = context.clock.unix().saturating_add_unsigned(seconds);
                let held = Held { id, holder: &holder };
                let renewed = context.pools.write_blocking(|db| crawls::renew(db, held, until));
                if let Err(error) = renewed {
                    log::warn!("the lease of crawl {id} cannot be renewed: {error}");
                }
            }
        });
        (end, thread)
    }

    /// Changes the crawl in the database.
    ///
    /// # Errors
    /// [`JobError::Taken`] if it is no longer held by this process.
    pub(super) fn update(
        &self,
        work: impl FnOnce(&mut database::Db, Held<'_>) -> Result<bool, database::DatabaseError>,
    ) -> Result<(), JobError> {
        let held = Held { id: self.crawl.id, holder: &self.holder };
        let is_held = self.context.pools.write_blocking(|db| work(db, held))?;
        if is_held { Ok(()) } else { Err(JobError::Taken(self.crawl.id)) }
    }
}

impl Drop for HeldCrawl {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.renewal.take() {
            drop(end);
            let _ = thread.join();
        }
        match self.update(crawls::release) {
            Ok(()) | Err(JobError::Taken(_)) => {}
            Err(error) => log::warn!("crawl {} cannot be released: {error}", self.crawl.id),
        }
    }
}
