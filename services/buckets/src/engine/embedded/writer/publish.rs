//! Finds the files that a publish replaces, by comparing sorted fingerprints of paths.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Term};

use super::super::segment::Segment;
use super::super::view::View;
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::index::NewFile;
use crate::engine::journal::{Mode, NamedBucket, PublishCounts, above_ids};
use crate::engine::newer_files::{Compared, NewerFiles};
use crate::engine::removal_limit::BucketLoss;
use crate::model::address::BucketType;
use crate::model::id_ranges::IdRanges;
use crate::model::{Attribute, Attributes};

/// Path fingerprint, bucket, row, and attribute fingerprint.
type Entry = (u64, u32, u64, u64);

/// The changes made by a publish.
pub(super) struct Changes {
    /// Rows to delete.
    pub(super) doomed: Bitmap,
    pub(super) counts: PublishCounts,
    /// Buckets in which files are added, replaced or removed.
    pub(super) changed: Bitmap,
    /// Unchanged files, for the buckets in which they have to be recorded.
    pub(super) confirmed: IdRanges,
    /// Losses in the buckets whose files are replaced.
    pub(super) losses: BTreeMap<u64, BucketLoss>,
}

/// A run to publish.
pub(super) struct Wanted<'a> {
    pub(super) run: u64,
    pub(super) mode: Mode,
    pub(super) buckets: &'a [NamedBucket],
    /// Files to keep; see [`PublishRules::newer`](crate::engine::index::PublishRules::newer).
    pub(super) newer: Option<&'a NewerFiles>,
    /// Rows of the run that are marked as changed, in ascending order.
    pub(super) marked: &'a [u64],
    /// Buckets in which unchanged files are recorded.
    pub(super) noted: &'a HashSet<u64>,
}

/// Finds and counts the files that the run replaces. Uses roughly `memory` bytes.
pub(super) fn compare(
    view: &View,
    wanted: Wanted<'_>,
    memory: usize,
) -> Result<Changes, EngineError> {
    let Wanted { run, mode, buckets, newer, marked, noted } = wanted;
    let end = above_ids(buckets);
    let (mut named, mut replaced) = (Bitmap::new(end), Bitmap::new(end));
    for bucket in buckets {
        named.insert(bucket.id);
        if bucket.mode(mode) == Mode::Replace {
            replaced.insert(bucket.id);
        }
    }
    let first_row = view.summary.journal.open.as_ref().map_or(0, |open| open.first_row);
    let mut comparison = Comparison {
        view,
        first_row,
        replaced: &replaced,
        newer,
        marked,
        noted,
        doomed: Bitmap::new(view.column.rows()),
        counts: PublishCounts::default(),
        changed: Bitmap::new(end),
        compared: Compared::new(if noted.is_empty() { 0 } else { view.column.rows() + 1 }),
        losses: BTreeMap::new(),
    };
    let files: u64 = view.segments.iter().map(|segment| u64::from(segment.reader.num_docs())).sum();
    let passes = (files as usize * size_of::<Entry>()).div_ceil(memory.max(1 << 20)).max(1) as u64;
    for pass in 0..passes {
        let mut entries = entries(view, run, &named, |fingerprint| fingerprint % passes == pass);
        entries.sort_unstable();
        let mut rest = entries.as_slice();
        while let Some(&(fingerprint, bucket, ..)) = rest.first() {
            let same = rest.iter().take_while(|entry| (entry.0, entry.1) == (fingerprint, bucket));
            let (group, after) = rest.split_at(same.count());
            comparison.judge(group);
            rest = after;
        }
    }
    let Comparison { doomed, counts, changed, compared, losses, .. } = comparison;
    let confirmed = compared.unchanged();
    Ok(Changes { doomed, counts, changed, confirmed, losses })
}

/// Collects the files in the run and in the buckets it covers. `wanted` selects by fingerprint.
fn entries(view: &View, run: u64, named: &Bitmap, wanted: impl Fn(u64) -> bool) -> Vec<Entry> {
    let mut entries = Vec::new();
    for segment in &view.segments {
        for document in segment.reader.doc_ids_alive() {
            let bucket = segment.buckets.get_val(document);
            if segment.runs.get_val(document) != run && !named.contains(bucket) {
                continue;
            }
            let row = segment.ids.get_val(document) - 1;
            let mut hasher = DefaultHasher::new();
            bucket.hash(&mut hasher);
            view.column.path(row).hash(&mut hasher);
            let fingerprint = hasher.finish();
            if wanted(fingerprint) {
                let mut hasher = DefaultHasher::new();
                for attribute in Attribute::ALL {
                    segment.attributes[attribute].get_val(document).hash(&mut hasher);
                }
                entries.push((fingerprint, bucket as u32, row, hasher.finish()));
            }
        }
    }
    entries
}

struct Comparison<'a> {
    view: &'a View,
    first_row: u64,
    /// Buckets whose old files are all replaced by the run's files.
    replaced: &'a Bitmap,
    newer: Option<&'a NewerFiles>,
    marked: &'a [u64],
    noted: &'a HashSet<u64>,
    doomed: Bitmap,
    counts: PublishCounts,
    changed: Bitmap,
    /// Files in the noted buckets that stay.
    compared: Compared,
    losses: BTreeMap<u64, BucketLoss>,
}

impl Comparison<'_> {
    /// Handles files with the same fingerprint, in ascending row order. Their paths are almost
    /// always the same.
    fn judge(&mut self, group: &[Entry]) {
        let Some(&(_, bucket, ..)) = group.first() else { return };
        let bucket = u64::from(bucket);
        let mut rows: Vec<(u64, u64)> = group.iter().map(|entry| (entry.2, entry.3)).collect();
        while let Some(&(first, _)) = rows.first() {
            if rows.len() == 1 {
                return self.judge_path(&rows, bucket);
            }
            let path = self.view.column.path(first);
            let (same, other): (Vec<_>, _) =
                rows.into_iter().partition(|&(row, _)| self.view.column.path(row) == path);
            self.judge_path(&same, bucket);
            rows = other;
        }
    }

    /// Handles the rows of a single path. Each row comes with its attribute fingerprint, and rows
    /// from before the run come first.
    fn judge_path(&mut self, rows: &[(u64, u64)], bucket: u64) {
        let (old, new) = rows.split_at(rows.partition_point(|&(row, _)| row < self.first_row));
        let is_replaced = self.replaced.contains(bucket);
        // The id of a file is one more than its row.
        let is_kept = |newer: &NewerFiles, id: u64| {
            newer.contain(id) || (new.is_empty() && newer.kept.contains(id))
        };
        let keeps_old = old
            .last()
            .is_some_and(|&(row, _)| self.newer.is_some_and(|newer| is_kept(newer, row + 1)));
        let gone: &[(u64, u64)] = if keeps_old { &[] } else { old };
        if is_replaced && !old.is_empty() {
            let loss = self.losses.entry(bucket).or_default();
            loss.before += old.len() as u64;
            loss.removed += if new.is_empty() { gone.len() as u64 } else { 0 };
        }
        let Some((last, repeated)) = new.split_last() else {
            if is_replaced && !gone.is_empty() {
                self.counts.removed += gone.len() as u64;
                self.changed.insert(bucket);
                self.doom(gone);
            } else if let Some(&(row, _)) = old.last() {
                self.note(row, bucket, false);
            }
            return;
        };
        self.counts.duplicates += repeated.len() as u64;
        self.doom(repeated);
        match old.split_last() {
            None => {
                self.counts.added += 1;
                self.changed.insert(bucket);
            }
            Some((kept, older)) if self.stays(*kept, *last, keeps_old) => {
                self.counts.unchanged += 1;
                self.note(kept.0, bucket, kept.1 == last.1);
                self.doom(older);
                self.doom(&[*last]);
            }
            Some(_) => {
                self.counts.replaced += 1;
                self.changed.insert(bucket);
                self.doom(old);
            }
        }
    }

    /// Returns `true` if an existing row stays even though the run contains its path.
    fn stays(&self, old: (u64, u64), new: (u64, u64), is_newer: bool) -> bool {
        let is_equal = old.1 == new.1;
        if is_equal && self.marked.binary_search(&new.0).is_ok() {
            return self.newer.is_some_and(|newer| old.0 + 1 > newer.after);
        }
        is_newer || is_equal
    }

    /// Records a file that stays, if it is in one of the noted buckets.
    fn note(&mut self, row: u64, bucket: u64, is_unchanged: bool) {
        if self.noted.contains(&bucket) {
            self.compared.insert(row + 1, is_unchanged);
        }
    }

    fn doom(&mut self, rows: &[(u64, u64)]) {
        rows.iter().for_each(|&(row, _)| self.doomed.insert(row));
    }
}

/// Returns the run's remaining files if at least half of its rows are about to be deleted and the
/// files fit in `memory` bytes.
pub(super) fn few_survivors(
    view: &View,
    doomed: &Bitmap,
    first_row: u64,
    memory: usize,
) -> Result<Option<Vec<NewFile>>, EngineError> {
    let rows = view.column.rows() - first_row;
    let dead = (first_row..view.column.rows()).filter(|&row| doomed.contains(row)).count() as u64;
    if dead == 0 || dead * 2 < rows {
        return Ok(None);
    }
    let (mut survivors, mut kinds) = (Vec::new(), HashMap::new());
    let mut bytes = 0;
    for row in (first_row..view.column.rows()).filter(|&row| !doomed.contains(row)) {
        // Rows purged by a removal have no document.
        let Some((segment, document)) = view.document(row + 1) else { continue };
        let Ok(path) = std::str::from_utf8(view.column.path(row)) else { continue };
        bytes += size_of::<NewFile>() + path.len();
        if bytes > memory {
            return Ok(None);
        }
        let bucket = segment.buckets.get_val(document);
        let kind = match kinds.get(&bucket) {
            Some(&kind) => kind,
            None => kind_of(view, segment, document)?,
        };
        kinds.insert(bucket, kind);
        survivors.push(NewFile {
            bucket,
            kind,
            path: path.to_owned(),
            attributes: Attributes::from_fn(|attribute| {
                segment.attributes[attribute].get_val(document)
            }),
            is_changed: false,
        });
    }
    Ok(Some(survivors))
}

/// Finds the type of a document's bucket. Documents don't store it, so we look it up in the posting
/// lists.
fn kind_of(view: &View, segment: &Segment, document: DocId) -> Result<u64, EngineError> {
    let field = view.fields.kind;
    let index = segment.reader.inverted_index(field)?;
    for kind in BucketType::ALL.map(BucketType::code) {
        let term = Term::from_field_u64(field, kind);
        let postings = index.read_postings(&term, IndexRecordOption::Basic)?;
        // A list must not be sought to a document before its first one.
        let contains = |mut postings: SegmentPostings| {
            postings.doc() <= document && postings.seek(document) == document
        };
        if postings.is_some_and(contains) {
            return Ok(kind);
        }
    }
    Err(EngineError::Broken("a file has no type".to_owned()))
}
