//! Crypto addresses with a valid format and checksum around random bytes.
//!
//! The random bytes replace a hash or public key. There is no private key for such an address.

mod bech32;
mod coin;
mod decode;
mod encode;
mod fault;
mod table;

pub use coin::Coin;
pub use fault::{CryptoFault, check};
pub use table::{COINS, find};
