//! Parameters that have a fixed set of values.

use serde::Deserialize;

/// The sort order of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BucketOrder {
    /// By number of files.
    FileCount,
    /// By address.
    BucketName,
}

impl BucketOrder {
    /// Returns the canonical spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileCount => "fileCount",
            Self::BucketName => "bucketName",
        }
    }
}

/// The direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The smallest value first.
    Asc,
    /// The largest value first.
    Desc,
}

impl Direction {
    /// Returns the canonical spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asc => "asc",
            Self::Desc => "desc",
        }
    }
}

/// The paging mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PagingMode {
    /// Pages begin at an offset.
    #[default]
    Offset,
    /// Pages continue after the last row of the previous page.
    Scrolling,
}
