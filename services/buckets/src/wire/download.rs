//! Writes search results as CSV or NDJSON.

use jiff::Timestamp;

use super::files::FileRecord;

/// Format of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownloadFormat {
    /// Comma-separated values with a header (RFC 4180).
    Csv,
    /// One file record per line.
    Ndjson,
}

/// Header of [`DownloadFormat::Csv`]. `buckets load` recognises these columns.
const HEADER: &str = "bucket,type,fullPath,size,lastModified,url\r\n";

impl DownloadFormat {
    /// Value of the `Content-Type` header.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Ndjson => "application/x-ndjson; charset=utf-8",
        }
    }

    /// Default file name in the browser.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Csv => "files.csv",
            Self::Ndjson => "files.ndjson",
        }
    }

    /// Text to write before the first file.
    pub fn header(self) -> &'static str {
        match self {
            Self::Csv => HEADER,
            Self::Ndjson => "",
        }
    }

    /// Appends a file.
    pub fn push(self, file: &FileRecord, out: &mut Vec<u8>) {
        match self {
            Self::Csv => push_cells(file, out),
            Self::Ndjson => {
                let length = out.len();
                // This never fails, because all keys in a record are strings.
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

/// Appends a cell. Text that looks like the start of a formula gets an apostrophe as a prefix, so
/// that spreadsheets don't evaluate it. Full-width characters can start a formula too.
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

/// Formats a date as RFC 3339, or as an empty string if it is unknown. Falls back to the number of
/// seconds if the date is out of range.
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
