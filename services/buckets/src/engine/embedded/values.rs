//! Fast-field columns used for filtering and sorting.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::{DocId, SegmentReader};

use super::schema::ID;
use crate::model::file_query::Between;
use crate::model::{Attribute, Attributes};

/// The columns that a query needs.
pub(super) struct Values {
    pub(super) ids: Arc<dyn ColumnValues<u64>>,
    pub(super) attributes: Attributes<Option<Arc<dyn ColumnValues<i64>>>>,
}

impl Values {
    /// Opens the columns of the wanted attributes, which must include every attribute with an
    /// interval.
    pub(super) fn open(
        reader: &SegmentReader,
        wanted: impl Fn(Attribute) -> bool,
    ) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let attributes = Attributes::try_from_fn(|attribute| {
            let column = || fast.column_first_or_default::<i64>(attribute.column());
            wanted(attribute).then(column).transpose()
        });
        Ok(Self { ids: fast.column_first_or_default(ID)?, attributes: attributes? })
    }

    /// Returns `true` if the document is within all intervals.
    pub(super) fn pass(&self, intervals: &Attributes<Between>, document: DocId) -> bool {
        Attribute::ALL.into_iter().all(|attribute| {
            let interval = intervals[attribute];
            let column = self.attributes[attribute].as_ref().filter(|_| !interval.is_open());
            column.is_none_or(|column| interval.passes(attribute, column.get_val(document)))
        })
    }
}
