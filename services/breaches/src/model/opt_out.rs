//! Opt-outs of people who don't want their address to be shown.

use domain::Sha1Digest;

use super::account_key::AccountKey;

/// The owner's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptOut {
    /// Hide the address from public searches. The domain's controllers can still see it.
    Public,
    /// Remove all data, but keep the digest so that the address won't be loaded again.
    Breaches,
    /// Remove all data and keep nothing.
    Delete,
}

impl OptOut {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::Public, Self::Breaches, Self::Delete];

    /// Returns the name used in metrics and forms.
    pub fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Breaches => "breaches",
            Self::Delete => "delete",
        }
    }

    /// Returns the code used in the database. `Delete` doesn't leave a row behind.
    pub fn kind(self) -> i16 {
        match self {
            Self::Public => 1,
            Self::Breaches => 2,
            Self::Delete => 3,
        }
    }

    /// Converts a code from the database.
    pub fn from_kind(kind: i16) -> Option<Self> {
        match kind {
            1 => Some(Self::Public),
            2 => Some(Self::Breaches),
            3 => Some(Self::Delete),
            _ => None,
        }
    }
}

/// Digests of opted-out addresses. Each takes 21 bytes of memory.
#[derive(Debug, Default)]
pub struct OptOutSet {
    sorted: Vec<([u8; 20], u8)>,
}

impl OptOutSet {
    /// Builds the set from unsorted rows.
    pub fn new(mut rows: Vec<([u8; 20], u8)>) -> Self {
        rows.sort_unstable();
        Self { sorted: rows }
    }

    /// Looks up the choice for a digest.
    pub fn get(&self, digest: &Sha1Digest) -> Option<OptOut> {
        let place = self.sorted.binary_search_by(|(hash, _)| hash.cmp(&digest.0)).ok()?;
        OptOut::from_kind(i16::from(self.sorted.get(place)?.1))
    }

    /// Returns `false` if no digest starts with the bytes of `key`, so there's no need to compute
    /// the full digest.
    pub fn may_contain(&self, key: AccountKey) -> bool {
        let first = key.first_bytes();
        let place = self.sorted.partition_point(|(hash, _)| hash[..8] < first[..]);
        self.sorted.get(place).is_some_and(|(hash, _)| hash[..8] == first[..])
    }

    /// Returns the number of digests.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// True if there are no opt-outs.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

/// Size of a record of a [`RemovedSet`] in bytes.
pub const REMOVED_RECORD: usize = 22;

/// Addresses, or their links to single breaches, that were removed while a load ran.
#[derive(Debug, Default)]
pub struct RemovedSet {
    /// Digests, each with a breach id, or 0 for the whole address.
    sorted: Vec<([u8; 20], u16)>,
}

impl RemovedSet {
    /// Builds the record of an address, or of its link to a breach.
    pub fn record(digest: &Sha1Digest, breach: Option<u16>) -> [u8; REMOVED_RECORD] {
        let mut record = [0; REMOVED_RECORD];
        record[..20].copy_from_slice(&digest.0);
        record[20..].copy_from_slice(&breach.unwrap_or(0).to_le_bytes());
        record
    }

    /// Reads concatenated records.
    pub fn of_records(records: &[u8]) -> Self {
        let read = |record: &[u8; REMOVED_RECORD]| {
            let mut digest = [0; 20];
            digest.copy_from_slice(&record[..20]);
            (digest, u16::from_le_bytes([record[20], record[21]]))
        };
        let mut sorted: Vec<_> = records.as_chunks::<REMOVED_RECORD>().0.iter().map(read).collect();
        sorted.sort_unstable();
        Self { sorted }
    }

    /// Returns whether a whole address was removed.
    pub fn contains(&self, digest: &Sha1Digest) -> bool {
        self.sorted.binary_search(&(digest.0, 0)).is_ok()
    }

    /// Returns whether an address was removed from a breach.
    pub fn contains_link(&self, digest: &Sha1Digest, breach: u16) -> bool {
        self.sorted.binary_search(&(digest.0, breach)).is_ok()
    }

    /// Returns `false` if no digest starts with the bytes of `key`.
    pub fn may_contain(&self, key: AccountKey) -> bool {
        let first = key.first_bytes();
        let place = self.sorted.partition_point(|(hash, _)| hash[..8] < first[..]);
        self.sorted.get(place).is_some_and(|(hash, _)| hash[..8] == first[..])
    }

    /// True if nothing was removed.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_set_distinguishes_addresses_from_links() {
        let digest = |text: &str| Sha1Digest::of(text.as_bytes());
        let records = [
            RemovedSet::record(&digest("link"), Some(300)),
            RemovedSet::record(&digest("all"), None),
            RemovedSet::record(&digest("link"), Some(7)),
        ];
        let set = RemovedSet::of_records(records.as_flattened());
        assert!(set.contains(&digest("all")) && !set.contains(&digest("link")));
        let linked = |id| set.contains_link(&digest("link"), id);
        assert_eq!([7, 8, 300].map(linked), [true, false, true]);
        assert!(!set.contains_link(&digest("all"), 7));
        let may_contain = |text| set.may_contain(AccountKey::of(&digest(text)));
        assert_eq!(["all", "link", "other"].map(may_contain), [true, true, false]);
        assert!(!set.is_empty() && RemovedSet::of_records(&[]).is_empty());
    }

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
