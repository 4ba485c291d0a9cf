//! A digest and its count. Builds sort and merge these records.

use std::cmp::Ordering;

use super::kind::Kind;

/// Maximum count, since many clients parse it as a signed 32-bit integer.
pub const MAX_COUNT: u32 = i32::MAX as u32;

/// A digest and the number of times it was seen.
///
/// An NTLM digest takes up the first 16 bytes and is padded with zeros. A record is 24 bytes long,
/// both in memory and in temporary files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The digest.
    pub hash: [u8; 20],
    /// The number of times it was seen, from 1 to [`MAX_COUNT`].
    pub count: u32,
}

/// Length in bytes of an entry in a temporary file.
pub const RECORD_BYTES: usize = 24;

impl Entry {
    /// Returns the digest's first 20 bits.
    pub fn prefix(&self) -> u32 {
        u32::from(self.hash[0]) << 12 | u32::from(self.hash[1]) << 4 | u32::from(self.hash[2]) >> 4
    }

    /// Returns the hex digit after the prefix.
    pub fn first_digit(&self) -> usize {
        usize::from(self.hash[2] & 0x0F)
    }

    /// Returns all but the first three bytes.
    pub fn tail(&self, kind: Kind) -> &[u8] {
        &self.hash[3..kind.hash_bytes()]
    }

    /// Compares digests. The first eight bytes are compared as a single number, which almost always
    /// decides.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.leading().cmp(&other.leading()).then_with(|| self.hash[8..].cmp(&other.hash[8..]))
    }

    fn leading(&self) -> u64 {
        let h = &self.hash;
        u64::from_be_bytes([h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]])
    }

    /// Encodes the entry for a temporary file.
    pub fn to_record(self) -> [u8; RECORD_BYTES] {
        let mut record = [0; RECORD_BYTES];
        record[..20].copy_from_slice(&self.hash);
        record[20..].copy_from_slice(&self.count.to_le_bytes());
        record
    }

    /// Decodes an entry from a temporary file.
    pub fn from_record(record: &[u8; RECORD_BYTES]) -> Self {
        let mut hash = [0; 20];
        hash.copy_from_slice(&record[..20]);
        let count = u32::from_le_bytes([record[20], record[21], record[22], record[23]]);
        Self { hash, count }
    }
}

/// How to combine a digest's counts from several inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountMerge {
    /// Adds the counts. For inputs from separate incidents.
    Sum,
    /// Uses the larger count. For inputs that are versions of the same source.
    Max,
    /// Uses the count from the later input.
    Replace,
}

impl CountMerge {
    /// Combines an `older` count with a `newer` one.
    pub fn counts(self, older: u32, newer: u32) -> u32 {
        match self {
            Self::Sum => add_counts(older, newer),
            Self::Max => older.max(newer),
            Self::Replace => newer,
        }
    }
}

/// Adds two counts, saturating at [`MAX_COUNT`].
pub fn add_counts(a: u32, b: u32) -> u32 {
    a.saturating_add(b).min(MAX_COUNT)
}

/// Sorts entries and adds up the counts of equal digests.
pub fn sort_and_add_up(entries: &mut Vec<Entry>) {
    if !entries.is_sorted_by(|a, b| a.compare(b) == Ordering::Less) {
        entries.sort_unstable_by(Entry::compare);
        add_up_sorted(entries);
    }
}

/// Adds up the counts of adjacent entries that have the same digest.
pub fn add_up_sorted(entries: &mut Vec<Entry>) {
    entries.dedup_by(|later, kept| {
        let same = later.hash == kept.hash;
        if same {
            kept.count = add_counts(kept.count, later.count);
        }
        same
    });
}

/// Merges two ascending lists without duplicates.
pub fn merge_sorted(older: &[Entry], newer: &[Entry], merge: CountMerge) -> Vec<Entry> {
    let mut merged = Vec::with_capacity(older.len() + newer.len());
    let (mut a, mut b) = (older.iter().peekable(), newer.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => match x.compare(y) {
                Ordering::Less => merged.extend(a.next().copied()),
                Ordering::Greater => merged.extend(b.next().copied()),
                Ordering::Equal => {
                    let count = merge.counts(x.count, y.count);
                    merged.push(Entry { hash: x.hash, count });
                    a.next();
                    b.next();
                }
            },
            (Some(_), None) => merged.extend(a.next().copied()),
            (None, Some(_)) => merged.extend(b.next().copied()),
            (None, None) => return merged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(first: u8, count: u32) -> Entry {
        let mut hash = [0; 20];
        hash[0] = first;
        Entry { hash, count }
    }

    #[test]
    fn equal_digests_add_up_and_saturate() {
        let mut entries = vec![entry(2, 1), entry(1, MAX_COUNT), entry(2, 5), entry(1, 9)];
        sort_and_add_up(&mut entries);
        assert_eq!(entries, [entry(1, MAX_COUNT), entry(2, 6)]);
    }

    #[test]
    fn counts_merge_by_sum_max_or_replacement() {
        let (older, newer) = ([entry(1, 5), entry(3, 7)], [entry(2, 4), entry(3, 2)]);
        for (merge, count) in [(CountMerge::Sum, 9), (CountMerge::Max, 7), (CountMerge::Replace, 2)]
        {
            let expected = [entry(1, 5), entry(2, 4), entry(3, count)];
            assert_eq!(merge_sorted(&older, &newer, merge), expected);
        }
    }

    #[test]
    fn prefix_and_first_digit_come_from_the_first_three_bytes() {
        let mut hash = [0; 20];
        hash[..3].copy_from_slice(&[0x5B, 0xAA, 0x61]);
        let entry = Entry { hash, count: 1 };
        assert_eq!((entry.prefix(), entry.first_digit()), (0x5BAA6, 1));
        assert_eq!(Entry::from_record(&entry.to_record()), entry);
    }
}
