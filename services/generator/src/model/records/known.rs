//! Intermediate values of a row that several of its fields need.

use std::cell::OnceCell;

use jiff::civil::Date;

use crate::model::card::Card;
use crate::model::names::{Address, Identity};
use crate::model::numbers::Sex;
use crate::model::person::Employer;

/// Those parts of the person of a row that other parts depend on.
#[derive(Default)]
pub struct Known {
    /// The index of the row.
    pub index: u64,
    /// The index of the first row of the household.
    pub head: OnceCell<u64>,
    pub sex: OnceCell<Sex>,
    pub born: OnceCell<Date>,
    pub name: OnceCell<Identity>,
    pub address: OnceCell<Address>,
    pub card: OnceCell<Card>,
    pub occupation: OnceCell<&'static str>,
    pub employer: OnceCell<Option<Employer>>,
}

/// The children of the last block of parents that was used.
#[derive(Default)]
pub struct Families {
    /// The number of the block. `None` if no block was used yet.
    pub number: Option<u64>,
    /// The cumulative number of children up to and including each parent in the block.
    pub ends: Vec<u64>,
}

/// The card of the last row.
pub struct Paid {
    /// The index of the row.
    pub index: u64,
    pub card: Card,
}
