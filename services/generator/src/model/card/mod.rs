//! Payment cards: brands, numbers, and everything else printed on a card.

mod fault;
mod issued;
mod number;
mod table;

pub use fault::{CardFault, check, grouped};
pub use issued::issued;
pub use number::{Card, detect, find};
pub use table::{CARD_TYPES, CardType, Prefixes};
