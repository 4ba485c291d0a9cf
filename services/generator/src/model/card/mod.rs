//! Payment cards: brands, their numbers, and the other things on a card.

mod fault;
mod number;
mod table;

pub use fault::{CardFault, check, grouped};
pub use number::{Card, detect, find};
pub use table::{CARD_TYPES, CardType, Prefixes};
