//! Tables and their rows.

use std::rc::Rc;

use super::cell::Cell;
use super::field::{Row, SharedField};

/// The tables of a schema.
pub struct Schema {
    /// The tables in the order of the schema.
    pub tables: Vec<Rc<Table>>,
}

/// A table of a schema.
pub struct Table {
    /// The name.
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// The fields that are shown.
    pub(super) shown: Vec<SharedField>,
}

impl Table {
    /// Returns the names of the fields that are shown.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.shown.iter().map(|field| field.name.as_str())
    }

    /// Returns a part of the rows.
    pub fn part(self: &Rc<Self>, first: u64, count: Option<u64>) -> Rows {
        let end = count.map_or(self.rows, |count| first.saturating_add(count).min(self.rows));
        let mut cells = Vec::new();
        cells.resize_with(self.shown.len(), Cell::default);
        Rows { table: Rc::clone(self), next: first, end, row: Row::default(), cells }
    }
}

/// The rows of a table, made one after another.
pub struct Rows {
    table: Rc<Table>,
    next: u64,
    end: u64,
    row: Row,
    cells: Vec<Cell>,
}

impl Rows {
    /// Makes the next row; `None` after the last one. Each cell is of a column.
    pub fn make_next(&mut self) -> Option<&[Cell]> {
        if self.next >= self.end {
            return None;
        }
        for (field, cell) in self.table.shown.iter().zip(&mut self.cells) {
            field.write(self.next, &mut self.row, cell);
        }
        self.next += 1;
        Some(&self.cells)
    }
}
