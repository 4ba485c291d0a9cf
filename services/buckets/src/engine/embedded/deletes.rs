//! Documents that a publish or removal deletes.

use std::collections::HashSet;
use std::sync::Arc;

use tantivy::DocId;
use tantivy::index::SegmentReader;
use tantivy::query::Query;
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};

use super::schema::{BUCKET, ID, RUN};

/// Documents to delete: single ids, and all documents of some buckets except those of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Deletions {
    pub(super) ids: HashSet<u64>,
    pub(super) buckets: HashSet<u64>,
    pub(super) spared_run: u64,
}

impl Deletions {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.buckets.is_empty()
    }

    /// Returns a query for these documents.
    pub(super) fn into_query(self) -> Box<dyn Query> {
        let deletions = Arc::new(self);
        let predicate = FunctionPredicate::from(move |reader: &SegmentReader| {
            let fast = reader.fast_fields();
            let ids = fast.column_first_or_default::<u64>(ID)?;
            let buckets = fast.column_first_or_default::<u64>(BUCKET)?;
            let runs = fast.column_first_or_default::<u64>(RUN)?;
            let deletions = Arc::clone(&deletions);
            Ok(move |document: DocId| {
                (!deletions.buckets.is_empty()
                    && runs.get_val(document) != deletions.spared_run
                    && deletions.buckets.contains(&buckets.get_val(document)))
                    || (!deletions.ids.is_empty() && deletions.ids.contains(&ids.get_val(document)))
            })
        });
        let query: DocPredicateQuery = predicate.into();
        Box::new(query)
    }
}
