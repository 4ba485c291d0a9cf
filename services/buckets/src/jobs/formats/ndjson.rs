//! Parses NDJSON, i.e. one JSON object per line.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::defaults::Defaults;
use super::entry::{Bad, Item, Part, Sink, Skipped, Taken};
use super::lines::{LONGEST_LINE, LineEnd, read_line};
use super::unpack::Meter;
use super::{fields, values};
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    bucket: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "fullPath")]
    full_path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    key: Option<Cow<'a, str>>,
    /// The name in S3 listings, which also use `Size` and `LastModified`.
    #[serde(borrow, rename = "Key")]
    s3_key: Option<Cow<'a, str>>,
    #[serde(borrow)]
    size: Option<&'a RawValue>,
    #[serde(borrow, rename = "Size")]
    s3_size: Option<&'a RawValue>,
    #[serde(borrow, rename = "lastModified")]
    modified: Option<&'a RawValue>,
    #[serde(borrow, rename = "LastModified")]
    s3_modified: Option<&'a RawValue>,
    /// The name in the output of `s5cmd --json ls`.
    #[serde(borrow)]
    last_modified: Option<&'a RawValue>,
    /// Marks a reject file.
    rejected: Option<bool>,
}

impl Line<'_> {
    /// Merges fields that have several names. If a line uses several names for a field, the first
    /// name in the documentation that isn't `null` counts.
    fn merge_names(&mut self) {
        let path = self.full_path.take().or_else(|| self.path.take());
        self.path = path.or_else(|| self.key.take()).or_else(|| self.s3_key.take());
        self.size = self.size.or(self.s3_size);
        self.modified = self.modified.or(self.s3_modified).or(self.last_modified);
    }

    /// Splits a key that is a URL, as in the output of `s5cmd --json ls`, and returns its bucket.
    /// That output doesn't say whether the listing is complete.
    fn split_url(&mut self) -> Option<String> {
        if self.bucket.is_some() {
            return None;
        }
        let (bucket, path) = parts_of_url(self.path.as_deref()?)?;
        self.path = Some(Cow::Owned(path));
        Some(bucket)
    }
}

/// Splits an `s3://` URL into the bucket and the path.
fn parts_of_url(url: &str) -> Option<(String, String)> {
    let (name, path) = url.strip_prefix("s3://")?.split_once('/')?;
    Some((format!("s3://{name}"), path.to_owned()))
}

/// The file that a bad line describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Bucket address.
    pub bucket: String,
    /// Path within the bucket. Empty if it is missing.
    pub path: String,
    /// Whether the path has bytes that aren't UTF-8, so that it can't be compared with other paths.
    pub is_garbled: bool,
    /// Whether the line has a size that is a number, even if it isn't a valid size.
    pub has_size: bool,
}

/// Returns the file in a bad line, or in a bad entry that was converted to NDJSON. `bucket`
/// overrides the line's bucket. Returns `None` if the line can't be parsed or has no bucket.
pub fn named_file(line: &[u8], bucket: Option<&str>) -> Option<NamedFile> {
    // Fields that the reader can't parse don't matter here.
    let decoded = String::from_utf8_lossy(line);
    let line: Map<String, Value> = serde_json::from_str(&decoded).ok()?;
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    let path = ["fullPath", "path", "key", "Key"].into_iter().find_map(text).unwrap_or_default();
    // Text in place of the size is probably part of an error message.
    let is_number = |value: &Value| match value {
        Value::String(text) => text.trim().parse::<f64>().is_ok(),
        value => value.is_number(),
    };
    let has_size = fields::headers(Attribute::Size)
        .into_iter()
        .any(|name| line.get(name).is_some_and(is_number));
    let (bucket, path) = match bucket.or_else(|| text("bucket")) {
        Some(bucket) => (bucket.to_owned(), path.to_owned()),
        None => parts_of_url(path)?,
    };
    let is_garbled = matches!(decoded, Cow::Owned(_)) && path.contains('\u{fffd}');
    Some(NamedFile { bucket, path, is_garbled, has_size })
}

/// Reads all lines.
pub(super) fn read<R: BufRead>(
    mut input: Meter<R>,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let mut line = Vec::new();
    let mut position = 0;
    let mut unended = BTreeSet::new();
    loop {
        line.clear();
        input.reset();
        let ended = match read_line(&mut input, &mut line) {
            Ok(LineEnd::OfSource) if line.is_empty() => break,
            Ok(end) => end,
            Err(error) => return sink.broken(format!("line {}: {error}", position + 1)),
        };
        position += 1;
        let content = line.trim_ascii();
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        if content.is_empty() {
            continue;
        }
        if let Err(reason) = take(content, position, defaults, &mut unended, sink)? {
            let torn = ended == LineEnd::OfSource && is_torn(content);
            let content = content.to_vec();
            sink.bad(Bad { position, reason, content, is_unclear: false })?;
            if torn {
                return sink.broken(format!("line {position} is incomplete"));
            }
        }
    }
    for bucket in unended {
        sink.part(Part::Unended);
        sink.page(&bucket, defaults.kind.as_deref(), false)?;
    }
    Ok(())
}

/// Returns `true` if the last line is incomplete, e.g. because its writer was stopped.
fn is_torn(content: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(content).is_err_and(|error| error.is_eof())
}

/// Passes a line's file to the sink, or returns a description of the problem.
fn take(
    content: &[u8],
    position: u64,
    defaults: &Defaults,
    unended: &mut BTreeSet<String>,
    sink: &mut dyn Sink,
) -> Result<Taken, JobError> {
    let mut item = match parsed(content) {
        Ok(line) => line,
        Err(reason) => return Ok(Err(reason)),
    };
    let listed = item.split_url();
    if item.kind.as_deref() == Some("directory") && listed.is_some() {
        return sink.skipped(Skipped::Prefix).map(Ok);
    }
    if listed.is_some() {
        item.kind = None;
    }
    if item.rejected == Some(true) && item.path.is_none() {
        return sink.rejected().map(Ok);
    }
    let bucket = defaults.bucket.as_deref().or(item.bucket.as_deref()).or(listed.as_deref());
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
        Ok(attributes) => {
            let item = Item { position, bucket, kind, path, attributes, etag: None };
            let taken = sink.file(&item)?;
            if listed.is_some() && taken.is_ok() && !unended.contains(bucket.trim()) {
                unended.insert(bucket.trim().to_owned());
            }
            Ok(taken)
        }
        Err(reason) => Ok(Err(reason)),
    }
}

fn parsed(content: &[u8]) -> Result<Line<'_>, String> {
    if content.len() > LONGEST_LINE {
        return Err("the line is longer than 1 MiB; only its start is kept".to_owned());
    }
    let text = std::str::from_utf8(content).map_err(|_| "the line is not UTF-8".to_owned())?;
    let mut line: Line<'_> =
        serde_json::from_str(text).map_err(|error| format!("broken JSON: {error}"))?;
    line.merge_names();
    Ok(line)
}

fn missing(field: &str) -> String {
    format!("the field {field} is missing")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"bucket":"b","fullPath":"p","size":-1}"#, None, Some(("b", "p", true)))]
    #[case(r#"{"bucket":"b","Key":"p","size":1,"size":2}"#, Some("c"), Some(("c", "p", true)))]
    #[case(r#"{"key":"s3://b/p/q","type":5,"Size":"-1"}"#, None, Some(("s3://b", "p/q", true)))]
    #[case(r#"{"bucket":"b","path":"p","size":"x"}"#, None, Some(("b", "p", false)))]
    #[case(r#"{"bucket":"b","size":null}"#, None, Some(("b", "", false)))]
    #[case(r#"{"bucket":"b","path":"p","size":""}"#, None, Some(("b", "p", false)))]
    #[case(r#"{"fullPath":"p"}"#, None, None)]
    #[case(r#"{"bucket":"b","fullPath":"p"#, None, None)]
    fn bad_lines_name_files(
        #[case] line: &str,
        #[case] bucket: Option<&str>,
        #[case] expected: Option<(&str, &str, bool)>,
    ) {
        let named = named_file(line.as_bytes(), bucket);
        let named = named.as_ref().map(|it| (it.bucket.as_str(), it.path.as_str(), it.has_size));
        assert_eq!(named, expected, "{line}");
    }
}
