//! Counts search results by bucket and by extension.

use std::collections::BTreeMap;
use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::StrColumn;
use tantivy::{
    COLLECT_BLOCK_BUFFER_LEN, DocId, Score, SegmentOrdinal, SegmentReader, TantivyError,
};

use super::blocks::check;
use super::chooser::{Chooser, Only};
use super::collect::{BucketCounter, Counts};
use super::column::PathColumn;
use super::page::{Candidates, candidates, run};
use super::segment::Segment;
use super::view::View;
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;
use crate::model::extension::shortest;
use crate::model::facets::Facets;
use crate::model::file_query::{FileQuery, Matching};
use crate::model::path::file_name;

/// Maximum number of extensions to cache for later responses. The cache doesn't count towards a
/// search's memory.
const MOST_KEPT: usize = 100_000;

/// Counts search results by bucket and by extension.
pub(super) fn facets(
    view: &View,
    query: &FileQuery,
    limits: &Limits,
) -> Result<Facets, EngineError> {
    let is_everything = matches!(query.matching, Matching::All) && query.is_unfiltered();
    if is_everything { all_files(view, limits) } else { counted(view, query, limits) }
}

/// Returns the counts of all files. They are only counted once per index state, unless there are
/// too many extensions to cache.
fn all_files(view: &View, limits: &Limits) -> Result<Facets, EngineError> {
    let extensions = match view.extensions.get() {
        Some(extensions) => extensions,
        None => {
            let all = counted(view, &FileQuery::default(), limits)?;
            if all.extensions.len() > MOST_KEPT {
                return Ok(all);
            }
            view.extensions.get_or_init(|| all.extensions)
        }
    };
    let buckets = &*view.summary.counts;
    limits.wait_for_memory(buckets.len() + extensions.len(), 0)?;
    Ok(Facets { buckets: buckets.clone(), extensions: extensions.clone() })
}

fn counted(view: &View, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
    let (compiled, only) = match candidates(view, query, limits)? {
        Candidates::None => return Ok(Facets::default()),
        Candidates::Rows(rows) => (view.visible_query(), Only::Rows(Arc::new(rows))),
        Candidates::Query(compiled, only) => (compiled, only),
    };
    let judged = matches!(only, Only::Judged(..));
    let collector = FacetCollector { view, query, limits, only };
    run(view, &*compiled, &collector, judged, limits)
}

struct FacetCollector<'a> {
    view: &'a View,
    query: &'a FileQuery,
    limits: &'a Limits,
    only: Only,
}

/// Per-segment part of [`FacetCollector`].
struct FacetPart {
    chooser: Chooser,
    segment: Arc<Segment>,
    /// Index of the bucket run that contains the last document, if there are runs.
    run: usize,
    by_bucket: BucketCounter,
    by_extension: ExtensionCounter,
}

enum ExtensionCounter {
    /// Counts by the extension's ordinal in the segment.
    Numbers { extensions: StrColumn, counts: Vec<u32> },
    /// Older indexes don't have the field, so the extensions are taken from the file names.
    Names { column: PathColumn, counts: BTreeMap<String, u64> },
}

impl Collector for FacetCollector<'_> {
    type Fruit = Facets;
    type Child = FacetPart;

    fn for_segment(&self, number: SegmentOrdinal, _: &SegmentReader) -> tantivy::Result<FacetPart> {
        check(self.limits)?;
        let segment = Arc::clone(&self.view.segments[number as usize]);
        let by_extension = match segment.extensions.clone() {
            Some(extensions) => {
                let counts = vec![0; extensions.num_terms()];
                ExtensionCounter::Numbers { extensions, counts }
            }
            None => ExtensionCounter::Names {
                column: self.view.column.clone(),
                counts: BTreeMap::new(),
            },
        };
        Ok(FacetPart {
            chooser: Chooser::open(&segment, self.query, &self.only, self.limits)?,
            segment,
            run: 0,
            by_bucket: BucketCounter::default(),
            by_extension,
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, parts: Vec<(Counts, ExtensionCounter)>) -> tantivy::Result<Facets> {
        let distinct = parts.iter().map(|(buckets, extensions)| buckets.len() + extensions.len());
        // Reserves as much memory as a page with this number of rows would.
        self.limits
            .wait_for_memory(distinct.sum(), 0)
            .map_err(|_| TantivyError::SystemError("stopped".to_owned()))?;
        let mut facets = Facets::default();
        for (buckets, extensions) in parts {
            check(self.limits)?;
            for (bucket, count) in buckets {
                *facets.buckets.entry(bucket).or_default() += count;
            }
            extensions.add_to(&mut facets.extensions)?;
        }
        facets.extensions.remove("");
        Ok(facets)
    }
}

impl ExtensionCounter {
    /// Number of distinct extensions.
    fn len(&self) -> usize {
        match self {
            Self::Numbers { counts, .. } => counts.iter().filter(|count| **count > 0).count(),
            Self::Names { counts, .. } => counts.len(),
        }
    }

    fn count(&mut self, documents: &[DocId], ids: &[u64]) {
        match self {
            Self::Numbers { extensions, counts } => {
                let mut numbers = [None; COLLECT_BLOCK_BUFFER_LEN];
                let numbers = &mut numbers[..documents.len()];
                extensions.ords().first_vals(documents, numbers);
                for number in numbers.iter().flatten() {
                    counts[*number as usize] += 1;
                }
            }
            Self::Names { column, counts } => {
                for id in ids {
                    let path = String::from_utf8_lossy(column.path(id - 1));
                    *counts.entry(shortest(file_name(&path))).or_default() += 1;
                }
            }
        }
    }

    fn add_to(self, all: &mut BTreeMap<String, u64>) -> tantivy::Result<()> {
        let (extensions, counts) = match self {
            Self::Numbers { extensions, counts } => (extensions, counts),
            Self::Names { counts, .. } => {
                for (extension, count) in counts {
                    *all.entry(extension).or_default() += count;
                }
                return Ok(());
            }
        };
        let used: Vec<u64> = (0..).zip(&counts).filter(|(_, n)| **n > 0).map(|(n, _)| n).collect();
        let mut numbers = used.iter();
        extensions.dictionary().sorted_ords_to_term_cb(&used, |extension| {
            let count = numbers.next().map_or(0, |number| u64::from(counts[*number as usize]));
            let extension = String::from_utf8_lossy(extension).into_owned();
            *all.entry(extension).or_default() += count;
        })?;
        Ok(())
    }
}

impl FacetPart {
    /// Counts documents by bucket. They must be in ascending order.
    fn count_buckets(&mut self, mut documents: &[DocId]) {
        let Some(runs) = self.segment.bucket_runs() else {
            let mut buckets = [0; COLLECT_BLOCK_BUFFER_LEN];
            let buckets = &mut buckets[..documents.len()];
            self.segment.buckets.get_vals(documents, buckets);
            return buckets.iter().for_each(|bucket| self.by_bucket.add(*bucket, 1));
        };
        while let Some(first) = documents.first() {
            self.run += runs[self.run..].partition_point(|run| run.end <= *first);
            let Some(run) = runs.get(self.run) else { return };
            let within = documents.partition_point(|document| *document < run.end);
            self.by_bucket.add(run.bucket, within as u64);
            documents = &documents[within..];
        }
    }
}

impl SegmentCollector for FacetPart {
    type Fruit = (Counts, ExtensionCounter);

    fn collect(&mut self, document: DocId, _: Score) {
        self.collect_block(&[document]);
    }

    fn collect_block(&mut self, documents: &[DocId]) {
        let mut chosen = [0; COLLECT_BLOCK_BUFFER_LEN];
        let mut ids = [0; COLLECT_BLOCK_BUFFER_LEN];
        let mut count = documents.len();
        chosen[..count].copy_from_slice(documents);
        let by_name = matches!(self.by_extension, ExtensionCounter::Names { .. });
        if by_name || !self.chooser.takes_all() {
            self.segment.ids.get_vals(documents, &mut ids[..count]);
            let mut wanted = [true; COLLECT_BLOCK_BUFFER_LEN];
            let wanted = &mut wanted[..count];
            self.chooser.choose(&self.segment, documents, &ids[..count], wanted);
            count = 0;
            for (at, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
                (chosen[count], ids[count]) = (documents[at], ids[at]);
                count += 1;
            }
        }
        self.count_buckets(&chosen[..count]);
        self.by_extension.count(&chosen[..count], &ids[..count]);
    }

    fn harvest(self) -> (Counts, ExtensionCounter) {
        (self.by_bucket.finish(), self.by_extension)
    }
}
