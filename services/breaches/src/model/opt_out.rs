//! Opt-outs of address owners who do not want their address to be shown.

use domain::Sha1Digest;

use super::account_key::AccountKey;

/// The choice of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptOut {
    /// Hides the address from public searches. Controllers of its domain still see it.
    Public,
    /// Removes all data and keeps only the digest, so that the address is not loaded again.
    Breaches,
    /// Removes all data and keeps nothing.
    Delete,
}

impl OptOut {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Public, Self::Breaches, Self::Delete];

    /// Returns the name of the choice.
    pub fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Breaches => "breaches",
            Self::Delete => "delete",
        }
    }

    /// Returns the number stored in the database. `Delete` does not leave a row.
    pub fn kind(self) -> i16 {
        match self {
            Self::Public => 1,
            Self::Breaches => 2,
            Self::Delete => 3,
        }
    }

    /// Returns the choice with a stored number, or `None` if there is none.
    pub fn from_kind(kind: i16) -> Option<Self> {
        match kind {
            1 => Some(Self::Public),
            2 => Some(Self::Breaches),
            3 => Some(Self::Delete),
            _ => None,
        }
    }
}

/// The digests of opted-out addresses. They take 21 bytes of memory each.
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

    /// Returns the choice made by the owner of the address with a digest, if any.
    pub fn get(&self, digest: &Sha1Digest) -> Option<OptOut> {
        let place = self.sorted.binary_search_by(|(hash, _)| hash.cmp(&digest.0)).ok()?;
        OptOut::from_kind(i16::from(self.sorted.get(place)?.1))
    }

    /// Returns whether any digest begins with the bytes of `key`. If none does, the full digest
    /// need not be computed.
    pub fn may_contain(&self, key: AccountKey) -> bool {
        let first = key.first_bytes();
        let place = self.sorted.partition_point(|(hash, _)| hash[..8] < first[..]);
        self.sorted.get(place).is_some_and(|(hash, _)| hash[..8] == first[..])
    }

    /// Returns the number of digests.
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
