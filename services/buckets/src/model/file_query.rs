//! A file search after parsing and checking: what every engine answers.

use std::sync::Arc;

use super::attribute::{Attribute, Attributes};
use super::expression::Expression;
use super::keywords::Keywords;

/// What is looked for in a name or path.
#[derive(Clone, Debug, Default)]
pub enum Matching {
    /// Every file.
    #[default]
    All,
    /// Words, phrases, exclusions.
    Words(Keywords),
    /// One expression for the whole text.
    Expression(Arc<Expression>),
}

/// What files are sorted by; ties always go by ascending id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Ascending id.
    #[default]
    Index,
    /// An attribute.
    By(Attribute),
}

/// A strict interval: both ends are outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Between {
    /// Values must be larger.
    pub from: Option<i64>,
    /// Values must be smaller.
    pub to: Option<i64>,
}

impl Between {
    /// Whether nothing is asked for.
    pub fn is_open(self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Whether a value lies inside.
    pub fn contains(self, value: i64) -> bool {
        self.from.is_none_or(|from| value > from) && self.to.is_none_or(|to| value < to)
    }

    /// Whether the value of an attribute passes: an unknown one does only where nothing is asked for.
    pub fn passes(self, attribute: Attribute, value: i64) -> bool {
        let unknown = value == 0 && attribute.has_unknown();
        self.is_open() || (!unknown && self.contains(value))
    }
}

impl Attributes<Between> {
    /// Whether nothing is asked for.
    pub fn are_open(&self) -> bool {
        Attribute::ALL.iter().all(|attribute| self[*attribute].is_open())
    }
}

/// The place of a file in an order: its sort value (0 in index order) and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// Sort value.
    pub value: i64,
    /// File id.
    pub id: u64,
}

/// The part of the result that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Files from this place on, counted from 0.
    Offset(u64),
    /// Files behind this one.
    After(SortKey),
}

/// A file search.
#[derive(Clone, Debug)]
pub struct FileQuery {
    /// What is looked for.
    pub matching: Matching,
    /// Look at the whole path instead of the file name.
    pub full_path: bool,
    /// Buckets the files must be in, sorted; `None`: any.
    pub buckets: Option<Vec<u64>>,
    /// Buckets they must not be in, sorted; what the account may not see is part of it.
    pub excluded_buckets: Vec<u64>,
    /// Codes of bucket types, sorted; empty: any.
    pub types: Vec<u64>,
    /// Extensions of which a file must have one; empty: any.
    pub extensions: Vec<String>,
    /// Extensions of which a file must have none.
    pub stop_extensions: Vec<String>,
    /// What the attributes must be.
    pub intervals: Attributes<Between>,
    /// Sort value.
    pub order: Order,
    /// Largest value first.
    pub descending: bool,
    /// The first wanted file.
    pub position: Position,
    /// Files wanted at most.
    pub limit: usize,
}

impl FileQuery {
    /// Whether nothing but what is looked for narrows the search.
    pub fn is_unfiltered(&self) -> bool {
        self.buckets.is_none()
            && self.excluded_buckets.is_empty()
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
    /// Whether a file with these attributes passes the intervals.
    pub fn passes_intervals(&self, attributes: &Attributes) -> bool {
        let pass = |attribute| self.intervals[attribute].passes(attribute, attributes[attribute]);
        Attribute::ALL.into_iter().all(pass)
    }

    /// The place of a file in the order of the search.
    pub fn sort_key(&self, row: &FileRow) -> SortKey {
        let value = match self.order {
            Order::Index => 0,
            Order::By(attribute) => row.attributes[attribute],
        };
        SortKey { value, id: row.id }
    }
}

/// A file as the index holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Identifier.
    pub id: u64,
    /// Bucket that holds it.
    pub bucket: u64,
    /// Path inside the bucket, as listed.
    pub path: String,
    /// Its attributes.
    pub attributes: Attributes,
}

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Exact number of matching files.
    pub total: u64,
    /// The wanted part, in order.
    pub rows: Vec<FileRow>,
    /// Where the next page begins: behind the last file that this page could have; `None` at the
    /// end. Rows that were removed during the search are missing from the page, but not here.
    pub next: Option<SortKey>,
}
