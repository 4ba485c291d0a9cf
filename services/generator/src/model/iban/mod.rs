//! International bank account numbers (ISO 13616).

mod check;
mod country;
mod fault;
mod rules;
mod table;

pub use check::{check, grouped};
pub use country::{Country, all, find};
pub use fault::IbanFault;
pub(super) use rules::italian_letter;
