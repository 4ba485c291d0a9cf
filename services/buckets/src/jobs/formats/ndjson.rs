//! NDJSON: a JSON object on every line.

use std::borrow::Cow;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::defaults::Defaults;
use super::entry::{Bad, Item, Sink, Taken};
use super::unpack::Meter;
use super::{fields, values};
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

/// Maximum length of a line in bytes. Paths have at most 4,096 bytes.
const LONGEST_LINE: usize = 1 << 20;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    bucket: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "fullPath", alias = "path", alias = "key", alias = "Key")]
    path: Option<Cow<'a, str>>,
    #[serde(borrow, alias = "Size")]
    size: Option<&'a RawValue>,
    #[serde(borrow, rename = "lastModified", alias = "LastModified")]
    modified: Option<&'a RawValue>,
    /// Marks a reject file.
    rejected: Option<bool>,
}

/// Reads all lines.
pub(super) fn read<R: BufRead>(
    mut input: Meter<R>,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let mut line = Vec::new();
    let mut position = 0;
    loop {
        line.clear();
        input.reset();
        let ended = match read_line(&mut input, &mut line) {
            Ok(LineEnd::OfSource) if line.is_empty() => return Ok(()),
            Ok(end) => end,
            Err(error) => return sink.broken(format!("line {}: {error}", position + 1)),
        };
        position += 1;
        let content = line.trim_ascii();
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        if content.is_empty() {
            continue;
        }
        if let Err(reason) = take(content, position, defaults, sink)? {
            let torn = ended == LineEnd::OfSource && is_torn(content);
            sink.bad(Bad { position, reason, content: content.to_vec() })?;
            if torn {
                return sink.broken(format!("line {position} is incomplete"));
            }
        }
    }
}

/// The end of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Feed,
    OfSource,
}

/// Returns true if the last line without a line feed is incomplete, for example because its writer
/// was stopped.
fn is_torn(content: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(content).is_err_and(|error| error.is_eof())
}

/// Reads a line. The part that exceeds the maximum length is dropped.
fn read_line<R: BufRead>(input: &mut Meter<R>, line: &mut Vec<u8>) -> std::io::Result<LineEnd> {
    loop {
        input.reset();
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(LineEnd::OfSource);
        }
        let end = memchr::memchr(b'\n', available);
        let count = end.map_or(available.len(), |end| end + 1);
        let room = (LONGEST_LINE + 1).saturating_sub(line.len());
        line.extend_from_slice(&available[..count.min(room)]);
        input.consume(count);
        if end.is_some() {
            return Ok(LineEnd::Feed);
        }
    }
}

/// Passes the file of a line to the sink, or returns the reason it is bad.
fn take(
    content: &[u8],
    position: u64,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<Taken, JobError> {
    let item = match parsed(content) {
        Ok(line) => line,
        Err(reason) => return Ok(Err(reason)),
    };
    if item.rejected == Some(true) && item.path.is_none() {
        return sink.rejected().map(Ok);
    }
    let bucket = defaults.bucket.as_deref().or(item.bucket.as_deref());
    let kind = defaults.kind.as_deref().or(item.kind.as_deref());
    let Some(bucket) = bucket else { return Ok(Err(missing("bucket"))) };
    let Some(path) = item.path.as_deref() else { return Ok(Err(missing("fullPath"))) };
    let texts = Attributes::from_fn(|attribute| {
        let value = match attribute {
            Attribute::Size => item.size,
            Attribute::LastModified => item.modified,
        };
        value.map(values::plain)
    });
    match fields::read(&texts, Attribute::member) {
        Ok(attributes) => sink.file(&Item { position, bucket, kind, path, attributes }),
        Err(reason) => Ok(Err(reason)),
    }
}

fn parsed(content: &[u8]) -> Result<Line<'_>, String> {
    if content.len() > LONGEST_LINE {
        return Err("the line is longer than 1 MiB, only its beginning is kept".to_owned());
    }
    let text = std::str::from_utf8(content).map_err(|_| "the line is not UTF-8".to_owned())?;
    serde_json::from_str(text).map_err(|error| format!("broken JSON: {error}"))
}

fn missing(field: &str) -> String {
    format!("the field {field} is missing")
}
