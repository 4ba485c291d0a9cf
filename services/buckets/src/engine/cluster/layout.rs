//! The two layouts of the file table.

use super::features::Features;
use crate::model::Attribute;

/// Layout of a generation, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Layout for 18.16: words and expressions read whole columns.
    Plain,
    /// Text indexes for words, and case-folded names for expressions.
    Indexed,
}

/// First columns of both layouts, followed by attributes and extensions.
const COLUMNS: &str = "id UInt64, bucket UInt64, kind UInt64, run UInt64, path String, \
    name_at UInt16, name_length UInt16, name_words String, path_words String";
/// Additional columns of [`Layout::Indexed`].
pub(super) const NAME_FOLDED: &str = "name_folded";
const INDEXES: &str = "INDEX name_text name_words TYPE text(tokenizer = splitByString([' '])), \
    INDEX path_text path_words TYPE text(tokenizer = splitByString([' ']))";

/// Returns attribute columns with a suffix.
pub(super) fn attributes(behind: &str) -> String {
    Attribute::ALL.map(|attribute| format!("{}{behind}", attribute.column())).join(", ")
}

impl Layout {
    /// Returns the layout for new generations.
    pub(super) fn best(features: Features) -> Self {
        if features.text_index { Self::Indexed } else { Self::Plain }
    }

    /// Returns the columns in wire order, for a distributed table.
    pub(super) fn columns(self) -> String {
        let both = format!("{COLUMNS}, {}, extensions Array(String)", attributes(" Int64"));
        match self {
            Self::Plain => both,
            Self::Indexed => format!("{both}, {NAME_FOLDED} String"),
        }
    }

    /// Returns the column with folded names, or an equivalent expression.
    pub(super) fn folded_name(self) -> &'static str {
        match self {
            Self::Plain => "''",
            Self::Indexed => NAME_FOLDED,
        }
    }

    /// Returns columns and indexes.
    pub(super) fn columns_and_indexes(self) -> String {
        match self {
            Self::Plain => self.columns(),
            Self::Indexed => format!("{}, {INDEXES}", self.columns()),
        }
    }
}
