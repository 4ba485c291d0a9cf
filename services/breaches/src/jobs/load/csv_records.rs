//! Reads CSV records (RFC 4180) in bounded memory.
//!
//! Most CSV parsers keep reading until a quote is closed, so a single stray quote can turn the rest
//! of the file into one giant cell. Here, a record must end within [`MAX_LINE`] bytes. Otherwise,
//! its first line is skipped, and reading resumes with the next one.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use batch::{BoundedLines, Line};

use super::input::MAX_LINE;
use super::skip_reason::SkipReason;

/// The cells of a record, without their quotes.
#[derive(Clone, Debug, Default)]
pub struct Record {
    text: Vec<u8>,
    /// End position of each cell.
    ends: Vec<usize>,
}

impl Record {
    /// Returns a cell by index, starting at 0.
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        let start = match place.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start..*self.ends.get(place)?)
    }

    /// Iterates over all cells.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        (0..self.ends.len()).filter_map(|place| self.get(place))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds a line, which starts a new cell, or continues a quoted one if `inside` is set. Quotes
    /// have a special meaning only at the start of a cell.
    fn add(&mut self, line: &[u8], delimiter: &[u8], mut inside: bool) -> End {
        let (mut rest, mut has_tail) = (line, false);
        loop {
            let mut is_quoted = inside;
            if !inside && let Some(quoted) = rest.strip_prefix(b"\"") {
                rest = quoted;
                (inside, is_quoted) = (true, true);
            }
            while inside {
                let Some(quote) = memchr::memchr(b'"', rest) else {
                    self.text.extend_from_slice(rest);
                    return End::Open;
                };
                self.text.extend_from_slice(&rest[..quote]);
                rest = &rest[quote + 1..];
                match rest.strip_prefix(b"\"") {
                    Some(tail) => {
                        self.text.push(b'"');
                        rest = tail;
                    }
                    None => inside = false,
                }
            }
            let end = find(delimiter, rest);
            let cell = match end {
                Some(end) => &rest[..end],
                None => rest.strip_suffix(b"\r").unwrap_or(rest),
            };
            has_tail |= is_quoted && !cell.trim_ascii().is_empty();
            self.text.extend_from_slice(cell);
            self.ends.push(self.text.len());
            match end {
                Some(end) => rest = &rest[end + delimiter.len()..],
                None if has_tail => return End::Tail,
                None => return End::Whole,
            }
        }
    }
}

/// State at the end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The record is complete.
    Whole,
    /// The record is complete, but there's text after a closing quote, so its quotes might
    /// not delimit cells.
    Tail,
    /// A quoted cell is still open.
    Open,
}

fn find(delimiter: &[u8], text: &[u8]) -> Option<usize> {
    match delimiter {
        [byte] => memchr::memchr(*byte, text),
        several => memchr::memmem::find(text, several),
    }
}

/// Returns the delimiter declared by the first line of a file for Excel, as in `sep=;`.
fn named_delimiter(line: &[u8]) -> Option<Vec<u8>> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [s, e, p, b'=', delimiter] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => {
            Some(vec![*delimiter])
        }
        // The tab was trimmed off with other trailing whitespace.
        [s, e, p, b'='] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => Some(b"\t".to_vec()),
        _ => None,
    }
}

/// Reads records, which can have different lengths. Blank lines are skipped.
pub struct Records<R> {
    lines: BoundedLines<R>,
    delimiter: Vec<u8>,
    /// Whether the operator chose the delimiter.
    is_fixed: bool,
    /// Lines read ahead to find the end of a quote. Overlong lines are `None`.
    ahead: VecDeque<Option<Vec<u8>>>,
    /// Size of `ahead` in bytes.
    size: usize,
    /// Number of lines in `ahead` known not to close the quote, so they don't have to be scanned
    /// again.
    open: usize,
    /// Current line number.
    number: u64,
    record: Record,
    /// Scratch buffer for lines that are only scanned.
    spare: Record,
}

impl<R: BufRead> Records<R> {
    /// Reads an input with the given delimiter. Without one, the default is a comma, but the first
    /// line can declare another, as in `sep=;`.
    pub fn new(input: R, delimiter: Option<&str>) -> Self {
        Self {
            lines: BoundedLines::new(input, MAX_LINE),
            delimiter: delimiter.unwrap_or(",").into(),
            is_fixed: delimiter.is_some(),
            ahead: VecDeque::new(),
            size: 0,
            open: 0,
            number: 0,
            record: Record::default(),
            spare: Record::default(),
        }
    }

    /// Reads the next record, and returns the number of its first line as well. Malformed records
    /// are passed to `skip`. Returns `None` at the end.
    pub fn next_record(
        &mut self,
        mut skip: impl FnMut(u64, SkipReason) -> io::Result<()>,
    ) -> io::Result<Option<(u64, &Record)>> {
        loop {
            let Some(first) = self.first_line()? else { return Ok(None) };
            let number = self.number;
            match first {
                First::Blank => {}
                First::TooLong => skip(number, SkipReason::TooLong)?,
                First::Tail => skip(number, SkipReason::TextAfterQuote)?,
                First::Whole => return Ok(Some((number, &self.record))),
                First::Open(size) if self.find_end(size)? => {
                    self.join();
                    return Ok(Some((number, &self.record)));
                }
                First::Open(_) => skip(number, SkipReason::UnclosedQuote)?,
            }
        }
    }

    /// Reads the next line into the record. Returns `None` at the end.
    fn first_line(&mut self) -> io::Result<Option<First>> {
        self.record.clear();
        let first = if let Some(line) = self.ahead.pop_front() {
            self.open = self.open.saturating_sub(1);
            self.size -= size(line.as_deref());
            First::of(&mut self.record, line.as_deref(), &self.delimiter)
        } else {
            match self.lines.next_with_return()? {
                None => return Ok(None),
                Some((_, Line::TooLong { .. })) => First::TooLong,
                Some((_, Line::Bytes(line))) => match named_delimiter(line) {
                    Some(delimiter) if self.number == 0 => {
                        if !self.is_fixed {
                            self.delimiter = delimiter;
                        }
                        First::Blank
                    }
                    _ => First::of(&mut self.record, Some(line), &self.delimiter),
                },
            }
        };
        self.number += 1;
        Ok(Some(first))
    }

    /// Looks ahead for the end of the quote left open by the first line, which has `first` bytes.
    /// If it's found, the closing line is the last one in `ahead`, and this returns `true`. A quote
    /// followed by text must be at the start of a cell in another record, so in that case our quote
    /// is never closed.
    fn find_end(&mut self, first: usize) -> io::Result<bool> {
        loop {
            if self.open == self.ahead.len() {
                let line = match self.lines.next_with_return()? {
                    None => return Ok(false),
                    Some((_, Line::TooLong { .. })) => None,
                    Some((_, Line::Bytes(line))) => Some(line.to_vec()),
                };
                self.size += size(line.as_deref());
                self.ahead.push_back(line);
            }
            let Some(Some(line)) = self.ahead.get(self.open) else { return Ok(false) };
            if first + self.size > MAX_LINE {
                return Ok(false);
            }
            self.spare.clear();
            match self.spare.add(line, &self.delimiter, true) {
                End::Whole => return Ok(true),
                End::Tail => return Ok(false),
                End::Open => self.open += 1,
            }
        }
    }

    /// Appends all lines in `ahead` to the record.
    fn join(&mut self) {
        for line in self.ahead.drain(..).flatten() {
            self.record.text.push(b'\n');
            self.record.add(&line, &self.delimiter, true);
            self.number += 1;
        }
        (self.size, self.open) = (0, 0);
    }
}

/// State at the end of a record's first line.
enum First {
    Blank,
    TooLong,
    /// The record is complete, but there's text after a closing quote.
    Tail,
    /// The record is complete.
    Whole,
    /// A quote is still open. Contains the line's length in bytes.
    Open(usize),
}

impl First {
    /// Adds a line to an empty record.
    fn of(record: &mut Record, line: Option<&[u8]>, delimiter: &[u8]) -> Self {
        let line = match line {
            None => return Self::TooLong,
            Some(b"" | b"\r") => return Self::Blank,
            Some(line) => line,
        };
        match record.add(line, delimiter, false) {
            End::Whole => Self::Whole,
            End::Tail => Self::Tail,
            End::Open => Self::Open(line.len()),
        }
    }
}

/// Returns the number of bytes that a line in `ahead` adds to a record.
fn size(line: Option<&[u8]>) -> usize {
    line.map_or(0, <[u8]>::len) + 1
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    type Found = Vec<(u64, Result<Vec<Vec<u8>>, SkipReason>)>;

    fn read(input: impl BufRead) -> Found {
        let mut records = Records::new(input, None);
        let mut found = Vec::new();
        loop {
            let skip = |line, reason| {
                found.push((line, Err(reason)));
                Ok(())
            };
            let Some((line, record)) = records.next_record(skip).unwrap() else { break };
            found.push((line, Ok(record.iter().map(<[u8]>::to_vec).collect())));
        }
        found
    }

    fn row(line: u64, cells: &[&str]) -> (u64, Result<Vec<Vec<u8>>, SkipReason>) {
        (line, Ok(cells.iter().map(|cell| cell.as_bytes().to_vec()).collect()))
    }

    #[test]
    fn records_keep_quotes_line_ends_and_line_numbers() {
        let text =
            b"\xEF\xBB\xBF\"a\",b\r\n\r\n\"x \"\"y\"\"\r\n\nz\",,\r\nin \"it\"\n\"in\"side\n\"\"";
        let expected = [
            row(1, &["a", "b"]),
            row(3, &["x \"y\"\r\n\nz", "", ""]),
            row(6, &["in \"it\""]),
            (7, Err(SkipReason::TextAfterQuote)),
            row(8, &[""]),
        ];
        assert_eq!(read(text.as_slice()), expected);
        assert_eq!(read(b"".as_slice()), []);
    }

    #[test]
    fn stray_quote_costs_only_its_own_row() {
        // `5"` in a quoted cell. The next quote starts a cell of another record.
        let text = b"\"a\",\"5\"\"\n\"b\",\"6\"\n\"c\" x,\"7\"\nd,8\n\"e\" ,9\n";
        let expected = [
            (1, Err(SkipReason::UnclosedQuote)),
            row(2, &["b", "6"]),
            (3, Err(SkipReason::TextAfterQuote)),
            row(4, &["d", "8"]),
            row(5, &["e ", "9"]),
        ];
        assert_eq!(read(text.as_slice()), expected);
    }

    #[test]
    fn first_line_may_set_the_delimiter() {
        for (text, delimiter) in [
            ("\u{feff}sep=;\r\na;b\n", None),
            ("\"SEP=;\"\na;b\n", None),
            ("sep=\t\na\tb\n", None),
            ("sep=|\na;b\n", Some(";")),
            ("\na--b\n", Some("--")),
            ("\na\u{3001}b\n", Some("\u{3001}")),
        ] {
            let mut records = Records::new(text.as_bytes(), delimiter);
            let (line, record) = records.next_record(|_, _| Ok(())).unwrap().unwrap();
            assert_eq!(line, 2);
            assert!(record.iter().eq([b"a", b"b"]), "{text:?}");
        }
        let later = read(b"a,b\nsep=;\nc;d\n".as_slice());
        assert_eq!(later, [row(1, &["a", "b"]), row(2, &["sep=;"]), row(3, &["c;d"])]);
    }

    #[test]
    fn unclosed_quote_skips_one_line() {
        let mut text = b"1,\"a\n".to_vec();
        text.extend((0..20_000).flat_map(|_| *b"2,b\n"));
        let found = read(text.as_slice());
        assert_eq!(found.len(), 20_001);
        assert_eq!(found[0], (1, Err(SkipReason::UnclosedQuote)));
        assert!((2..).zip(&found[1..]).all(|(line, found)| *found == row(line, &["2", "b"])));
        // A quote that is still open before an overlong line, and one at the end of the file.
        let mut text = b"\"a\nb\n".to_vec();
        text.extend(vec![b'x'; MAX_LINE + 1]);
        text.extend(b"\nc\n\"d\ne");
        let unclosed = |line| (line, Err(SkipReason::UnclosedQuote));
        let long = (3, Err(SkipReason::TooLong));
        let expected =
            [unclosed(1), row(2, &["b"]), long, row(4, &["c"]), unclosed(5), row(6, &["e"])];
        assert_eq!(read(text.as_slice()), expected);
    }

    #[test]
    fn record_is_limited_to_the_length_of_a_line() {
        for (more, whole) in [(0, true), (1, false)] {
            let mut text = b"\"1\n".to_vec();
            text.extend(vec![b'x'; MAX_LINE - 8 + more]);
            text.extend(b"\n2\",3\n4,5");
            let found = read(text.as_slice());
            assert_eq!(found[0].1.is_ok(), whole);
            assert_eq!(found.len(), if whole { 2 } else { 4 });
            assert_eq!(found.last().unwrap(), &row(4, &["4", "5"]));
        }
    }

    /// Repeats a string forever.
    struct Endless(&'static [u8], usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            for byte in buffer.iter_mut() {
                *byte = self.0[self.1];
                self.1 = (self.1 + 1) % self.0.len();
            }
            Ok(buffer.len())
        }
    }

    #[test]
    fn lines_with_open_quotes_are_scanned_once_in_bounded_memory() {
        // This line always ends inside a quote, no matter how it starts.
        let input = io::BufReader::new(Endless(b"x\"y,\"\n", 0));
        let mut records = Records::new(input, None);
        for line in 1..=50_000 {
            let mut skipped = 0;
            let stop = |line, _| {
                skipped = line;
                Err(io::ErrorKind::Other.into())
            };
            assert!(records.next_record(stop).is_err());
            assert_eq!(skipped, line);
            assert!(records.size <= 2 * MAX_LINE);
            // Once the next line has been skipped, there is at most one line left to scan.
            assert!(records.open + 1 >= records.ahead.len());
        }
    }

    /// Returns the records as parsed by the `csv` crate, configured to treat a carriage return like
    /// any other character.
    fn judged(text: &[u8]) -> Found {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(text);
        let records = reader.byte_records().map(|record| {
            let record = record.unwrap();
            let line = record.position().unwrap().line();
            (line, Ok(record.iter().map(<[u8]>::to_vec).collect()))
        });
        records.collect()
    }

    fn cells(found: &Found) -> Vec<&Vec<Vec<u8>>> {
        found.iter().map_while(|(_, row)| row.as_ref().ok()).collect()
    }

    proptest! {
        #[test]
        fn well_formed_files_are_read_unchanged(
            rows in proptest::collection::vec(
                proptest::collection::vec("[a\"\r\n, é]{0,6}", 1..4),
                0..8,
            ),
            returns in any::<bool>(),
            capacity in 1_usize..9,
        ) {
            let end = if returns { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
            let mut writer = csv::WriterBuilder::new()
                .flexible(true)
                .terminator(end)
                .from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let found = read(io::BufReader::with_capacity(capacity, text.as_slice()));
            let written: Vec<Vec<_>> = rows
                .iter()
                .map(|row| row.iter().map(|cell| cell.clone().into_bytes()).collect())
                .collect();
            prop_assert_eq!(cells(&found), written.iter().collect::<Vec<_>>());
            let lines = |found: &Found| found.iter().map(|(line, _)| *line).collect::<Vec<_>>();
            prop_assert_eq!(lines(&found), lines(&judged(&text)));
        }

        #[test]
        fn quotes_have_the_same_meaning_as_in_the_csv_crate(text in "[a\",\n]{0,40}") {
            // Compare only up to the first unclosed quote.
            let (found, judged) = (read(text.as_bytes()), judged(text.as_bytes()));
            let whole = cells(&found);
            prop_assert_eq!(&whole[..], &cells(&judged)[..whole.len()]);
            prop_assert!(whole.len() < found.len() || found.len() == judged.len());
        }
    }
}
