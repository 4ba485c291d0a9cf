//! International bank account numbers (ISO 13616).

mod country;
mod rules;
mod table;

pub use country::{Country, all, find};
pub(super) use rules::italian_letter;
