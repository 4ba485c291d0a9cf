//! The columns of the table of files, in one of two layouts.

use super::features::Features;
use crate::model::Attribute;

/// How a generation stores files; it keeps the layout that it was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// What 18.16 knows: words and expressions read their whole column.
    Plain,
    /// Text indexes over the words, and names with letter case set aside for expressions.
    Indexed,
}

/// The first columns of both layouts; attributes and extensions follow them.
const COLUMNS: &str = "id UInt64, bucket UInt64, kind UInt64, run UInt64, path String, \
    name_at UInt16, name_length UInt16, name_words String, path_words String";
/// What only [`Layout::Indexed`] has, behind them.
pub(super) const NAME_FOLDED: &str = "name_folded";
const INDEXES: &str = "INDEX name_text name_words TYPE text(tokenizer = splitByString([' '])), \
    INDEX path_text path_words TYPE text(tokenizer = splitByString([' ']))";

/// The columns of the attributes with something behind each name.
pub(super) fn attributes(behind: &str) -> String {
    Attribute::ALL.map(|attribute| format!("{}{behind}", attribute.column())).join(", ")
}

impl Layout {
    /// The layout of a new generation.
    pub(super) fn best(features: Features) -> Self {
        if features.text_index { Self::Indexed } else { Self::Plain }
    }

    /// The columns in the order of rows on the wire, for a table that stores nothing itself.
    pub(super) fn columns(self) -> String {
        let both = format!("{COLUMNS}, {}, extensions Array(String)", attributes(" Int64"));
        match self {
            Self::Plain => both,
            Self::Indexed => format!("{both}, {NAME_FOLDED} String"),
        }
    }

    /// The column with the folded name, or what stands for it where there is none.
    pub(super) fn folded_name(self) -> &'static str {
        match self {
            Self::Plain => "''",
            Self::Indexed => NAME_FOLDED,
        }
    }

    /// Columns and indexes.
    pub(super) fn columns_and_indexes(self) -> String {
        match self {
            Self::Plain => self.columns(),
            Self::Indexed => format!("{}, {INDEXES}", self.columns()),
        }
    }
}
