//! The naive model: a list of files that every search reads completely.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use buckets::engine::{BucketLoss, Mode, NewFile, NewerFiles, PublishCounts, RemovalLimit};
use buckets::model::path::file_name;
use buckets::model::{
    Attributes, Facets, FileQuery, FileRow, Found, Matching, Phrase, Position, extension, words,
};

/// An index as a list.
#[derive(Clone, Debug, Default)]
pub struct Naive {
    files: Vec<(u64, NewFile)>,
    next: u64,
    run: Vec<(u64, NewFile)>,
    /// Number of rows in the run, including removed ones.
    rows: u64,
    /// Whether the files of a run get different ids if most of its rows are not published.
    rewrites: bool,
    /// The buckets that the last publish changed.
    pub changed: BTreeSet<u64>,
    /// The files that the last publish kept, with their buckets and whether it found them unchanged.
    pub stayed: Vec<(u64, u64, bool)>,
}

impl Naive {
    pub fn new(rewrites: bool) -> Self {
        Self { rewrites, ..Self::default() }
    }

    pub fn add(&mut self, files: &[NewFile]) {
        for file in files {
            self.next += 1;
            self.rows += 1;
            self.run.push((self.next, file.clone()));
        }
    }

    /// Returns the buckets that would lose more files than the limit allows.
    pub fn exceeded(
        &self,
        mode: Mode,
        buckets: &[u64],
        limit: RemovalLimit,
    ) -> Vec<(u64, BucketLoss)> {
        let mut losses: BTreeMap<u64, BucketLoss> = BTreeMap::new();
        for (_, file) in self.files.iter().filter(|(_, file)| buckets.contains(&file.bucket)) {
            let is_named = |(_, new): &(u64, NewFile)| {
                (new.bucket, new.path.as_str()) == (file.bucket, file.path.as_str())
            };
            let loss = losses.entry(file.bucket).or_default();
            loss.before += 1;
            loss.removed += u64::from(!self.run.iter().any(is_named));
        }
        let is_too_much = |loss: &BucketLoss| {
            mode == Mode::Replace
                && loss.before > limit.files
                && loss.removed * 100 > loss.before * limit.percent
        };
        losses.into_iter().filter(|(_, loss)| is_too_much(loss)).collect()
    }

    pub fn publish(&mut self, mode: Mode, buckets: &[u64]) -> PublishCounts {
        self.publish_outdated(mode, buckets, &NewerFiles { after: u64::MAX, ..Default::default() })
    }

    /// Publishes a run that changes none of the files that are newer than it.
    pub fn publish_outdated(
        &mut self,
        mode: Mode,
        buckets: &[u64],
        newer: &NewerFiles,
    ) -> PublishCounts {
        let mut counts = PublishCounts::default();
        let rows = std::mem::take(&mut self.rows);
        let mut latest: HashMap<(u64, String), u64> = HashMap::new();
        for (id, file) in &self.run {
            if latest.insert((file.bucket, file.path.clone()), *id).is_some() {
                counts.duplicates += 1;
            }
        }
        let mut kept = Vec::new();
        self.changed.clear();
        self.stayed.clear();
        let mut old_keys = std::collections::HashSet::new();
        let attributes: HashMap<u64, (Attributes, bool)> =
            self.run.iter().map(|(id, file)| (*id, (file.attributes, file.is_changed))).collect();
        for (id, file) in std::mem::take(&mut self.files) {
            let key = (file.bucket, file.path.clone());
            let again = latest.get(&key).copied();
            let (is_equal, is_marked) = again.map_or((false, false), |new| {
                let (of_run, is_marked) = attributes[&new];
                (of_run == file.attributes, is_marked)
            });
            let stays = match is_equal && is_marked {
                true => id > newer.after,
                false => is_equal || (again.is_some() && newer.contain(id)),
            };
            if stays {
                counts.unchanged += 1;
                old_keys.insert(key.clone());
                // Its row of the run is not published.
                latest.insert(key, 0);
                self.stayed.push((file.bucket, id, is_equal));
                kept.push((id, file));
                continue;
            }
            old_keys.insert(key);
            if again.is_some() {
                counts.replaced += 1;
                self.changed.insert(file.bucket);
            } else if mode == Mode::Replace
                && buckets.contains(&file.bucket)
                && !newer.contain(id)
                && !newer.kept.contains(id)
            {
                counts.removed += 1;
                self.changed.insert(file.bucket);
            } else {
                self.stayed.push((file.bucket, id, false));
                kept.push((id, file));
            }
        }
        let added: Vec<_> = latest.keys().filter(|key| !old_keys.contains(key)).collect();
        counts.added = added.len() as u64;
        self.changed.extend(added.iter().map(|(bucket, _)| *bucket));
        let run = std::mem::take(&mut self.run);
        let newest =
            |(id, file): &(u64, NewFile)| latest.get(&(file.bucket, file.path.clone())) == Some(id);
        let (first, all) = (self.next - rows, run.len());
        let mut survivors: Vec<(u64, NewFile)> = run.into_iter().filter(newest).collect();
        let dead = (all - survivors.len()) as u64;
        if self.rewrites && dead > 0 && dead * 2 >= rows {
            survivors.iter_mut().zip(first + 1..).for_each(|((id, _), new)| *id = new);
            self.next = first + survivors.len() as u64;
        }
        kept.extend(survivors);
        kept.sort_by_key(|(id, _)| *id);
        self.files = kept;
        counts
    }

    /// The ids of an aborted run are reused.
    pub fn abort(&mut self) {
        self.next -= std::mem::take(&mut self.rows);
        self.run.clear();
    }

    pub fn remove(&mut self, bucket: u64, prefix: &str) -> u64 {
        let before = self.files.len();
        let gone = |file: &NewFile| file.bucket == bucket && file.path.starts_with(prefix);
        self.files.retain(|(_, file)| !gone(file));
        self.run.retain(|(_, file)| !gone(file));
        (before - self.files.len()) as u64
    }

    pub fn counts(&self) -> BTreeMap<u64, u64> {
        let mut counts = BTreeMap::new();
        for (_, file) in &self.files {
            *counts.entry(file.bucket).or_default() += 1;
        }
        counts
    }

    pub fn facets(&self, query: &FileQuery) -> Facets {
        let mut facets = Facets::default();
        for (_, file) in self.files.iter().filter(|(id, file)| matches(query, *id, file)) {
            *facets.buckets.entry(file.bucket).or_default() += 1;
            let shortest = extension::shortest(file_name(&file.path));
            if !shortest.is_empty() {
                *facets.extensions.entry(shortest).or_default() += 1;
            }
        }
        facets
    }

    pub fn search(&self, query: &FileQuery) -> Found {
        let mut found: Vec<(i64, FileRow)> = self
            .files
            .iter()
            .filter(|(id, file)| matches(query, *id, file))
            .map(|(id, file)| {
                let row = FileRow {
                    id: *id,
                    bucket: file.bucket,
                    path: file.path.clone(),
                    attributes: file.attributes,
                };
                let value = query.sort_key(&row).value;
                (if query.descending { !value } else { value }, row)
            })
            .collect();
        let total = found.len() as u64;
        found.sort_by_key(|(value, row)| (*value, row.id));
        let rest: Vec<FileRow> = match query.position {
            Position::Offset(start) => {
                found.into_iter().skip(start as usize).map(|(_, row)| row).collect()
            }
            Position::After(place) => {
                let value = if query.descending { !place.value } else { place.value };
                let after = |(v, row): &(i64, FileRow)| (*v, row.id) > (value, place.id);
                found.into_iter().filter(after).map(|(_, row)| row).collect()
            }
        };
        let more = rest.len() > query.limit;
        let rows: Vec<FileRow> = rest.into_iter().take(query.limit).collect();
        let next = rows.last().filter(|_| more).map(|row| query.sort_key(row));
        Found { total, rows, next }
    }
}

fn matches(query: &FileQuery, id: u64, file: &NewFile) -> bool {
    let name = file_name(&file.path);
    let text = if query.full_path { file.path.as_str() } else { name };
    let by_text = match &query.matching {
        Matching::All => true,
        Matching::Words(keywords) => {
            let words = words::of(text);
            keywords.include.iter().all(|phrase| contains(&words, phrase))
                && !keywords.exclude.iter().any(|phrase| contains(&words, phrase))
        }
        Matching::Expression(expression) => expression.matches(text),
    };
    by_text
        && query.buckets.as_ref().is_none_or(|buckets| buckets.contains(&file.bucket))
        && !query.excluded_buckets.contains(&file.bucket)
        && !query
            .hidden
            .iter()
            .any(|hidden| hidden.bucket == file.bucket && file.path.starts_with(&hidden.prefix))
        && (query.types.is_empty() || query.types.contains(&file.kind))
        && (query.extensions.is_empty()
            || query.extensions.iter().any(|wanted| extension::has(name, wanted)))
        && !query.stop_extensions.iter().any(|stopped| extension::has(name, stopped))
        && query.passes_intervals(&file.attributes)
        && query.ids.as_ref().is_none_or(|ids| ids.contains(&id))
}

fn contains(words: &[String], phrase: &Phrase) -> bool {
    words.windows(phrase.len()).any(|window| window == phrase.as_slice())
}
