//! Selects documents to delete during a publish or removal.

use std::sync::Arc;

use tantivy::DocId;
use tantivy::index::SegmentReader;
use tantivy::query::Query;
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};

use super::schema::ID;
use crate::engine::bitmap::Bitmap;

/// Query that matches the documents of these rows.
pub(super) fn documents_of(rows: Bitmap) -> Box<dyn Query> {
    let rows = Arc::new(rows);
    let predicate = FunctionPredicate::from(move |reader: &SegmentReader| {
        let ids = reader.fast_fields().column_first_or_default::<u64>(ID)?;
        let rows = Arc::clone(&rows);
        Ok(move |document: DocId| rows.contains(ids.get_val(document).wrapping_sub(1)))
    });
    let query: DocPredicateQuery = predicate.into();
    Box::new(query)
}
