//! Address formats: the version, payload, checksum and alphabet of each family.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use blake2::digest::consts::{U4, U5, U32};
use blake2::{Blake2b, Blake2b512};
use sha2::{Digest, Sha256, Sha512_256};
use sha3::Keccak256;

use super::bech32;
use crate::model::random::Random;

pub(super) const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(super) const BASE32_LOWER: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
pub(super) const NANO: &[u8; 32] = b"13456789abcdefghijkmnopqrstuwxyz";

/// An address format.
#[derive(Clone, Copy)]
pub enum Scheme {
    /// Base58Check: version bytes, a 20-byte hash, and four bytes of double SHA-256.
    Base58Check(&'static [u8]),
    /// Base58Check with Ripple's alphabet.
    Ripple,
    /// A SegWit program: its prefix, version and length.
    Segwit(&'static str, u8, usize),
    /// CashAddr: a version byte and a hash, with a 40-bit checksum.
    CashAddr(u8),
    /// 20 bytes in hex, with the checksum encoded in the letter case.
    Eip55,
    /// Account bytes in Bech32, after a prefix.
    Bech32(&'static str, usize),
    /// A header byte, then one or more 28-byte hashes.
    Cardano(u8, usize),
    /// A version byte, a key and a CRC-16.
    Stellar,
    /// 32 bytes in Base58, without a checksum.
    Solana,
    /// A tag and a payload in Base58, encoded in eight-byte blocks. The payload consists of two
    /// keys, plus a payment id in integrated addresses.
    Monero(u8, usize),
    /// A network byte and a key in Base58, with two bytes of Blake2b.
    Ss58(u8),
    /// A key, with four bytes of SHA-512/256.
    Algorand,
    /// A network byte and a hash, with four bytes of Keccak-256.
    Nem,
    /// A key, with five bytes of Blake2b in reverse order.
    Nano,
    /// A version, a network byte and a hash, with four bytes of Keccak-256 of Blake2b.
    Waves,
    /// A tag, a workchain and a hash, with a CRC-16.
    Ton(u8),
    /// A hash, with four bytes of Blake2b.
    Filecoin,
    /// A CRC-32 and a 28-byte hash.
    InternetComputer,
    /// A prefix and 32 bytes in hex.
    Hex(&'static str),
}

impl Scheme {
    /// Appends an address with a random payload.
    pub fn write(self, random: &mut Random, out: &mut String) {
        let mut payload = [0; LONGEST_PAYLOAD];
        let payload = &mut payload[..self.payload_length()];
        random.fill(payload);
        self.encode(payload, out);
    }

    /// Returns the payload length (of the hash or key) in bytes.
    pub fn payload_length(self) -> usize {
        match self {
            Self::Segwit(_, _, length) | Self::Bech32(_, length) | Self::Monero(_, length) => {
                length
            }
            Self::Cardano(_, hashes) => 28 * hashes,
            Self::InternetComputer => 28,
            Self::Stellar | Self::Solana | Self::Ss58(_) | Self::Algorand | Self::Nano => 32,
            Self::Ton(_) | Self::Hex(_) => 32,
            Self::Base58Check(_) | Self::Ripple | Self::CashAddr(_) | Self::Eip55 => 20,
            Self::Nem | Self::Waves | Self::Filecoin => 20,
        }
    }

    /// Encodes a payload, whose length must be equal to [`Self::payload_length`].
    pub fn encode(self, payload: &[u8], out: &mut String) {
        match self {
            Self::Base58Check(version) => {
                base58_check(version, payload, bs58::Alphabet::BITCOIN, out);
            }
            Self::Ripple => base58_check(&[0], payload, bs58::Alphabet::RIPPLE, out),
            Self::Segwit(prefix, version, _) => {
                let constant = if version == 0 { bech32::BECH32 } else { bech32::BECH32M };
                bech32::write(prefix, Some(version), payload, constant, out);
            }
            Self::CashAddr(kind) => bech32::write_cash(CASH, kind, payload, out),
            Self::Eip55 => eip55(payload, out),
            Self::Bech32(prefix, _) => {
                bech32::write(prefix, None, payload, bech32::BECH32, out);
            }
            Self::Cardano(header, _) => {
                let bytes = [&[header], payload].concat();
                bech32::write("addr", None, &bytes, bech32::BECH32, out);
            }
            Self::Stellar => stellar(payload, out),
            Self::Solana => base58(payload, out),
            Self::Monero(tag, _) => monero(tag, payload, out),
            Self::Ss58(network) => ss58(network, payload, out),
            Self::Algorand => algorand(payload, out),
            Self::Nem => nem(payload, out),
            Self::Nano => nano(payload, out),
            Self::Waves => waves(payload, out),
            Self::Ton(tag) => ton(tag, payload, out),
            Self::Filecoin => filecoin(payload, out),
            Self::InternetComputer => internet_computer(payload, out),
            Self::Hex(prefix) => {
                out.push_str(prefix);
                out.push_str(&hex::encode(payload));
            }
        }
    }
}

/// Length of the longest payload in bytes: two Monero keys and a payment id.
const LONGEST_PAYLOAD: usize = 72;
/// The CashAddr prefix.
pub(super) const CASH: &str = "bitcoincash";

fn base58(bytes: &[u8], out: &mut String) {
    out.push_str(&bs58::encode(bytes).into_string());
}

fn base58_check(version: &[u8], payload: &[u8], alphabet: &bs58::Alphabet, out: &mut String) {
    let bytes = [version, payload].concat();
    let check = Sha256::digest(Sha256::digest(&bytes));
    let whole = [&bytes, &check[..4]].concat();
    out.push_str(&bs58::encode(whole).with_alphabet(alphabet).into_string());
}

fn eip55(account: &[u8], out: &mut String) {
    let text = hex::encode(account);
    let digest = Keccak256::digest(&text);
    out.push_str("0x");
    for (position, character) in text.chars().enumerate() {
        let nibble = digest[position / 2] >> (4 * (1 - position % 2)) & 15;
        out.push(if nibble >= 8 { character.to_ascii_uppercase() } else { character });
    }
}

fn stellar(key: &[u8], out: &mut String) {
    let bytes = [&[0x30], key].concat();
    let check = crc16(&bytes).to_le_bytes();
    base32(&[&bytes[..], &check].concat(), 0, BASE32, out);
}

fn monero(tag: u8, payload: &[u8], out: &mut String) {
    let bytes = [&[tag], payload].concat();
    let check = Keccak256::digest(&bytes);
    for block in [&bytes[..], &check[..4]].concat().chunks(8) {
        // Blocks have a fixed width: 11 characters for eight bytes, and 7 for the final five bytes.
        let width = if block.len() == 8 { 11 } else { 7 };
        let mut value = block.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        let mut text = [b'1'; 11];
        for position in text[..width].iter_mut().rev() {
            *position = BASE58[(value % 58) as usize];
            value /= 58;
        }
        out.extend(text[..width].iter().map(|byte| char::from(*byte)));
    }
}

pub(super) const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

fn ss58(network: u8, key: &[u8], out: &mut String) {
    let bytes = [&[network], key].concat();
    let check = Blake2b512::new().chain_update("SS58PRE").chain_update(&bytes).finalize();
    base58(&[&bytes, &check[..2]].concat(), out);
}

fn algorand(key: &[u8], out: &mut String) {
    let check = Sha512_256::digest(key);
    base32(&[key, &check[28..]].concat(), 0, BASE32, out);
}

fn nem(hash: &[u8], out: &mut String) {
    let bytes = [&[0x68], hash].concat();
    let check = Keccak256::digest(&bytes);
    base32(&[&bytes, &check[..4]].concat(), 0, BASE32, out);
}

fn nano(key: &[u8], out: &mut String) {
    let mut check = Blake2b::<U5>::digest(key).to_vec();
    check.reverse();
    out.push_str("nano_");
    base32(key, 4, NANO, out);
    base32(&check, 0, NANO, out);
}

fn waves(hash: &[u8], out: &mut String) {
    let bytes = [&[0x01, 0x57], hash].concat();
    let check = Keccak256::digest(Blake2b::<U32>::digest(&bytes));
    base58(&[&bytes, &check[..4]].concat(), out);
}

fn ton(tag: u8, hash: &[u8], out: &mut String) {
    let bytes = [&[tag, 0], hash].concat();
    let check = crc16(&bytes).to_be_bytes();
    URL_SAFE_NO_PAD.encode_string([&bytes[..], &check].concat(), out);
}

fn filecoin(hash: &[u8], out: &mut String) {
    let check = Blake2b::<U4>::new().chain_update([1]).chain_update(hash).finalize();
    out.push_str("f1");
    base32(&[hash, &check[..]].concat(), 0, BASE32_LOWER, out);
}

fn internet_computer(hash: &[u8], out: &mut String) {
    out.push_str(&hex::encode(crc32fast::hash(hash).to_be_bytes()));
    out.push_str(&hex::encode(hash));
}

/// Computes CRC-16/XMODEM: polynomial 0x1021, initial value 0, most significant bit first.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte) << 8, |sum, _| match sum & 0x8000 {
            0 => sum << 1,
            _ => sum << 1 ^ 0x1021,
        })
    })
}

/// Appends unpadded Base32, starting with `leading` zero bits.
fn base32(bytes: &[u8], leading: u32, alphabet: &[u8; 32], out: &mut String) {
    let (mut held, mut bits) = (0u32, leading);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            out.push(char::from(alphabet[(held >> bits & 31) as usize]));
        }
    }
    if bits > 0 {
        out.push(char::from(alphabet[(held << (5 - bits) & 31) as usize]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        hex::decode(hex).unwrap().try_into().unwrap()
    }

    #[test]
    fn mixed_case_follows_eip_55() {
        for address in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ] {
            let account = bytes::<20>(&address[2..].to_lowercase());
            assert_eq!(text(|out| eip55(&account, out)), address);
        }
    }

    #[test]
    fn first_block_and_the_zero_account_have_their_known_addresses() {
        let hash = bytes::<20>("62e907b15cbf27d5425399ebf6f0fb50ebb88f18");
        let bitcoin = text(|out| base58_check(&[0], &hash, bs58::Alphabet::BITCOIN, out));
        assert_eq!(bitcoin, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa");
        let ripple = text(|out| base58_check(&[0], &[0; 20], bs58::Alphabet::RIPPLE, out));
        assert_eq!(ripple, "rrrrrrrrrrrrrrrrrrrrrhoLvTp");
    }

    #[test]
    fn addresses_of_keys_are_the_published_ones() {
        let alice = bytes::<32>("d43593c715fdd31c61141abd04a99fd6822c8558854ccde39a5684e7a56da27d");
        assert_eq!(
            text(|out| ss58(0, &alice, out)),
            "15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5"
        );
        assert_eq!(
            text(|out| ss58(2, &alice, out)),
            "HNZata7iMYWmk5RvZRTiAsSDhV8366zq2YGb3tLH5Upf74F"
        );
        assert_eq!(
            text(|out| algorand(&[0; 32], out)),
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ"
        );
        assert_eq!(
            text(|out| nano(&[0; 32], out)),
            "nano_1111111111111111111111111111111111111111111111111111hifc8npp"
        );
        assert_eq!(
            text(|out| stellar(&[0; 32], out)),
            "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF"
        );
        assert_eq!(
            text(|out| ton(0x11, &[0; 32], out)),
            "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c"
        );
    }

    #[test]
    fn addresses_of_hashes_are_the_published_ones() {
        // A secp256k1 address from the Filecoin test vectors, and the Internet Computer account of
        // the anonymous principal.
        let hash = bytes::<20>("ea0f0ea039b291a0f08fd179e0556a8c3277c0d3");
        assert_eq!(text(|out| filecoin(&hash, out)), "f15ihq5ibzwki2b4ep2f46avlkrqzhpqgtga7pdrq");
        let hash = bytes::<28>("6a562aa9eaa2481a9049cdf0433b9738c992d698c31d8abf89cadc79");
        assert_eq!(
            text(|out| internet_computer(&hash, out)),
            "1c7a48ba6a562aa9eaa2481a9049cdf0433b9738c992d698c31d8abf89cadc79"
        );
    }

    #[test]
    fn crc16_matches_the_catalogue_check_value() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
    }
}
