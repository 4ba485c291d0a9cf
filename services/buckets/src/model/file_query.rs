//! A validated file search, in the form that every engine can answer.

use std::sync::Arc;

use super::attribute::{Attribute, Attributes};
use super::expression::Expression;
use super::keywords::Keywords;
use super::takedowns::HiddenPaths;

/// The condition on a name or a path.
#[derive(Clone, Debug, Default)]
pub enum Matching {
    /// Every file.
    #[default]
    All,
    /// Required and excluded words and phrases.
    Words(Keywords),
    /// An expression that must match the whole string.
    Expression(Arc<Expression>),
}

impl Matching {
    /// The names of all kinds.
    pub const KINDS: [&str; 4] = ["all", "words", "phrase", "expression"];

    /// Returns the name of this kind of condition.
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

/// The sort order. Ties are sorted by ascending id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By ascending id.
    #[default]
    Index,
    /// By the value of an attribute.
    By(Attribute),
}

/// An interval that excludes both of its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Values must be larger.
    pub from: Option<i64>,
    /// Values must be smaller.
    pub to: Option<i64>,
}

impl Between {
    /// Returns true if neither bound is set.
    pub fn is_open(self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Returns true if a value is inside the interval.
    pub fn contains(self, value: i64) -> bool {
        self.from.is_none_or(|from| value > from) && self.to.is_none_or(|to| value < to)
    }

    /// Returns true if an attribute value passes. Unknown values pass only if neither bound is set.
    pub fn passes(self, attribute: Attribute, value: i64) -> bool {
        let unknown = value == 0 && attribute.has_unknown();
        self.is_open() || (!unknown && self.contains(value))
    }
}

impl Attributes<Between> {
    /// Returns true if none of the intervals has a bound.
    pub fn are_open(&self) -> bool {
        Attribute::ALL.iter().all(|attribute| self[*attribute].is_open())
    }
}

/// The position of a file in an order: its sort value (0 in the order of the index) and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// Value by which the file is sorted.
    pub value: i64,
    /// Id of the file.
    pub id: u64,
}

/// The position of the requested page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Files from this offset.
    Offset(u64),
    /// Files after this key.
    After(SortKey),
}

/// A search for files: its conditions, order and page.
#[derive(Clone, Debug)]
pub struct FileQuery {
    /// The condition on the name or the path.
    pub matching: Matching,
    /// Whether the condition applies to the whole path instead of the file name.
    pub full_path: bool,
    /// Sorted ids of the buckets to search, or `None` for all.
    pub buckets: Option<Vec<u64>>,
    /// Sorted ids of the buckets to exclude, including those hidden from the account.
    pub excluded_buckets: Vec<u64>,
    /// Files to exclude because their removal is pending.
    pub hidden: Vec<HiddenPaths>,
    /// Sorted codes of the wanted bucket types; empty for all.
    pub types: Vec<u64>,
    /// Wanted extensions. A file must have at least one of them. Empty for all.
    pub extensions: Vec<String>,
    /// Extensions of which a file must have none.
    pub stop_extensions: Vec<String>,
    /// Intervals of the attributes.
    pub intervals: Attributes<Between>,
    /// The sort order.
    pub order: Order,
    /// Whether the largest value comes first.
    pub descending: bool,
    /// Position of the first file to return.
    pub position: Position,
    /// Maximum number of files.
    pub limit: usize,
}

impl FileQuery {
    /// Returns true if the search has no filters.
    pub fn is_unfiltered(&self) -> bool {
        self.buckets.is_none()
            && self.excluded_buckets.is_empty()
            && self.hidden.is_empty()
            && self.types.is_empty()
            && self.extensions.is_empty()
            && self.stop_extensions.is_empty()
            && self.intervals.are_open()
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
            order: Order::Index,
            descending: false,
            position: Position::Offset(0),
            limit: 100,
        }
    }
}

impl FileQuery {
    /// Returns true if a file with these attributes passes the intervals.
    pub fn passes_intervals(&self, attributes: &Attributes) -> bool {
        let pass = |attribute| self.intervals[attribute].passes(attribute, attributes[attribute]);
        Attribute::ALL.into_iter().all(pass)
    }

    /// Returns the position of a file in the order of this search.
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
    /// The id, which also determines the order of the index.
    pub id: u64,
    /// Bucket of the file.
    pub bucket: u64,
    /// Path inside the bucket, as in the listing.
    pub path: String,
    /// The size and the modification time of the file.
    pub attributes: Attributes,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Exact number of matching files.
    pub total: u64,
    /// The files of the requested page, in order.
    pub rows: Vec<FileRow>,
    /// The position after which the next page begins, which is that of the last candidate on this
    /// page. `None` at the end. Rows removed during the search are missing from the page, but count
    /// as candidates.
    pub next: Option<SortKey>,
}
