//! Opt-outs: addresses whose owners asked not to be shown.

use domain::Sha1Digest;

use super::account_key::AccountKey;

/// The choice of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptOut {
    /// Hidden from public searches; controllers of the domain still see it.
    Public,
    /// Everything is removed; only the digest stays, so the address is not loaded again.
    Breaches,
    /// Everything is removed and nothing is kept.
    Delete,
}

impl OptOut {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Public, Self::Breaches, Self::Delete];

    /// The name of the choice.
    pub fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Breaches => "breaches",
            Self::Delete => "delete",
        }
    }

    /// The number in the database. `Delete` leaves no row.
    pub fn kind(self) -> i16 {
        match self {
            Self::Public => 1,
            Self::Breaches => 2,
            Self::Delete => 3,
        }
    }

    /// The choice with this number.
    pub fn from_kind(kind: i16) -> Option<Self> {
        match kind {
            1 => Some(Self::Public),
            2 => Some(Self::Breaches),
            3 => Some(Self::Delete),
            _ => None,
        }
    }
}

/// The opted-out digests, held in memory in 21 bytes each.
#[derive(Debug, Default)]
pub struct OptOutSet {
    sorted: Vec<([u8; 20], u8)>,
}

impl OptOutSet {
    /// Builds the set from rows in any order.
    pub fn new(mut rows: Vec<([u8; 20], u8)>) -> Self {
        rows.sort_unstable();
        Self { sorted: rows }
    }

    /// The choice of the owner of the address with this digest.
    pub fn get(&self, digest: &Sha1Digest) -> Option<OptOut> {
        let place = self.sorted.binary_search_by(|(hash, _)| hash.cmp(&digest.0)).ok()?;
        OptOut::from_kind(i16::from(self.sorted.get(place)?.1))
    }

    /// Returns whether any digest starts with the bytes of `key`. If not, the full digest is not
    /// needed.
    pub fn may_contain(&self, key: AccountKey) -> bool {
        let first = key.first_bytes();
        let place = self.sorted.partition_point(|(hash, _)| hash[..8] < first[..]);
        self.sorted.get(place).is_some_and(|(hash, _)| hash[..8] == first[..])
    }

    /// The number of digests.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_finds_its_digests_only() {
        let digest = |text: &str| Sha1Digest::of(text.as_bytes());
        let set = OptOutSet::new(vec![(digest("b").0, 2), (digest("a").0, 1)]);
        assert_eq!(set.get(&digest("a")), Some(OptOut::Public));
        assert_eq!(set.get(&digest("b")), Some(OptOut::Breaches));
        assert_eq!(set.get(&digest("c")), None);
        assert!(set.may_contain(AccountKey::of(&digest("a"))));
        assert!(!set.may_contain(AccountKey::of(&digest("c"))));
    }
}
