//! Finds the files that a publish replaces by comparing sorted fingerprints of paths.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::deletes::Deletions;
use super::super::view::View;
use crate::engine::error::EngineError;
use crate::engine::journal::{Mode, NamedBucket, PublishCounts};
use crate::engine::removal_limit::BucketLoss;

/// A file of a named bucket: fingerprint of its path, bucket, row.
type Entry = (u64, u32, u64);

/// The changes of a publish.
pub(super) struct Changes {
    pub(super) deletions: Deletions,
    pub(super) counts: PublishCounts,
    /// Losses of the buckets whose files are replaced.
    pub(super) losses: BTreeMap<u64, BucketLoss>,
}

/// Finds and counts the files that the run replaces, using about `memory` bytes.
pub(super) fn compare(
    view: &View,
    run: u64,
    mode: Mode,
    buckets: &[NamedBucket],
    memory: usize,
) -> Result<Changes, EngineError> {
    let named: HashSet<u64> = buckets.iter().map(|bucket| bucket.id).collect();
    let first_row = view.summary.journal.open.as_ref().map_or(0, |open| open.first_row);
    let replaced: HashSet<u64> = buckets
        .iter()
        .filter(|bucket| bucket.mode(mode) == Mode::Replace)
        .map(|bucket| bucket.id)
        .collect();
    let mut comparison = Comparison {
        view,
        first_row,
        replaced: &replaced,
        deletions: Deletions { spared_run: run, ..Deletions::default() },
        counts: PublishCounts::default(),
        losses: BTreeMap::new(),
    };
    let files: u64 = view.segments.iter().map(|segment| u64::from(segment.reader.num_docs())).sum();
    let passes = (files as usize * size_of::<Entry>()).div_ceil(memory.max(1 << 20)).max(1) as u64;
    for pass in 0..passes {
        let mut entries = entries(view, run, &named, |fingerprint| fingerprint % passes == pass);
        entries.sort_unstable();
        let mut rest = entries.as_slice();
        while let Some(&(fingerprint, bucket, _)) = rest.first() {
            let same = rest.iter().take_while(|entry| (entry.0, entry.1) == (fingerprint, bucket));
            let (group, after) = rest.split_at(same.count());
            comparison.judge(group);
            rest = after;
        }
    }
    let Comparison { mut deletions, counts, losses, .. } = comparison;
    deletions.buckets = replaced;
    Ok(Changes { deletions, counts, losses })
}

/// Returns files of the named buckets and of the run, filtered by fingerprint.
fn entries(
    view: &View,
    run: u64,
    named: &HashSet<u64>,
    wanted: impl Fn(u64) -> bool,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for segment in &view.segments {
        for document in segment.reader.doc_ids_alive() {
            let bucket = segment.buckets.get_val(document);
            if segment.runs.get_val(document) != run && !named.contains(&bucket) {
                continue;
            }
            let row = segment.ids.get_val(document) - 1;
            let mut hasher = DefaultHasher::new();
            bucket.hash(&mut hasher);
            view.column.path(row).hash(&mut hasher);
            let fingerprint = hasher.finish();
            if wanted(fingerprint) {
                entries.push((fingerprint, bucket as u32, row));
            }
        }
    }
    entries
}

struct Comparison<'a> {
    view: &'a View,
    first_row: u64,
    /// Buckets whose files are replaced by those of the run.
    replaced: &'a HashSet<u64>,
    deletions: Deletions,
    counts: PublishCounts,
    losses: BTreeMap<u64, BucketLoss>,
}

impl Comparison<'_> {
    /// Processes files with equal fingerprints in ascending order of rows. They nearly always have
    /// the same path.
    fn judge(&mut self, group: &[Entry]) {
        let Some(&(_, bucket, row)) = group.first() else { return };
        let bucket = u64::from(bucket);
        if group.len() == 1 {
            return self.judge_path(&[row], bucket);
        }
        let mut rows: Vec<u64> = group.iter().map(|entry| entry.2).collect();
        while let Some(&first) = rows.first() {
            let path = self.view.column.path(first);
            let (same, other) =
                rows.into_iter().partition(|&row| self.view.column.path(row) == path);
            let same: Vec<u64> = same;
            self.judge_path(&same, bucket);
            rows = other;
        }
    }

    /// Processes the rows of one path: first those before the run, then those of the run.
    fn judge_path(&mut self, rows: &[u64], bucket: u64) {
        let (old, new) = rows.split_at(rows.partition_point(|&row| row < self.first_row));
        let is_replaced = self.replaced.contains(&bucket);
        if is_replaced && !old.is_empty() {
            let loss = self.losses.entry(bucket).or_default();
            loss.before += old.len() as u64;
            loss.removed += if new.is_empty() { old.len() as u64 } else { 0 };
        }
        let Some((_last, repeated)) = new.split_last() else {
            if is_replaced {
                self.counts.removed += old.len() as u64;
            }
            return;
        };
        self.counts.duplicates += repeated.len() as u64;
        self.deletions.ids.extend(repeated.iter().map(|row| row + 1));
        if old.is_empty() {
            self.counts.added += 1;
        } else {
            self.counts.replaced += 1;
            if !is_replaced {
                self.deletions.ids.extend(old.iter().map(|row| row + 1));
            }
        }
    }
}
