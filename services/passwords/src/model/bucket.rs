//! A prefix's digests and counts, laid out as in a corpus file.
//!
//! A bucket starts with 16 ends, one per hex digit. Each is a u16: the number of entries whose
//! first digit is at most that digit. Next is a column of tails in ascending order, followed by a
//! column of counts as LEB128 numbers.

use super::entry::{Entry, MAX_COUNT};
use super::kind::Kind;

/// Length in bytes of the ends at the start of a non-empty bucket.
pub const ENDS_BYTES: usize = 32;
/// Maximum number of entries in a bucket.
pub const BUCKET_LIMIT: usize = u16::MAX as usize;

/// Why a bucket's bytes are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// The bucket is too short for its ends or tails.
    #[error("the bucket is truncated")]
    Length,
    /// The ends decrease, or a stored bucket is empty.
    #[error("the ends are not monotonic")]
    Ends,
    /// Two tails are equal or out of order.
    #[error("the tails are not strictly ascending")]
    Tails,
    /// A count is missing, is 0, is above 2147483647, or isn't in its shortest form.
    #[error("invalid count")]
    Count,
    /// There are extra bytes after the last count.
    #[error("there are extra bytes after the counts")]
    Spare,
}

/// A bucket whose ends and lengths have been checked. Tails and counts are checked during reading.
#[derive(Clone, Copy, Debug)]
pub struct Bucket<'a> {
    kind: Kind,
    ends: [u16; 16],
    tails: &'a [u8],
    counts: &'a [u8],
}

impl<'a> Bucket<'a> {
    /// Parses a bucket and checks its ends and lengths.
    ///
    /// # Errors
    /// Returns [`BucketError::Length`] or [`BucketError::Ends`].
    pub fn parse(kind: Kind, bytes: &'a [u8]) -> Result<Self, BucketError> {
        if bytes.is_empty() {
            return Ok(Self { kind, ends: [0; 16], tails: &[], counts: &[] });
        }
        let (head, rest) = bytes.split_first_chunk::<ENDS_BYTES>().ok_or(BucketError::Length)?;
        let mut ends = [0; 16];
        for (end, pair) in ends.iter_mut().zip(head.chunks_exact(2)) {
            *end = u16::from_le_bytes([pair[0], pair[1]]);
        }
        if ends[15] == 0 || !ends.is_sorted() {
            return Err(BucketError::Ends);
        }
        let n = usize::from(ends[15]);
        let (tails, counts) =
            rest.split_at_checked(n * kind.tail_bytes()).ok_or(BucketError::Length)?;
        if counts.len() < n {
            return Err(BucketError::Length);
        }
        Ok(Self { kind, ends, tails, counts })
    }

    /// Returns the kind of digest in this bucket.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        usize::from(self.ends[15])
    }

    /// Returns whether the bucket is empty.
    pub fn is_empty(&self) -> bool {
        self.ends[15] == 0
    }

    /// Returns the tails, grouped by first digit.
    pub fn groups(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        let width = self.kind.tail_bytes();
        let mut begin = 0;
        self.ends.iter().map(move |end| {
            let end = usize::from(*end) * width;
            let group = &self.tails[begin..end];
            begin = end;
            group
        })
    }

    /// Returns the cumulative number of entries for each first digit.
    pub fn ends(&self) -> &[u16; 16] {
        &self.ends
    }

    /// Returns the tail column.
    pub fn tails(&self) -> &'a [u8] {
        self.tails
    }

    /// Returns an iterator over the count column.
    pub fn counts(&self) -> Counts<'a> {
        Counts { bytes: self.counts }
    }

    /// Returns an upper bound for the length of the rendered bucket.
    pub fn text_bound(&self) -> usize {
        // A count of k bytes has up to 2k + 1 digits. A line adds a colon, CR and LF.
        self.len() * (self.kind.suffix_len() + 4) + 2 * self.counts.len()
    }

    /// Returns the count of `hash`, or `None` if the bucket doesn't contain it.
    ///
    /// # Errors
    /// Returns [`BucketError::Count`] if a count is invalid.
    pub fn find(&self, hash: &[u8]) -> Result<Option<u32>, BucketError> {
        let digit = usize::from(hash[2] & 0x0F);
        let end = usize::from(self.ends[digit]);
        let begin = if digit == 0 { 0 } else { usize::from(self.ends[digit - 1]) };
        let width = self.kind.tail_bytes();
        let group = &self.tails[begin * width..end * width];
        match search(group, width, &hash[3..self.kind.hash_bytes()]) {
            Some(at) => self.counts().nth_count(begin + at).map(Some),
            None => Ok(None),
        }
    }

    /// Checks the bucket and returns all its entries.
    ///
    /// # Errors
    /// Returns an error if the bucket differs in any way from the output of [`encode`].
    pub fn entries(&self, prefix: u32) -> Result<Vec<Entry>, BucketError> {
        let mut entries: Vec<Entry> = Vec::with_capacity(self.len());
        let mut counts = self.counts();
        let width = self.kind.tail_bytes();
        for (digit, group) in self.groups().enumerate() {
            let mut before: Option<&[u8]> = None;
            for tail in group.chunks_exact(width) {
                if before.is_some_and(|before| before >= tail) {
                    return Err(BucketError::Tails);
                }
                before = Some(tail);
                let mut hash = [0; 20];
                hash[0] = (prefix >> 12) as u8;
                hash[1] = (prefix >> 4) as u8;
                hash[2] = (prefix << 4) as u8 | digit as u8;
                hash[3..3 + width].copy_from_slice(tail);
                entries.push(Entry { hash, count: counts.next_count()? });
            }
        }
        if counts.bytes.is_empty() { Ok(entries) } else { Err(BucketError::Spare) }
    }
}

fn search(group: &[u8], width: usize, tail: &[u8]) -> Option<usize> {
    let (mut low, mut high) = (0, group.len() / width);
    while low < high {
        let middle = low + (high - low) / 2;
        match group[middle * width..(middle + 1) * width].cmp(tail) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return Some(middle),
        }
    }
    None
}

/// Iterates over a bucket's counts.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    bytes: &'a [u8],
}

impl Counts<'_> {
    /// Reads the next count.
    ///
    /// # Errors
    /// Returns [`BucketError::Count`] if it is invalid.
    #[inline(always)]
    pub fn next_count(&mut self) -> Result<u32, BucketError> {
        match self.bytes.split_first() {
            Some((byte, rest)) if *byte < 0x80 && *byte > 0 => {
                self.bytes = rest;
                Ok(u32::from(*byte))
            }
            _ => self.long_count(),
        }
    }

    /// Returns the remaining bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Skips `bytes` bytes. The new position must be at the end of a count.
    pub fn skip(&mut self, bytes: usize) {
        self.bytes = self.bytes.get(bytes..).unwrap_or_default();
    }

    fn long_count(&mut self) -> Result<u32, BucketError> {
        let mut value = 0u64;
        for at in 0..5 {
            let byte = *self.bytes.get(at).ok_or(BucketError::Count)?;
            value |= u64::from(byte & 0x7F) << (7 * at);
            if byte < 0x80 {
                if byte == 0 || value > u64::from(MAX_COUNT) {
                    return Err(BucketError::Count);
                }
                self.bytes = &self.bytes[at + 1..];
                return Ok(value as u32);
            }
        }
        Err(BucketError::Count)
    }

    fn nth_count(mut self, n: usize) -> Result<u32, BucketError> {
        for _ in 0..n {
            self.next_count()?;
        }
        self.next_count()
    }
}

/// Appends a bucket for the ascending entries of a single prefix, or nothing if there aren't any.
///
/// Returns false and appends nothing if there are more than [`BUCKET_LIMIT`] entries.
pub fn encode(kind: Kind, entries: &[Entry], out: &mut Vec<u8>) -> bool {
    if entries.is_empty() {
        return true;
    }
    if entries.len() > BUCKET_LIMIT {
        return false;
    }
    let mut ends = [0u16; 16];
    for entry in entries {
        ends[entry.first_digit()] += 1;
    }
    let mut sum = 0;
    for end in ends {
        sum += end;
        out.extend_from_slice(&sum.to_le_bytes());
    }
    for entry in entries {
        out.extend_from_slice(entry.tail(kind));
    }
    for entry in entries {
        write_count(entry.count, out);
    }
    true
}

fn write_count(mut count: u32, out: &mut Vec<u8>) {
    while count >= 0x80 {
        out.push(count as u8 | 0x80);
        count >>= 7;
    }
    out.push(count as u8);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the entries of a full bucket, with extreme digests and counts.
    pub fn as_many_as_fit() -> Vec<Entry> {
        let entry = |at: u32| {
            let mut hash = [0xFF; 20];
            hash[2] = 0xF0 | (at >> 12) as u8;
            hash[3..7].copy_from_slice(&at.to_be_bytes());
            Entry { hash, count: 1 + at * 32_768 }
        };
        (0..BUCKET_LIMIT as u32).map(entry).collect()
    }

    /// Returns a strategy for ascending entries with the same prefix.
    pub fn some_entries(kind: Kind, most: usize) -> impl Strategy<Value = Vec<Entry>> {
        let count = prop_oneof![4 => 1..128u32, 2 => 128..100_000u32, 1 => 1..=MAX_COUNT];
        prop::collection::vec((any::<[u8; 20]>(), count), 0..most).prop_map(move |drawn| {
            let mut entries: Vec<Entry> = drawn
                .into_iter()
                .map(|(mut hash, count)| {
                    hash[..2].copy_from_slice(&[0x5B, 0xAA]);
                    hash[2] = 0x60 | hash[2] & 0x0F;
                    hash[kind.hash_bytes()..].fill(0);
                    Entry { hash, count }
                })
                .collect();
            super::super::entry::sort_and_add_up(&mut entries);
            entries
        })
    }

    proptest! {
        #[test]
        fn bucket_returns_its_entries(
            kind in prop::sample::select(&Kind::ALL),
            (sha1, ntlm) in (some_entries(Kind::Sha1, 300), some_entries(Kind::Ntlm, 300)),
        ) {
            let entries = if kind == Kind::Sha1 { sha1 } else { ntlm };
            let mut bytes = Vec::new();
            prop_assert!(encode(kind, &entries, &mut bytes));
            let bucket = Bucket::parse(kind, &bytes).unwrap();
            prop_assert_eq!(bucket.entries(0x5BAA6).unwrap(), entries.clone());
            for entry in &entries {
                prop_assert_eq!(bucket.find(&entry.hash), Ok(Some(entry.count)));
                let mut other = entry.hash;
                other[8] ^= 1;
                let listed = entries.iter().any(|entry| entry.hash == other);
                prop_assert_eq!(bucket.find(&other).unwrap().is_some(), listed);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for kind in Kind::ALL {
                if let Ok(bucket) = Bucket::parse(kind, &bytes) {
                    let _ = bucket.entries(0);
                    let _ = bucket.find(&[0xFF; 20]);
                }
            }
        }
    }

    fn one(count: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(Kind::Sha1, &[Entry { hash: [1; 20], count }], &mut bytes);
        bytes
    }

    #[test]
    fn each_kind_of_damage_has_its_error() {
        let check = |bytes: &[u8]| Bucket::parse(Kind::Sha1, bytes)?.entries(0).map(|_| ());
        let good = one(5);
        assert_eq!(check(&good), Ok(()));
        assert_eq!(check(&good[..31]), Err(BucketError::Length));
        assert_eq!(check(&good[..good.len() - 1]), Err(BucketError::Length));
        assert_eq!(check(&[0; 32]), Err(BucketError::Ends));
        let mut ends = good.clone();
        ends[30] = 0;
        assert_eq!(check(&ends), Err(BucketError::Ends));
        let mut spare = good.clone();
        spare.push(1);
        assert_eq!(check(&spare), Err(BucketError::Spare));
        for counts in [&[0u8][..], &[0x80, 0], &[0x80], &[0xFF, 0xFF, 0xFF, 0xFF, 0x08]] {
            let mut bytes = good[..good.len() - 1].to_vec();
            bytes.extend_from_slice(counts);
            assert_eq!(check(&bytes), Err(BucketError::Count), "{counts:?}");
        }
        let mut twice = Vec::new();
        encode(Kind::Sha1, &[Entry { hash: [1; 20], count: 1 }; 2], &mut twice);
        assert_eq!(check(&twice), Err(BucketError::Tails));
    }

    #[test]
    fn the_largest_count_and_the_largest_bucket_fit() {
        let bytes = one(MAX_COUNT);
        assert_eq!(Bucket::parse(Kind::Sha1, &bytes).unwrap().find(&[1; 20]), Ok(Some(MAX_COUNT)));
        let entry = Entry { hash: [0; 20], count: 1 };
        assert!(encode(Kind::Sha1, &vec![entry; BUCKET_LIMIT], &mut Vec::new()));
        assert!(!encode(Kind::Sha1, &vec![entry; BUCKET_LIMIT + 1], &mut Vec::new()));
    }
}
