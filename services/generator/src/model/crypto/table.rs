//! Coins and their address formats.
//!
//! To add a coin, add a row in alphabetical order. Only add a scheme if none of the existing ones
//! fits.

use super::coin::Coin;
use super::encode::Scheme::{
    self, Algorand, Base58Check, Bech32, Cardano, CashAddr, Eip55, Filecoin, Hex, InternetComputer,
    Monero, Nano, Nem, Ripple, Segwit, Solana, Ss58, Stellar, Ton, Waves,
};

type Forms = &'static [(Scheme, u16)];

const fn coin(name: &'static str, ticker: &'static str, forms: Forms) -> Coin {
    Coin { name, ticker, alias: None, forms }
}

const EVM: Forms = &[(Eip55, 1)];

/// All coins: the four best-known ones first, then the rest by name.
pub const COINS: &[Coin] = &[
    coin(
        "Bitcoin",
        "BTC",
        &[
            (Base58Check(&[0x00]), 20),
            (Base58Check(&[0x05]), 20),
            (Segwit("bc", 0, 20), 30),
            (Segwit("bc", 0, 32), 10),
            (Segwit("bc", 1, 32), 20),
        ],
    ),
    coin("Ethereum", "ETH", EVM),
    coin(
        "Litecoin",
        "LTC",
        &[
            (Base58Check(&[0x30]), 25),
            (Base58Check(&[0x32]), 20),
            (Segwit("ltc", 0, 20), 35),
            (Segwit("ltc", 0, 32), 10),
            (Segwit("ltc", 1, 32), 10),
            (Base58Check(&[0x05]), 0),
        ],
    ),
    coin("Ripple", "XRP", &[(Ripple, 1)]),
    coin("Algorand", "ALGO", &[(Algorand, 1)]),
    coin("Aptos", "APT", &[(Hex("0x"), 1)]),
    coin("Arbitrum", "ARB", EVM),
    coin("Avalanche", "AVAX", EVM),
    coin("Base", "BASE", EVM),
    coin("BitcoinCash", "BCH", &[(CashAddr(0), 90), (CashAddr(8), 10)]),
    coin("BitcoinGold", "BTG", &[(Base58Check(&[0x26]), 70), (Base58Check(&[0x17]), 30)]),
    coin("BitcoinSV", "BSV", &[(Base58Check(&[0x00]), 1)]),
    coin("BnbSmartChain", "BNB", EVM),
    coin("Cardano", "ADA", &[(Cardano(0x01, 2), 80), (Cardano(0x61, 1), 20)]),
    coin("Celestia", "TIA", &[(Bech32("celestia", 20), 1)]),
    coin("Celo", "CELO", EVM),
    coin("Chainlink", "LINK", EVM),
    coin("Cosmos", "ATOM", &[(Bech32("cosmos", 20), 1)]),
    coin("Cronos", "CRO", EVM),
    coin("Dai", "DAI", EVM),
    coin("Dash", "DASH", &[(Base58Check(&[0x4c]), 90), (Base58Check(&[0x10]), 10)]),
    coin(
        "DigiByte",
        "DGB",
        &[
            (Base58Check(&[0x1e]), 40),
            (Base58Check(&[0x3f]), 20),
            (Segwit("dgb", 0, 20), 30),
            (Segwit("dgb", 0, 32), 10),
            (Base58Check(&[0x05]), 0),
        ],
    ),
    coin("Dogecoin", "DOGE", &[(Base58Check(&[0x1e]), 90), (Base58Check(&[0x16]), 10)]),
    coin("EthereumClassic", "ETC", EVM),
    coin("Fantom", "FTM", EVM),
    coin("Filecoin", "FIL", &[(Filecoin, 1)]),
    coin("Gnosis", "GNO", EVM),
    coin("Harmony", "ONE", &[(Bech32("one", 20), 1)]),
    coin("Horizen", "ZEN", &[(Base58Check(&[0x20, 0x89]), 1), (Base58Check(&[0x20, 0x96]), 0)]),
    coin("Injective", "INJ", &[(Bech32("inj", 20), 1)]),
    coin("InternetComputer", "ICP", &[(InternetComputer, 1)]),
    coin("Kava", "KAVA", &[(Bech32("kava", 20), 1)]),
    coin("Komodo", "KMD", &[(Base58Check(&[0x3c]), 1), (Base58Check(&[0x55]), 0)]),
    coin("Kusama", "KSM", &[(Ss58(2), 1)]),
    coin("Linea", "LINEA", EVM),
    coin("Monero", "XMR", &[(Monero(0x12, 64), 1), (Monero(0x2a, 64), 0), (Monero(0x13, 72), 0)]),
    coin("MultiversX", "EGLD", &[(Bech32("erd", 32), 1)]),
    coin("Namecoin", "NMC", &[(Base58Check(&[0x34]), 1), (Base58Check(&[0x0d]), 0)]),
    coin("Nano", "XNO", &[(Nano, 1)]),
    coin("Near", "NEAR", &[(Hex(""), 1)]),
    coin("Nem", "XEM", &[(Nem, 1)]),
    coin("Neo", "NEO", &[(Base58Check(&[0x17]), 1), (Base58Check(&[0x35]), 0)]),
    coin("Optimism", "OP", EVM),
    coin("Osmosis", "OSMO", &[(Bech32("osmo", 20), 1)]),
    coin("Peercoin", "PPC", &[(Base58Check(&[0x37]), 1), (Base58Check(&[0x75]), 0)]),
    coin("Polkadot", "DOT", &[(Ss58(0), 1)]),
    Coin { name: "Polygon", ticker: "POL", alias: Some("MATIC"), forms: EVM },
    coin("Qtum", "QTUM", &[(Base58Check(&[0x3a]), 90), (Base58Check(&[0x32]), 10)]),
    coin("Ravencoin", "RVN", &[(Base58Check(&[0x3c]), 1), (Base58Check(&[0x7a]), 0)]),
    coin("Secret", "SCRT", &[(Bech32("secret", 20), 1)]),
    coin("Sei", "SEI", &[(Bech32("sei", 20), 1)]),
    coin("ShibaInu", "SHIB", EVM),
    coin("Solana", "SOL", &[(Solana, 1)]),
    coin("Stellar", "XLM", &[(Stellar, 1)]),
    coin("Sui", "SUI", &[(Hex("0x"), 1)]),
    coin("Terra", "LUNA", &[(Bech32("terra", 20), 1)]),
    coin("Tether", "USDT", EVM),
    coin(
        "Tezos",
        "XTZ",
        &[
            (Base58Check(&[0x06, 0xa1, 0x9f]), 70),
            (Base58Check(&[0x06, 0xa1, 0xa1]), 15),
            (Base58Check(&[0x06, 0xa1, 0xa4]), 15),
            (Base58Check(&[0x02, 0x5a, 0x79]), 0),
        ],
    ),
    coin("ThorChain", "RUNE", &[(Bech32("thor", 20), 1)]),
    coin("Toncoin", "TON", &[(Ton(0x11), 50), (Ton(0x51), 50)]),
    coin("Tron", "TRX", &[(Base58Check(&[0x41]), 1)]),
    coin("Uniswap", "UNI", EVM),
    coin("UsdCoin", "USDC", EVM),
    coin("VeChain", "VET", EVM),
    coin(
        "Vertcoin",
        "VTC",
        &[
            (Base58Check(&[0x47]), 60),
            (Segwit("vtc", 0, 20), 30),
            (Segwit("vtc", 0, 32), 10),
            (Base58Check(&[0x05]), 0),
        ],
    ),
    coin("Waves", "WAVES", &[(Waves, 1)]),
    coin("Zcash", "ZEC", &[(Base58Check(&[0x1c, 0xb8]), 70), (Base58Check(&[0x1c, 0xbd]), 30)]),
    coin("Zilliqa", "ZIL", &[(Bech32("zil", 20), 1)]),
];

/// Finds a coin by name or ticker. Ignores case, spaces and punctuation.
pub fn find(name: &str) -> Option<&'static Coin> {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    COINS.iter().find(|coin| {
        [Some(coin.name), Some(coin.ticker), coin.alias]
            .into_iter()
            .flatten()
            .any(|known| known.eq_ignore_ascii_case(&plain))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn table_has_four_common_coins_then_the_others_sorted() {
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
