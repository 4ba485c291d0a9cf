//! Names of people and companies, and addresses, of 82 cultures.
//!
//! `build.rs` packs the lists. A culture is unpacked at first use.

mod culture;
mod data;
mod identity;
mod latin;
mod list;
mod pack;
mod pattern;

pub use culture::{Culture, Part, all, american, english, find};
pub use identity::{Address, Identity};
pub use latin::plain;
