//! Tables and their rows.

use std::rc::Rc;

use super::cell::Cell;
use super::children::Children;
use super::field::{Row, SharedField};

/// A parsed schema.
pub struct Schema {
    /// The tables, in the same order as in the schema.
    pub tables: Vec<Rc<Table>>,
    /// Pairs of table indexes, in which the first table refers to the second.
    pub(super) references: Vec<(usize, usize)>,
}

impl Schema {
    /// Returns the tables in dependency order, i.e. each table after the ones it refers to, as far
    /// as cycles allow.
    pub fn parents_first(&self) -> impl Iterator<Item = &Table> {
        let mut left: Vec<usize> = (0..self.tables.len()).collect();
        std::iter::from_fn(move || {
            let is_ready = |place: &usize| {
                let mut parents = self.references.iter().filter(|(from, _)| from == place);
                parents.all(|(from, to)| from == to || !left.contains(to))
            };
            let next = left.iter().position(is_ready).unwrap_or(0);
            (!left.is_empty()).then(|| &*self.tables[left.remove(next)])
        })
    }
}

/// A table in a schema.
pub struct Table {
    /// The name.
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// Whether the schema leaves the number of rows to the caller.
    pub is_open: bool,
    /// The chain of parent-child relations that leads to this table, from its earliest ancestor to
    /// its direct parent. Empty if the table has no parent.
    pub(super) line: Vec<Rc<Children>>,
    /// The fields that aren't hidden.
    pub(super) shown: Vec<SharedField>,
}

impl Table {
    /// Returns the names of the fields that aren't hidden.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.shown.iter().map(|field| field.name.as_str())
    }

    /// Returns the number of values generated for one row, including values that only other fields
    /// use.
    pub fn cost(&self) -> u64 {
        self.shown.iter().fold(0, |sum, field| sum.saturating_add(field.cost))
    }

    /// Returns which rows to generate if the same range is requested for all tables. For a child
    /// table, this means all children of the generated parents, unless rows are skipped.
    pub fn asked(&self, (first, count): (u64, Option<u64>)) -> (u64, Option<u64>) {
        let all = |count: u64| self.line.iter().fold(count, |rows, line| line.of_first(rows));
        (first, if first == 0 { count.map(all) } else { count })
    }

    /// Returns up to `count` rows, starting at row `first`.
    pub fn part(self: &Rc<Self>, first: u64, count: Option<u64>) -> Rows {
        let end = count.map_or(self.rows, |count| first.saturating_add(count).min(self.rows));
        let mut cells = Vec::new();
        cells.resize_with(self.shown.len(), Cell::default);
        Rows { table: Rc::clone(self), next: first, end, row: Row::default(), cells }
    }
}

/// Generates the rows of a table, one at a time.
pub struct Rows {
    table: Rc<Table>,
    next: u64,
    end: u64,
    row: Row,
    cells: Vec<Cell>,
}

impl Rows {
    /// Generates the next row, with a cell for each column. Returns `None` after the last row.
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
