//! Names of people and companies, and addresses, in 82 cultures.
//!
//! `build.rs` packs the lists. A culture is unpacked on first use.

mod address;
mod culture;
mod data;
mod identity;
mod latin;
mod list;
mod pack;
mod pattern;

pub use address::Address;
pub use culture::{Culture, Part, all, american, english, find};
pub use identity::Identity;
pub use latin::plain;
