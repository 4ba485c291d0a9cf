//! Fields and their value generators.

use std::cell::OnceCell;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::cell::Cell;
use super::known::{Families, Known, Paid};
use super::permutation::Permutation;
use crate::model::random::{Random, mixed};
use crate::model::seed::Seed;

/// Generates a field's values.
pub trait Make {
    /// Generates the value for one row.
    fn write(&self, index: u64, random: &mut Random, row: &mut Row, cell: &mut Cell);

    /// Returns how many values [`write_nth`](Self::write_nth) can choose from, or `None` if values
    /// can't be addressed by number.
    fn space(&self) -> Option<u64> {
        None
    }

    /// Writes the `nth` value. `nth` must be less than [`space`](Self::space).
    fn write_nth(&self, _nth: u64, _row: &mut Row, cell: &mut Cell) {
        cell.set_null();
    }

    /// If equal values are always in consecutive rows, returns the maximum number of such rows.
    fn longest_run(&self) -> Option<u64> {
        None
    }

    /// Returns whether [`write_nth`](Self::write_nth) writes a different value for each number.
    fn is_distinct(&self) -> bool {
        true
    }

    /// Returns how much more a value costs than a short one (about 64 bytes), in multiples of the
    /// latter.
    fn more_cost(&self) -> u64 {
        0
    }

    /// Returns whether the values in all rows are different.
    fn is_unique(&self) -> bool {
        false
    }

    /// Returns whether values can be null even if the field doesn't ask for nulls.
    fn has_nulls(&self) -> bool {
        false
    }
}

/// State that a row's fields share.
#[derive(Default)]
pub struct Row {
    /// For each group of fields, the most recently generated person.
    pub people: Vec<Known>,
    /// For each group of fields, the most recently generated card.
    pub cards: Vec<Option<Paid>>,
    /// For each table, the children of the most recent block of parents.
    pub families: Vec<Families>,
    /// Spare cells for the values of other fields.
    spare: Vec<Cell>,
}

impl Row {
    /// Runs `work` with a spare cell, which can hold the value of another field.
    pub fn with_cell<T>(&mut self, work: impl FnOnce(&mut Self, &mut Cell) -> T) -> T {
        let mut cell = self.spare.pop().unwrap_or_default();
        let result = work(self, &mut cell);
        self.spare.push(cell);
        result
    }
}

/// A field's random key, which determines all of its values.
#[derive(Clone, Copy, Debug)]
pub struct FieldKey([u64; 2]);

impl FieldKey {
    /// Derives the key for `field` in `table`.
    pub fn new(seed: &Seed, table: &str, field: &str) -> Self {
        let digest = Sha256::new()
            .chain_update(b"records1\0")
            .chain_update(table)
            .chain_update([0])
            .chain_update(field)
            .chain_update([0])
            .chain_update(seed.as_str())
            .finalize();
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|place| digest[at + place]));
        Self([word(0), word(8)])
    }

    /// Derives a key for some aspect of the field's values.
    pub fn part(self, nth: u64) -> Self {
        Self([self.0[0], self.0[1] ^ mixed(nth.wrapping_add(1))])
    }

    /// Returns the random sequence for row `index`.
    pub fn random(self, index: u64) -> Random {
        Random::of_row(self.0, index)
    }

    /// Returns a random permutation of the numbers below `bound`.
    pub fn permutation(self, bound: u64) -> Permutation {
        Permutation::new(bound, self.0[0] ^ self.0[1].rotate_left(32))
    }
}

/// A field's role in a unique combination of fields. Each row is mapped to a number, and each field
/// in the combination is one digit of that number.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// The order in which numbers are assigned.
    pub order: Permutation,
    /// Number of possible combinations.
    pub all: u64,
    /// Number of possible combinations for the fields after this one.
    pub stride: u64,
    /// Number of possible values of this field.
    pub space: u64,
}

impl Digit {
    fn of(&self, index: u64) -> u64 {
        self.order.at(index % self.all) / self.stride % self.space
    }
}

/// A field in a table.
pub struct Field {
    /// The name.
    pub name: String,
    /// Whether the field is left out of the output because only other fields use it.
    pub hidden: bool,
    /// Share of nulls, in units of 1/2^32.
    pub nulls: u64,
    /// The order in which unique values are used. `None` if values can be repeated.
    pub order: Option<Permutation>,
    /// Set if the field is part of a combination that must be unique.
    pub digit: OnceCell<Digit>,
    /// The field's random key.
    pub key: FieldKey,
    /// Generates the values.
    pub make: Box<dyn Make>,
    /// Number of values that have to be generated for one value of this field, including values of
    /// fields it uses.
    pub cost: u64,
    /// Length of the longest chain of fields that starts here. See [`CHAIN`].
    pub chain: usize,
}

/// Maximum number of values generated for one value of a field. Long values count as several.
pub const COST_OF_A_FIELD: u64 = 10_000;
/// Maximum number of values generated for one row.
pub const COST_OF_A_ROW: u64 = 100_000;

/// Maximum length of a chain of fields in which each field uses or contains the next. Each field
/// takes up a stack frame while reading the schema and generating values.
pub const CHAIN: usize = 64;

/// A field that other fields use.
pub type SharedField = Rc<Field>;

impl Field {
    /// Returns whether some of the values are null.
    pub fn has_nulls(&self) -> bool {
        self.nulls > 0 || self.make.has_nulls()
    }

    /// Returns whether the values in all rows are different.
    pub fn is_unique(&self) -> bool {
        !self.has_nulls() && (self.order.is_some() || self.make.is_unique())
    }

    /// Generates the value for one row.
    pub fn write(&self, index: u64, row: &mut Row, cell: &mut Cell) {
        let mut random = self.key.random(index);
        if self.nulls > 0 && random.below(1 << 32) < self.nulls {
            cell.set_null();
            return;
        }
        match (self.digit.get(), self.order) {
            (Some(digit), _) => self.make.write_nth(digit.of(index), row, cell),
            (None, Some(order)) => self.make.write_nth(order.at(index), row, cell),
            (None, None) => self.make.write(index, &mut random, row, cell),
        }
    }
}
