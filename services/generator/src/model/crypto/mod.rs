//! Crypto addresses: the right form and checksum around random bytes.
//!
//! The bytes stand where a hash or a public key would; no private key is ever made, so nobody can
//! hold the key of an address from here.

mod bech32;
mod coin;
mod encode;
mod table;

pub use coin::Coin;
pub use table::{COINS, find};
