//! The columns of a segment that a query looks at, and its intervals.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::{DocId, SegmentReader};

use super::schema::{ID, MODIFIED, SIZE};
use crate::model::file_query::{Between, FileQuery};

/// The columns that a query looks at beside the id.
pub(super) struct Values {
    pub(super) ids: Arc<dyn ColumnValues<u64>>,
    pub(super) sizes: Option<Arc<dyn ColumnValues<i64>>>,
    pub(super) dates: Option<Arc<dyn ColumnValues<i64>>>,
}

impl Values {
    pub(super) fn open(reader: &SegmentReader, sizes: bool, dates: bool) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let column = |wanted: bool, name| -> tantivy::Result<_> {
            if wanted { Ok(Some(fast.column_first_or_default::<i64>(name)?)) } else { Ok(None) }
        };
        Ok(Self {
            ids: fast.column_first_or_default(ID)?,
            sizes: column(sizes, SIZE)?,
            dates: column(dates, MODIFIED)?,
        })
    }
}

/// The intervals of a query.
#[derive(Clone, Copy)]
pub(super) struct Intervals {
    pub(super) size: Between,
    pub(super) modified: Between,
}

impl Intervals {
    pub(super) fn of(query: &FileQuery) -> Self {
        Self { size: query.size, modified: query.modified }
    }

    pub(super) fn pass(self, values: &Values, document: DocId) -> bool {
        let size = values.sizes.as_ref().filter(|_| !self.size.is_open());
        let date = values.dates.as_ref().filter(|_| !self.modified.is_open());
        size.is_none_or(|sizes| self.size.contains(sizes.get_val(document)))
            && date.is_none_or(|dates| {
                let date = dates.get_val(document);
                date != 0 && self.modified.contains(date)
            })
    }

    pub(super) fn are_open(self) -> bool {
        self.size.is_open() && self.modified.is_open()
    }
}
