//! Parses CSV and TSV tables with a header.

use std::collections::VecDeque;
use std::io::{BufRead, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::defaults::Defaults;
use super::entry::{Bad, Item, Sink, Skipped, Taken};
use super::fields;
use super::lines::separator;
use super::record::Record;
use super::unpack::Meter;
use super::xml::percent_decoded;
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

/// Maximum record length in bytes.
const LONGEST_RECORD: usize = 1 << 20;

/// A table's columns.
struct Columns {
    names: ByteRecord,
    bucket: Option<usize>,
    kind: Option<usize>,
    path: usize,
    /// Only search downloads have this column.
    url: Option<usize>,
    attributes: Attributes<Option<usize>>,
    /// Version columns. Only inventories have these.
    versions: Option<VersionColumns>,
}

/// An inventory's version columns.
struct VersionColumns {
    latest: Option<usize>,
    deleted: Option<usize>,
}

impl VersionColumns {
    /// Returns `true` for old versions and delete markers.
    fn is_old(&self, record: &ByteRecord) -> bool {
        let has_value = |column: Option<usize>, value: &str| {
            column.and_then(|column| record.get(column)).is_some_and(|it| it == value.as_bytes())
        };
        has_value(self.latest, "false") || has_value(self.deleted, "true")
    }
}

impl Columns {
    /// Finds an inventory's columns. It doesn't need a bucket column, since the manifest specifies
    /// the bucket.
    fn of_inventory(names: &[String]) -> Result<Self, String> {
        let header = names.iter().map(|name| match name.as_str() {
            "LastModifiedDate" => "LastModified",
            name => name,
        });
        let place = |wanted: &str| names.iter().position(|name| name == wanted);
        let versions =
            VersionColumns { latest: place("IsLatest"), deleted: place("IsDeleteMarker") };
        let columns = Self::of(&header.collect())?;
        Ok(Self { versions: Some(versions), ..columns })
    }

    fn of(header: &ByteRecord) -> Result<Self, String> {
        let place = |name: &str| {
            header.iter().position(|column| {
                let column = column.strip_prefix("\u{feff}".as_bytes()).unwrap_or(column);
                column.trim_ascii().eq_ignore_ascii_case(name.as_bytes())
            })
        };
        let find = |names: &[&str]| names.iter().find_map(|name| place(name));
        let need = |names: &[&str]| {
            find(names).ok_or_else(|| format!("the header has no column {}", names[0]))
        };
        Ok(Self {
            names: header.clone(),
            bucket: find(&["bucket"]),
            kind: find(&["type"]),
            path: need(&["fullPath", "path", "key"])?,
            url: find(&["url"]),
            attributes: Attributes::try_from_fn(|attribute| {
                let headers = fields::headers(attribute);
                match fields::is_required(attribute) {
                    true => need(&headers).map(Some),
                    false => Ok(find(&headers)),
                }
            })?,
            versions: None,
        })
    }

    /// Returns `true` if the record has more fields than the header, for example because it was
    /// joined with the next record. Empty ones don't matter.
    fn has_more(&self, record: &ByteRecord) -> bool {
        record.iter().skip(self.names.len()).any(|field| !field.trim_ascii().is_empty())
    }

    /// Converts a record to NDJSON, including columns we don't know.
    fn line(&self, record: &ByteRecord, defaults: &Defaults) -> Vec<u8> {
        let mut line = Record::of(defaults.bucket.as_deref(), defaults.kind.as_deref());
        for (place, field) in record.iter().enumerate() {
            let here = |column: Option<usize>| column == Some(place);
            if (here(self.bucket) && defaults.bucket.is_some())
                || (here(self.kind) && defaults.kind.is_some())
            {
                continue;
            }
            let known =
                [("bucket", self.bucket), ("type", self.kind), ("fullPath", Some(self.path))];
            let attributes = Attribute::ALL.map(|one| (one.member(), self.attributes[one]));
            let mut known = known.into_iter().chain(attributes);
            line = match known.find(|(_, column)| here(*column)) {
                Some((name, _)) => line.field(name, Some(field)),
                None => line.field(self.other(place), Some(field)),
            };
        }
        line.into_line()
    }

    /// Returns the field name for an unknown column. If the column's own name would mean something
    /// to the NDJSON reader, the field is named after its number instead.
    fn other(&self, place: usize) -> Vec<u8> {
        let name = self.names.get(place).map(<[u8]>::trim_ascii).unwrap_or_default();
        let attributes = Attribute::ALL.into_iter().flat_map(fields::headers);
        if name.is_empty() || FIELDS.into_iter().chain(attributes).any(|it| it.as_bytes() == name) {
            format!("column {}", place + 1).into_bytes()
        } else {
            name.to_vec()
        }
    }
}

/// NDJSON field names other than the attributes.
const FIELDS: [&str; 6] = ["bucket", "type", "fullPath", "path", "key", "Key"];

/// Detects the delimiter. If there isn't a `sep=;` line (as used by Excel), this is the comma or
/// the semicolon, whichever is more frequent in the header.
pub(super) fn delimiter<R: BufRead>(input: &mut Meter<R>) -> std::io::Result<u8> {
    let head = input.peek(4_096)?;
    let header = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if let Some(separator) = separator(header) {
        return Ok(separator);
    }
    let count = |wanted: u8| header.iter().filter(|&&byte| byte == wanted).count();
    Ok(if count(b';') > count(b',') { b';' } else { b',' })
}

/// Checks for a `sep=;` line, which might already have been split at its delimiter.
fn declares_separator(record: &ByteRecord) -> bool {
    let first = record.get(0).unwrap_or_default();
    first.eq_ignore_ascii_case(b"sep=") || separator(first).is_some()
}

/// Reads all records.
pub(super) fn read<R: BufRead>(
    input: Meter<R>,
    delimiter: u8,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<(), JobError> {
    let quotes = Quotes::new(delimiter);
    let bounded = Bounded { inner: input, left: 0, quotes, ended: false };
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(bounded);
    let mut record = ByteRecord::new();
    let columns = match &defaults.columns {
        Some(names) => Columns::of_inventory(names),
        None => match read_header(&mut reader, &mut record) {
            Ok(true) => Columns::of(&record),
            Ok(false) => Err("the source has no header".to_owned()),
            Err(error) => Err(error.to_string()),
        },
    };
    let columns = match columns {
        Ok(columns) => columns,
        Err(reason) => return sink.broken(reason),
    };
    // Quotes in the header don't matter for the first record.
    let end = reader.position().byte();
    reader.get_mut().quotes.has_stray(end);
    let mut short = false;
    loop {
        reader.get_mut().left = LONGEST_RECORD * 2;
        match reader.read_byte_record(&mut record) {
            Ok(true) => short = record.len() < columns.names.len(),
            Ok(false) if short && reader.get_ref().quotes.last != b'\n' => {
                return sink.broken("the last record is incomplete".to_owned());
            }
            Ok(false) => return Ok(()),
            Err(error) => return sink.broken(error.to_string()),
        }
        let position = record.position().map_or(0, csv::Position::line);
        if reader.get_ref().ends_in_quotes() {
            return sink.broken(format!("the record at line {position} has no closing quote"));
        }
        let end = reader.position().byte();
        let has_stray = reader.get_mut().quotes.has_stray(end);
        // Spreadsheets write empty rows below a table.
        if record.iter().all(|field| field.trim_ascii().is_empty()) {
            continue;
        }
        if let Some(versions) = &columns.versions {
            if !has_stray && versions.is_old(&record) {
                sink.skipped(Skipped::Version)?;
                continue;
            }
            record = decoded(&record, columns.path);
        }
        if let Some(plain) = columns.url.and_then(|url| unguarded(&record, columns.path, url)) {
            record = plain;
        }
        let taken = match has_stray {
            true => Err("text follows a closing quote".to_owned()),
            false => take(&record, &columns, position, defaults, sink)?,
        };
        if let Err(reason) = taken {
            let content = columns.line(&record, defaults);
            let is_short = record.len() < columns.names.len();
            let is_unclear = has_stray || is_short || columns.has_more(&record);
            sink.bad(Bad { position, reason, content, is_unclear })?;
        }
    }
}

/// Reads the header, which can come after a `sep=;` line. Returns `false` at the end of the source.
fn read_header<R: Read>(reader: &mut Reader<R>, record: &mut ByteRecord) -> csv::Result<bool> {
    Ok(reader.read_byte_record(record)?
        && (!declares_separator(record) || reader.read_byte_record(record)?))
}

/// Removes the apostrophe that downloads put before a path that looks like a formula. Returns
/// `None` if there is no apostrophe, or if it belongs to the path. In that case, the URL contains
/// it as well.
fn unguarded(record: &ByteRecord, path: usize, url: usize) -> Option<ByteRecord> {
    let plain = record.get(path)?.strip_prefix(b"'")?;
    let url = percent_decoded(std::str::from_utf8(record.get(url)?).ok()?);
    if !url.strip_suffix(plain)?.ends_with(b"/") {
        return None;
    }
    let fields = record.iter().enumerate();
    Some(fields.map(|(place, field)| if place == path { plain } else { field }).collect())
}

/// Decodes the path in a record.
fn decoded(record: &ByteRecord, path: usize) -> ByteRecord {
    let mut decoded = ByteRecord::new();
    for (place, field) in record.iter().enumerate() {
        match std::str::from_utf8(field) {
            Ok(text) if place == path => {
                decoded.push_field(&percent_decoded(&text.replace('+', " ")));
            }
            _ => decoded.push_field(field),
        }
    }
    decoded
}

/// Passes a record's file to the sink, or returns a description of the problem.
fn take(
    record: &ByteRecord,
    columns: &Columns,
    position: u64,
    defaults: &Defaults,
    sink: &mut dyn Sink,
) -> Result<Taken, JobError> {
    match parsed(record, columns, position, defaults) {
        Ok(item) => sink.file(&item),
        Err(reason) => Ok(Err(reason)),
    }
}

fn parsed<'a>(
    record: &'a ByteRecord,
    columns: &Columns,
    position: u64,
    defaults: &'a Defaults,
) -> Result<Item<'a>, String> {
    if columns.has_more(record) {
        return Err("the record has more fields than the header".to_owned());
    }
    let field = |column: usize| -> Result<Option<&'a str>, String> {
        let Some(bytes) = record.get(column) else { return Ok(None) };
        let text = std::str::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned())?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    };
    let optional = |column: Option<usize>| column.map_or(Ok(None), field);
    let missing = |name: &str| format!("the field {name} is missing");
    let bucket =
        defaults.bucket.as_deref().map_or_else(|| optional(columns.bucket), |b| Ok(Some(b)))?;
    let kind = defaults.kind.as_deref().map_or_else(|| optional(columns.kind), |k| Ok(Some(k)))?;
    let texts = Attributes::try_from_fn(|attribute| optional(columns.attributes[attribute]))?;
    Ok(Item {
        position,
        bucket: bucket.ok_or_else(|| missing("bucket"))?,
        kind,
        path: field(columns.path)?.ok_or_else(|| missing("fullPath"))?,
        attributes: fields::read(&texts, Attribute::member)?,
        etag: None,
    })
}

/// Limits the length of records, which could otherwise become arbitrarily long if a closing quote
/// is missing.
struct Bounded<R> {
    inner: Meter<R>,
    left: usize,
    quotes: Quotes,
    /// Whether we have read everything.
    ended: bool,
}

impl<R> Bounded<R> {
    /// Returns `true` if the source ended inside quotes. Either its last record was cut off, or an
    /// unclosed quote in an earlier record swallowed everything after it.
    fn ends_in_quotes(&self) -> bool {
        self.ended && self.quotes.is_open
    }
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            self.left = LONGEST_RECORD * 2;
        }
        self.inner.reset();
        let count = self.inner.read(buffer)?;
        self.quotes.add(&buffer[..count]);
        self.ended = count == 0;
        match self.left.checked_sub(count) {
            Some(left) if left > 0 => self.left = left,
            _ => return Err(std::io::Error::other("a record is longer than 1 MiB")),
        }
        Ok(count)
    }
}

/// Tracks whether the bytes read so far end inside a quoted field.
struct Quotes {
    delimiter: u8,
    is_open: bool,
    /// The last byte.
    last: u8,
    /// Whether the last byte closed a field. If a quote follows, the field continues.
    is_closed: bool,
    /// Number of bytes.
    count: u64,
    /// Offsets of text between a closing quote and the end of its field. Such a quote was probably
    /// meant to open a field, so the field contains other records.
    strays: VecDeque<u64>,
}

impl Quotes {
    fn new(delimiter: u8) -> Self {
        let strays = VecDeque::new();
        Self { delimiter, is_open: false, last: b'\n', is_closed: false, count: 0, strays }
    }

    fn add(&mut self, bytes: &[u8]) {
        let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return };
        let delimiter = self.delimiter;
        let is_stray = |byte: u8| byte != delimiter && !matches!(byte, b'"' | b'\n' | b'\r');
        if self.is_closed && is_stray(first) {
            self.strays.push_back(self.count);
        }
        let mut closed = None;
        for at in memchr::memchr_iter(b'"', bytes) {
            let (before, continues) = match at.checked_sub(1) {
                Some(before) => (bytes[before], closed == Some(before)),
                None => (self.last, self.is_closed),
            };
            if self.is_open {
                self.is_open = false;
                closed = Some(at);
                if bytes.get(at + 1).is_some_and(|&byte| is_stray(byte)) {
                    self.strays.push_back(self.count + at as u64 + 1);
                }
            } else {
                // Other quotes within a field are literal.
                let begins = before == self.delimiter || matches!(before, b'\n' | b'\r');
                self.is_open = continues || begins;
            }
        }
        self.is_closed = closed == Some(bytes.len() - 1);
        self.last = last;
        self.count += bytes.len() as u64;
    }

    /// Returns `true` if text follows a closing quote in the record that ends at an offset. Records
    /// must be passed in order.
    fn has_stray(&mut self, end: u64) -> bool {
        let mut has_stray = false;
        while self.strays.front().is_some_and(|at| *at < end) {
            self.strays.pop_front();
            has_stray = true;
        }
        has_stray
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::Quotes;

    #[rstest]
    #[case("a,b\n", false)]
    #[case("\"", true)]
    #[case("\"a\"", false)]
    #[case("\"a\"\"", true)]
    #[case("\"a\"\"b\"", false)]
    #[case("a,\"b\nc", true)]
    #[case("a,\"b\",\"", true)]
    #[case("a\r\n\"b", true)]
    #[case("5\" disk,a\"\"", false)]
    #[case("\"a\"b\"", false)]
    #[case("\"\"\"", true)]
    fn quotes_are_tracked_in_parts_of_any_size(#[case] text: &str, #[case] open: bool) {
        for size in 1..=text.len() {
            let mut quotes = Quotes::new(b',');
            text.as_bytes().chunks(size).for_each(|part| quotes.add(part));
            assert_eq!(quotes.is_open, open, "{text} in parts of {size}");
        }
    }

    #[rstest]
    #[case("\"a\",\"b\"\r\n\"c\"\n", &[])]
    #[case("\"a\"\"b\"", &[])]
    #[case("\"a\"b,c\n", &[3])]
    #[case("\"a\n\"b,\"c\" \n", &[4, 9])]
    #[case("5\" disk,a\"b", &[])]
    fn text_after_closing_quotes_is_found(#[case] text: &str, #[case] expected: &[u64]) {
        for size in 1..=text.len() {
            let mut quotes = Quotes::new(b',');
            text.as_bytes().chunks(size).for_each(|part| quotes.add(part));
            assert_eq!(quotes.strays, expected, "{text} in parts of {size}");
        }
        let mut quotes = Quotes::new(b',');
        quotes.add(text.as_bytes());
        assert_eq!(quotes.has_stray(text.len() as u64), !expected.is_empty());
        assert!(!quotes.has_stray(u64::MAX), "it was in the record before");
    }
}
