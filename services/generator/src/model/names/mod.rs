//! Personal names, company names and addresses in 82 cultures.
//!
//! The lists are packed by `build.rs`. Each culture is unpacked on first use.

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
pub use latin::{plain, push_plain};
