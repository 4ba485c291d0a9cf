//! Stores the columns of the tables in a SQL dump, within a memory limit.

use std::collections::HashMap;
use std::io;

/// Maximum memory in bytes for the columns of one table, and for the columns of all tables
/// together. Real dumps need far less.
const MAX_TABLE: usize = 1 << 20;
const MAX_TABLES: usize = 64 << 20;

/// A table's column names.
#[derive(Default)]
pub struct Columns {
    list: Vec<String>,
    /// Memory used, in bytes.
    size: usize,
}

impl Columns {
    /// Adds a name.
    ///
    /// # Errors
    /// Fails if there are more names than any real table has.
    pub fn push(&mut self, name: String) -> io::Result<()> {
        self.size += size_of::<String>() + name.len();
        if self.size > MAX_TABLE {
            return Err(io::Error::other("a table in the dump has too many columns"));
        }
        self.list.push(name);
        Ok(())
    }

    pub fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// Columns by table name.
#[derive(Default)]
pub struct Tables {
    columns: HashMap<String, Vec<String>>,
    /// Memory used, in bytes.
    size: usize,
}

impl Tables {
    /// Adds a table.
    ///
    /// # Errors
    /// Fails if there are more tables than any real dump has.
    pub fn insert(&mut self, name: String, columns: Columns) -> io::Result<()> {
        self.size += size_of::<(String, Vec<String>)>() + name.len() + columns.size;
        if self.size > MAX_TABLES {
            return Err(io::Error::other("the tables in the dump have too many columns"));
        }
        self.columns.insert(name, columns.list);
        Ok(())
    }

    /// Returns a table's columns. Empty if the table is unknown.
    pub fn columns(&self, name: &str) -> Vec<String> {
        self.columns.get(name).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_need_limited_memory() {
        let (mut tables, mut refused) = (Tables::default(), None);
        for number in 0..=MAX_TABLES / MAX_TABLE {
            let mut columns = Columns::default();
            let error = (0..).find_map(|n| columns.push(format!("{n:0>1000}")).err()).unwrap();
            assert_eq!(error.to_string(), "a table in the dump has too many columns");
            refused = tables.insert(format!("t{number}"), columns).err();
        }
        let refused = refused.unwrap().to_string();
        assert_eq!(refused, "the tables in the dump have too many columns");
        assert_eq!(tables.columns("t0").len(), 1_024);
    }
}
