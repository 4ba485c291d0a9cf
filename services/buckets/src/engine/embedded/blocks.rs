//! Iterates over the documents matched by a query.

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::query::Weight;
use tantivy::{
    COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet, SegmentOrdinal, SegmentReader, TantivyError,
};

use crate::engine::limits::Limits;

/// Number of blocks to process between limit checks. This is roughly one check every ten
/// microseconds.
const BLOCKS: u32 = 32;

/// A non-scoring collector that stops once its search hits a limit.
pub(super) struct Limited<'a, C> {
    pub(super) collector: &'a C,
    pub(super) limits: &'a Limits,
}

impl<C: Collector> Collector for Limited<'_, C> {
    type Fruit = C::Fruit;
    type Child = C::Child;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<C::Child> {
        self.collector.for_segment(segment, reader)
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<<C::Child as SegmentCollector>::Fruit> {
        let mut part = self.for_segment(segment, reader)?;
        each_block(weight, reader, self.limits, |documents| part.collect_block(documents))?;
        Ok(part.harvest())
    }

    fn merge_fruits(
        &self,
        parts: Vec<<C::Child as SegmentCollector>::Fruit>,
    ) -> tantivy::Result<C::Fruit> {
        self.collector.merge_fruits(parts)
    }
}

/// Calls `each` with blocks of matching documents, leaving out deleted ones.
///
/// Scorers can't return errors. If the search is stopped inside a scorer, it looks like the end of
/// the results, so callers must check the limits afterwards.
fn each_block(
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
