//! Numeric file attributes. They come from listings, and searches can filter and sort by them.

use std::ops::{Index, IndexMut};

use serde::Deserialize;

/// A numeric file attribute.
///
/// Every attribute in this enum is stored and can be used to filter and sort.
/// `jobs/formats/fields.rs` contains the names used in listings, and `wire/files.rs` the API names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribute {
    /// Size in bytes.
    Size,
    /// Time of the last modification, in Unix seconds. 0 if unknown.
    LastModified,
}

impl Attribute {
    /// All attributes, in storage order.
    pub const ALL: [Self; 2] = [Self::Size, Self::LastModified];

    /// Name in the sort parameter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "last_modified",
        }
    }

    /// Column name in the file index.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "modified",
        }
    }

    /// Field name in NDJSON.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "lastModified",
        }
    }

    /// Returns `true` if 0 means that the value is unknown. Unknown values don't match any filter.
    pub const fn has_unknown(self) -> bool {
        match self {
            Self::Size => false,
            Self::LastModified => true,
        }
    }
}

/// One value per attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes<T = i64>([T; Attribute::ALL.len()]);

impl<T> Attributes<T> {
    /// Calls `value_of` for each attribute and collects the results.
    pub fn from_fn(value_of: impl FnMut(Attribute) -> T) -> Self {
        Self(Attribute::ALL.map(value_of))
    }

    /// Like [`Self::from_fn`], but for a fallible function.
    ///
    /// # Errors
    /// Returns the first error.
    pub fn try_from_fn<E>(value_of: impl FnMut(Attribute) -> Result<T, E>) -> Result<Self, E> {
        let [size, last_modified] = Attribute::ALL.map(value_of);
        Ok(Self([size?, last_modified?]))
    }
}

impl<T> Index<Attribute> for Attributes<T> {
    type Output = T;

    fn index(&self, attribute: Attribute) -> &T {
        &self.0[attribute as usize]
    }
}

impl<T> IndexMut<Attribute> for Attributes<T> {
    fn index_mut(&mut self, attribute: Attribute) -> &mut T {
        &mut self.0[attribute as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_have_distinct_columns() {
        let columns = Attributes::from_fn(Attribute::column);
        for attribute in Attribute::ALL {
            assert_eq!(columns[attribute], attribute.column());
        }
    }
}
