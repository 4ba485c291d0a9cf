//! The rules for words, expressions, extensions, addresses and packages, independent of HTTP and
//! SQL.
#![warn(missing_docs)]

pub(crate) mod address;
pub(crate) mod attribute;
pub(crate) mod counts;
pub(crate) mod crawl_lists;
pub(crate) mod expression;
pub mod extension;
pub(crate) mod facets;
pub(crate) mod file_etag;
pub(crate) mod file_query;
pub(crate) mod fingerprint;
pub(crate) mod fold;
pub(crate) mod id_ranges;
pub(crate) mod identity;
pub(crate) mod keywords;
pub(crate) mod package;
pub mod path;
pub(crate) mod progress;
pub(crate) mod scroll;
pub(crate) mod takedowns;
pub mod words;

pub use address::{Address, AddressError, BucketType};
pub use attribute::{Attribute, Attributes};
pub use crawl_lists::{BucketPattern, CrawlLists};
pub use expression::{Expression, ExpressionError};
pub use facets::Facets;
pub use file_query::{Between, FileQuery, FileRow, Found, Matching, Order, Position, SortKey};
pub use id_ranges::IdRanges;
pub use keywords::{Keywords, MOST_TERMS, Phrase, TooManyTerms};
pub use package::Package;
pub use scroll::{InvalidScroll, Scroll};
pub use takedowns::{HiddenPaths, Takedowns};
