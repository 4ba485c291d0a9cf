//! Account keys and hash prefixes.

use domain::Sha1Digest;

/// The first 8 bytes of an address's SHA-1 with the top bit flipped. Databases don't have unsigned
/// 64-bit columns, and with that bit flipped, signed integers sort in the same order as the hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountKey(pub i64);

const TOP: u64 = 1 << 63;

impl AccountKey {
    /// Derives the key from a digest.
    pub fn of(digest: &Sha1Digest) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&digest.0[..8]);
        Self((u64::from_be_bytes(first) ^ TOP).cast_signed())
    }

    /// Recovers the first 8 bytes of the digest.
    pub fn first_bytes(self) -> [u8; 8] {
        (self.0.cast_unsigned() ^ TOP).to_be_bytes()
    }
}

/// The first six hex digits of an address's SHA-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EmailPrefix(u32);

impl std::fmt::Display for EmailPrefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:06X}", self.0)
    }
}

impl EmailPrefix {
    /// Parses exactly six hex digits in either case.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 6 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u32::from_str_radix(text, 16).ok().map(Self)
    }

    /// Returns the lowest and highest keys with this prefix.
    pub fn keys(self) -> (AccountKey, AccountKey) {
        let low = u64::from(self.0) << 40;
        let key = |value: u64| AccountKey((value ^ TOP).cast_signed());
        (key(low), key(low | ((1 << 40) - 1)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lowest_and_highest_prefix_cover_all_keys() {
        let (low, _) = EmailPrefix::parse("000000").unwrap().keys();
        let (_, high) = EmailPrefix::parse("ffFFff").unwrap().keys();
        assert_eq!((low.0, high.0), (i64::MIN, i64::MAX));
    }

    #[test]
    fn text_other_than_six_hex_digits_is_rejected() {
        for text in ["", "12345", "1234567", "12345g", "+12345", "é1234"] {
            assert_eq!(EmailPrefix::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn keys_sort_like_hashes_and_are_within_their_prefix(a in any::<[u8; 20]>(), b in any::<[u8; 20]>()) {
            let (a, b) = (Sha1Digest(a), Sha1Digest(b));
            prop_assert_eq!(a.0[..8].cmp(&b.0[..8]), AccountKey::of(&a).cmp(&AccountKey::of(&b)));
            prop_assert_eq!(&AccountKey::of(&a).first_bytes()[..], &a.0[..8]);
            let (low, high) = EmailPrefix::parse(&a.to_string()[..6]).unwrap().keys();
            prop_assert!(low <= AccountKey::of(&a) && AccountKey::of(&a) <= high);
        }
    }
}
