//! International bank account numbers (ISO 13616).

mod country;
mod fault;
mod rules;
mod table;

pub use country::{Country, all, find};
pub use fault::{IbanFault, check, grouped};
pub(super) use rules::italian_letter;
