//! Parameters that are one of some words.

use serde::Deserialize;

/// What buckets are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BucketOrder {
    /// Number of files.
    FileCount,
    /// Address.
    BucketName,
}

impl BucketOrder {
    /// The canonical spelling.
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
    /// Smallest first.
    Asc,
    /// Largest first.
    Desc,
}

impl Direction {
    /// The canonical spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asc => "asc",
            Self::Desc => "desc",
        }
    }
}

/// How pages follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PagingMode {
    /// By the number of rows before the page.
    #[default]
    Offset,
    /// By the last row of the page before.
    Scrolling,
}
