//! The parts of rows that several of their fields need.

use std::cell::OnceCell;

use jiff::civil::Date;

use crate::model::card::Card;
use crate::model::names::{Address, Identity};
use crate::model::numbers::Sex;
use crate::model::person::Employer;

/// The parts of the person of a row that other parts need.
#[derive(Default)]
pub struct Known {
    /// The row.
    pub index: u64,
    /// The first row of the household.
    pub head: OnceCell<u64>,
    pub sex: OnceCell<Sex>,
    pub born: OnceCell<Date>,
    pub name: OnceCell<Identity>,
    pub address: OnceCell<Address>,
    pub card: OnceCell<Card>,
    pub occupation: OnceCell<&'static str>,
    pub employer: OnceCell<Option<Employer>>,
}

/// The children of the last block of parents that was needed.
#[derive(Default)]
pub struct Families {
    /// The number of the block.
    pub number: Option<u64>,
    /// The number of children up to each parent of the block.
    pub ends: Vec<u64>,
}
