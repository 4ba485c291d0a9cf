//! Crypto addresses: the right form and checksum around random bytes.
//!
//! The bytes replace a hash or a public key; no private key is ever made, so an address from here
//! has none.

mod bech32;
mod coin;
mod decode;
mod encode;
mod fault;
mod table;

pub use coin::Coin;
pub use fault::{CryptoFault, check};
pub use table::{COINS, find};
