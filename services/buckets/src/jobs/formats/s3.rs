//! Parses S3 `ListBucketResult`, versions 1 and 2. S3, Spaces, OSS and GCS all use it.

use std::borrow::Cow;
use std::io::BufRead;

use super::entry::{Bad, Item, Part, Sink, Skipped, Taken};
use super::fields;
use super::link::Link;
use super::record::Record;
use super::unpack::Meter;
use super::xml::{NO_LISTING, Piece, Pieces, percent_decoded};
use crate::jobs::error::JobError;
use crate::model::Attributes;
use crate::model::address::{Address, BucketType};

#[derive(Default)]
struct Entry {
    key: Option<String>,
    texts: Attributes<Option<String>>,
    etag: Option<String>,
}

#[derive(Default)]
struct Page {
    encoded: bool,
    /// `None` if the page doesn't say.
    truncated: Option<bool>,
    part: Option<Part>,
    link: Link,
    /// The key or marker for the next page.
    next_marker: Option<String>,
    /// Number of entries according to the page.
    key_count: Option<u64>,
    /// Number of entries and common prefixes so far.
    listed: u64,
    /// Entries that can't be processed yet, because `EncodingType` might come after them.
    entries: Vec<Entry>,
    /// Total size of the waiting entries' keys, in bytes.
    bytes: usize,
}

/// Maximum number of waiting entries. If there are more, they are processed early.
const MOST_WAITING: usize = 10_000;
/// Maximum total size of their keys, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// Reads all pages.
pub(super) fn read<R: BufRead>(
    input: Meter<R>,
    bucket: &str,
    kind: Option<&str>,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let mut listing = Listing { bucket, kind, position: 0, pages: 0, page: Page::default() };
    let asked = name_of(bucket);
    let mut pieces = Pieces::new(input);
    let mut path: Vec<String> = Vec::new();
    let mut entry = Entry::default();
    loop {
        let piece = match pieces.next() {
            Ok(piece) => piece,
            Err(reason) => {
                listing.flush(sink)?;
                return sink.broken(reason);
            }
        };
        match piece {
            Piece::End if listing.pages == 0 => return sink.broken(NO_LISTING.to_owned()),
            Piece::End => return Ok(()),
            Piece::Open(name, _) => {
                let known = matches!(name.as_str(), "ListBucketResult" | "ListVersionsResult");
                if path.is_empty() && !known {
                    return sink.broken(format!("the root element {name} is not a listing"));
                }
                if path.is_empty() && name == "ListVersionsResult" {
                    listing.page.part = Some(Part::Versions);
                }
                path.push(name);
            }
            Piece::Close(name, text) => {
                path.pop();
                match (path.len(), name.as_str()) {
                    (0, _) => listing.end_page(sink)?,
                    (1, "Contents") => listing.entry(std::mem::take(&mut entry), sink)?,
                    (1, "CommonPrefixes") => {
                        listing.page.listed += 1;
                        sink.skipped(Skipped::Prefix)?;
                    }
                    (1, "Name") if !text.trim().is_empty() => {
                        if is_other(asked.as_deref(), &text) {
                            return sink.broken(other_bucket(&text));
                        }
                        listing.page.link.name = Some(text.trim().to_owned());
                    }
                    (1, "KeyCount") => listing.page.key_count = text.trim().parse().ok(),
                    (1, "MaxKeys") if text.trim() == "0" => {
                        listing.page.part = Some(Part::NoKeys);
                    }
                    (1, "Version" | "DeleteMarker") => sink.skipped(Skipped::Version)?,
                    (1, "Prefix" | "Delimiter") if !text.trim().is_empty() => {
                        listing.page.part = Some(Part::Filtered);
                    }
                    (1, "Marker" | "StartAfter" | "ContinuationToken" | "KeyMarker")
                        if !text.trim().is_empty() =>
                    {
                        listing.page.part.get_or_insert(Part::Continued);
                        let Link { token, after, .. } = &mut listing.page.link;
                        *(if name == "ContinuationToken" { token } else { after }) = Some(text);
                    }
                    (1, "NextContinuationToken") if !text.is_empty() => {
                        listing.page.link.next = Some(text);
                    }
                    (1, "NextMarker" | "NextKeyMarker") if !text.is_empty() => {
                        listing.page.next_marker = Some(text);
                    }
                    (1, "IsTruncated") if listing.page.truncated != Some(true) => {
                        listing.page.truncated = text.trim().parse().ok();
                    }
                    (1, "EncodingType") => listing.page.encoded = text.trim() == "url",
                    (2, "Key") => entry.key = Some(text),
                    (2, element) if fields::is_etag(element) => entry.etag = Some(text),
                    (2, element) => {
                        if let Some(attribute) = fields::named(element, fields::s3_element) {
                            entry.texts[attribute] = Some(text);
                        }
                    }
                    _ => {}
                }
                if path.len() == 1 {
                    entry = Entry::default();
                }
            }
        }
    }
}

struct Listing<'a> {
    bucket: &'a str,
    kind: Option<&'a str>,
    position: u64,
    pages: u64,
    page: Page,
}

impl Listing<'_> {
    fn entry(&mut self, entry: Entry, sink: &mut dyn Sink) -> Result<(), JobError> {
        self.page.listed += 1;
        self.page.bytes += entry.key.as_ref().map_or(0, String::len);
        self.page.entries.push(entry);
        let full = self.page.entries.len() >= MOST_WAITING || self.page.bytes >= MOST_BYTES;
        if full { self.flush(sink) } else { Ok(()) }
    }

    fn end_page(&mut self, sink: &mut dyn Sink) -> Result<(), JobError> {
        self.flush(sink)?;
        self.pages += 1;
        let Page { encoded, truncated, part, mut link, next_marker, key_count, listed, .. } =
            std::mem::take(&mut self.page);
        // Keys and markers are encoded, but tokens aren't.
        let text = |text: String| String::from_utf8_lossy(&decoded(&text, encoded)).into_owned();
        link.after = link.after.map(text);
        link.next = link.next.or_else(|| next_marker.map(text));
        // A page that names the next one isn't the last one, whatever else it says.
        let truncated = if link.next.is_some() { Some(true) } else { truncated };
        let part = match part {
            None | Some(Part::Continued) if key_count.is_some_and(|count| count > listed) => {
                Some(Part::Short)
            }
            None | Some(Part::Continued) if truncated.is_none() => Some(Part::Unended),
            part => part,
        };
        part.into_iter().for_each(|part| sink.part(part));
        sink.link(link);
        sink.page(self.bucket, self.kind, truncated == Some(true))
    }

    fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), JobError> {
        self.page.bytes = 0;
        let entries = std::mem::take(&mut self.page.entries);
        for entry in [entries.first(), entries.last()].into_iter().flatten() {
            if let Some(key) = self.key(entry) {
                self.page.link.add_key(&String::from_utf8_lossy(&key));
            }
        }
        for entry in entries {
            self.position += 1;
            if let Err(reason) = self.take(&entry, sink)? {
                let content = self.line(&entry);
                sink.bad(Bad { position: self.position, reason, content, is_unclear: false })?;
            }
        }
        Ok(())
    }

    fn take(&self, entry: &Entry, sink: &mut dyn Sink) -> Result<Taken, JobError> {
        let Some(key) = self.key(entry) else {
            return Ok(Err("the field Key is missing".to_owned()));
        };
        let Ok(path) = std::str::from_utf8(&key) else {
            return Ok(Err("the key is not UTF-8".to_owned()));
        };
        match fields::read(&fields::trimmed(&entry.texts), fields::s3_element) {
            Err(reason) => Ok(Err(reason)),
            Ok(attributes) => {
                let (bucket, kind) = (self.bucket, self.kind);
                let (position, etag) = (self.position, fields::etag(entry.etag.as_deref()));
                sink.file(&Item { position, bucket, kind, path, attributes, etag })
            }
        }
    }

    fn key<'e>(&self, entry: &'e Entry) -> Option<Cow<'e, [u8]>> {
        Some(decoded(entry.key.as_deref()?, self.page.encoded))
    }

    fn line(&self, entry: &Entry) -> Vec<u8> {
        Record::of(Some(self.bucket), self.kind)
            .field("fullPath", self.key(entry))
            .attributes(&entry.texts)
            .into_line()
    }
}

/// Returns the name that the pages of a bucket have, if it follows from the bucket's address.
pub(super) fn name_of(bucket: &str) -> Option<String> {
    let address = Address::parse(bucket).ok()?;
    let name = match address.kind() {
        Some(BucketType::Azure) => return None,
        // A region follows the name at the address of the CDN. Names of Spaces don't contain dots.
        Some(BucketType::Dos) => address.name().split('.').next()?,
        Some(_) => address.name(),
        None => address.as_str().split_once('/')?.1,
    };
    (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
}

/// Returns `true` if a page names another bucket than the one that was asked for.
pub(super) fn is_other(asked: Option<&str>, name: &str) -> bool {
    asked.is_some_and(|asked| asked != name.trim().to_lowercase())
}

/// Returns the error for a page of another bucket.
pub(super) fn other_bucket(name: &str) -> String {
    format!("the listing is of another bucket: {}", name.trim())
}

/// Decodes a key or marker.
fn decoded(text: &str, is_encoded: bool) -> Cow<'_, [u8]> {
    if is_encoded {
        percent_decoded(&text.replace('+', " ")).into()
    } else {
        text.as_bytes().into()
    }
}
