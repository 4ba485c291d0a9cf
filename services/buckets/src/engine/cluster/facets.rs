//! Counts search results by bucket and by extension.

use super::generation::Generation;
use super::rows::Rows;
use super::search::{condition, execute};
use super::view::View;
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;
use crate::model::facets::Facets;
use crate::model::file_query::FileQuery;

/// Minimum size in bytes of a row that counts an extension: its length, one byte and the count.
const SHORTEST_ROW: usize = 10;

/// Counts a search's results in one state of the index. `newest` means that there can't be a newer
/// state yet.
pub(super) fn facets(
    index: &Generation,
    view: &View,
    query: &FileQuery,
    limits: &Limits,
    newest: bool,
) -> Result<Facets, EngineError> {
    let mut facets = Facets::default();
    let Some(condition) = condition(index, view, query, newest)? else { return Ok(facets) };
    let files = &index.tables.all_files;
    let by_bucket =
        format!("SELECT bucket, count() FROM {files} WHERE {condition} GROUP BY bucket");
    let by_bucket = execute(index, &by_bucket, limits)?;
    // Extensions are stored shortest first.
    let by_extension = format!(
        "SELECT extensions[1] AS shortest, count() FROM {files} \
         WHERE {condition} AND notEmpty(extensions) GROUP BY shortest"
    );
    let by_extension = execute(index, &by_extension, limits)?;
    // Like the embedded engine, reserve as much memory as a page with this number of rows would.
    let counts = by_bucket.len() / (2 * size_of::<u64>()) + by_extension.len() / SHORTEST_ROW;
    limits.wait_for_memory(counts, 0)?;
    let mut rows = Rows::of(&by_bucket);
    while !rows.is_at_end() {
        facets.buckets.insert(rows.u64()?, rows.u64()?);
    }
    let mut rows = Rows::of(&by_extension);
    while !rows.is_at_end() {
        facets.extensions.insert(rows.text()?, rows.u64()?);
    }
    Ok(facets)
}
