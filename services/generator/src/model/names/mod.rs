//! Names of people and companies, and addresses, of 82 cultures.
//!
//! The lists are packed by `build.rs`; each culture is unpacked when it is first used.

mod culture;
mod data;
mod identity;
mod list;
mod pack;
mod pattern;

pub use culture::{Culture, Part, all, american, english, find};
pub use identity::{Address, Identity};
