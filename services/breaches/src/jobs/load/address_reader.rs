//! Reads addresses from files: lines, combo lists, CSV, JSON, SQL dumps or free text.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};

use batch::{BoundedLines, Line};

use super::csv_columns::{self, Column, Width};
use super::csv_records::Record;
use super::each::Each;
use super::input::MAX_LINE;
use super::skip_reason::{self, SkipReason};
use super::{json_reader, secret_names, sql_reader, text_reader};
use crate::model::loaded_address;

/// File format.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// One address per line.
    #[default]
    Lines,
    /// An address at the start of each line. Everything after the first separator is ignored.
    Combo,
    /// A CSV column, by name or by number (from 1). If it isn't given, well-known names are tried.
    Csv(Option<String>),
    /// A field of JSON documents, one document per line. May be a path or a name.
    Jsonl(Option<String>),
    /// A field of whole JSON documents.
    Json(Option<String>),
    /// A column of INSERT and COPY statements, as `column` or `table.column`.
    Sql(Option<String>),
    /// Addresses anywhere in text. A secret that looks like an address is recognized by a label, by
    /// the separator between it and the address before it, by a domain without a top-level domain,
    /// or by the titles in the first line. Otherwise, it's read as an address.
    Text,
}

/// Reads a file. `delimiter` separates CSV cells; the default is a comma. In combo lists, it ends
/// the address; by default, that's any of `: ; , |`, whitespace, or any character that can't be in
/// a host name.
///
/// Returns the names of the columns or fields that the addresses were in.
///
/// # Errors
/// Returns I/O errors. Also fails if the column contains secrets.
pub fn read(
    input: impl Read,
    format: &Format,
    delimiter: Option<&str>,
    each: Each<'_>,
) -> io::Result<BTreeSet<String>> {
    if let Format::Jsonl(Some(path)) | Format::Json(Some(path)) = format
        && path.split('.').any(secret_names::is_secret)
    {
        return Err(io::Error::other("the field contains secrets and is not read"));
    }
    let input = BufReader::with_capacity(1 << 20, input);
    let none = |()| BTreeSet::new();
    match format {
        Format::Lines => read_lines(input, each).map(none),
        Format::Combo => read_combo(input, delimiter, each).map(none),
        Format::Csv(column) => read_csv(input, delimiter, column.as_deref(), each),
        Format::Jsonl(column) => json_reader::read_lines(input, column.as_deref(), each),
        Format::Json(column) => json_reader::read_documents(input, column.as_deref(), each),
        Format::Sql(column) => sql_reader::read(input, column.as_deref(), each),
        Format::Text => text_reader::read(input, each).map(none),
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

/// Strips a pair of quotes. No address ends in a quote.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

fn read_csv(
    input: impl BufRead,
    delimiter: Option<&str>,
    wanted: Option<&str>,
    each: Each<'_>,
) -> io::Result<BTreeSet<String>> {
    let names = RefCell::new(BTreeSet::new());
    let find = |first: &Record| {
        let column = csv_columns::find_addresses(first, wanted)?;
        if wanted.is_none() && !column.header {
            csv_columns::refuse_several_addresses(first)?;
        }
        names.borrow_mut().insert(csv_columns::shown_name(first, &column, wanted));
        let Column { place, header } = column;
        let width = match header {
            true => Width::of(first, place),
            false => Width::without_header(first, &[place]),
        };
        Ok(((place, width), header))
    };
    csv_columns::each_row(input, delimiter, find, &mut |line, row| {
        let cell = row.and_then(|(record, (place, width))| match width.fits(record) {
            true => csv_columns::text_cell(record, *place).and_then(skip_reason::present),
            false => Err(SkipReason::Column),
        });
        each(line, cell)
    })?;
    Ok(names.into_inner())
}

/// Reads the address at the start of each line. The rest of the line is usually a secret, so it's
/// neither decoded nor copied.
fn read_combo(input: impl BufRead, delimiter: Option<&str>, each: Each<'_>) -> io::Result<()> {
    let mut lines = BoundedLines::new(input, MAX_LINE);
    while let Some((number, line)) = lines.next_line()? {
        let (bytes, whole) = match line {
            Line::Bytes(bytes) => (bytes, true),
            Line::TooLong { start } => (start, false),
        };
        let bytes = without_opening(bytes);
        let end = match delimiter {
            Some(delimiter) => memchr::memmem::find(bytes, delimiter.as_bytes()),
            None => address_end(bytes),
        };
        if end.is_none() && !whole {
            each(number, Err(SkipReason::TooLong))?;
            continue;
        }
        match std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]) {
            Err(_) => each(number, Err(SkipReason::Encoding))?,
            Ok("") if end.is_none() => {}
            Ok(text) => {
                each(number, Ok(text.trim().trim_end_matches(['"', '\'', ')', ']', '}', '>'])))?;
            }
        }
    }
    Ok(())
}

/// Strips whitespace, quotes and brackets before an address. Since an apostrophe may be part of a
/// name, it counts as a quote only if there's another one after the address.
fn without_opening(line: &[u8]) -> &[u8] {
    let is_opening = |byte: &u8| byte.is_ascii_whitespace() || b"\"([{<".contains(byte);
    let start = line.iter().position(|byte| !is_opening(byte)).unwrap_or(line.len());
    let line = &line[start..];
    match line.strip_prefix(b"'") {
        Some(rest) if address_end(rest).and_then(|end| rest.get(end)) == Some(&b'\'') => rest,
        _ => line,
    }
}

/// Finds the end of the address at the start of a line. That's the first separator, or the first
/// character after the `@` that can't be in a host name. Returns `None` if the address takes up the
/// whole line.
fn address_end(line: &[u8]) -> Option<usize> {
    let is_separator = |byte: &u8| b":;,|".contains(byte) || byte.is_ascii_whitespace();
    let end = line.iter().position(is_separator);
    let head = &line[..end.unwrap_or(line.len())];
    let Some(at) = memchr::memchr(b'@', head) else { return end };
    let behind = &head[at + 1..];
    let valid = match std::str::from_utf8(behind) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&behind[..error.valid_up_to()]).unwrap_or_default(),
    };
    let host = &valid[..loaded_address::host_end(valid)];
    if host.len() == valid.len() && valid.len() < behind.len() {
        // The domain isn't valid UTF-8.
        return end;
    }
    let host = host.trim_end_matches(['-', '_', '.']);
    if host.len() < behind.len() { Some(at + 1 + host.len()) } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::load::each::{Found, collect};

    #[test]
    fn path_through_secrets_is_refused() {
        for path in ["password", "user.password", "password.email", "user.Secret.value.email"] {
            for format in [Format::Jsonl(Some(path.into())), Format::Json(Some(path.into()))] {
                let text = b"{\"password\":{\"email\":\"a@b.example\"}}".as_slice();
                let error = read(text, &format, None, &mut |_, _| Ok(())).unwrap_err();
                assert!(error.to_string().contains("contains secrets"), "{path}: {error}");
            }
        }
    }

    fn all(bytes: &[u8], format: &Format) -> Found {
        separated(bytes, format, None)
    }

    fn separated(bytes: &[u8], format: &Format, delimiter: Option<&str>) -> Found {
        collect(|each| read(bytes, format, delimiter, each).map(drop)).unwrap()
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
    fn column_of_addresses_takes_precedence_over_logins_in_every_format() {
        let sql = "INSERT INTO u (id, username, user_email) VALUES (1, 'joe', 'a@b.example');";
        for (text, format, name) in [
            ("id,username,user_email\n1,joe,a@b.example\n", Format::Csv(None), "user_email"),
            (sql, Format::Sql(None), "u.user_email"),
            (r#"{"username":"joe","user_email":"a@b.example"}"#, Format::Jsonl(None), "user_email"),
            (r#"{"username":"joe","user_email":"a@b.example"}"#, Format::Json(None), "user_email"),
        ] {
            let found: Vec<_> =
                all(text.as_bytes(), &format).into_iter().map(|row| row.1).collect();
            assert_eq!(found, [Ok("a@b.example".to_owned())], "{format:?}");
            let names = read(text.as_bytes(), &format, None, &mut |_, _| Ok(())).unwrap();
            assert_eq!(Vec::from_iter(names), [name], "{format:?}");
        }
        let sql =
            "INSERT INTO u (billing_email, work_email) VALUES ('x@y.example', 'a@b.example');";
        for (text, format) in [
            ("billing_email,work_email\nx@y.example,a@b.example\n", Format::Csv(None)),
            (sql, Format::Sql(None)),
            (r#"{"billing_email":"x@y.example","work_email":"a@b.example"}"#, Format::Jsonl(None)),
            (r#"{"billing_email":"x@y.example","work_email":"a@b.example"}"#, Format::Json(None)),
        ] {
            let refused = read(text.as_bytes(), &format, None, &mut |_, _| Ok(())).unwrap_err();
            assert!(refused.to_string().contains("may contain the addresses"), "{refused}");
        }
    }

    #[test]
    fn rows_without_an_address_are_empty_in_every_format() {
        let copy = "COPY u (id, email) FROM stdin;\n1\t\\N\n2\t\n3\ta@b.example\n\\.\n";
        let sql = "INSERT INTO u (id, email) VALUES (1, NULL), (2, ''), (3, 'a@b.example');";
        for (text, format) in [
            ("id,email\n1,\n2,NULL\n3,\\N\n4,a@b.example\n", Format::Csv(None)),
            (copy, Format::Sql(None)),
            (sql, Format::Sql(None)),
            (
                "{\"email\":null}\n{\"email\":\"\"}\n{}\n{\"email\":\"a@b.example\"}",
                Format::Jsonl(None),
            ),
            ("[{\"email\":null},{\"email\":\"\"},{\"email\":\"a@b.example\"}]", Format::Json(None)),
        ] {
            let mut found: Vec<_> =
                all(text.as_bytes(), &format).into_iter().map(|row| row.1).collect();
            assert_eq!(found.pop(), Some(Ok("a@b.example".to_owned())), "{format:?}");
            assert!(found.len() > 1, "{format:?}");
            assert!(found.iter().all(|row| *row == Err(SkipReason::Empty)), "{found:?}");
        }
    }

    #[test]
    fn password_with_an_at_sign_is_not_taken_for_the_column_of_addresses() {
        for text in ["1,P@ssw0rd,a@b.example\n", "1,p@ss.word,a@b.example\n"] {
            let found = all(text.as_bytes(), &Format::Csv(None));
            assert_eq!(found, [(1, Ok("a@b.example".to_owned()))], "{text}");
        }
        let found = all(b"1,a@localhost,x\n2,c@d.example,x\n", &Format::Csv(None));
        assert_eq!(found[1], (2, Ok("c@d.example".to_owned())));
        // With a top-level domain, the password cannot be distinguished.
        let text = b"1,p@ss.me,a@b.example\n2,x,c@d.example\n";
        let refused = read(&text[..], &Format::Csv(None), None, &mut |_, _| Ok(())).unwrap_err();
        assert!(refused.to_string().contains("columns 2 and 3"), "{refused}");
        let found = all(text, &Format::Csv(Some("3".to_owned())));
        assert_eq!(found, [(1, Ok("a@b.example".to_owned())), (2, Ok("c@d.example".to_owned()))]);
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
        for (line, delimiter) in
            [("a:b@c.example=x", "="), ("a:b@c.example=\u{3001}x", "=\u{3001}")]
        {
            let found = separated(line.as_bytes(), &Format::Combo, Some(delimiter));
            assert_eq!(found, [address(1, "a:b@c.example")]);
        }
    }

    #[test]
    fn quotes_and_brackets_around_an_address_in_a_combo_list_are_removed() {
        for line in [
            "'a@b.example':'x'",
            "('a@b.example','x@y.example'),",
            "(\"a@b.example\", \"x\")",
            "[a@b.example]:x",
            "<a@b.example>----x",
            " { 'a@b.example'",
        ] {
            let line = line.as_bytes();
            assert_eq!(all(line, &Format::Combo), [(1, Ok("a@b.example".to_owned()))], "{line:?}");
        }
        let found = separated(b"'a@b.example'----x", &Format::Combo, Some("----"));
        assert_eq!(found, [(1, Ok("a@b.example".to_owned()))]);
        for name in ["'t.hooft", "o'brien"] {
            let line = format!("{name}@b.example:x'y'");
            let expected = [(1, Ok(format!("{name}@b.example")))];
            assert_eq!(all(line.as_bytes(), &Format::Combo), expected);
        }
    }

    #[test]
    fn address_in_a_combo_list_ends_where_a_host_name_ends() {
        for (rest, expected) in [
            (&b"----hunter2"[..], "a@163.com"),
            (b"--hunter2.example", "a@163.com"),
            ("\u{3001}hunter2".as_bytes(), "a@163.com"),
            ("\u{200b}hunter2".as_bytes(), "a@163.com"),
            (b"=hunter2", "a@163.com"),
            (b"->hunter2", "a@163.com"),
            (b". hunter2", "a@163.com"),
            (b"\"\tx", "a@163.com"),
            (b"@hunter2", "a@163.com"),
            // GBK encoded.
            (b"----\xC3\xDC\xC2\xEB", "a@163.com"),
            (".b\u{fc}cher.example----x".as_bytes(), "a@163.com.b\u{fc}cher.example"),
            (b".xn--bcher-kva.example----x", "a@163.com.xn--bcher-kva.example"),
        ] {
            let line = [b"a@163.com", rest].concat();
            assert_eq!(all(&line, &Format::Combo), [(1, Ok(expected.to_owned()))], "{line:?}");
        }
        let broken = all(b"a@mail.b\xFCcher.example:x", &Format::Combo);
        assert_eq!(broken, [(1, Err(SkipReason::Encoding))]);
    }

    #[test]
    fn fields_with_secrets_are_refused() {
        let text = b"{\"user\": {\"password\": \"a@b.example\", \"notes.mail\": \"c@d.example\"}}";
        for format in [Format::Jsonl, Format::Json] {
            for path in ["user.password", "password", "user.Client_Secret", "user.secrets.mail"] {
                let refused =
                    read(&text[..], &format(Some(path.to_owned())), None, &mut |_, _| Ok(()));
                assert!(refused.unwrap_err().to_string().contains("secrets"), "{path}");
            }
            let found = all(text, &format(Some("user.notes.mail".to_owned())));
            assert_eq!(found, [(1, Ok("c@d.example".to_owned()))]);
        }
    }

    #[test]
    fn delimiter_separates_cells() {
        let text = b"id;mail\n1;\"a;b@c.example\"\n";
        let found = separated(text, &Format::Csv(None), Some(";"));
        assert_eq!(found, [(2, Ok("a;b@c.example".to_owned()))]);
    }

    #[test]
    fn rows_shifted_by_a_delimiter_in_a_secret_are_skipped() {
        let text = b"id,password,email\n1,x,a@b.example\n2,x,y@word.example,c@d.example\n\
            3,\"x,y@word.example\",e@f.example\n";
        let expected = [
            (2, Ok("a@b.example".to_owned())),
            (3, Err(SkipReason::Column)),
            (4, Ok("e@f.example".to_owned())),
        ];
        for column in [None, Some("email".to_owned()), Some("3".to_owned())] {
            assert_eq!(all(text, &Format::Csv(column)), expected);
        }
        // Rows that end in a delimiter, and texts with commas after the address, are not shifted.
        let text = b"id,password,email\n1,x,a@b.example,\n2,x,y@word.example,c@d.example,\n\
            3,x,y@word.example,,\n4,x,e@f.example,\n";
        let found: Vec<_> = all(text, &Format::Csv(None)).into_iter().map(|row| row.1).collect();
        let skipped = || Err(SkipReason::Column);
        let [first, last] = ["a@b.example", "e@f.example"].map(|text| Ok(text.to_owned()));
        assert_eq!(found, [first.clone(), skipped(), skipped(), last.clone()]);
        let text = b"password,email,city\nx,a@b.example,Springfield, Ohio\n\
            x,y@word.example,c@d.example,Rome\nx, y@word.example,c@d.example,Rome, Italy\n\
            x,y@word.example,c@d.example,Rome, Italy\nx,e@f.example,Rome\n";
        let found: Vec<_> = all(text, &Format::Csv(None)).into_iter().map(|row| row.1).collect();
        assert_eq!(found, [first, skipped(), skipped(), skipped(), last]);
        // The secret comes after the address, so it cannot get into its column.
        let text = b"email,password\na@b.example,x,y@word.example\n";
        assert_eq!(all(text, &Format::Csv(None)), [(2, Ok("a@b.example".to_owned()))]);
    }

    #[test]
    fn rows_with_more_cells_than_the_first_are_skipped_without_a_header() {
        let text = b"1,x,a@b.example\n2,x,y@word.example,c@d.example\n3,x\n4,x,e@f.example\n";
        let found: Vec<_> = all(text, &Format::Csv(None)).into_iter().map(|row| row.1).collect();
        let [first, last] = ["a@b.example", "e@f.example"].map(|text| Ok(text.to_owned()));
        let skipped = || Err(SkipReason::Column);
        assert_eq!(found, [first.clone(), skipped(), skipped(), last.clone()]);
        let text = b"x;a@b.example;\nx;y@word.example;c@d.example;\nx;e@f.example;Rome; Italy\n";
        let found = separated(text, &Format::Csv(Some("2".to_owned())), Some(";"));
        let found: Vec<_> = found.into_iter().map(|row| row.1).collect();
        assert_eq!(found, [first.clone(), skipped(), last.clone()]);
        // Nothing precedes the address.
        let text = b"a@b.example,x\ne@f.example,x,y@word.example\n";
        let found: Vec<_> = all(text, &Format::Csv(None)).into_iter().map(|row| row.1).collect();
        assert_eq!(found, [first, last]);
    }

    #[test]
    fn missing_column_error_counts_the_columns() {
        let fail = |column: Option<&str>| {
            let format = Format::Csv(column.map(str::to_owned));
            let text = b"id, Kontakt \n1,2\n".as_slice();
            read(text, &format, None, &mut |_, _| Ok(())).unwrap_err().to_string()
        };
        assert!(
            fail(Some("mail"))
                .contains("does not have a column mail; its first row has 2 columns.")
        );
        assert!(
            fail(None)
                .contains("does not have a column of addresses; its first row has 2 columns.")
        );
        assert!(fail(Some("0")).contains("does not have a column 0;"));
    }

    #[test]
    fn missing_column_error_does_not_show_secrets() {
        for text in ["name:hunter2\n", "https://b.example/login:name:hunter2\n", "bob,hunter2\n"] {
            for column in [None, Some("mail".to_owned())] {
                let format = Format::Csv(column);
                let refused = read(text.as_bytes(), &format, None, &mut |_, _| Ok(()));
                let refused = refused.unwrap_err().to_string();
                assert!(refused.contains("its first row has "), "{refused}");
                assert!(!refused.contains("name:") && !refused.contains("bob"), "{refused}");
                assert!(!refused.contains("hunter2"), "{refused}");
            }
        }
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
