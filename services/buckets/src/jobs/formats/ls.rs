//! Parses text listings from `aws s3 ls`, `s5cmd ls` and `gsutil ls -l`.

use std::collections::BTreeSet;
use std::io::BufRead;

use super::entry::{Bad, Item, Part, Sink, Skipped, Taken};
use super::fields;
use super::lines::{LineEnd, read_line};
use super::ls_line::{Line, is_number, parsed};
use super::record::Record;
use super::unpack::Meter;
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

/// Reads all lines. The format doesn't say whether the listing is complete.
pub(super) fn read<R: BufRead>(
    mut input: Meter<R>,
    bucket: Option<&str>,
    kind: Option<&str>,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let (mut line, mut position) = (Vec::new(), 0);
    let mut buckets = BTreeSet::new();
    loop {
        line.clear();
        input.reset();
        let end = match read_line(&mut input, &mut line) {
            Ok(LineEnd::OfSource) if line.is_empty() => break,
            Ok(end) => end,
            Err(error) => return sink.broken(format!("line {}: {error}", position + 1)),
        };
        position += 1;
        if end == LineEnd::OfSource {
            // The path might be cut off. The missing line feed is the only sign of that.
            return sink.broken(format!("line {position} is incomplete"));
        }
        let content = line.strip_suffix(b"\n").unwrap_or(&line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let source = Source { bucket, kind, position };
        if let Err(reason) = source.take(content, &mut buckets, sink)? {
            let content = source.line(content);
            sink.bad(Bad { position, reason, content, is_unclear: false })?;
        }
    }
    for bucket in buckets {
        sink.part(Part::Unended);
        sink.page(&bucket, kind, false)?;
    }
    Ok(())
}

struct Source<'a> {
    bucket: Option<&'a str>,
    kind: Option<&'a str>,
    position: u64,
}

impl Source<'_> {
    fn take(
        &self,
        content: &[u8],
        buckets: &mut BTreeSet<String>,
        sink: &mut dyn Sink,
    ) -> Result<Taken, JobError> {
        let Ok(text) = std::str::from_utf8(content) else {
            return Ok(Err("the line is not UTF-8".to_owned()));
        };
        let (listed, path, size, date) = match parsed(text) {
            None => return Ok(Err("the line is not part of a listing".to_owned())),
            Some(Line::Other) => return Ok(Ok(())),
            Some(Line::Folder(_)) => return sink.skipped(Skipped::Prefix).map(Ok),
            Some(Line::File { bucket, path, size, date, .. }) => (bucket, path, size, date),
        };
        let listed = listed.map(|name| format!("gs://{name}"));
        let Some(bucket) = self.bucket.map(str::to_owned).or(listed) else {
            let reason = "the listing does not name its bucket: use --bucket";
            return Ok(Err(reason.to_owned()));
        };
        if !is_number(size) {
            return Ok(Err(
                "the size is rounded or not aligned: list without --human-readable".to_owned()
            ));
        }
        let texts = Attributes::from_fn(|attribute| match attribute {
            Attribute::Size => Some(size),
            Attribute::LastModified => Some(date.as_str()),
        });
        let attributes = match fields::read(&texts, Attribute::member) {
            Ok(attributes) => attributes,
            Err(reason) => return Ok(Err(reason)),
        };
        let (position, kind) = (self.position, self.kind);
        let taken =
            sink.file(&Item { position, bucket: &bucket, kind, path, attributes, etag: None })?;
        if taken.is_ok() && !buckets.contains(&bucket) {
            buckets.insert(bucket);
        }
        Ok(taken)
    }

    /// Converts a line to NDJSON.
    fn line(&self, content: &[u8]) -> Vec<u8> {
        let text = std::str::from_utf8(content).ok();
        let Some(Line::File { bucket, path, size, date, .. }) = text.and_then(parsed) else {
            return Record::of(self.bucket, self.kind).field("line", Some(content)).into_line();
        };
        let listed = bucket.map(|name| format!("gs://{name}"));
        Record::of(self.bucket.or(listed.as_deref()), self.kind)
            .field("fullPath", Some(path))
            .field(Attribute::Size.member(), Some(size))
            .field(Attribute::LastModified.member(), Some(date))
            .into_line()
    }
}
