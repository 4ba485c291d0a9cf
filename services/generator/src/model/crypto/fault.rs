//! Crypto address validation.

use super::bech32;
use super::coin::Coin;
use super::decode::program;
use super::encode::Scheme;
use super::table::COINS;

/// An error found while checking a crypto address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CryptoFault {
    /// The format is unknown, or the requested coin doesn't use it.
    #[error("{0} addresses do not have this format.")]
    Form(&'static str),
    /// The format is valid, but the checksum is wrong.
    #[error("The checksum of the {0} address is wrong.")]
    Checksum(&'static str),
    /// The checksum is right, but the coin doesn't have SegWit programs of this version or length.
    #[error("The SegWit program of the {0} address is none of these: {1}.")]
    Program(&'static str, &'static str),
}

/// SegWit programs that coins without Taproot use.
const WITNESS: &str = "version 0 with 20 or 32 bytes";
/// SegWit programs that coins with Taproot use.
const TAPROOT: &str = "version 0 with 20 or 32 bytes, version 1 with 32 bytes";

/// Coin name in messages when no coin was requested.
const ANY_COIN: &str = "Crypto";

/// Returns the coins that an address could belong to. There can be several if no coin was
/// requested, because many coins share a format.
///
/// # Errors
/// Returns an error if the format is unknown or the checksum is wrong.
pub fn check(text: &str, coin: Option<&'static Coin>) -> Result<Vec<&'static Coin>, CryptoFault> {
    let text = text.trim();
    let mut found = Vec::new();
    let mut closest = CryptoFault::Form(coin.map_or(ANY_COIN, |coin| coin.name));
    for candidate in COINS.iter().filter(|known| coin.is_none_or(|coin| coin.name == known.name)) {
        let outcomes = candidate.forms.iter().map(|(scheme, _)| scheme.check(text));
        match outcomes.max().unwrap_or_default() {
            Likeness::Same => found.push(candidate),
            Likeness::Program => {
                let is_taproot =
                    |(scheme, _): &(Scheme, _)| matches!(scheme, Scheme::Segwit(_, 1, _));
                let has_taproot = candidate.forms.iter().any(is_taproot);
                let programs = if has_taproot { TAPROOT } else { WITNESS };
                closest = CryptoFault::Program(candidate.name, programs);
            }
            Likeness::Checksum if matches!(closest, CryptoFault::Form(_)) => {
                closest = CryptoFault::Checksum(candidate.name);
            }
            _ => {}
        }
    }
    if found.is_empty() { Err(closest) } else { Ok(found) }
}

/// How closely a string resembles a scheme's addresses, from worst to best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// The format doesn't match.
    #[default]
    None,
    /// The format matches, but the checksum is wrong.
    Checksum,
    /// The checksum is right, but the SegWit program has a different version or length.
    Program,
    /// A valid address.
    Same,
}

impl Scheme {
    fn check(self, text: &str) -> Likeness {
        let canonical = self.canonical(text);
        let Some(payload) = self.decode(&canonical) else {
            return self.check_program(&canonical).unwrap_or_default();
        };
        let mut right = String::new();
        self.encode(&payload, &mut right);
        // Ethereum addresses in all upper or all lower case don't have a checksum.
        let plain = matches!(self, Self::Eip55)
            && canonical.eq_ignore_ascii_case(&right)
            && (canonical == canonical.to_ascii_lowercase()
                || canonical[2..] == canonical[2..].to_ascii_uppercase());
        match right == canonical || plain {
            true => Likeness::Same,
            false => self.check_program(&canonical).unwrap_or(Likeness::Checksum),
        }
    }

    /// Checks a SegWit address of any version and length.
    fn check_program(self, text: &str) -> Option<Likeness> {
        let Self::Segwit(prefix, ..) = self else { return None };
        let (version, program) = program(text, prefix)?;
        let constant = if version == 0 { bech32::BECH32 } else { bech32::BECH32M };
        let mut right = String::new();
        bech32::write(prefix, Some(version), &program, constant, &mut right);
        (right == text).then_some(Likeness::Program)
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::find;
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn coins_accept_generated_addresses_and_reject_changed_ones() {
        for coin in COINS {
            let mut random = Seed::parse("check").unwrap().random(coin.name, "");
            for _ in 0..200 {
                let mut address = String::new();
                coin.write(&mut random, &mut address);
                let found = check(&address, Some(coin));
                assert!(
                    found.is_ok_and(|found| found[0].name == coin.name),
                    "{} {address}",
                    coin.name
                );
                // Solana addresses have neither a fixed length nor a checksum.
                if coin.name == "Solana" {
                    continue;
                }
                let mut shorter = address.clone();
                shorter.pop();
                assert!(check(&shorter, Some(coin)).is_err(), "{} {shorter}", coin.name);
                assert!(
                    check(&format!("{address}q"), Some(coin)).is_err(),
                    "{} {address}",
                    coin.name
                );
            }
        }
    }

    #[test]
    fn check_names_every_coin_with_this_format() {
        let names = |text: &str| -> Vec<_> {
            check(text, None).unwrap().iter().map(|coin| coin.name).collect()
        };
        assert_eq!(names("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), ["Bitcoin", "BitcoinSV"]);
        assert_eq!(
            names("3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
            ["Bitcoin", "Litecoin", "DigiByte", "Vertcoin"]
        );
        assert_eq!(names("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"), ["Bitcoin"]);
        assert_eq!(names("qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg2"), ["BitcoinCash"]);
        assert!(names("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed").contains(&"Ethereum"));
        assert!(names("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed").contains(&"Polygon"));
    }

    #[test]
    fn formats_that_are_not_generated_are_accepted() {
        // Scripts, contracts, the current format of Neo, and a subaddress and an integrated address
        // of Monero.
        let subaddress = "888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dh\
            wMVgN5S9cQUiyoogDavup3H";
        let integrated = "4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mt\
            mXCqY45DJ852K5Jv2bYXZKKQePHES9khPK";
        for (coin, address) in [
            ("DGB", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
            ("KMD", "bMkG5EysRjf8BYsaS3mkfzDJqepHbcTXQT"),
            ("LTC", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
            ("NEO", "NiNmXL8FjEUEs1nfX9uHFBNaenxDHJtmuB"),
            ("NMC", "6PQqBRX8JkJ3JLqLfqnokxcfXLGNUjmTiV"),
            ("PPC", "pEZZaiX69WVAMRLMDURxBzvUyo4UNAs2Gw"),
            ("RVN", "rFFaWG1XhQoYSb2nLa6YcdHR8KMByCebK7"),
            ("VTC", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
            ("XMR", subaddress),
            ("XMR", integrated),
            ("XTZ", "KT1PWx2mnDueood7fEmfbBDKx1D9BAnnXitn"),
            ("ZEN", "zsoVkAr9jxKoeuT6sXA2JfGeCgqB3mgRAqZ"),
        ] {
            assert_eq!(check(address, find(coin)).err(), None, "{coin} {address}");
        }
    }

    #[test]
    fn format_and_checksum_faults_have_distinct_messages() {
        let message = |text: &str, coin: &str| check(text, find(coin)).err().unwrap().to_string();
        let wrong = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb";
        assert_eq!(message(wrong, "BTC"), "The checksum of the Bitcoin address is wrong.");
        assert_eq!(message("hello", ""), "Crypto addresses do not have this format.");
        assert_eq!(message("hello", "SOL"), "Solana addresses do not have this format.");
        // BIP-350 has an address with a program of 40 bytes.
        let long = "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y";
        let programs = "version 0 with 20 or 32 bytes, version 1 with 32 bytes";
        assert_eq!(
            message(long, "BTC"),
            format!("The SegWit program of the Bitcoin address is none of these: {programs}.")
        );
        let wrong = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD";
        assert_eq!(message(wrong, "ETH"), "The checksum of the Ethereum address is wrong.");
        for text in ["", "0x", "é", "nano_é", "bitcoincash:", "1", "bc1", "4é", "f1", "𝟙𝟚"]
        {
            assert!(check(text, None).is_err(), "{text}");
        }
    }
}
