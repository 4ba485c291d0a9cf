//! Iterates over the documents matched by a query.

use tantivy::query::Weight;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet, SegmentReader, TantivyError};

use crate::engine::limits::Limits;

/// Check the limits after this number of blocks, or about every ten microseconds.
const BLOCKS: u32 = 32;

/// Calls `each` with blocks of matching documents, leaving out deleted ones.
///
/// Scorers can't return errors. If the search is stopped inside one, it looks as if there were no
/// more documents, so callers must check the limits afterwards.
pub(super) fn each_block(
    weight: &dyn Weight,
    reader: &SegmentReader,
    limits: &Limits,
    mut each: impl FnMut(&[DocId]),
) -> tantivy::Result<()> {
    let mut found = weight.scorer(reader, 1.0)?;
    let mut block = [0; COLLECT_BLOCK_BUFFER_LEN];
    for number in 0u32.. {
        if number.is_multiple_of(BLOCKS) {
            check(limits)?;
        }
        let count = found.fill_buffer(&mut block);
        let is_last = count < block.len();
        match reader.alive_bitset() {
            None => each(&block[..count]),
            Some(alive) => {
                let mut living = 0;
                for at in 0..count {
                    let document = block[at];
                    block[living] = document;
                    living += usize::from(alive.is_alive(document));
                }
                each(&block[..living]);
            }
        }
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Returns an error if the search should stop.
pub(super) fn check(limits: &Limits) -> tantivy::Result<()> {
    limits.check().map_err(|_| TantivyError::SystemError("stopped".to_owned()))
}
