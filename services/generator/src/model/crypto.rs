//! Crypto addresses: the right form and checksum around random bytes.
//!
//! The bytes stand where a hash or a public key would; no private key is ever made, so nobody can
//! hold the key of an address from here.

mod bech32;
mod encode;
mod table;

use self::encode::Scheme;
pub use self::table::COINS;
use super::random::Random;

/// A coin with the forms of its addresses.
pub struct Coin {
    /// The name in answers.
    pub name: &'static str,
    /// The exchange's abbreviation, also accepted.
    pub ticker: &'static str,
    /// A former abbreviation.
    alias: Option<&'static str>,
    /// Forms with their weights.
    forms: &'static [(Scheme, u16)],
}

/// Finds a coin by name or ticker, ignoring case, blanks and punctuation.
pub fn find(name: &str) -> Option<&'static Coin> {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    COINS.iter().find(|coin| {
        [Some(coin.name), Some(coin.ticker), coin.alias]
            .into_iter()
            .flatten()
            .any(|known| known.eq_ignore_ascii_case(&plain))
    })
}

impl Coin {
    /// Writes an address.
    pub fn write(&self, random: &mut Random, out: &mut String) {
        random.pick_weighted(self.forms).write(random, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn there_are_68_coins_four_first_the_others_sorted() {
        assert_eq!(COINS.len(), 68);
        let first: Vec<_> = COINS[..4].iter().map(|coin| coin.name).collect();
        assert_eq!(first, ["Bitcoin", "Ethereum", "Litecoin", "Ripple"]);
        assert!(COINS[4..].is_sorted_by_key(|coin| coin.name));
    }

    #[test]
    fn coins_are_found_by_name_ticker_and_alias() {
        assert_eq!(find("bitcoin cash").unwrap().name, "BitcoinCash");
        assert_eq!(find("xrp").unwrap().name, "Ripple");
        assert_eq!(find("matic").unwrap().name, "Polygon");
        assert!(find("").is_none());
    }

    #[test]
    fn addresses_have_the_length_and_beginning_of_their_coin() {
        let cases = [
            ("XLM", "G", 56),
            ("XMR", "4", 95),
            ("ALGO", "", 58),
            ("XEM", "N", 40),
            ("XNO", "nano_", 65),
            ("TON", "", 48),
            ("FIL", "f1", 41),
            ("ICP", "", 64),
            ("APT", "0x", 66),
            ("NEAR", "", 64),
            ("ETH", "0x", 42),
            ("ATOM", "cosmos1", 45),
            ("EGLD", "erd1", 62),
            ("TRX", "T", 34),
            ("XTZ", "tz", 36),
            ("WAVES", "3P", 35),
            ("BCH", "bitcoincash:", 54),
            ("ZEC", "t", 35),
            ("NEO", "A", 34),
        ];
        for (ticker, beginning, length) in cases {
            let mut random = Seed::parse("coins").unwrap().random(ticker, "");
            for _ in 0..200 {
                let mut address = String::new();
                find(ticker).unwrap().write(&mut random, &mut address);
                assert!(address.starts_with(beginning), "{ticker} {address}");
                assert_eq!(address.len(), length, "{ticker} {address}");
            }
        }
    }
}
