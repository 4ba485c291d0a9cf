//! The rules of the service: how each kind of value is made and checked.
//!
//! Nothing here knows HTTP or a database. Every maker draws from a [`random::Random`], so the
//! same seed gives the same values everywhere.

pub mod card;
mod card_table;
pub mod check;
pub mod country;
pub mod crypto;
pub mod iban;
mod iban_rules;
mod iban_table;
pub mod imei;
pub mod names;
pub mod numbers;
pub mod phone;
pub mod random;
pub mod seed;
mod short;
pub mod ssn;

pub use card_table::{CARD_TYPES, CardType};
