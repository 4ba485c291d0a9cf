//! Fields, and how their values are generated.

use std::cell::OnceCell;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::cell::Cell;
use super::known::{Families, Known, Paid};
use super::permutation::Permutation;
use crate::model::random::{Random, mixed};
use crate::model::seed::Seed;

/// Generates the values of a field.
pub trait Make {
    /// Generates the value for the row at an index.
    fn write(&self, index: u64, random: &mut Random, row: &mut Row, cell: &mut Cell);

    /// Returns the number of distinct values, if values can be selected by number.
    fn space(&self) -> Option<u64> {
        None
    }

    /// Writes the `nth` value, which must be below [`space`](Self::space).
    fn write_nth(&self, _nth: u64, _row: &mut Row, cell: &mut Cell) {
        cell.set_null();
    }

    /// Returns the maximum number of rows with the same value, if such rows are consecutive.
    fn longest_run(&self) -> Option<u64> {
        None
    }

    /// Returns whether values with different numbers differ.
    fn is_distinct(&self) -> bool {
        true
    }

    /// Returns whether different rows always have different values.
    fn is_unique(&self) -> bool {
        false
    }
}

/// The state that the fields of a row share.
#[derive(Default)]
pub struct Row {
    /// For each group of fields, the person of the last row.
    pub people: Vec<Known>,
    /// For each group of fields, the card of the last row.
    pub cards: Vec<Option<Paid>>,
    /// For each table, the children in the last block of parents.
    pub families: Vec<Families>,
    /// Spare cells for the values of other fields.
    spare: Vec<Cell>,
}

impl Row {
    /// Calls `work` with a spare cell, for the value of another field.
    pub fn with_cell<T>(&mut self, work: impl FnOnce(&mut Self, &mut Cell) -> T) -> T {
        let mut cell = self.spare.pop().unwrap_or_default();
        let result = work(self, &mut cell);
        self.spare.push(cell);
        result
    }
}

/// The random key of a field, which determines its values.
#[derive(Clone, Copy, Debug)]
pub struct FieldKey([u64; 2]);

impl FieldKey {
    /// Returns the key of a field in a table.
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

    /// Returns the key for a part of the field's values.
    pub fn part(self, nth: u64) -> Self {
        Self([self.0[0], self.0[1] ^ mixed(nth.wrapping_add(1))])
    }

    /// Returns the random stream for a row.
    pub fn random(self, index: u64) -> Random {
        Random::of_row(self.0, index)
    }

    /// Returns a random permutation of the numbers below `bound`.
    pub fn permutation(self, bound: u64) -> Permutation {
        Permutation::new(bound, self.0[0] ^ self.0[1].rotate_left(32))
    }
}

/// The part of a field in a combination of fields: one digit of a number that each row has once.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// The order of the numbers.
    pub order: Permutation,
    /// The number of combinations.
    pub all: u64,
    /// The number of combinations of the fields after this one.
    pub stride: u64,
    /// The number of values of this field.
    pub space: u64,
}

impl Digit {
    fn of(&self, index: u64) -> u64 {
        self.order.at(index % self.all) / self.stride % self.space
    }
}

/// A field of a table.
pub struct Field {
    /// The name.
    pub name: String,
    /// Whether the field is left out of the output, because only other fields use it.
    pub hidden: bool,
    /// The share of nulls, in units of 1/2^32.
    pub nulls: u64,
    /// The order of unique values. `None` if values need not be unique.
    pub order: Option<Permutation>,
    /// The part of this field in a combination of fields that must be unique.
    pub digit: OnceCell<Digit>,
    /// The random key of the field.
    pub key: FieldKey,
    /// The generator of its values.
    pub make: Box<dyn Make>,
    /// The number of values that are generated for one value of this field, including those of the
    /// fields that it uses.
    pub cost: u64,
}

/// Maximum number of values that are generated for one value of a field.
pub const COST_OF_A_FIELD: u64 = 10_000;
/// Maximum number of values that are generated for one row.
pub const COST_OF_A_ROW: u64 = 100_000;

/// A field that other fields use.
pub type SharedField = Rc<Field>;

impl Field {
    /// Generates the value for the row at an index.
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
