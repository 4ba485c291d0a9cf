//! Decodes addresses to their payloads. Checksums are ignored here, because an address is
//! considered valid if re-encoding its payload yields the same address.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::bech32;
use super::encode::{BASE32, BASE32_LOWER, BASE58, CASH, NANO, Scheme};

impl Scheme {
    /// Decodes the hash or key from a string in this scheme's format. Returns `None` if the format
    /// doesn't match.
    pub(super) fn decode(self, text: &str) -> Option<Vec<u8>> {
        let length = self.payload_length();
        let bytes = match self {
            Self::Base58Check(version) => {
                behind(version, bs58::decode(text).into_vec().ok()?, length + 4)
            }
            Self::Ripple => {
                let decoder = bs58::decode(text).with_alphabet(bs58::Alphabet::RIPPLE);
                behind(&[0], decoder.into_vec().ok()?, length + 4)
            }
            Self::Segwit(prefix, version, _) => {
                let (found, program) = program(text, prefix)?;
                (found == version).then_some(program)
            }
            Self::CashAddr(kind) => {
                let groups = groups(text.strip_prefix(CASH)?.strip_prefix(':')?, bech32::ALPHABET)?;
                behind(&[kind], bytes(&groups, 8)?, length)
            }
            Self::Eip55 => hex::decode(text.strip_prefix("0x")?).ok(),
            Self::Bech32(prefix, _) => {
                bytes(&groups(text.strip_prefix(prefix)?.strip_prefix('1')?, bech32::ALPHABET)?, 6)
            }
            Self::Cardano(header, _) => {
                let groups = groups(text.strip_prefix("addr1")?, bech32::ALPHABET)?;
                behind(&[header], bytes(&groups, 6)?, length)
            }
            Self::Stellar => behind(&[0x30], base32(text, BASE32)?, length + 2),
            Self::Solana => bs58::decode(text).into_vec().ok(),
            Self::Monero(tag, _) => behind(&[tag], monero(text)?, length + 4),
            Self::Ss58(network) => {
                behind(&[network], bs58::decode(text).into_vec().ok()?, length + 2)
            }
            Self::Algorand => behind(&[], base32(text, BASE32)?, length + 4),
            Self::Nem => behind(&[0x68], base32(text, BASE32)?, length + 4),
            Self::Nano => nano(text.strip_prefix("nano_")?),
            Self::Waves => behind(&[0x01, 0x57], bs58::decode(text).into_vec().ok()?, length + 4),
            Self::Ton(tag) => behind(&[tag, 0], URL_SAFE_NO_PAD.decode(text).ok()?, length + 2),
            Self::Filecoin => {
                behind(&[], base32(text.strip_prefix("f1")?, BASE32_LOWER)?, length + 4)
            }
            Self::InternetComputer => hex::decode(text).ok()?.get(4..).map(<[u8]>::to_vec),
            Self::Hex(prefix) => hex::decode(text.strip_prefix(prefix)?).ok(),
        };
        let mut bytes = bytes?;
        bytes.truncate(length);
        (bytes.len() == length && self.fits(text)).then_some(bytes)
    }

    /// Returns whether `text` has a valid length for this scheme.
    fn fits(self, text: &str) -> bool {
        match self {
            Self::Eip55 => text.len() == 42,
            Self::InternetComputer => text.len() == 64,
            Self::Hex(prefix) => text.len() == prefix.len() + 64,
            _ => true,
        }
    }

    /// Normalizes an address so that different spellings compare equal.
    pub(super) fn canonical(self, text: &str) -> String {
        let upper = text.chars().all(|c| !c.is_ascii_lowercase());
        match self {
            // These can be written in upper case, which makes QR codes smaller.
            Self::Segwit(..) | Self::Bech32(..) | Self::Cardano(..) if upper => {
                text.to_ascii_lowercase()
            }
            Self::CashAddr(_) => {
                let text = if upper { text.to_ascii_lowercase() } else { text.to_owned() };
                if text.contains(':') { text } else { format!("{CASH}:{text}") }
            }
            Self::Nem => text.replace('-', "").to_ascii_uppercase(),
            Self::Nano => match text.strip_prefix("xrb_") {
                Some(rest) => format!("nano_{rest}"),
                None => text.to_owned(),
            },
            Self::Ton(_) => text.replace('+', "-").replace('/', "_"),
            Self::Hex(_) | Self::InternetComputer => text.to_ascii_lowercase(),
            _ => text.to_owned(),
        }
    }
}

/// Returns the version and program of any SegWit address with this prefix.
pub(super) fn program(text: &str, prefix: &str) -> Option<(u8, Vec<u8>)> {
    let groups = groups(text.strip_prefix(prefix)?.strip_prefix('1')?, bech32::ALPHABET)?;
    let (version, rest) = groups.split_first()?;
    Some((*version, bytes(rest, 6)?))
}

/// Strips a prefix. Returns the rest, provided that it is exactly `length` bytes long.
fn behind(beginning: &[u8], bytes: Vec<u8>, length: usize) -> Option<Vec<u8>> {
    let rest = bytes.strip_prefix(beginning)?;
    (rest.len() == length).then(|| rest.to_vec())
}

/// Returns the five-bit value of each character.
fn groups(text: &str, alphabet: &[u8; 32]) -> Option<Vec<u8>> {
    let value = |byte: u8| alphabet.iter().position(|known| *known == byte).map(|at| at as u8);
    text.bytes().map(value).collect()
}

/// Converts five-bit groups to bytes, dropping the last `check` groups.
fn bytes(groups: &[u8], check: usize) -> Option<Vec<u8>> {
    let body = groups.get(..groups.len().checked_sub(check)?)?;
    let (mut held, mut bits, mut bytes) = (0u32, 0, Vec::new());
    for group in body {
        held = held << 5 | u32::from(*group);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    Some(bytes)
}

fn base32(text: &str, alphabet: &[u8; 32]) -> Option<Vec<u8>> {
    bytes(&groups(text, alphabet)?, 0)
}

/// Decodes each 11-character block to eight bytes, and the final 7 characters to five.
fn monero(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for block in text.as_bytes().chunks(11) {
        let width = match block.len() {
            11 => 8,
            7 => 5,
            _ => return None,
        };
        let value = block.iter().try_fold(0u128, |value, byte| {
            let digit = BASE58.iter().position(|known| known == byte)?;
            Some(value * 58 + digit as u128)
        })?;
        let whole = value.to_be_bytes();
        let (front, rest) = whole.split_at(whole.len() - width);
        if front.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(rest);
    }
    Some(bytes)
}

/// Decodes the key after the four leading zero bits, and drops the eight checksum characters.
fn nano(text: &str) -> Option<Vec<u8>> {
    let mut groups = groups(text, NANO)?;
    if groups.len() != 60 || groups[0] > 1 {
        return None;
    }
    groups.truncate(52);
    // The first group contains just one bit of the key, after the four zero bits.
    let mut bits =
        groups.iter().flat_map(|group| (0..5).rev().map(move |bit| group >> bit & 1)).skip(4);
    Some((0..32).map(|_| (0..8).fold(0, |byte, _| byte << 1 | bits.next().unwrap_or(0))).collect())
}
