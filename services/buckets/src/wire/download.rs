//! Search results as CSV and NDJSON.

use jiff::Timestamp;

use super::files::FileRecord;

/// The format of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownloadFormat {
    /// Comma-separated values with a header line (RFC 4180).
    Csv,
    /// One file record per line.
    Ndjson,
}

/// The columns of [`DownloadFormat::Csv`]. `buckets load` can read them.
const HEADER: &str = "bucket,type,fullPath,size,lastModified,url\r\n";

impl DownloadFormat {
    /// Returns the value of the `Content-Type` header.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Ndjson => "application/x-ndjson; charset=utf-8",
        }
    }

    /// Returns the name under which a browser saves a download.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Csv => "files.csv",
            Self::Ndjson => "files.ndjson",
        }
    }

    /// Returns the text before the first file.
    pub fn header(self) -> &'static str {
        match self {
            Self::Csv => HEADER,
            Self::Ndjson => "",
        }
    }

    /// Appends the line for a file.
    pub fn push(self, file: &FileRecord, out: &mut Vec<u8>) {
        match self {
            Self::Csv => push_cells(file, out),
            Self::Ndjson => {
                let length = out.len();
                // The keys of all maps in a record are text, so this never fails.
                if serde_json::to_writer(&mut *out, file).is_err() {
                    out.truncate(length);
                    return;
                }
                out.push(b'\n');
            }
        }
    }
}

fn push_cells(file: &FileRecord, out: &mut Vec<u8>) {
    let (size, modified) = (file.size.to_string(), date(file.last_modified));
    let cells = [&file.bucket, file.kind, &file.full_path, &size, &modified, &file.url];
    for (place, cell) in cells.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        push_cell(cell, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a cell. Text that begins like a formula would be evaluated by a spreadsheet, so it is
/// preceded by an apostrophe, with which spreadsheets show it as text. They also accept full-width
/// characters in formulas.
fn push_cell(text: &str, out: &mut Vec<u8>) {
    let is_formula = text.starts_with([
        '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ]);
    let is_quoted =
        text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ');
    if is_quoted {
        out.push(b'"');
    }
    if is_formula {
        out.push(b'\'');
    }
    if is_quoted {
        out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Formats a date in RFC 3339. If there is no such date, returns the number of seconds; if the date
/// is unknown, an empty string.
fn date(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        _ if seconds == 0 => String::new(),
        Ok(date) => date.to_string(),
        Err(_) => seconds.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        let mut out = Vec::new();
        push_cell(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cells_are_quoted_and_no_formulas() {
        for (text, expected) in [
            ("a.txt", "a.txt"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "\"a\nb\""),
            (" a", "\" a\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("\n=1", "\"'\n=1\""),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("", ""),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }

    #[test]
    fn dates_are_in_utc() {
        assert_eq!(date(1_666_666_666), "2022-10-25T02:57:46Z");
        assert_eq!(date(-86_400), "1969-12-31T00:00:00Z");
        assert_eq!((date(0), date(i64::MAX)), (String::new(), i64::MAX.to_string()));
    }
}
