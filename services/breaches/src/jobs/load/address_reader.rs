//! Reads addresses from files: lines, combo lists, CSV columns or free text.

use std::io::{self, BufRead, BufReader, Read};

use batch::{BoundedLines, Line};
use regex::bytes::Regex;

use super::csv_columns;
use super::csv_records::Record;
use super::input::MAX_LINE;
use super::skip_reason::SkipReason;

/// The format of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One address a line.
    #[default]
    Lines,
    /// An address at the start of each line. Everything after a separator is ignored.
    Combo,
    /// A column, by name or by number from 1. If not given, it is found by its name.
    Csv(Option<String>),
    /// Anywhere in the text, found by the pattern of the paste model.
    Text,
}

/// Receives a line number with the found text or the reason for skipping it.
pub type Each<'e> = &'e mut dyn FnMut(u64, Result<&str, SkipReason>) -> io::Result<()>;

/// The pattern that finds addresses in pastes.
const PATTERN: &str = r"(?-u)\b[a-zA-Z0-9\.\-_\+]+@[a-zA-Z0-9\.\-_]+\.[a-zA-Z]+\b";

/// Reads a file. The delimiter separates the cells of CSV (default: comma) and ends the addresses
/// of combo lists (default: any of `: ; , |` and blanks).
pub fn read(
    input: impl Read,
    format: &Format,
    delimiter: Option<u8>,
    each: Each<'_>,
) -> io::Result<()> {
    let input = BufReader::with_capacity(1 << 20, input);
    match format {
        Format::Lines => read_lines(input, each),
        Format::Combo => read_combo(input, delimiter, each),
        Format::Csv(column) => read_csv(input, delimiter.unwrap_or(b','), column.as_deref(), each),
        Format::Text => read_text(input, each),
    }
}

fn read_lines(input: impl BufRead, each: Each<'_>) -> io::Result<()> {
    let mut lines = BoundedLines::new(input, MAX_LINE);
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

/// Removes a pair of quotation marks. No address ends in one.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

fn read_csv(
    input: impl BufRead,
    delimiter: u8,
    wanted: Option<&str>,
    each: Each<'_>,
) -> io::Result<()> {
    let find = |first: &Record| {
        let found = csv_columns::find_addresses(first, wanted)?;
        Ok((found.place, found.header))
    };
    csv_columns::each_row(input, delimiter, find, &mut |line, row| {
        each(line, row.and_then(|(record, place)| csv_columns::text_cell(record, *place)))
    })
}

/// Reads the address at the start of each line. The rest, usually a secret, is neither decoded nor
/// copied.
fn read_combo(input: impl BufRead, delimiter: Option<u8>, each: Each<'_>) -> io::Result<()> {
    let mut lines = BoundedLines::new(input, MAX_LINE);
    while let Some((number, line)) = lines.next_line()? {
        let (bytes, whole) = match line {
            Line::Bytes(bytes) => (bytes, true),
            Line::TooLong { start } => (start, false),
        };
        let bytes = bytes.trim_ascii_start();
        let end = bytes.iter().position(|byte| match delimiter {
            Some(delimiter) => *byte == delimiter,
            None => b":;,|".contains(byte) || byte.is_ascii_whitespace(),
        });
        if end.is_none() && !whole {
            each(number, Err(SkipReason::TooLong))?;
            continue;
        }
        match std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]) {
            Err(_) => each(number, Err(SkipReason::Encoding))?,
            Ok("") if end.is_none() => {}
            Ok(text) => each(number, Ok(unquoted(text.trim())))?,
        }
    }
    Ok(())
}

/// Reads a text in pieces that end at a blank or line end, so no address is split.
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

/// The position after the last byte that cannot be part of an address. A run without such a byte is
/// split if it is too long to be an address.
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

    type Found = Vec<(u64, Result<String, SkipReason>)>;

    fn all(bytes: &[u8], format: &Format) -> Found {
        separated(bytes, format, None)
    }

    fn separated(bytes: &[u8], format: &Format, delimiter: Option<u8>) -> Found {
        let mut found = Vec::new();
        read(bytes, format, delimiter, &mut |line, text| {
            found.push((line, text.map(str::to_owned)));
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn blanks_and_quotes_are_removed_and_invalid_bytes_reported() {
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
    fn column_is_found_by_name_number_or_content() {
        let text = b"\xEF\xBB\xBFid,E-Mail,note\n1,a@b.example,\"x, \"\"y\"\"\"\n2\n";
        let expected = [(2, Ok("a@b.example".to_owned())), (3, Err(SkipReason::Column))];
        for column in [None, Some("e-mail".to_owned()), Some("2".to_owned())] {
            assert_eq!(all(text, &Format::Csv(column)), expected);
        }
        let bare = b"1,\"a\n@b.example\"\n2,c@d.example\n";
        assert_eq!(all(bare, &Format::Csv(None)).len(), 2);
    }

    #[test]
    fn text_after_an_address_is_ignored_in_combo_lists() {
        let mut text = b"a@b.example:x@y.z\r\n\n \"c@d.example\";\xFF\nE@f.example\tx y\n".to_vec();
        text.extend(b"g@h.example|");
        text.extend(vec![b'x'; 1 << 20]);
        text.extend(b"\ni@j.example\nk\xFF@l.example:x\n:x\n");
        text.extend(vec![b'x'; 1 << 20]);
        let address = |line, text: &str| (line, Ok(text.to_owned()));
        let expected = [
            address(1, "a@b.example"),
            address(3, "c@d.example"),
            address(4, "E@f.example"),
            address(5, "g@h.example"),
            address(6, "i@j.example"),
            (7, Err(SkipReason::Encoding)),
            address(8, ""),
            (9, Err(SkipReason::TooLong)),
        ];
        assert_eq!(all(&text, &Format::Combo), expected);
        let found = separated(b"a:b@c.example=x\n", &Format::Combo, Some(b'='));
        assert_eq!(found, [address(1, "a:b@c.example")]);
    }

    #[test]
    fn delimiter_separates_cells() {
        let text = b"id;mail\n1;\"a;b@c.example\"\n";
        let found = separated(text, &Format::Csv(None), Some(b';'));
        assert_eq!(found, [(2, Ok("a;b@c.example".to_owned()))]);
    }

    #[test]
    fn missing_column_error_lists_the_columns() {
        let fail = |column: Option<&str>| {
            let format = Format::Csv(column.map(str::to_owned));
            let text = b"id, Kontakt \n1,2\n".as_slice();
            read(text, &format, None, &mut |_, _| Ok(())).unwrap_err().to_string()
        };
        assert!(fail(Some("mail")).contains("no column mail; its first row has 1 id, 2 Kontakt."));
        assert!(fail(None).contains("no column of addresses; its first row has 1 id, 2 Kontakt."));
        assert!(fail(Some("0")).contains("no column 0;"));
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
    fn line_numbers_continue_across_pieces_of_a_text() {
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
