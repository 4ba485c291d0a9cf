//! The attributes of a file: numbers that are listed with it, stored, filtered and sorted by.

use std::ops::{Index, IndexMut};

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

/// A number that is known of every file.
///
/// What is stored, filtered and sorted follows from this list; how a listing names an attribute is in
/// `jobs/formats/fields.rs`, how the API does in `wire/files.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribute {
    /// Size in bytes.
    Size,
    /// Time of last modification in Unix seconds; 0: unknown.
    LastModified,
}

impl Attribute {
    /// All of them, in the order in which they are stored.
    pub const ALL: [Self; 2] = [Self::Size, Self::LastModified];

    /// The word by which a search sorts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "last_modified",
        }
    }

    /// The column in the index of files.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "modified",
        }
    }

    /// The member in lines of NDJSON.
    pub const fn member(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::LastModified => "lastModified",
        }
    }

    /// Whether 0 says that the value is unknown: no filter finds it.
    pub const fn has_unknown(self) -> bool {
        match self {
            Self::Size => false,
            Self::LastModified => true,
        }
    }
}

/// Something for each attribute: without further words, its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes<T = i64>([T; Attribute::ALL.len()]);

impl<T> Attributes<T> {
    /// What a function gives for each attribute.
    pub fn from_fn(of: impl FnMut(Attribute) -> T) -> Self {
        Self(Attribute::ALL.map(of))
    }

    /// What a function gives for each attribute, or its first error.
    ///
    /// # Errors
    /// That of the function.
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

impl Serialize for Attributes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(Attribute::ALL.len()))?;
        for attribute in Attribute::ALL {
            members.serialize_entry(attribute.member(), &self[attribute])?;
        }
        members.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attribute_has_its_own_place() {
        let columns = Attributes::from_fn(Attribute::column);
        for attribute in Attribute::ALL {
            assert_eq!(columns[attribute], attribute.column());
        }
    }
}
