//! Payment cards: their brands, numbers and further data.

mod number;
mod table;

pub use number::{Card, find};
pub use table::{CARD_TYPES, CardType};
