//! Validated file searches that every engine can run.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::attribute::{Attribute, Attributes};
use super::expression::Expression;
use super::keywords::Keywords;
use super::takedowns::HiddenPaths;

/// Condition on a name or path.
#[derive(Clone, Debug, Default)]
pub enum Matching {
    /// Matches everything.
    #[default]
    All,
    /// Required and excluded words and phrases.
    Words(Keywords),
    /// An expression that must match the whole string.
    Expression(Arc<Expression>),
}

impl Matching {
    /// All values of [`Self::kind`].
    pub const KINDS: [&str; 4] = ["all", "words", "phrase", "expression"];

    /// Name of this kind of condition.
    pub fn kind(&self) -> &'static str {
        let [all, words, phrase, expression] = Self::KINDS;
        match self {
            Self::All => all,
            Self::Words(keywords) if keywords.is_empty() => all,
            Self::Words(Keywords { include, exclude }) => {
                let has_phrase = include.iter().chain(exclude).any(|terms| terms.len() > 1);
                if has_phrase { phrase } else { words }
            }
            Self::Expression(_) => expression,
        }
    }
}

/// Sort order. Ties are broken by ascending id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Ascending id.
    #[default]
    Index,
    /// Value of an attribute.
    By(Attribute),
}

/// An open interval: both bounds are excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Values must be larger than this.
    pub from: Option<i64>,
    /// Values must be smaller than this.
    pub to: Option<i64>,
}

impl Between {
    /// Returns `true` if there are no bounds.
    pub fn is_open(self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Returns `true` if the value is within the bounds.
    pub fn contains(self, value: i64) -> bool {
        self.from.is_none_or(|from| value > from) && self.to.is_none_or(|to| value < to)
    }

    /// Returns `true` if an attribute value passes the filter. An unknown value only passes
    /// an interval without bounds.
    pub fn passes(self, attribute: Attribute, value: i64) -> bool {
        let unknown = value == 0 && attribute.has_unknown();
        self.is_open() || (!unknown && self.contains(value))
    }
}

impl Attributes<Between> {
    /// Returns `true` if none of the intervals has any bounds.
    pub fn are_open(&self) -> bool {
        Attribute::ALL.iter().all(|attribute| self[*attribute].is_open())
    }
}

/// Position of a file in a sort order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The value we sort by. 0 in index order.
    pub value: i64,
    /// File id.
    pub id: u64,
}

/// Start of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// At this offset.
    Offset(u64),
    /// After this key.
    After(SortKey),
}

/// A file search, with its conditions, order and page.
#[derive(Clone, Debug)]
pub struct FileQuery {
    /// Condition on the name or path.
    pub matching: Matching,
    /// Whether to match the whole path instead of just the file name.
    pub full_path: bool,
    /// Buckets to search, as sorted ids. `None` searches all buckets.
    pub buckets: Option<Vec<u64>>,
    /// Buckets to exclude, as sorted ids. Includes buckets that the account isn't allowed to see.
    pub excluded_buckets: Vec<u64>,
    /// Files to exclude because they are about to be removed.
    pub hidden: Vec<HiddenPaths>,
    /// Bucket types, as sorted codes. Empty for all types.
    pub types: Vec<u64>,
    /// Only include files with one of these extensions, unless this is empty.
    pub extensions: Vec<String>,
    /// Exclude files with any of these extensions.
    pub stop_extensions: Vec<String>,
    /// Intervals for the attributes.
    pub intervals: Attributes<Between>,
    /// Ids of the files to search. `None` searches all files.
    pub ids: Option<RangeInclusive<u64>>,
    /// Sort order.
    pub order: Order,
    /// Whether to sort in descending order.
    pub descending: bool,
    /// Start of the page.
    pub position: Position,
    /// Maximum number of files on the page.
    pub limit: usize,
}

impl FileQuery {
    /// Returns `true` if there are no filters.
    pub fn is_unfiltered(&self) -> bool {
        self.buckets.is_none()
            && self.excluded_buckets.is_empty()
            && self.hidden.is_empty()
            && self.types.is_empty()
            && self.extensions.is_empty()
            && self.stop_extensions.is_empty()
            && self.intervals.are_open()
            && self.ids.is_none()
    }
}

impl Default for FileQuery {
    fn default() -> Self {
        Self {
            matching: Matching::All,
            full_path: false,
            buckets: None,
            excluded_buckets: Vec::new(),
            hidden: Vec::new(),
            types: Vec::new(),
            extensions: Vec::new(),
            stop_extensions: Vec::new(),
            intervals: Attributes::default(),
            ids: None,
            order: Order::Index,
            descending: false,
            position: Position::Offset(0),
            limit: 100,
        }
    }
}

impl FileQuery {
    /// Returns `true` if these attributes are within all intervals.
    pub fn passes_intervals(&self, attributes: &Attributes) -> bool {
        let pass = |attribute| self.intervals[attribute].passes(attribute, attributes[attribute]);
        Attribute::ALL.into_iter().all(pass)
    }

    /// Returns the sort key of a file in this search.
    pub fn sort_key(&self, row: &FileRow) -> SortKey {
        let value = match self.order {
            Order::Index => 0,
            Order::By(attribute) => row.attributes[attribute],
        };
        SortKey { value, id: row.id }
    }
}

/// A file in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// File id. Also its position in index order.
    pub id: u64,
    /// Bucket id.
    pub bucket: u64,
    /// Path within the bucket, exactly as listed.
    pub path: String,
    /// Size and modification time.
    pub attributes: Attributes,
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Exact number of matching files.
    pub total: u64,
    /// The files on the page, in order.
    pub rows: Vec<FileRow>,
    /// Start of the next page, or `None` if this is the last page. It is the sort key of the last
    /// file found for this page. That file isn't in `rows` if it was removed during the search.
    pub next: Option<SortKey>,
}
