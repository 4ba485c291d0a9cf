//! The two layouts of the file table.

use super::features::Features;
use crate::model::Attribute;

/// The layout of a generation. It never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The layout for 18.16. Searches for words and expressions read whole columns.
    Plain,
    /// Text indexes for words, and case-folded names for expressions.
    Indexed,
}

/// The first columns of both layouts. Attributes and extensions follow.
const COLUMNS: &str = "id UInt64, bucket UInt64, kind UInt64, run UInt64, path String, \
    name_at UInt16, name_length UInt16, name_words String, path_words String";
/// Additional columns of [`Layout::Indexed`].
pub(super) const NAME_FOLDED: &str = "name_folded";
const INDEXES: &str = "INDEX name_text name_words TYPE text(tokenizer = splitByString([' '])), \
    INDEX path_text path_words TYPE text(tokenizer = splitByString([' ']))";

/// Returns the attribute columns, with a suffix after each.
pub(super) fn attributes(behind: &str) -> String {
    Attribute::ALL.map(|attribute| format!("{}{behind}", attribute.column())).join(", ")
}

impl Layout {
    /// Returns the layout to use for new generations.
    pub(super) fn best(features: Features) -> Self {
        if features.text_index { Self::Indexed } else { Self::Plain }
    }

    /// Returns the columns in the order in which they are sent, for a distributed table.
    pub(super) fn columns(self) -> String {
        let both = format!("{COLUMNS}, {}, extensions Array(String)", attributes(" Int64"));
        match self {
            Self::Plain => both,
            Self::Indexed => format!("{both}, {NAME_FOLDED} String"),
        }
    }

    /// Returns the column of case-folded names, or an equivalent expression.
    pub(super) fn folded_name(self) -> &'static str {
        match self {
            Self::Plain => "''",
            Self::Indexed => NAME_FOLDED,
        }
    }

    /// Returns the definitions of columns and indexes.
    pub(super) fn columns_and_indexes(self) -> String {
        match self {
            Self::Plain => self.columns(),
            Self::Indexed => format!("{}, {INDEXES}", self.columns()),
        }
    }
}
