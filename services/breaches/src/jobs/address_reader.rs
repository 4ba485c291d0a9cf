//! Addresses out of files: one a line, a CSV column, or anywhere in a text.

use std::io::{self, BufRead, BufReader, Read};

use batch::BoundedLines;
use regex::bytes::Regex;

use super::csv_records::{Record, Records};
use super::input::LONGEST_LINE;
use super::skip_reason::SkipReason;

/// How a file holds addresses.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One address a line.
    Lines,
    /// A column, by name or by number from 1; found by its name when none is given.
    Csv(Option<String>),
    /// Wherever the pattern of the paste model finds one.
    Text,
}

/// What a reader reports: line number, and the text found or the reason why there is none.
pub type Each<'e> = &'e mut dyn FnMut(u64, Result<&str, SkipReason>) -> io::Result<()>;

/// The pattern that finds addresses in pastes.
const PATTERN: &str = r"(?-u)\b[a-zA-Z0-9\.\-_\+]+@[a-zA-Z0-9\.\-_]+\.[a-zA-Z]+\b";

/// Reads a file in some format.
pub fn read(input: impl Read, format: &Format, each: Each<'_>) -> io::Result<()> {
    let input = BufReader::with_capacity(1 << 20, input);
    match format {
        Format::Lines => read_lines(input, each),
        Format::Csv(column) => read_csv(input, column.as_deref(), each),
        Format::Text => read_text(input, each),
    }
}

fn read_lines(input: impl BufRead, each: Each<'_>) -> io::Result<()> {
    let mut lines = BoundedLines::new(input, LONGEST_LINE);
    while let Some((number, line)) = lines.next_line()? {
        match line.text() {
            Err(error) => each(number, Err(error.into()))?,
            Ok(text) => {
                let text = text.trim();
                if !text.is_empty() {
                    each(number, Ok(unquoted(text)))?;
                }
            }
        }
    }
    Ok(())
}

/// No address ends in a quotation mark, so that a pair around it can only be packaging.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Which column of a CSV file holds something, and whether the first row is a header.
pub struct Column {
    /// Place of the column, from 0.
    pub place: usize,
    /// Whether the first row names columns.
    pub header: bool,
}

/// Finds a column by what the operator named, else by usual names; `looks` recognises data cells.
pub fn find_column(
    first: &Record,
    wanted: Option<&str>,
    names: &[&str],
    looks: impl Fn(&[u8]) -> bool,
) -> Option<Column> {
    let titles = || first.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_lowercase());
    if let Some(wanted) = wanted {
        if let Ok(number) = wanted.parse::<usize>() {
            let place = number.checked_sub(1)?;
            return Some(Column { place, header: !first.get(place).is_some_and(looks) });
        }
        let wanted = wanted.to_lowercase();
        return titles()
            .position(|title| title == wanted)
            .map(|place| Column { place, header: true });
    }
    if let Some(place) = titles().position(|title| names.contains(&title.as_str())) {
        return Some(Column { place, header: true });
    }
    first.iter().position(looks).map(|place| Column { place, header: false })
}

/// Whether a cell could be an address.
pub fn looks_like_address(cell: &[u8]) -> bool {
    cell.contains(&b'@')
}

fn read_csv(input: impl BufRead, wanted: Option<&str>, each: Each<'_>) -> io::Result<()> {
    let names = ["email", "e-mail", "mail", "email address", "email_address", "emailaddress"];
    let find = |first: &Record| {
        let found = find_column(first, wanted, &names, looks_like_address)
            .ok_or_else(|| io::Error::other("the CSV file has no such column"))?;
        Ok((found.place, found.header))
    };
    each_row(input, find, &mut |line, row| {
        each(line, row.and_then(|(record, place)| text_cell(record, *place)))
    })
}

/// What a reader of CSV reports: line number, and the record with the columns that were found.
type EachRow<'e, C> = &'e mut dyn FnMut(u64, Result<(&Record, &C), SkipReason>) -> io::Result<()>;

/// Reads the records of a CSV file. `find` finds the columns by the first record and says whether
/// that is a header.
pub fn each_row<C>(
    input: impl BufRead,
    find: impl Fn(&Record) -> io::Result<(C, bool)>,
    each: EachRow<'_, C>,
) -> io::Result<()> {
    let mut records = Records::new(input);
    let mut columns = None;
    while let Some((line, record)) = records.next_record()? {
        let record = match record {
            Ok(record) => record,
            Err(reason) => {
                each(line, Err(reason))?;
                continue;
            }
        };
        if let Some(columns) = &columns {
            each(line, Ok((record, columns)))?;
            continue;
        }
        let (found, is_header) = find(record)?;
        if !is_header {
            each(line, Ok((record, &found)))?;
        }
        columns = Some(found);
    }
    Ok(())
}

/// The text of a cell.
pub fn text_cell(record: &Record, place: usize) -> Result<&str, SkipReason> {
    let cell = record.get(place).ok_or(SkipReason::Column)?;
    std::str::from_utf8(cell).map_err(|_| SkipReason::Encoding)
}

/// Reads a text in pieces that end at a blank or a line end, so that no address is cut.
fn read_text(mut input: impl BufRead, each: Each<'_>) -> io::Result<()> {
    let pattern = Regex::new(PATTERN).map_err(io::Error::other)?;
    let mut piece: Vec<u8> = Vec::new();
    let mut line = 1_u64;
    loop {
        let chunk = input.fill_buf()?;
        let ended = chunk.is_empty();
        let read = chunk.len();
        piece.extend_from_slice(chunk);
        input.consume(read);
        let end = if ended { piece.len() } else { safe_end(&piece) };
        let mut counted = 0;
        for found in pattern.find_iter(&piece[..end]) {
            line += count_lines(&piece[counted..found.start()]);
            counted = found.start();
            match std::str::from_utf8(found.as_bytes()) {
                Ok(text) => each(line, Ok(text))?,
                Err(_) => each(line, Err(SkipReason::Encoding))?,
            }
        }
        line += count_lines(&piece[counted..end]);
        piece.drain(..end);
        if ended {
            return Ok(());
        }
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Behind the last byte that no address can hold; a run without such a byte is cut where it is too
/// long to be one.
fn safe_end(piece: &[u8]) -> usize {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_+@".contains(byte);
    match piece.iter().rposition(|byte| !inside(byte)) {
        Some(place) => place + 1,
        None if piece.len() > 1 << 20 => piece.len() - 1024,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], format: &Format) -> Vec<(u64, Result<String, SkipReason>)> {
        let mut found = Vec::new();
        read(bytes, format, &mut |line, text| {
            found.push((line, text.map(str::to_owned)));
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn lines_may_have_blanks_quotes_and_bad_bytes() {
        let found = all(b" A@b.example \r\n\n\"c@d.example\"\n\xFF@e.example\n", &Format::Lines);
        assert_eq!(
            found,
            [
                (1, Ok("A@b.example".into())),
                (3, Ok("c@d.example".into())),
                (4, Err(SkipReason::Encoding))
            ]
        );
    }

    #[test]
    fn a_column_is_found_by_name_by_number_or_by_itself() {
        let text = b"\xEF\xBB\xBFid,E-Mail,note\n1,a@b.example,\"x, \"\"y\"\"\"\n2\n";
        let expected = [(2, Ok("a@b.example".to_owned())), (3, Err(SkipReason::Column))];
        for column in [None, Some("e-mail".to_owned()), Some("2".to_owned())] {
            assert_eq!(all(text, &Format::Csv(column)), expected);
        }
        let bare = b"1,\"a\n@b.example\"\n2,c@d.example\n";
        assert_eq!(all(bare, &Format::Csv(None)).len(), 2);
    }

    #[test]
    fn addresses_are_found_anywhere_in_a_text() {
        let mut text = b"to <a.b+c@d.example>; \"e@f.example\",\n\n".to_vec();
        text.extend(vec![b'x'; 3 << 20]);
        text.extend(b" g@h.example");
        let found = all(&text, &Format::Text);
        let addresses: Vec<_> =
            found.iter().map(|(line, text)| (*line, text.as_deref().unwrap())).collect();
        assert_eq!(addresses, [(1, "a.b+c@d.example"), (1, "e@f.example"), (3, "g@h.example")]);
    }

    #[test]
    fn lines_of_a_text_are_numbered_through_all_its_pieces() {
        let lines: Vec<_> = (1..=80_000_u64)
            .map(|n| if n % 3 == 0 { String::new() } else { format!("x, user{n}@d.example; y") })
            .collect();
        let text = lines.join("\n");
        assert!(text.len() > 1 << 20);
        let expected =
            (1..=80_000_u64).filter(|n| n % 3 != 0).map(|n| (n, Ok(format!("user{n}@d.example"))));
        assert!(all(text.as_bytes(), &Format::Text).into_iter().eq(expected));
    }
}
