//! Caches intermediate values that several fields in a row depend on.

use std::cell::{Cell, OnceCell};

use jiff::civil::Date;

use crate::model::card::Card;
use crate::model::names::{Address, Identity};
use crate::model::numbers::Sex;
use crate::model::person::Employer;

/// A row's person, as far as other parts depend on it.
#[derive(Default)]
pub struct Known {
    /// The index of the row.
    pub index: u64,
    /// Index of the household's first row.
    pub head: OnceCell<u64>,
    pub sex: OnceCell<Sex>,
    pub born: OnceCell<Date>,
    pub name: OnceCell<Identity>,
    pub address: OnceCell<Address>,
    pub card: OnceCell<Card>,
    pub occupation: OnceCell<&'static str>,
    pub employer: OnceCell<Option<Employer>>,
    /// The name from an earlier row, whose memory is reused for the next one.
    pub spare_name: Cell<Identity>,
    /// The address from an earlier row, whose memory is reused for the next one.
    pub spare_address: Cell<Address>,
}

impl Known {
    /// Discards everything about the previous row.
    pub fn restart(&mut self, index: u64) {
        let name = self.name.take().unwrap_or_else(|| self.spare_name.take());
        let address = self.address.take().unwrap_or_else(|| self.spare_address.take());
        let (spare_name, spare_address) = (Cell::new(name), Cell::new(address));
        *self = Self { index, spare_name, spare_address, ..Self::default() };
    }
}

/// Child counts for the most recently used block of parents.
#[derive(Default)]
pub struct Families {
    /// The block number. `None` before the first use.
    pub number: Option<u64>,
    /// The total number of children of all parents before the block.
    pub start: u64,
    /// The running total of children up to and including each parent in the block.
    pub ends: Vec<u64>,
}

impl Families {
    /// Returns the total number of children of all parents up to the end of the block.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.ends.last().copied().unwrap_or(0))
    }
}

/// The card of the most recent row.
pub struct Paid {
    /// The index of the row.
    pub index: u64,
    pub card: Card,
}
