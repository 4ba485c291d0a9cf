//! Reads tables row by row, in bounded memory.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder};
use serde_json::{Map, Value, json};

use super::cell_dates::{DateOrder, date};
use super::columns::{COLUMNS, Column, ID, SEPARATOR, active, values};
use crate::wire::params::Params;

/// Maximum row length in bytes.
const LONGEST_ROW: u64 = 4 << 20;

/// Size of the read buffer in bytes.
const BUFFER: usize = 64 << 10;

/// Characters that can separate cells.
const DELIMITERS: [u8; 3] = *b";,\t";

/// Why a table can't be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    #[error("the first line is not UTF-8; save the table as \"CSV UTF-8\"")]
    NotUtf8,
    #[error("column {0:?} is unknown; the columns are {columns}", columns = names())]
    Unknown(String),
    #[error("column {0:?} is repeated")]
    Twice(String),
    #[error("the first line must contain the column names: {columns}", columns = names())]
    NoHeader,
    #[error("line {0}: the row is longer than 4 MiB; a closing quote may be missing")]
    TooLong(u64),
    #[error("line {0}: a quoted cell is not closed; the file may be truncated")]
    Unclosed(u64),
}

fn names() -> String {
    COLUMNS.map(Column::name).join(", ")
}

pub struct TableRows<R> {
    reader: Reader<Bounded<R>>,
    /// Number of bytes left for the current row.
    left: Rc<Cell<u64>>,
    /// Whether the input ended within a quoted cell.
    is_open: Rc<Cell<bool>>,
    columns: Vec<Column>,
    /// The order of day and month in dates with slashes, if given.
    order: Option<DateOrder>,
    /// Number of lines read before the CSV reader started counting.
    skipped: u64,
    record: ByteRecord,
}

impl<R: BufRead> TableRows<R> {
    /// Reads the column names. `order` is the order of day and month in dates with slashes. The
    /// delimiter is whichever of semicolon, comma and tab is most frequent in the first line. A
    /// byte order mark and a first line such as `sep=;` are supported.
    ///
    /// # Errors
    /// Returns an error if the first line has no columns, or has unknown ones.
    pub fn new(mut input: R, order: Option<DateOrder>) -> Result<TableRows<R>, TableError> {
        let (mut header, mut skipped) = (first_line(&mut input)?, 0);
        let mut delimiter = None;
        if let Some(given) = separator(&header) {
            delimiter = Some(given);
            header = first_line(&mut input)?;
            skipped = 1;
        }
        let count = |wanted: u8| header.iter().filter(|byte| **byte == wanted).count();
        let delimiter = delimiter.unwrap_or_else(|| {
            DELIMITERS.into_iter().rev().max_by_key(|one| count(*one)).unwrap_or(b',')
        });
        let left = Rc::new(Cell::new(LONGEST_ROW));
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).delimiter(delimiter).flexible(true).buffer_capacity(BUFFER);
        let columns = columns(&builder, &header)?;
        let is_open = Rc::new(Cell::new(false));
        let input = Bounded {
            input,
            left: Rc::clone(&left),
            delimiter,
            place: Place::Start,
            is_after_return: false,
            is_open: Rc::clone(&is_open),
        };
        let reader = builder.from_reader(input);
        let record = ByteRecord::new();
        Ok(TableRows { reader, left, is_open, columns, order, skipped: skipped + 1, record })
    }

    /// Returns the next row, along with its line number and its length in bytes. A row that spans
    /// several lines has the number of the first one. Returns `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, or a row is too long.
    pub fn next(&mut self) -> Result<Option<Row>, TableError> {
        loop {
            self.left.set(LONGEST_ROW);
            let line = self.reader.position().line() + self.skipped;
            let is_row =
                self.reader.read_byte_record(&mut self.record).map_err(|error| {
                    match self.left.get() {
                        0 => TableError::TooLong(line),
                        _ => TableError::Read(error.into()),
                    }
                })?;
            if self.is_open.get() {
                return Err(TableError::Unclosed(line));
            }
            if !is_row {
                return Ok(None);
            }
            let at = self.record.position().map_or(0, csv::Position::line) + self.skipped;
            let is_blank = self.record.iter().all(|cell| cell.trim_ascii().is_empty());
            if is_blank {
                continue;
            }
            let length = self.record.as_slice().len();
            return Ok(Some((at, self.params(), length)));
        }
    }

    fn params(&self) -> Result<Params, String> {
        let (found, named) = (self.record.len(), self.columns.len());
        if self.record.iter().skip(named).any(|cell| !cell.trim_ascii().is_empty()) {
            return Err(format!("has {found} cells, but the table has {named} columns"));
        }
        let mut members = Map::new();
        members.insert("type".to_owned(), "event".into());
        for (column, cell) in self.columns.iter().zip(&self.record) {
            let text = std::str::from_utf8(cell).map_err(|_| {
                format!("{} is not UTF-8; save the table as \"CSV UTF-8\"", column.name())
            })?;
            if let Some(value) = value(*column, active(text.trim()), self.order)? {
                members.insert(column.name().to_owned(), value);
            }
        }
        // Without a publication date, a scheduled event would be published immediately.
        let is_scheduled = members.get("status").is_some_and(|status| status == "future");
        if is_scheduled && !members.contains_key("date_utc") {
            return Err("the status future requires the publication time in date_utc".to_owned());
        }
        Ok(Params::from_json(Value::Object(members)))
    }
}

/// A row: its line number, its content, and its length in bytes.
pub type Row = (u64, Result<Params, String>, usize);

fn columns(builder: &ReaderBuilder, header: &[u8]) -> Result<Vec<Column>, TableError> {
    let mut record = ByteRecord::new();
    let mut reader = builder.from_reader(header);
    reader.read_byte_record(&mut record).map_err(|error| TableError::Read(error.into()))?;
    let mut columns: Vec<Column> = Vec::new();
    for cell in &record {
        let text = std::str::from_utf8(cell).map_err(|_| TableError::NotUtf8)?;
        let Some(column) = Column::named(active(text)) else {
            return Err(TableError::Unknown(text.to_owned()));
        };
        if columns.contains(&column) {
            return Err(TableError::Twice(text.to_owned()));
        }
        columns.push(column);
    }
    if columns.is_empty() { Err(TableError::NoHeader) } else { Ok(columns) }
}

/// Reads the first line and strips the byte order mark.
fn first_line(input: &mut impl BufRead) -> Result<Vec<u8>, TableError> {
    let mut line = Vec::new();
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            break;
        }
        let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let is_carriage_return = end.is_some_and(|end| buffer[end] == b'\r');
        let length = end.map_or(buffer.len(), |end| end + 1);
        line.extend_from_slice(&buffer[..length]);
        input.consume(length);
        if is_carriage_return && input.fill_buf()?.first() == Some(&b'\n') {
            input.consume(1);
        }
        if end.is_some() {
            break;
        }
        if line.len() > BUFFER {
            return Err(TableError::NoHeader);
        }
    }
    if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") {
        return Err(TableError::NotUtf8);
    }
    Ok(line.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(line))
}

/// Returns the delimiter declared by a first line such as `sep=;`, or `None` for any other line.
fn separator(line: &[u8]) -> Option<u8> {
    let named = line.trim_ascii_end().strip_prefix(b"sep=")?;
    DELIMITERS.into_iter().find(|one| named == [*one] || (named.is_empty() && *one == b'\t'))
}

/// Decodes a cell. `None` leaves the field unchanged.
fn value(column: Column, text: &str, order: Option<DateOrder>) -> Result<Option<Value>, String> {
    Ok(match column {
        Column::Field(_) | Column::Date(_) | Column::Flag(_) if text.is_empty() => None,
        Column::Date(name) => Some(date(name, text, order)?.into()),
        Column::Flag(name) => {
            Some(flag(text).ok_or_else(|| format!("{name} must be yes or no"))?.into())
        }
        Column::Field("recurrence") => Some(recurrence(text)),
        Column::Several(_) if text.contains(SEPARATOR) => Some(values(text).into()),
        Column::Field(_) | Column::Clearing(_) | Column::Several(_) => Some(text.into()),
        // A plain string of digits would be interpreted as an id, so use an object.
        Column::Terms(_) => Some(values(text).iter().map(|part| json!({"name": part})).collect()),
        Column::Linked(name) => {
            let one = |part: &String| {
                let Some(reference) = part.strip_prefix(ID) else { return Ok(json!({name: part})) };
                let (id, label) =
                    reference.trim().split_once(' ').unwrap_or((reference.trim(), ""));
                let id: i64 = id.parse().map_err(|_| {
                    format!("{name} {part:?} is not a name, or {ID}, a number and perhaps a name")
                })?;
                Ok(match label.trim() {
                    "" => Value::from(id),
                    label => json!({"id": id, name: label}),
                })
            };
            Some(Value::Array(values(text).iter().map(one).collect::<Result<_, String>>()?))
        }
    })
}

/// Decodes a recurrence. If the cell contains only a rule, converts it to an object, so that the
/// series keeps its excluded and added dates. A cell with several lines describes the whole
/// recurrence.
fn recurrence(text: &str) -> Value {
    let (name, rule) = text.split_once(':').unwrap_or(("RRULE", text));
    match name.trim().eq_ignore_ascii_case("RRULE") && !text.contains('\n') {
        true => json!({"rrule": rule.trim()}),
        false => text.into(),
    }
}

/// Parses a flag as commonly written, e.g. `yes` or `1`. Returns `None` for anything else.
fn flag(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "y" | "true" | "1" | "x" => Some(true),
        "no" | "n" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// A reader that fails when a row is too long. It also converts all line endings between rows to
/// line feeds, because the CSV reader only counts those.
struct Bounded<R> {
    input: R,
    left: Rc<Cell<u64>>,
    delimiter: u8,
    place: Place,
    /// Whether the previous byte was a carriage return that ended a row.
    is_after_return: bool,
    is_open: Rc<Cell<bool>>,
}

/// The current position relative to a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Plain,
    Quoted,
    /// After a quote in a quoted cell. The quote either closes the cell or is the first one of an
    /// escaped pair.
    Quote,
}

impl Place {
    fn after(self, byte: u8, delimiter: u8) -> Place {
        let ends = byte == delimiter || byte == b'\n' || byte == b'\r';
        match (self, byte) {
            (Place::Quoted, b'"') => Place::Quote,
            (Place::Quoted, _) => Place::Quoted,
            (Place::Start | Place::Quote, b'"') => Place::Quoted,
            _ if ends => Place::Start,
            _ => Place::Plain,
        }
    }
}

impl<R: Read> Bounded<R> {
    /// Converts the line endings between rows to line feeds. Returns the number of bytes left.
    fn with_line_feeds(&mut self, bytes: &mut [u8]) -> usize {
        let mut kept = 0;
        for at in 0..bytes.len() {
            let byte = bytes[at];
            let is_return = byte == b'\r' && self.place != Place::Quoted;
            self.place = self.place.after(byte, self.delimiter);
            let is_second = std::mem::replace(&mut self.is_after_return, is_return);
            if !(is_second && byte == b'\n') {
                bytes[kept] = if is_return { b'\n' } else { byte };
                kept += 1;
            }
        }
        kept
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.left.get()).unwrap_or(usize::MAX);
        if left == 0 {
            return Err(io::Error::other("too long"));
        }
        let most = buffer.len().min(left);
        loop {
            let read = self.input.read(&mut buffer[..most])?;
            self.left.set(self.left.get().saturating_sub(read as u64));
            if read == 0 && most > 0 {
                self.is_open.set(self.place == Place::Quoted);
            }
            let kept = self.with_line_feeds(&mut buffer[..read]);
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}
