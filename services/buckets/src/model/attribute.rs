//! The attributes of a file: numbers that are listed, stored, filtered and sorted by.

use std::ops::{Index, IndexMut};

use serde::Deserialize;

/// A numeric attribute of every file.
///
/// This enum determines what is stored, filtered and sorted by. The names of attributes in listings
/// are in `jobs/formats/fields.rs`, those in the API in `wire/files.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribute {
    /// Size in bytes.
    Size,
    /// Time of the last modification in Unix seconds; 0 if unknown.
    LastModified,
}

impl Attribute {
    /// All attributes, in the order in which they are stored.
    pub const ALL: [Self; 2] = [Self::Size, Self::LastModified];

    /// Returns the name of the attribute in the sort parameter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "last_modified",
        }
    }

    /// Returns the name of the column in the file index.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "modified",
        }
    }

    /// Returns the name of the field in NDJSON lines.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "lastModified",
        }
    }

    /// Returns true if 0 means unknown. Unknown values never match a filter.
    pub const fn has_unknown(self) -> bool {
        match self {
            Self::Size => false,
            Self::LastModified => true,
        }
    }
}

/// A value for each attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes<T = i64>([T; Attribute::ALL.len()]);

impl<T> Attributes<T> {
    /// Builds the values by calling a function for each attribute.
    pub fn from_fn(of: impl FnMut(Attribute) -> T) -> Self {
        Self(Attribute::ALL.map(of))
    }

    /// Builds the values by calling a fallible function for each attribute.
    ///
    /// # Errors
    /// The first error of the function.
    pub fn try_from_fn<E>(of: impl FnMut(Attribute) -> Result<T, E>) -> Result<Self, E> {
        let [size, last_modified] = Attribute::ALL.map(of);
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
