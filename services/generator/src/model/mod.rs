//! The core of the service: how each kind of value is generated and validated.
//!
//! Nothing here uses HTTP or the database. All values are drawn from a [`Random`] stream, so the
//! same seed yields the same values everywhere.
#![warn(missing_docs)]

mod ascii_buffer;
pub(crate) mod brand;
pub mod card;
mod check;
pub(crate) mod country;
pub mod crypto;
mod digits;
pub mod iban;
pub mod imei;
pub mod names;
pub mod numbers;
pub mod person;
pub mod phone;
mod random;
pub(crate) mod records;
pub(crate) mod review;
mod seed;
mod slots;
pub mod ssn;
pub(crate) mod suggestion;
pub mod text;

pub use random::Random;
pub use seed::{DATA_VERSION, MAX_SEED, SEEDED_DAY, Seed, SeedError};
pub use slots::{Holder, Slot, Slots};
