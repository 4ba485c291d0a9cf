//! A crawl claimed by this process.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use database::DatabaseError;

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::write_session::new_name;
use crate::model::package::Capability;
use crate::store::crawl_claims::{self, Claim, Held};
use crate::store::crawls::Crawl;
use crate::store::{crawl_listings, packages};

/// Heartbeats per lease.
const SIGNS: u64 = 3;

/// Why a key's crawl can't run.
pub(super) const NO_KEY: &str = "its key is revoked or expired, or its package does not include \
                                 crawls";

/// Selects which crawl to claim.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// The crawl with this id, even if it isn't due.
    One(i64),
    /// Any crawl due by this Unix time (default: now), excluding the listed ids.
    Due(Option<i64>, &'a [i64]),
}

/// A claimed crawl. Released on drop. A separate thread renews the lease, since fetching a page or
/// publishing can take longer than the lease.
pub(super) struct HeldCrawl {
    pub(super) crawl: Crawl,
    holder: String,
    context: JobContext,
    renewal: Option<(Sender<()>, JoinHandle<()>)>,
}

impl HeldCrawl {
    /// Claims a crawl. If this process dies, another process can take over the crawl after
    /// `seconds`. Returns `None` if none of the `wanted` crawls is available.
    pub(super) fn claim(
        context: &JobContext,
        wanted: Wanted<'_>,
        seconds: u64,
    ) -> Result<Option<Self>, JobError> {
        if let Wanted::Due(..) = wanted {
            drop_outdated_pages(context)?;
        }
        let holder = new_name();
        let claimed = context.pools.write_blocking(|db| {
            let now = context.clock.unix();
            let until = now.saturating_add_unsigned(seconds);
            let claim = Claim { holder: &holder, now, due_by: now, until };
            match wanted {
                Wanted::One(id) => crawl_claims::claim_one(db, id, claim),
                Wanted::Due(by, except) => {
                    let claim = Claim { due_by: by.unwrap_or(now), ..claim };
                    crawl_claims::claim_due(db, claim, except)
                }
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
                let renewed =
                    context.pools.write_blocking(|db| crawl_claims::renew(db, held, until));
                if let Err(error) = renewed {
                    log::warn!("the lease of crawl {id} cannot be renewed: {error}");
                }
            }
        });
        (end, thread)
    }

    /// Returns `true` if an operator added the crawl, or if its key is still valid and allowed to
    /// crawl.
    pub(super) fn may_run(&self) -> Result<bool, JobError> {
        let (Some(id), now) = (self.crawl.key_id, self.context.clock.unix()) else {
            return Ok(true);
        };
        Ok(self.context.pools.read_blocking(|db| -> Result<bool, DatabaseError> {
            let Some(key) = auth::find_live(db, id, now)? else { return Ok(false) };
            let plan = key.plan.as_ref().map_or("free", |plan| plan.code.as_str());
            Ok(packages::of_plan(db, plan)?.allows(Capability::Crawls))
        })?)
    }

    /// Returns an error if the crawl's key is no longer allowed to crawl.
    pub(super) fn check_key(&self) -> Result<(), JobError> {
        if self.may_run()? { Ok(()) } else { Err(JobError::Invalid(NO_KEY.to_owned())) }
    }

    /// Updates the crawl in the database.
    ///
    /// # Errors
    /// Returns [`JobError::Taken`] if another process has taken the crawl over.
    pub(super) fn update(
        &self,
        work: impl FnOnce(&mut database::Db, Held<'_>) -> Result<bool, DatabaseError>,
    ) -> Result<(), JobError> {
        let held = Held { id: self.crawl.id, holder: &self.holder };
        let is_held = self.context.pools.write_blocking(|db| work(db, held))?;
        if is_held { Ok(()) } else { Err(JobError::Taken(self.crawl.id)) }
    }
}

/// Deletes pages that no run will use. The pages of crawls that are paused or have ended would
/// otherwise stay in the database for good.
fn drop_outdated_pages(context: &JobContext) -> Result<(), JobError> {
    let (pools, now) = (&context.pools, context.clock.unix());
    for id in pools.read_blocking(|db| crawl_listings::outdated(db, now))? {
        pools.write_blocking(|db| crawl_listings::drop_outdated(db, id, now))?;
    }
    Ok(())
}

impl Drop for HeldCrawl {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.renewal.take() {
            drop(end);
            let _ = thread.join();
        }
        match self.update(crawl_claims::release) {
            Ok(()) | Err(JobError::Taken(_)) => {}
            Err(error) => log::warn!("crawl {} cannot be released: {error}", self.crawl.id),
        }
    }
}
