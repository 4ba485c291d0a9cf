//! The entity tags of all ranges, as sent by the mirrored service.
//!
//! A log consists of a header and one record per prefix, in order, each with a CRC-32. If the
//! process was killed while writing, the last intact record may be followed by other bytes.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::model::{BucketDigest, Kind, PREFIXES};

const MAGIC: &[u8; 8] = b"PWTAGS\0\x01";
/// Length in bytes of the header's fixed fields (the kind and the length of the source).
const HEAD_FIELDS: usize = 8;
const SOURCE_LIMIT: usize = 4096;
/// Length in bytes of a record's fixed fields (the length, number of entries and digest of the
/// bucket, and the length of the tag).
const RECORD_FIELDS: usize = 18;
const CRC_BYTES: usize = 4;
/// Maximum length of stored tags. If a tag is longer, the range is always fetched in full.
pub const TAG_LIMIT: usize = 256;

/// The record of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRecord {
    /// Length of the bucket in bytes.
    pub length: u32,
    /// The number of digests.
    pub entries: u32,
    /// The bucket's digest.
    pub digest: BucketDigest,
    /// The entity tag, verbatim, or empty if the service didn't send one.
    pub tag: Vec<u8>,
}

/// Encodes the header of a log.
pub fn head(kind: Kind, source: &str) -> Vec<u8> {
    let source = &source.as_bytes()[..source.floor_char_boundary(SOURCE_LIMIT)];
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&kind.code().to_le_bytes());
    head.extend_from_slice(&(source.len() as u32).to_le_bytes());
    head.extend_from_slice(source);
    head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
    head
}

impl TagRecord {
    /// Appends the record of `prefix` to a log.
    pub fn write(&self, prefix: u32, log: &mut Vec<u8>) {
        let begin = log.len();
        let tag = if self.tag.len() > TAG_LIMIT { &[] } else { &self.tag[..] };
        log.extend_from_slice(&self.length.to_le_bytes());
        log.extend_from_slice(&self.entries.to_le_bytes());
        log.extend_from_slice(&self.digest);
        log.extend_from_slice(&(tag.len() as u16).to_le_bytes());
        log.extend_from_slice(tag);
        let crc = crc_of(prefix, &log[begin..]);
        log.extend_from_slice(&crc.to_le_bytes());
    }
}

fn crc_of(prefix: u32, record: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(prefix);
    hasher.update(record);
    hasher.finalize()
}

/// Returns the source recorded in a log, or `None` if there is no such log.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn source_of(path: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut fields = [0; MAGIC.len() + HEAD_FIELDS];
    if !fill(&mut file, &mut fields)? || &fields[..MAGIC.len()] != MAGIC {
        return Ok(None);
    }
    let length = u32::from_le_bytes(part(&fields, MAGIC.len() + 4)) as usize;
    let mut source = vec![0; length.min(SOURCE_LIMIT)];
    let whole = fill(&mut file, &mut source)?;
    Ok(String::from_utf8(source).ok().filter(|_| whole))
}

/// Reads a log up to its end or the first damaged record.
pub struct TagLog<R> {
    reader: R,
    next: u32,
    whole: u64,
}

impl TagLog<BufReader<File>> {
    /// Opens a log. Returns `None` if it doesn't exist or is for another kind or source.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn open(path: &Path, kind: Kind, source: &str) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => Self::read(BufReader::with_capacity(1 << 18, file), kind, source),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<R: Read> TagLog<R> {
    fn read(mut reader: R, kind: Kind, source: &str) -> io::Result<Option<Self>> {
        let expected = head(kind, source);
        let mut found = vec![0; expected.len()];
        let fits = fill(&mut reader, &mut found)? && found == expected;
        Ok(fits.then(|| Self { reader, next: 0, whole: found.len() as u64 }))
    }

    /// Reads the next record, in prefix order.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read.
    pub fn next_record(&mut self) -> io::Result<Option<TagRecord>> {
        if self.next as usize == PREFIXES {
            return Ok(None);
        }
        let mut bytes = [0; RECORD_FIELDS + TAG_LIMIT + CRC_BYTES];
        if !fill(&mut self.reader, &mut bytes[..RECORD_FIELDS])? {
            return Ok(None);
        }
        let tag_length = usize::from(u16::from_le_bytes(part(&bytes, 16)));
        let end = RECORD_FIELDS + tag_length;
        if tag_length > TAG_LIMIT
            || !fill(&mut self.reader, &mut bytes[RECORD_FIELDS..end + CRC_BYTES])?
            || crc_of(self.next, &bytes[..end]) != u32::from_le_bytes(part(&bytes, end))
        {
            return Ok(None);
        }
        self.next += 1;
        self.whole += (end + CRC_BYTES) as u64;
        Ok(Some(TagRecord {
            length: u32::from_le_bytes(part(&bytes, 0)),
            entries: u32::from_le_bytes(part(&bytes, 4)),
            digest: part(&bytes, 8),
            tag: bytes[RECORD_FIELDS..end].to_vec(),
        }))
    }

    /// Returns the length of the intact part of the log read so far.
    pub fn whole(&self) -> u64 {
        self.whole
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}

/// Fills the buffer. Returns false if the input ends before that.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The tags of all ranges in memory, each with the digest of its bucket.
pub struct Tags {
    digests: Vec<BucketDigest>,
    ends: Vec<u32>,
    tags: Vec<u8>,
}

impl Tags {
    /// Reads a log's remaining records.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read.
    pub fn read<R: Read>(mut log: TagLog<R>) -> io::Result<Self> {
        let mut all = Self { digests: Vec::new(), ends: Vec::new(), tags: Vec::new() };
        while let Some(record) = log.next_record()? {
            all.digests.push(record.digest);
            all.tags.extend_from_slice(&record.tag);
            all.ends.push(all.tags.len() as u32);
        }
        Ok(all)
    }

    /// Returns the tag of `prefix`, provided that it belongs to a bucket with this digest.
    pub fn get(&self, prefix: u32, digest: BucketDigest) -> Option<&[u8]> {
        let at = prefix as usize;
        let begin = if at == 0 { 0 } else { *self.ends.get(at - 1)? };
        let tag = self.tags.get(begin as usize..*self.ends.get(at)? as usize)?;
        (self.digests.get(at) == Some(&digest) && !tag.is_empty()).then_some(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "https://ranges.example";

    fn record(tag: &[u8]) -> TagRecord {
        TagRecord { length: 50, entries: 1, digest: [7; 8], tag: tag.to_vec() }
    }

    fn open(log: &[u8]) -> Option<TagLog<&[u8]>> {
        TagLog::read(log, Kind::Sha1, SOURCE).unwrap()
    }

    #[test]
    fn log_truncated_anywhere_returns_its_complete_records() {
        let mut log = head(Kind::Sha1, SOURCE);
        let mut ends = vec![log.len()];
        for (prefix, tag) in [&b"\"a\""[..], b"", b"W/\"0x8DD\""].iter().enumerate() {
            record(tag).write(prefix as u32, &mut log);
            ends.push(log.len());
        }
        for cut in 0..=log.len() {
            let Some(mut read) = open(&log[..cut]) else {
                assert!(cut < ends[0]);
                continue;
            };
            let mut records = 0;
            while read.next_record().unwrap().is_some() {
                records += 1;
            }
            assert_eq!(records, ends.iter().filter(|end| **end <= cut).count() - 1);
            assert_eq!(read.whole(), ends[records] as u64);
        }
        let tags = Tags::read(open(&log).unwrap()).unwrap();
        assert_eq!(tags.get(0, [7; 8]), Some(&b"\"a\""[..]));
        assert_eq!(tags.get(0, [8; 8]), None, "the bucket is another by now");
        assert_eq!((tags.get(1, [7; 8]), tags.get(3, [7; 8])), (None, None));
        assert_eq!(tags.get(2, [7; 8]), Some(&b"W/\"0x8DD\""[..]));
    }

    #[test]
    fn every_changed_byte_of_a_record_ends_the_log() {
        let mut log = head(Kind::Sha1, SOURCE);
        let begin = log.len();
        record(b"\"a\"").write(0, &mut log);
        for at in begin..log.len() {
            let mut log = log.clone();
            log[at] ^= 1;
            assert_eq!(open(&log).unwrap().next_record().unwrap(), None, "byte {at}");
        }
    }

    #[test]
    fn the_log_of_another_service_or_kind_is_not_read() {
        let log = head(Kind::Sha1, SOURCE);
        assert!(open(&log).is_some());
        assert!(TagLog::read(&log[..], Kind::Ntlm, SOURCE).unwrap().is_none());
        assert!(TagLog::read(&log[..], Kind::Sha1, "https://other.example").unwrap().is_none());
    }

    #[test]
    fn overlong_tag_is_dropped() {
        let mut log = head(Kind::Sha1, SOURCE);
        record(&[b'x'; TAG_LIMIT + 1]).write(0, &mut log);
        assert_eq!(open(&log).unwrap().next_record().unwrap(), Some(record(b"")));
    }
}
