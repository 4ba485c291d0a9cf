//! Well-formed crypto addresses with valid checksums, generated from random bytes.
//!
//! The random bytes take the place of a hash or public key, so the private key of such an address
//! is unknown.

mod bech32;
mod coin;
mod decode;
mod encode;
mod fault;
mod table;

pub use coin::Coin;
pub use fault::{CryptoFault, check};
pub use table::{COINS, find};
