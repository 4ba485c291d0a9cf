//! Runs a load, from reading the sources to publishing.

use std::sync::Arc;
use std::time::Instant;

use database::DatabaseError;

use super::alerts::{judge_or_warn, judge_published};
use super::attended::{Attended, Waiting, attend};
use super::error::JobError;
use super::formats::{self, Bad, Item, Link, Part, Sink, Skipped, Taken};
use super::intake::Intake;
use super::intake_state::IntakeState;
use super::options::{CheckpointPolicy, LoadOptions};
use super::overlaps::listed_meanwhile;
use super::progress::LoadProgress;
use super::reasons::printable;
use super::remote::{Listing, PageSink, Place, Refusal, read_pages, read_stored};
use super::remove::{apply_removal, complete, purge};
use super::report::Report;
use super::sources::Source;
use super::stored_listing::StoredListing;
use super::write_session::Session;
use crate::app::reconcile;
use crate::engine::{Bitmap, EngineError, NamedBucket};
use crate::store::alerts::{self, Mark};
use crate::store::{buckets, generations, load_runs, removals};

/// Number of files to pass to the index at a time.
const BATCH: usize = 2_048;
/// Number of events between clock reads.
const EVENTS: u32 = 64;

/// A load run.
pub(super) struct Loader {
    session: Session,
    /// Session for the current generation, if the run is building a new one.
    searched: Option<Session>,
    id: u64,
    options: LoadOptions,
    checkpoints: CheckpointPolicy,
    intake: Intake,
    progress: LoadProgress,
    started: Instant,
    since_checkpoint: u64,
    checkpointed: Instant,
    events: u32,
    /// Set while listing a bucket. Runs can't be resumed within a page, so checkpoints are only
    /// made between pages.
    paged: bool,
    /// An error from work done while the source wasn't sending anything.
    failure: Option<JobError>,
    /// Set if we couldn't list the last bucket.
    refusal: Option<Refusal>,
}

impl Loader {
    /// Creates a run that continues from its intake's state.
    pub(super) fn new(
        session: Session,
        id: u64,
        options: LoadOptions,
        checkpoints: CheckpointPolicy,
        mut intake: Intake,
    ) -> Self {
        intake.run = id;
        let shared = (session.context.pools.clone(), session.context.clock.clone());
        let sources = (options.sources.len() as u64, options.bytes());
        let progress = LoadProgress::new(shared, id, sources, intake.state.tally.files);
        let now = Instant::now();
        Self {
            session,
            searched: None,
            id,
            options,
            checkpoints,
            intake,
            progress,
            started: now,
            since_checkpoint: 0,
            checkpointed: now,
            events: 0,
            paged: false,
            failure: None,
            refusal: None,
        }
    }

    /// Makes the run replace the current generation when it's done.
    pub(super) fn replace(&mut self, searched: Session) {
        // The new generation is empty, so bad lines don't name files to keep.
        self.intake.indexed = Arc::default();
        self.searched = Some(searched);
    }

    /// Reads the sources, publishes the files and returns a report. Failures are recorded.
    pub(super) fn finish(mut self) -> Result<Report, JobError> {
        let result = self.read_all().and_then(|()| self.publish());
        if let Err(error) = &result
            && let Err(second) = self.note_failure(error)
        {
            // The disk might be full, but the operator needs to see the first error.
            log::warn!("run {}: its failure cannot be recorded: {second}", self.id);
        }
        if result.is_ok() && self.searched.is_none() {
            judge_published(self.session);
        }
        result
    }

    fn note_failure(&mut self, error: &JobError) -> Result<(), JobError> {
        let (text, now) = (printable(&error.to_string()), self.session.context.clock.unix());
        let pools = &self.session.context.pools;
        if matches!(
            error,
            JobError::TooManyBad { .. } | JobError::Invalid(_) | JobError::Refused { .. }
        ) {
            self.intake.flush_rows(pools)?;
            self.session.writer.abort()?;
        }
        Ok(pools.write_blocking(|db| load_runs::fail(db, self.id, &text, now))?)
    }

    fn read_all(&mut self) -> Result<(), JobError> {
        let sources = self.options.sources.clone();
        attend(self, |loader| read_sources(loader, &sources))?;
        self.intake.settle_pages();
        if let Err(error) = self.intake.refuse_unread(&sources) {
            return Err(match self.refusal.take().filter(|_| sources.len() == 1) {
                Some(refusal) => JobError::Refused { text: error.to_string(), refusal },
                None => error,
            });
        }
        self.intake.judge()?;
        if self.searched.is_some() && self.intake.state.named.is_empty() {
            let why = "the sources do not name a bucket: the index is unchanged";
            return Err(JobError::Invalid(why.to_owned()));
        }
        if self.searched.is_some() {
            self.intake.refuse_partial(&self.session.context.pools)?;
        }
        self.intake.refuse_empty(&sources)
    }

    /// Finishes a source. `unreachable` is set if the listing's host couldn't be reached.
    fn end_source(&mut self, unreachable: Option<&str>) -> Result<(), JobError> {
        self.paged = false;
        if let Some(reason) = unreachable {
            self.intake.abandon(reason)?;
        }
        // Do this before any commit. A run never resumes within a page, because the page could be
        // different next time.
        self.intake.end_source();
        self.fail_if_failed()?;
        if self.searched.is_some() {
            self.intake.refuse_incomplete()?;
        }
        self.pump()
    }

    /// Returns any error from work done while the source wasn't sending anything.
    fn fail_if_failed(&mut self) -> Result<(), JobError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn publish(&mut self) -> Result<Report, JobError> {
        self.pump()?;
        self.checkpoint()?;
        let context = self.session.context.clone();
        // Read the clock first: crawls that list files of a removal lifted later begin after this.
        let now = context.clock.unix();
        self.intake.note_lifted(&context.pools)?;
        self.intake.keep_rejected(&mut self.session)?;
        let named = self.intake.named();
        let (new, truncated) = context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let (mut new, mut truncated) =
                (Bitmap::new(named.last().map_or(0, |last| last.id + 1)), Vec::new());
            buckets::each(db, |bucket| {
                let Ok(at) = named.binary_search_by_key(&bucket.id, |named| named.id) else {
                    return;
                };
                if bucket.first_indexed.is_none() {
                    new.insert(bucket.id);
                }
                if named[at].truncated {
                    truncated.push(bucket.address);
                }
            })?;
            Ok((new, truncated))
        })?;
        if let Some(first) = truncated.first().filter(|_| self.options.sources.len() > 1) {
            log::warn!(
                target: "notice",
                "{first}: the last page is missing, or pages that do not name the one they continue \
                 (GCS JSON) are not in the order of the listing: no files are removed from the bucket"
            );
        }
        let listed = listed_meanwhile(&context, &self.options, self.id, &named)?;
        let rules = self.session.writer.rules();
        rules.removal_limit = self.options.removal_limit.filter(|_| self.searched.is_none());
        (rules.noted, rules.begun_at) = listed;
        let counts = match self.session.writer.publish(self.options.mode, named.clone(), now) {
            Err(EngineError::TooManyRemoved(losses)) => {
                let buckets = context.with_addresses(losses)?;
                return Err(JobError::TooManyRemoved { run: self.id, buckets });
            }
            published => published?,
        };
        let changed = self.session.writer.changed_buckets();
        let is_known_and_changed =
            |bucket: &&NamedBucket| changed.contains(bucket.id) && !new.contains(bucket.id);
        let changed = named.iter().filter(is_known_and_changed).count() as u64;
        let new = new.count();
        let report = Report {
            run: Some(self.id),
            tally: self.intake.tally(),
            counts,
            buckets_new: new,
            buckets_changed: changed,
            buckets_unchanged: named.len() as u64 - new - changed,
            truncated,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        let text = serde_json::to_string(&report).map_err(std::io::Error::other)?;
        if let Some(searched) = &self.searched {
            self.switch(searched, &named, (&report, &text), now)?;
        } else {
            reconcile(&context.pools, self.session.writer.journal(), Some(text.as_str()), now)?;
            self.session.warn_of_dead_rows();
        }
        Ok(report)
    }

    /// Verifies the new generation and switches to it. `now` is the time of the publish.
    fn switch(
        &self,
        searched: &Session,
        named: &[NamedBucket],
        (report, text): (&Report, &str),
        now: i64,
    ) -> Result<(), JobError> {
        let Session { context, generation, index, writer, .. } = &self.session;
        let identity = &writer.journal().identity;
        index.refresh()?;
        let mut faults = index.verify()?;
        let counts = Arc::clone(&index.summary().counts);
        let is_named = |id: &u64| named.binary_search_by_key(id, |bucket| bucket.id).is_ok();
        if !counts.keys().all(is_named) {
            faults.push("it has files in buckets that are not in any source".to_owned());
        }
        let files: u64 = counts.values().sum();
        if files != report.counts.added {
            faults.push(format!("it has {files} files instead of {}", report.counts.added));
        }
        if !faults.is_empty() {
            let text = format!("the new generation is not sound: {}", faults.join("; "));
            return Err(EngineError::Broken(text).into());
        }
        // File ids are different in the new generation, so finish the comparison first. An earlier
        // attempt might have failed.
        judge_or_warn(context, &*searched.index, searched.generation);
        let buckets: Vec<(u64, bool)> = named.iter().map(|b| (b.id, b.truncated)).collect();
        let complete: Vec<u64> = named.iter().filter(|b| !b.partial).map(|b| b.id).collect();
        let last = index.summary().journal.published_id() as i64;
        let end = Mark { generation: i64::from(*generation), id: last };
        searched.lock.check()?;
        Ok(context.pools.write_blocking(|db| -> Result<(), DatabaseError> {
            generations::switch(db, searched.generation, *generation, identity)?;
            alerts::restart(db, end, now)?;
            buckets::relist(db, &buckets, now)?;
            buckets::replaced(db, &complete, now)?;
            load_runs::publish(db, self.id, text, now).map(drop)
        })?)
    }

    /// Does any work that is due, so that reports and removals don't have to wait for slow sources.
    fn after_event(&mut self) -> Result<(), JobError> {
        self.fail_if_failed()?;
        if self.paged {
            return Ok(());
        }
        self.events = self.events.wrapping_add(1);
        // Reading the clock for every file would take longer than processing the file.
        let due = self.events.is_multiple_of(EVENTS) && self.progress.is_due();
        if due || self.intake.files.len() >= BATCH { self.pump() } else { Ok(()) }
    }

    /// Passes files to the index. Also records progress or makes a checkpoint when it is due.
    fn pump(&mut self) -> Result<(), JobError> {
        self.since_checkpoint += self.intake.files.len() as u64;
        self.session.writer.add(&self.intake.files)?;
        self.intake.files.clear();
        self.intake.flush_many_rows(&self.session.context.pools)?;
        let reported =
            self.progress.update(&self.intake.state.tally, self.intake.state.done as u64)?;
        let removals =
            reported && !self.session.context.pools.read_blocking(removals::pending)?.is_empty();
        let due = self.since_checkpoint >= self.checkpoints.files
            || self.checkpointed.elapsed() >= self.checkpoints.every;
        if removals || due { self.checkpoint() } else { Ok(()) }
    }

    fn checkpoint(&mut self) -> Result<(), JobError> {
        let pools = self.session.context.pools.clone();
        self.session.writer.add(&self.intake.files)?;
        self.intake.files.clear();
        self.intake.flush_rows(&pools)?;
        let notes = |intake: &Intake| serde_json::to_string(&intake.checkpoint());
        let text = notes(&self.intake).map_err(std::io::Error::other)?;
        self.session.writer.checkpoint(text)?;
        for removal in pools.read_blocking(removals::pending)? {
            let bucket = pools.read_blocking(|db| buckets::by_address(db, &removal.address))?;
            if let Some(bucket) = bucket {
                self.intake.take_down(bucket.id, &removal);
            }
            let text = notes(&self.intake).map_err(std::io::Error::other)?;
            match &mut self.searched {
                None => apply_removal(&mut self.session, &removal, Some(text))?,
                Some(searched) if searched.is_lost => {
                    let files = purge(&mut self.session, &removal, Some(text))?;
                    let identity = &self.session.writer.journal().identity;
                    complete(&searched.context, &removal, files, Some(identity))?;
                }
                Some(searched) => {
                    purge(&mut self.session, &removal, Some(text))?;
                    apply_removal(searched, &removal, None)?;
                }
            }
            self.intake.refresh_removals(&pools)?;
        }
        self.since_checkpoint = 0;
        self.checkpointed = Instant::now();
        Ok(())
    }
}

impl Waiting for Loader {
    fn while_waiting(&mut self) {
        // Runs can't be resumed within a page.
        let is_within_page = self.paged && self.intake.state.events > 0;
        if self.failure.is_some() || is_within_page || !self.progress.is_due() {
            return;
        }
        self.failure = self.pump().err();
    }
}

/// Reads the remaining sources, then continues any listings that were abandoned before the run was
/// stopped.
fn read_sources(loader: &Attended<'_, Loader>, sources: &[Source]) -> Result<(), JobError> {
    let (done, abandoned) = {
        let IntakeState { done, abandoned, .. } = &loader.lock().intake.state;
        (*done, abandoned.iter().map(|listing| listing.source).collect::<Vec<_>>())
    };
    for (index, source) in sources.iter().enumerate().skip(done) {
        loader.lock().intake.begin_source(index, &source.name());
        let unreachable = match source.url() {
            Some(url) => {
                let from = loader.lock().intake.state.place.clone();
                match &source.stored {
                    None => read_listing(loader, url, from)?,
                    Some(stored) => {
                        read_stored_listing(loader, url, stored, from)?;
                        None
                    }
                }
            }
            None => {
                read_file(loader, source)?;
                None
            }
        };
        loader.lock().end_source(unreachable.as_deref())?;
    }
    for index in abandoned {
        let Some(source) = sources.get(index) else { continue };
        let Some(url) = source.url() else { continue };
        let from = loader.lock().intake.continue_abandoned(index, &source.name());
        let unreachable = read_listing(loader, url, from)?;
        let mut loader = loader.lock();
        loader.paged = false;
        loader.intake.end_abandoned(unreachable.is_some());
        loader.fail_if_failed()?;
        loader.pump()?;
    }
    Ok(())
}

fn read_file(mut loader: &Attended<'_, Loader>, source: &Source) -> Result<(), JobError> {
    let (read, defaults) = {
        let loader = loader.lock();
        (loader.progress.bytes_done(), loader.options.defaults_of(source))
    };
    let input = source.open(read)?;
    formats::read(&source.path, input, &defaults, &mut loader)?;
    source.check()
}

/// Reads a listing. If its host is down but there are other sources, returns the reason the listing
/// failed.
fn read_listing(
    mut loader: &Attended<'_, Loader>,
    url: &str,
    from: Option<Place>,
) -> Result<Option<String>, JobError> {
    let (defaults, options) = {
        let mut loader = loader.lock();
        loader.paged = true;
        (loader.options.defaults(), loader.options.clone())
    };
    let listing = Listing::of(url, &defaults)?;
    match read_pages(&listing, defaults.kind.as_deref(), &options.remote, from, &mut loader) {
        // Continue with the other sources, which might be on different hosts.
        Err(JobError::Unreachable { reason, .. }) if options.sources.len() > 1 => Ok(Some(reason)),
        done => done.map(|()| None),
    }
}

/// Reads the stored pages of a crawl.
fn read_stored_listing(
    mut loader: &Attended<'_, Loader>,
    url: &str,
    stored: &StoredListing,
    from: Option<Place>,
) -> Result<(), JobError> {
    let (defaults, prefix, pools) = {
        let mut loader = loader.lock();
        loader.paged = true;
        let LoadOptions { remote, .. } = &loader.options;
        let prefix = remote.prefix.clone();
        (loader.options.defaults(), prefix, loader.session.context.pools.clone())
    };
    let listing = Listing::of(url, &defaults)?;
    let page = |number| stored.page(&pools, number);
    let kind = defaults.kind.as_deref();
    read_stored(&listing, (kind, &prefix), (stored.pages, page), from, &mut loader)?;
    match &stored.broken {
        Some(reason) => (&mut loader).broken(reason.clone()),
        None => Ok(()),
    }
}

impl Sink for Loader {
    fn only_bucket(&mut self, bucket: &str) {
        self.intake.only_bucket(bucket);
    }

    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        let taken = self.intake.file(item)?;
        self.after_event()?;
        Ok(taken)
    }

    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        self.intake.bad(bad)?;
        self.after_event()
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), JobError> {
        self.intake.skipped(what)?;
        self.after_event()
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError> {
        self.intake.page(bucket, kind, truncated)
    }

    fn part(&mut self, why: Part) {
        self.intake.part(why);
    }

    fn link(&mut self, link: Link) {
        self.intake.link(link);
    }

    fn rejected(&mut self) -> Result<(), JobError> {
        self.intake.rejected()
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        self.intake.broken(reason)
    }
}

impl PageSink for Loader {
    fn page_done(&mut self, next: Option<&Place>, page: &[u8]) -> Result<(), JobError> {
        self.fail_if_failed()?;
        self.progress.bytes_done().add(page.len() as u64);
        let Some(next) = next else { return Ok(()) };
        self.intake.next_page(next);
        self.pump()
    }

    fn refused(&mut self, refusal: Refusal) {
        self.refusal = Some(refusal);
    }
}
