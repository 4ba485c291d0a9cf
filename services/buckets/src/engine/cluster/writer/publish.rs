//! Determines which files a publish replaces. Each bucket is on a single shard, so each server only
//! has to look at its own rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::error::ClusterError;
use super::super::rows::{MARK, Rows};
use super::super::{sql, view};
use super::cluster_writer::ClusterWriter;
use crate::engine::bitmap::Bitmap;
use crate::engine::journal::{Mode, NamedBucket, PublishCounts, above_ids};
use crate::engine::newer_files::{Compared, NewerFiles};
use crate::engine::removal_limit::BucketLoss;
use crate::model::Attribute;
use crate::model::id_ranges::IdRanges;

/// Maximum number of rows in a comparison. The server keeps their paths in memory.
const MOST_ROWS: u64 = 2_000_000;
/// Maximum number of buckets in a comparison.
const MOST_BUCKETS: usize = 2_000;
/// Maximum number of newer files to list in a statement. Shares with more newer files are split.
const MOST_NEWER: usize = 5_000;

/// SQL condition for a share's paths that the run leaves unchanged.
const UNCHANGED: &str = "notEmpty(fresh) AND is_equal AND is_same";

/// The changes made by a publish.
pub(super) struct Changes {
    pub(super) counts: PublishCounts,
    /// Buckets in which files are added, replaced or removed.
    pub(super) changed: Bitmap,
    /// Unchanged files, for the buckets in which they have to be recorded.
    pub(super) confirmed: IdRanges,
    /// The batch of dead rows, if there are any.
    pub(super) batch: Option<u64>,
}

/// Caches the subqueries of shares. `None` for shares that must be split.
pub(super) type Groups = HashMap<Share, Option<String>>;

/// A unit of work: either several buckets, or a slice of a large bucket.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Share {
    buckets: Vec<u64>,
    /// Number of slices, and the index of this slice.
    parts: u64,
    part: u64,
}

impl Share {
    /// Separates buckets whose files are replaced from buckets that only get new files.
    fn split(self, replaced: &HashSet<u64>) -> Vec<(Mode, Self)> {
        let Self { buckets, parts, part } = self;
        let (emptied, kept): (Vec<u64>, Vec<u64>) =
            buckets.into_iter().partition(|bucket| replaced.contains(bucket));
        [(Mode::Replace, emptied), (Mode::Append, kept)]
            .into_iter()
            .filter(|(_, buckets)| !buckets.is_empty())
            .map(|(mode, buckets)| (mode, Self { buckets, parts, part }))
            .collect()
    }

    /// Splits the paths into two slices.
    fn halves(&self) -> [Self; 2] {
        [self.part, self.part + self.parts].map(|part| Self {
            buckets: self.buckets.clone(),
            parts: 2 * self.parts,
            part,
        })
    }
}

impl ClusterWriter {
    /// Determines the changes and marks replaced rows as dead in a new batch.
    pub(super) fn replaced(
        &self,
        mode: Mode,
        named: &[NamedBucket],
        known: &mut Groups,
    ) -> Result<Changes, ClusterError> {
        let mut changed = Bitmap::new(above_ids(named));
        let replaced: HashSet<u64> = named
            .iter()
            .filter(|bucket| bucket.mode(mode) == Mode::Replace)
            .map(|bucket| bucket.id)
            .collect();
        let named: HashSet<u64> = named.iter().map(|bucket| bucket.id).collect();
        let batch = self.new_batch()?;
        let mut counts = PublishCounts::default();
        let mut marked = false;
        let ids = if self.rules.noted.is_empty() { 0 } else { self.record.cutoff() + 1 };
        let mut compared = Compared::new(ids);
        let shares = self.shares(&named)?.into_iter();
        let mut shares: Vec<(Mode, Share)> =
            shares.flat_map(|share| share.split(&replaced)).collect();
        let mut done = Vec::new();
        while let Some((mode, share)) = shares.pop() {
            let Some(groups) = self.groups(mode, &share, &named, known)? else {
                shares.extend(share.halves().map(|half| (mode, half)));
                continue;
            };
            let (share_counts, dead) = self.compare(mode, &groups, &mut changed)?;
            self.note(&share, (&groups, UNCHANGED), true, &mut compared)?;
            counts.added += share_counts.added;
            counts.replaced += share_counts.replaced;
            counts.unchanged += share_counts.unchanged;
            counts.removed += share_counts.removed;
            counts.duplicates += share_counts.duplicates;
            marked |= dead;
            if dead {
                let keeps_old =
                    share_counts.unchanged > 0 || share.parts > 1 || self.rules.newer.is_some();
                self.mark_dead(mode, keeps_old, (&share, &groups), &named, batch)?;
            }
            if !self.rules.noted.is_empty() {
                done.push((mode, share));
            }
        }
        self.note_others(done, &named, known, &mut compared)?;
        let confirmed = compared.unchanged();
        Ok(Changes { counts, changed, confirmed, batch: marked.then_some(batch) })
    }

    /// Counts the files that the run would remove, for each bucket with more than `least` files.
    pub(super) fn losses(
        &self,
        mode: Mode,
        named: &[NamedBucket],
        least: u64,
        known: &mut Groups,
    ) -> Result<BTreeMap<u64, BucketLoss>, ClusterError> {
        let before = view::counts(&self.client, &self.tables, &self.record)?;
        let is_large = |bucket: &u64| before.get(bucket).is_some_and(|&files| files > least);
        let replaced = named.iter().filter(|bucket| bucket.mode(mode) == Mode::Replace);
        let large: HashSet<u64> = replaced.map(|bucket| bucket.id).filter(is_large).collect();
        let mut losses: BTreeMap<u64, BucketLoss> = BTreeMap::new();
        let mut shares = self.shares(&large)?;
        while let Some(share) = shares.pop() {
            let buckets: Vec<u64> =
                share.buckets.iter().copied().filter(|bucket| large.contains(bucket)).collect();
            if buckets.is_empty() {
                continue;
            }
            let share = Share { buckets, ..share };
            let Some(groups) = self.groups(Mode::Replace, &share, &large, known)? else {
                shares.extend(share.halves());
                continue;
            };
            let statement = format!(
                "SELECT bucket, toUInt64(sum(if(empty(fresh), length({}), 0))), \
                 toUInt64(sum(length(old))) FROM ({groups}) GROUP BY bucket FORMAT RowBinary",
                self.removable()
            );
            for server in self.servers.one_of_each_shard() {
                let answer = self.client.execute(&server.url, &statement)?;
                let mut rows = Rows::of(&answer);
                while !rows.is_at_end() {
                    let loss = losses.entry(rows.u64()?).or_default();
                    loss.removed += rows.u64()?;
                    loss.before += rows.u64()?;
                }
            }
        }
        Ok(losses)
    }

    /// Returns the SQL expression for a path's old ids that can be removed if the run doesn't
    /// contain the path.
    fn removable(&self) -> &'static str {
        match &self.rules.newer {
            None => "old",
            Some(_) => "if(is_newer, emptyArrayUInt64(), old)",
        }
    }

    /// Splits the affected buckets into shares.
    fn shares(&self, named: &HashSet<u64>) -> Result<Vec<Share>, ClusterError> {
        let mut weights = view::counts(&self.client, &self.tables, &self.record)?;
        weights.retain(|bucket, _| named.contains(bucket));
        let statement = format!(
            "SELECT bucket, count() FROM {} WHERE id > {} GROUP BY bucket FORMAT RowBinary",
            self.tables.all_files,
            self.record.cutoff()
        );
        let answer = self.client.execute(&self.client.target.base, &statement)?;
        let mut rows = Rows::of(&answer);
        while !rows.is_at_end() {
            let (bucket, files) = (rows.u64()?, rows.u64()?);
            *weights.entry(bucket).or_default() += files;
        }
        Ok(shares_of(&weights))
    }

    /// Returns the subquery that groups old and new ids by bucket and path, or `None` if the share
    /// must be split. If a path's newest old row is newer than the run, the path counts as
    /// unchanged. If the run marks the path as changed, this only applies if the row was added
    /// later.
    fn groups(
        &self,
        mode: Mode,
        share: &Share,
        named: &HashSet<u64>,
        known: &mut Groups,
    ) -> Result<Option<String>, ClusterError> {
        let Some(newer) = &self.rules.newer else {
            return Ok(Some(self.groups_with(share, named, "0")));
        };
        if let Some(groups) = known.get(share) {
            return Ok(groups.clone());
        }
        let added = format!("newest > {}", newer.after);
        let mut groups = Some(self.groups_with(share, named, &added));
        let has_ids = !newer.confirmed.is_empty() || !newer.kept.is_empty();
        if let Some(without) = groups.as_ref().filter(|_| has_ids) {
            let kept = self.known_to_keep(mode, newer, without)?;
            groups = kept.map(|kept| {
                let is_newer = format!("{added} OR newest IN {}", sql::numbers(&kept));
                self.groups_with(share, named, &is_newer)
            });
        }
        known.insert(share.clone(), groups.clone());
        Ok(groups)
    }

    /// Finds the confirmed files that the run would remove or replace, and the kept files that it
    /// would remove. There are rarely any, even if the confirmed files consist of many ranges.
    /// Returns `None` if there are more than [`MOST_NEWER`].
    fn known_to_keep(
        &self,
        mode: Mode,
        newer: &NewerFiles,
        groups: &str,
    ) -> Result<Option<Vec<u64>>, ClusterError> {
        let changes = match mode {
            Mode::Replace => "(empty(fresh) OR NOT is_equal)",
            Mode::Append => "notEmpty(fresh) AND NOT is_equal",
        };
        let statement = format!(
            "SELECT newest, toUInt8(empty(fresh)) FROM ({groups}) WHERE notEmpty(old) \
             AND {changes} AND NOT is_newer FORMAT RowBinary"
        );
        let mut kept = Vec::new();
        for server in self.servers.one_of_each_shard() {
            let answer = self.client.execute(&server.url, &statement)?;
            let mut rows = Rows::of(&answer);
            while !rows.is_at_end() {
                let (id, is_missing) = (rows.u64()?, rows.u8()? == 1);
                if newer.confirmed.contains(id) || (is_missing && newer.kept.contains(id)) {
                    kept.push(id);
                }
            }
        }
        Ok(Some(kept).filter(|kept| kept.len() <= MOST_NEWER))
    }

    /// Collects the files that stay but aren't unchanged. Only looks at ids between the first and
    /// last unchanged file, because the rest of the bucket can be large.
    fn note_others(
        &self,
        shares: Vec<(Mode, Share)>,
        named: &HashSet<u64>,
        known: &mut Groups,
        compared: &mut Compared,
    ) -> Result<(), ClusterError> {
        let Some((least, most)) = compared.span() else { return Ok(()) };
        for (mode, share) in shares {
            let stays = match mode {
                Mode::Replace if self.rules.newer.is_none() => continue,
                Mode::Replace => "is_newer",
                Mode::Append => "is_newer OR empty(fresh)",
            };
            let Some(groups) = self.groups(mode, &share, named, known)? else { continue };
            let others = format!(
                "NOT ({UNCHANGED}) AND ({stays}) AND newest >= {least} AND newest <= {most}"
            );
            self.note(&share, (&groups, &others), false, compared)?;
        }
        Ok(())
    }

    /// Collects a share's old files that meet a condition, in the buckets for which unchanged files
    /// have to be recorded.
    fn note(
        &self,
        share: &Share,
        (groups, condition): (&str, &str),
        is_unchanged: bool,
        compared: &mut Compared,
    ) -> Result<(), ClusterError> {
        let is_noted = |bucket: &u64| self.rules.noted.contains(bucket);
        let noted: Vec<u64> = share.buckets.iter().copied().filter(is_noted).collect();
        if noted.is_empty() {
            return Ok(());
        }
        let statement = format!(
            "SELECT newest FROM ({groups}) WHERE bucket IN {} AND notEmpty(old) AND {condition} \
             FORMAT RowBinary",
            sql::numbers(&noted)
        );
        for server in self.servers.one_of_each_shard() {
            let answer = self.client.execute(&server.url, &statement)?;
            let mut rows = Rows::of(&answer);
            while !rows.is_at_end() {
                compared.insert(rows.u64()?, is_unchanged);
            }
        }
        Ok(())
    }

    /// Returns the subquery for [`Self::groups`]. `is_newer` is a condition for the newest old id.
    fn groups_with(&self, share: &Share, named: &HashSet<u64>, is_newer: &str) -> String {
        let cutoff = self.record.cutoff();
        let old: Vec<u64> =
            share.buckets.iter().copied().filter(|bucket| named.contains(bucket)).collect();
        let mut condition = format!("bucket IN {}", sql::numbers(&share.buckets));
        if share.parts > 1 {
            condition
                .push_str(&format!(" AND cityHash64(path) % {} = {}", share.parts, share.part));
        }
        if !self.record.dead.is_empty() {
            condition.push_str(&format!(" AND NOT {}", self.record.is_dead(&self.tables)));
        }
        let is_old = format!("id <= {cutoff} AND bucket IN {}", sql::numbers(&old));
        format!(
            "SELECT bucket, path, groupArrayIf(id, id > {cutoff}) AS fresh, \
             groupArrayIf(id, {is_old}) AS old, maxIf(id, {is_old}) AS newest, \
             ({is_newer}) AS is_newer, ({}) AS is_equal, \
             ((is_equal AND argMaxIf(run, id, id > {cutoff}) < {MARK}) OR is_newer) AS is_same \
             FROM {} WHERE {condition} GROUP BY bucket, path",
            is_equal(cutoff),
            self.tables.files
        )
    }

    /// Counts the changes in the share that `groups` selects. The flag is `true` if any of its rows
    /// have to be marked as dead.
    fn compare(
        &self,
        mode: Mode,
        groups: &str,
        changed: &mut Bitmap,
    ) -> Result<(PublishCounts, bool), ClusterError> {
        let statement = format!(
            "SELECT bucket, toUInt64(sum(notEmpty(fresh) AND empty(old))), \
             toUInt64(sum(notEmpty(fresh) AND notEmpty(old) AND NOT is_same)), \
             toUInt64(sum(notEmpty(fresh) AND notEmpty(old) AND is_same)), \
             toUInt64(sum(if(empty(fresh), length({}), 0))), \
             toUInt64(sum(if(empty(fresh), 0, length(fresh) - 1))) \
             FROM ({groups}) GROUP BY bucket FORMAT RowBinary",
            self.removable()
        );
        let mut counts = PublishCounts::default();
        for server in self.servers.one_of_each_shard() {
            let answer = self.client.execute(&server.url, &statement)?;
            let mut rows = Rows::of(&answer);
            while !rows.is_at_end() {
                let bucket = rows.u64()?;
                let (added, replaced, unchanged) = (rows.u64()?, rows.u64()?, rows.u64()?);
                let (gone, duplicates) = (rows.u64()?, rows.u64()?);
                let removed = if mode == Mode::Append { 0 } else { gone };
                if added + replaced + removed > 0 {
                    changed.insert(bucket);
                }
                counts.added += added;
                counts.replaced += replaced;
                counts.unchanged += unchanged;
                counts.removed += removed;
                counts.duplicates += duplicates;
            }
        }
        let PublishCounts { added: _, replaced, unchanged, removed, duplicates } = counts;
        Ok((counts, replaced + unchanged + removed + duplicates > 0))
    }

    /// Marks a share's dead rows: duplicates within the run, new rows that are identical to old
    /// rows, and old rows that are replaced or removed. Dead rows are stored by id. If a replaced
    /// bucket loses all of its old rows, it's enough to store its old runs.
    fn mark_dead(
        &self,
        mode: Mode,
        keeps_old: bool,
        (share, groups): (&Share, &str),
        named: &HashSet<u64>,
        batch: u64,
    ) -> Result<(), ClusterError> {
        let (dead, files) = (&self.tables.dead, &self.tables.files);
        let repeated = "arrayPopBack(arraySort(fresh))";
        let without_fresh = match mode {
            Mode::Replace => self.removable(),
            Mode::Append => "fresh",
        };
        let ids = match (mode, keeps_old) {
            (Mode::Replace, false) => repeated.to_owned(),
            _ => format!(
                "multiIf(empty(fresh), {without_fresh}, empty(old), {repeated}, is_same, fresh, \
                 arrayConcat({repeated}, old))"
            ),
        };
        self.on_all_servers(&format!(
            "INSERT INTO {dead} SELECT {batch}, bucket, 0, arrayJoin({ids}) FROM ({groups})"
        ))?;
        if mode == Mode::Append || keeps_old {
            return Ok(());
        }
        let old: Vec<u64> =
            share.buckets.iter().copied().filter(|bucket| named.contains(bucket)).collect();
        self.on_all_servers(&format!(
            "INSERT INTO {dead} SELECT DISTINCT {batch}, bucket, run, 0 FROM {files} \
             WHERE bucket IN {} AND id <= {}",
            sql::numbers(&old),
            self.record.cutoff()
        ))
    }
}

/// Returns the SQL expression that compares the attributes of the run's newest row and the newest
/// old row.
fn is_equal(cutoff: u64) -> String {
    let equal = Attribute::ALL.map(|attribute| {
        let column = attribute.column();
        format!("argMaxIf({column}, id, id > {cutoff}) = argMaxIf({column}, id, id <= {cutoff})")
    });
    equal.join(" AND ")
}

fn shares_of(weights: &BTreeMap<u64, u64>) -> Vec<Share> {
    let mut shares = Vec::new();
    let mut buckets = Vec::new();
    let mut rows = 0;
    for (&bucket, &weight) in weights {
        if weight > MOST_ROWS {
            let parts = weight.div_ceil(MOST_ROWS);
            shares.extend((0..parts).map(|part| Share { buckets: vec![bucket], parts, part }));
            continue;
        }
        if rows + weight > MOST_ROWS || buckets.len() >= MOST_BUCKETS {
            shares.push(Share { buckets: std::mem::take(&mut buckets), parts: 1, part: 0 });
            rows = 0;
        }
        buckets.push(bucket);
        rows += weight;
    }
    if !buckets.is_empty() {
        shares.push(Share { buckets, parts: 1, part: 0 });
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_separates_replaced_and_appended_buckets() {
        let split = |buckets: &[u64]| -> Vec<(Mode, Vec<u64>, u64)> {
            let share = Share { buckets: buckets.to_vec(), parts: 3, part: 2 };
            let split = share.split(&HashSet::from([1, 3]));
            split.into_iter().map(|(mode, share)| (mode, share.buckets, share.part)).collect()
        };
        assert_eq!(split(&[1, 3]), [(Mode::Replace, vec![1, 3], 2)]);
        assert_eq!(split(&[4]), [(Mode::Append, vec![4], 2)]);
        let both = [(Mode::Replace, vec![1], 2), (Mode::Append, vec![2, 4], 2)];
        assert_eq!(split(&[1, 2, 4]), both);
    }

    #[test]
    fn halves_of_a_share_cover_its_paths_once() {
        let share = Share { buckets: vec![1], parts: 3, part: 2 };
        let halves = share.halves();
        for hash in 0..60_u64 {
            let holding = halves.iter().filter(|half| hash % half.parts == half.part).count();
            assert_eq!(holding, usize::from(hash % share.parts == share.part));
        }
    }

    #[test]
    fn shares_cover_buckets_once_and_split_large_ones() {
        let weights = BTreeMap::from([(1, 1_500_000), (2, 1_000_000), (3, 4_100_000), (4, 5)]);
        let shares: Vec<(Vec<u64>, u64, u64)> = shares_of(&weights)
            .into_iter()
            .map(|share| (share.buckets, share.parts, share.part))
            .collect();
        let expected = [
            (vec![1], 1, 0),
            (vec![3], 3, 0),
            (vec![3], 3, 1),
            (vec![3], 3, 2),
            (vec![2, 4], 1, 0),
        ];
        assert_eq!(shares, expected);
        let many: BTreeMap<u64, u64> = (0..4_500).map(|bucket| (bucket, 1)).collect();
        let sizes: Vec<usize> = shares_of(&many).iter().map(|share| share.buckets.len()).collect();
        assert_eq!(sizes, [2_000, 2_000, 500]);
    }
}
