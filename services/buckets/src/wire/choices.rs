//! Parameters with a fixed set of values.

use serde::Deserialize;

/// Sort order for buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BucketOrder {
    /// Number of files.
    FileCount,
    /// Address.
    BucketName,
}

impl BucketOrder {
    /// Canonical spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileCount => "fileCount",
            Self::BucketName => "bucketName",
        }
    }
}

/// Sort direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Smallest value first.
    Asc,
    /// Largest value first.
    Desc,
}

impl Direction {
    /// Canonical spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asc => "asc",
            Self::Desc => "desc",
        }
    }
}

/// Paging mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PagingMode {
    /// Pages start at an offset.
    #[default]
    Offset,
    /// Each page continues where the previous page ended.
    Scrolling,
}
