//! Validates the files in a run and assigns them to buckets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use database::{DatabaseError, Pools};

use super::error::JobError;
use super::formats::{Bad, EXCERPT, Item, Link, Part, Sink, Skipped, Taken, named_file};
use super::intake_state::IntakeState;
use super::known_buckets::KnownBuckets;
use super::max_errors::MaxErrors;
use super::reasons::{printable, shortened};
use super::reject_file::RejectFile;
use super::report::Tally;
use crate::engine::{NamedBucket, NewFile};
use crate::model::file_etag::ChangedFiles;
use crate::store::buckets;
use crate::store::rejected_lines::{self, Rejected};
use crate::store::removals::Removal;

/// Maximum path length in bytes.
const LONGEST_PATH: usize = 4_096;
/// Once this number of lines has been read, the share of bad lines is checked at every bad line.
/// Until then, it is only checked at the end.
const JUDGED_EARLY_FROM: u64 = 1_000;

/// Maximum number of listings of parts of a bucket to name. Every checkpoint contains them.
const MOST_PARTIAL: usize = 1_000;

/// Processes the files of a run.
pub struct Intake {
    /// Saved at checkpoints.
    pub state: IntakeState,
    /// Files to pass on to the index.
    pub files: Vec<NewFile>,
    pub(super) max_errors: MaxErrors,
    /// Files that replace stored files even though their attributes are the same.
    pub(super) changed: ChangedFiles,
    source: String,
    pub(super) source_index: usize,
    /// The last bucket we saw in the current source.
    latest: Option<u64>,
    /// Whether the current source is a reject file.
    pub(super) is_reject_file: bool,
    /// Whether the current source is known to have just one bucket.
    has_one_bucket: bool,
    /// Whether the current source had bad lines.
    pub(super) has_bad_lines: bool,
    /// Whether the current source had pages of listings.
    pub(super) has_pages: bool,
    /// Index in `state.abandoned`, if this is continuing an abandoned listing.
    pub(super) continued: Option<usize>,
    /// Set if the current page doesn't cover the whole bucket.
    pub(super) part: Option<Part>,
    /// Key of the last page's bucket.
    pub(super) page_key: String,
    /// Buckets whose page ends with the name of a removed file. Checkpoints don't have these ends.
    pub(super) unsaved_ends: BTreeSet<u64>,
    /// How the current page is linked to adjacent pages. `None` if the pages were requested by this
    /// run.
    pub(super) link: Option<Link>,
    /// Whether reject files replace the files in their buckets, as other sources do.
    pub replaces_rejected: bool,
    /// `--bucket`, which overrides the bucket in a line.
    pub bucket: Option<String>,
    /// Only count files.
    pub is_dry_run: bool,
    /// Numbers of indexed files by bucket.
    pub indexed: Arc<BTreeMap<u64, u64>>,
    pub(super) skip: u64,
    pub(super) buckets: KnownBuckets,
    /// Removals and their prefixes, by bucket key.
    pub(super) removed: HashMap<String, Vec<(i64, String)>>,
    rejected: Vec<Rejected>,
    reject_file: Option<RejectFile>,
    /// Id of the current run.
    pub run: u64,
}

/// Maximum number of new buckets and bad lines to collect before writing them to SQL.
const MOST_ROWS: usize = 10_000;

impl Intake {
    /// Creates an intake that continues from a saved state. New buckets get ids above `largest` and
    /// above all ids in SQL.
    pub fn new(
        pools: &Pools,
        largest: u64,
        state: IntakeState,
        max_errors: MaxErrors,
        reject_file: Option<RejectFile>,
    ) -> Result<Self, JobError> {
        let mut intake = Self {
            state,
            files: Vec::new(),
            max_errors,
            changed: ChangedFiles::default(),
            source: String::new(),
            source_index: 0,
            latest: None,
            is_reject_file: false,
            has_one_bucket: false,
            has_bad_lines: false,
            has_pages: false,
            continued: None,
            part: None,
            page_key: String::new(),
            unsaved_ends: BTreeSet::new(),
            link: None,
            replaces_rejected: false,
            bucket: None,
            is_dry_run: false,
            indexed: Arc::default(),
            skip: 0,
            buckets: KnownBuckets::read(pools, largest)?,
            removed: HashMap::new(),
            rejected: Vec::new(),
            reject_file,
            run: 0,
        };
        intake.refresh_removals(pools)?;
        Ok(intake)
    }

    /// Starts a source. If the run was stopped, events it has already processed are skipped.
    pub fn begin_source(&mut self, index: usize, name: &str) {
        self.source = name.to_owned();
        self.source_index = index;
        self.latest = None;
        self.is_reject_file = false;
        self.has_one_bucket = false;
        (self.has_bad_lines, self.has_pages) = (false, false);
        self.part = None;
        self.link = None;
        self.skip = self.state.events;
        self.state.events = 0;
    }

    /// Finishes a source, whether or not it is complete.
    pub fn end_source(&mut self) {
        self.judge_end();
        let (buckets, broke_off) = std::mem::take(&mut self.state.present);
        if broke_off {
            let last = self.state.abandoned.last();
            let is_abandoned = last.is_some_and(|listing| listing.source == self.source_index);
            self.state.leave_incomplete(&buckets, is_abandoned);
            // If nothing could be read, the source might have had files of any bucket.
            self.state.all_partial |= buckets.is_empty() && !self.has_one_bucket;
        }
        self.state.done = self.source_index + 1;
        self.state.place = None;
        self.state.events = 0;
        self.skip = 0;
    }

    /// Returns the state to save at a checkpoint. If old events are still being skipped, the saved
    /// state counts them all as processed.
    pub fn checkpoint(&self) -> IntakeState {
        let mut state = IntakeState {
            events: self.state.events.max(self.skip),
            reject: self.reject_file.as_ref().map(RejectFile::lengths),
            ..self.state.clone()
        };
        state.ends.retain(|bucket, _| !self.unsaved_ends.contains(bucket));
        state
    }

    /// Returns the buckets covered by the run, for publishing.
    pub fn named(&self) -> Vec<NamedBucket> {
        let named = self.state.named.iter();
        // The rest of a truncated listing is unknown, so don't remove any files.
        let IntakeState { partial, unclear, all_partial, appended, .. } = &self.state;
        let is_appended = |id: &u64| appended.contains(id) && !self.replaces_rejected;
        let is_incomplete = |id: &u64| partial.contains(id) || unclear.contains(id);
        let is_partial = |id: &u64| *all_partial || is_incomplete(id) || is_appended(id);
        named
            .map(|(&id, &truncated)| NamedBucket {
                id,
                truncated,
                partial: truncated || is_partial(&id),
            })
            .collect()
    }

    /// Records a removal. See [`IntakeState::take_down`].
    pub fn take_down(&mut self, bucket: u64, removal: &Removal) {
        self.state.take_down(bucket, removal);
        self.latest = None;
    }

    /// Records that a bucket occurs in the current source.
    pub(super) fn name(&mut self, bucket: u64) {
        // Usually, this is the same bucket as for the previous file.
        if self.latest != Some(bucket) {
            if !self.is_reject_file {
                self.state.appended.remove(&bucket);
            } else if !self.state.named.contains_key(&bucket) {
                self.state.appended.insert(bucket);
            }
            self.state.present.0.insert(bucket);
            self.latest = Some(bucket);
        }
    }

    /// Writes new buckets and bad lines to SQL. Call this before writing any files that refer to
    /// them.
    pub fn flush_rows(&mut self, pools: &Pools) -> Result<(), JobError> {
        let (buckets, lines) = (&self.buckets.new, &self.rejected);
        if !buckets.is_empty() || !lines.is_empty() {
            pools.write_blocking(|db| -> Result<(), DatabaseError> {
                buckets::add(db, buckets)?;
                rejected_lines::add(db, lines)
            })?;
        }
        self.buckets.new.clear();
        self.rejected.clear();
        if let Some(file) = &mut self.reject_file {
            file.flush()?;
        }
        Ok(())
    }

    /// Writes new buckets and bad lines to SQL if enough of them have accumulated.
    pub fn flush_many_rows(&mut self, pools: &Pools) -> Result<(), JobError> {
        let many = self.buckets.new.len() + self.rejected.len() >= MOST_ROWS;
        if many { self.flush_rows(pools) } else { Ok(()) }
    }

    /// Counts an event. Returns `true` if it was already processed before the run was stopped.
    pub(super) fn is_old(&mut self) -> bool {
        self.state.events += 1;
        self.state.events <= self.skip
    }

    fn take(&mut self, item: &Item<'_>) -> Taken {
        let target = self.buckets.target(item.bucket, item.kind)?;
        // Check this first, because a bad line would be stored along with its file name.
        if let Some(removal) = self.removal_of(&target.key, item.path) {
            self.state.withhold(target.id, removal);
            self.state.tally.skipped_removed += 1;
            // The run still covers the rest of the bucket.
            if self.removal_of(&target.key, "").is_none() {
                self.name(target.id);
                self.state.named.entry(target.id).or_insert(false);
            }
            return Ok(());
        }
        if item.path.is_empty() {
            return Err("the path is empty".to_owned());
        }
        if item.path.len() > LONGEST_PATH {
            return Err(format!("the path is longer than {LONGEST_PATH} bytes"));
        }
        if item.path.contains('\0') {
            return Err("the path contains a NUL".to_owned());
        }
        self.name(target.id);
        self.state.named.entry(target.id).or_insert(false);
        self.state.rejected.forget(target.id, item.path);
        if item.is_directory_marker() {
            self.state.tally.skip(Skipped::DirectoryMarker);
            return Ok(());
        }
        self.state.tally.files += 1;
        if !self.is_dry_run {
            let is_changed = self.changed.contain(item.path, &item.attributes);
            self.files.push(NewFile { is_changed, ..item.file(target.id, target.kind.code()) });
        }
        Ok(())
    }

    fn reject(&mut self, bad: &Bad) -> Result<(), JobError> {
        if let Some(file) = &mut self.reject_file {
            file.add(&self.source, bad.position, &shortened(&bad.reason), &bad.content)?;
        }
        if self.state.kept < rejected_lines::MOST_KEPT {
            self.state.kept += 1;
            let excerpt = &bad.content[..bad.content.len().min(EXCERPT)];
            self.rejected.push(Rejected {
                run_id: self.run as i64,
                source: self.source.clone(),
                position: bad.position as i64,
                reason: printable(&shortened(&bad.reason)),
                excerpt: printable(&String::from_utf8_lossy(excerpt)),
            });
        }
        Ok(())
    }

    pub(super) fn note_of(&self, reason: &str) -> String {
        format!("{}: {}", self.source, shortened(reason))
    }

    /// Adds a note about a bucket that the run doesn't cover completely.
    pub(super) fn add_partial(&mut self, note: String) {
        if self.state.tally.partial.len() < MOST_PARTIAL {
            log::warn!(target: "notice", "{note}: no files are removed from the bucket");
            self.state.tally.partial.push(note);
            return;
        }
        if self.state.more_partial == 0 {
            log::warn!(target: "notice", "further listings of parts of a bucket are only counted");
        }
        self.state.more_partial += 1;
    }

    /// Returns the counts for the report.
    pub fn tally(&self) -> Tally {
        let (mut tally, more) = (self.state.tally.clone(), self.state.more_partial);
        if more > 0 {
            tally.partial.push(format!("{more} more listings do not cover their bucket"));
        }
        tally
    }
}

impl Sink for Intake {
    /// If the source is incomplete, no file of the bucket is removed, even if none could be read.
    fn only_bucket(&mut self, bucket: &str) {
        self.has_one_bucket = true;
        self.state.present.0.extend(self.buckets.find(bucket));
    }

    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        if self.is_old() {
            return Ok(Ok(()));
        }
        let taken = self.take(item);
        if taken.is_ok() {
            self.state.has_entries = true;
            self.state.bad_end = None;
        } else {
            // The caller will report this file as bad, and that counts as an event too.
            self.state.events -= 1;
        }
        Ok(taken)
    }

    fn bad(&mut self, bad: Bad) -> Result<(), JobError> {
        self.has_bad_lines = true;
        if self.is_old() {
            return Ok(());
        }
        let file = named_file(&bad.content, self.bucket.as_deref());
        let is_file = !bad.is_unclear
            && file.as_ref().is_some_and(|file| !file.path.is_empty() && file.has_size);
        self.state.bad_end = (!is_file).then_some(bad.position);
        if file.as_ref().is_some_and(|file| self.is_removed(file)) {
            self.state.has_entries = true;
            self.state.bad_end = None;
            self.state.tally.skipped_removed += 1;
            return Ok(());
        }
        self.keep_named(file.filter(|_| !bad.is_unclear).as_ref(), bad.position);
        self.state.tally.bad += 1;
        if self.state.first_bad.is_empty() {
            let Bad { position, reason, .. } = &bad;
            self.state.first_bad = format!("{}:{position}: {}", self.source, shortened(reason));
        }
        self.reject(&bad)?;
        self.judge_from(JUDGED_EARLY_FROM)
    }

    fn skipped(&mut self, what: Skipped) -> Result<(), JobError> {
        if what == Skipped::Prefix {
            self.part.get_or_insert(Part::Filtered);
        }
        if !self.is_old() {
            self.state.has_entries = true;
            self.state.bad_end = None;
            self.state.tally.skip(what);
        }
        Ok(())
    }

    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError> {
        self.end_page(bucket, kind, truncated);
        Ok(())
    }

    fn part(&mut self, why: Part) {
        // A filtered page never covers the whole bucket, whether or not it continues another page.
        self.part = self.part.filter(|_| why == Part::Continued).or(Some(why));
    }

    fn link(&mut self, link: Link) {
        self.link = Some(link);
    }

    fn rejected(&mut self) -> Result<(), JobError> {
        self.is_reject_file = true;
        if !self.replaces_rejected {
            let source = &self.source;
            log::info!(target: "notice", "{source} is a reject file: its files are added");
        }
        Ok(())
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        if self.is_old() {
            return Ok(());
        }
        self.state.note_incomplete(self.note_of(&reason));
        self.reject(&Bad { position: 0, reason, content: Vec::new(), is_unclear: false })
    }
}
