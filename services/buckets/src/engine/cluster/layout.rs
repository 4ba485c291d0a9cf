//! Column layouts of the file table.

use super::features::Features;
use crate::model::Attribute;

/// How a generation stores its files. This is fixed when the generation is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Works on 18.16. Word and expression searches read whole columns.
    Plain,
    /// Has text indexes for words and a column of case-folded names for expressions.
    Indexed,
}

/// Leading columns in both layouts. The attributes and extensions come after them.
const COLUMNS: &str = "id UInt64, bucket UInt64, kind UInt64, run UInt64, path String, \
    name_at UInt16, name_length UInt16, name_words String, path_words String";
/// Extra column in [`Layout::Indexed`].
pub(super) const NAME_FOLDED: &str = "name_folded";
const INDEXES: &str = "INDEX name_text name_words TYPE text(tokenizer = splitByString([' '])), \
    INDEX path_text path_words TYPE text(tokenizer = splitByString([' ']))";

/// Lists the attribute columns, each with a suffix.
pub(super) fn attributes(behind: &str) -> String {
    Attribute::ALL.map(|attribute| format!("{}{behind}", attribute.column())).join(", ")
}

impl Layout {
    /// Picks the layout for a new generation.
    pub(super) fn best(features: Features) -> Self {
        if features.text_index { Self::Indexed } else { Self::Plain }
    }

    /// Column definitions for the distributed table, in the order in which we send values.
    pub(super) fn columns(self) -> String {
        let both = format!("{COLUMNS}, {}, extensions Array(String)", attributes(" Int64"));
        match self {
            Self::Plain => both,
            Self::Indexed => format!("{both}, {NAME_FOLDED} String"),
        }
    }

    /// Returns the case-folded name column, or an empty string if the layout doesn't have this
    /// column.
    pub(super) fn folded_name(self) -> &'static str {
        match self {
            Self::Plain => "''",
            Self::Indexed => NAME_FOLDED,
        }
    }

    /// Column and index definitions.
    pub(super) fn columns_and_indexes(self) -> String {
        match self {
            Self::Plain => self.columns(),
            Self::Indexed => format!("{}, {INDEXES}", self.columns()),
        }
    }
}
