//! Finds addresses anywhere in a text.
//!
//! If an address is part of a longer word, it could be someone else's. We therefore decode the
//! characters before it: letters of any script, apostrophes, and escapes as used in JSON, URLs,
//! SQL, HTML and emails. If that fails, the address is skipped and counted as skipped. The `@`
//! itself may be escaped, too.

use std::io::{self, BufRead};

use super::at_signs::signs;
use super::each::Each;
use super::skip_reason::SkipReason;
use super::text_escapes::{Part, first_char, is_separate, part, quoted_printable, unescape};
use super::text_secrets::{self, is_inside};
use super::text_titles::SecretColumns;
use crate::model::loaded_address::{self, is_word};
use crate::model::website;

/// Maximum length in bytes of a local part (with escapes), and of a domain.
const LONGEST: usize = 512;

/// Reads text in pieces, each of which ends after a character that can't be in an address.
pub fn read(mut input: impl BufRead, each: Each<'_>) -> io::Result<()> {
    let mut piece: Vec<u8> = Vec::new();
    let mut line = 1_u64;
    // The first `scanned` bytes of the piece have been searched and are kept only for context. The
    // last address ends at `floor`.
    let (mut scanned, mut floor) = (0, 0);
    // Whether the piece contains the first line, whose titles have not been read yet.
    let mut has_first_line = true;
    let mut columns = None;
    loop {
        let chunk = input.fill_buf()?;
        let ended = chunk.is_empty();
        let read = chunk.len();
        piece.extend_from_slice(chunk);
        input.consume(read);
        if has_first_line && let Some(end) = memchr::memchr2(b'\r', b'\n', &piece) {
            columns = SecretColumns::of(&piece[..end]);
            has_first_line = false;
        }
        let end = if ended { piece.len() } else { scanned + safe_end(&piece[scanned..]) };
        let mut counted = scanned;
        for (at, after) in signs(&piece, scanned, end) {
            if at < floor {
                continue;
            }
            let found = address_at(&piece, floor, (at, after), columns.as_ref());
            let Some(found) = found else { continue };
            floor = found.end;
            line += count_lines(&piece[counted..at]);
            counted = at;
            match &found.text {
                Ok(text) => each(line, Ok(text))?,
                Err(reason) => each(line, Err(*reason))?,
            }
        }
        line += count_lines(&piece[counted..end]);
        if ended {
            return Ok(());
        }
        let drained = end.saturating_sub(2 * LONGEST);
        piece.drain(..drained);
        has_first_line &= drained == 0;
        (scanned, floor) = (end - drained, floor.saturating_sub(drained));
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Finds a position at which to split: right after the last byte that can't be in an address. If
/// the whole piece could be an address but is too long, it's split anyway, leaving enough for the
/// longest possible domain.
fn safe_end(piece: &[u8]) -> usize {
    match piece.iter().rposition(|byte| !is_inside(*byte)) {
        Some(place) => place + 1,
        None if piece.len() <= 1 << 20 => 0,
        None => piece.len() - 2 * LONGEST,
    }
}

/// Text around an `@` in a piece.
struct Found {
    text: Result<String, SkipReason>,
    /// End of the domain.
    end: usize,
}

/// Reads the address around the `@` from `at` to `after`, if there is one.
fn address_at(
    piece: &[u8],
    floor: usize,
    (at, after): (usize, usize),
    columns: Option<&SecretColumns>,
) -> Option<Found> {
    let (domain, end) = domain_after(piece, after);
    let (mut domain, start) = (domain?, at.saturating_sub(LONGEST));
    let before = &piece[floor.max(start)..at];
    let has_escapes = |text: &[u8]| {
        text.iter().rev().take_while(|byte| is_inside(**byte)).any(|byte| b"%&\\".contains(byte))
    };
    let is_twice_escaped =
        [&b"%25"[..], b"&amp;"].iter().any(|twice| piece[at..].starts_with(twice));
    // Another address follows, as in `ada%40corp.example@lists.example`, or escapes are nested.
    if (after - at > 1 && piece.get(end) == Some(&b'@'))
        || (is_twice_escaped && has_escapes(before))
    {
        domain = None;
    }
    let quoted = matches!(next_part(&piece[end..]), Some((Part::Char('\''), _)));
    let local = local_before(before, quoted);
    if local == Local::Missing {
        return None;
    }
    let is_after_address = floor > 0 && floor >= start;
    let may_be_secret = |domain: &String| {
        text_secrets::follows_address(before)
            || text_secrets::is_doubtful(before, domain)
            || is_in_column(piece, floor, at, columns)
    };
    if (is_after_address && domain.as_ref().is_some_and(may_be_secret))
        || text_secrets::has_label(before)
    {
        domain = None;
    }
    let text = match (local, domain) {
        (Local::Text(local), Some(domain)) if !text_secrets::is_user_info(&piece[start..at]) => {
            Ok(format!("{local}@{domain}"))
        }
        _ => Err(SkipReason::Fragment),
    };
    Some(Found { text, end })
}

/// Returns `true` if an `@` is in a column of secrets and on the same line as the address that ends
/// at `floor`.
fn is_in_column(piece: &[u8], floor: usize, at: usize, columns: Option<&SecretColumns>) -> bool {
    let start = at.saturating_sub(LONGEST);
    let line = memchr::memrchr2(b'\r', b'\n', &piece[start..at]).map(|end| start + end + 1);
    let Some((columns, line)) = columns.zip(line.filter(|line| *line < floor)) else {
        return false;
    };
    columns.include_end(&piece[line..at])
}

/// Reads the domain at `start` and returns where it ends as well. `Some(None)` means that there is
/// a domain but that it can't be decoded completely.
fn domain_after(piece: &[u8], start: usize) -> (Option<Option<String>>, usize) {
    let (mut domain, mut end, mut unclear) = (String::new(), start, false);
    while let Some(&byte) = piece.get(end).filter(|_| end - start < LONGEST) {
        if byte.is_ascii_alphanumeric() || b".-_".contains(&byte) {
            domain.push(char::from(byte));
            end += 1;
            continue;
        }
        let is_start = domain.is_empty() || domain.ends_with('.');
        match first_char(&piece[end..]) {
            Some((c, size)) if !c.is_ascii() && is_word(c) && !is_separate(c) => {
                domain.push(c);
                end += size;
                continue;
            }
            // An ideographic domain can't be distinguished from the text around it.
            Some((c, _)) if !c.is_ascii() => unclear = is_start && is_separate(c),
            Some(_) => {
                unclear = match unescape(&piece[end..]) {
                    Some((Part::Char(c), _)) => c != '\'',
                    Some((Part::Unclear, _)) => true,
                    Some((Part::Boundary, _)) | None => false,
                }
            }
            None => unclear = true,
        }
        break;
    }
    if unclear {
        return (Some(None), end);
    }
    let mut host = &domain[..loaded_address::host_end(&domain)];
    host = host.trim_end_matches(['.', '-', '_']);
    let whole = start + host.len();
    let fits = |host: &str| loaded_address::parse(&format!("a@{host}")).is_ok();
    if !host.contains('.') {
        return (None, whole);
    }
    // There might not be a space before the next sentence.
    let mut short = host;
    while !fits(short) {
        match short.rsplit_once('.') {
            Some((rest, _)) if rest.contains('.') => short = rest,
            _ => return (Some(None), whole),
        }
    }
    if short.len() < host.len() && !website::is_possible(&short.to_lowercase()) {
        return (Some(None), whole);
    }
    (Some(Some(short.to_owned())), start + short.len())
}

/// The local part before an `@`.
#[derive(Debug, PartialEq, Eq)]
enum Local {
    Missing,
    /// The characters before it can't be decoded.
    Unclear,
    Text(String),
}

/// Reads the local part at the end of `text`. `quoted` means that the domain is followed by an
/// apostrophe.
fn local_before(text: &[u8], quoted: bool) -> Local {
    let start = text.iter().rposition(|byte| !is_inside(*byte)).map_or(0, |place| place + 1);
    let (encoded, size) = match text[..start].ends_with(b"=") {
        true => quoted_printable(&text[start..]),
        false => (Part::Boundary, 0),
    };
    let mut unclear = matches!(encoded, Part::Unclear);
    let (mut rest, mut local) = (&text[start + size..], String::new());
    while let Some((part, size)) = next_part(rest) {
        match part {
            Part::Char(c) => local.push(c),
            Part::Boundary => (local, unclear) = (String::new(), false),
            Part::Unclear => unclear = true,
        }
        rest = &rest[size..];
    }
    let trimmed = local.trim_start_matches(['.', '-']);
    let mut name = trimmed.trim_start_matches('\'');
    if quoted && name.len() == trimmed.len() {
        // SQL string prefixes, as in N'ada@mail.example'.
        const PREFIXES: [&str; 7] = ["n", "e", "b", "x", "u", "_utf8", "_utf8mb4"];
        let is_prefix =
            |text: &str| PREFIXES.iter().any(|prefix| prefix.eq_ignore_ascii_case(text));
        if let Some((_, string)) = name.split_once('\'').filter(|(prefix, _)| is_prefix(prefix)) {
            name = string;
        }
    }
    if unclear || name.starts_with('+') || name.ends_with('\'') {
        return Local::Unclear;
    }
    let name = name.replace("''", "'");
    if name.is_empty() { Local::Missing } else { Local::Text(name) }
}

/// Decodes the next character of a local part. Also returns its encoded length. Returns `None` at
/// the end of the text.
fn next_part(text: &[u8]) -> Option<(Part, usize)> {
    let &byte = text.first()?;
    if byte.is_ascii_alphanumeric() || b".-_+'".contains(&byte) {
        return Some((Part::Char(char::from(byte)), 1));
    }
    // A word with two of these is not an address, but may be a secret such as `p@ss@word.me`.
    if byte == b'@' {
        return Some((Part::Unclear, 1));
    }
    if let Some(unescaped) = unescape(text) {
        return Some(unescaped);
    }
    Some(match first_char(text) {
        Some((c, size)) => (part(c), size),
        None => (Part::Unclear, 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::load::each::collect;

    fn all(text: &[u8]) -> Vec<Result<String, SkipReason>> {
        let found = collect(|each| read(text, each)).unwrap();
        found.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn characters_in_front_are_decoded() {
        for (text, expected) in [
            ("müller5@corp.example", "müller5@corp.example"),
            ("MÜLLER@corp.example", "MÜLLER@corp.example"),
            ("иван@corp.example", "иван@corp.example"),
            ("e\u{301}ve@corp.example", "e\u{301}ve@corp.example"),
            ("o'brien@corp.example", "o'brien@corp.example"),
            ("('o''brien@corp.example')", "o'brien@corp.example"),
            ("('o\\'brien@corp.example')", "o'brien@corp.example"),
            ("'ada@corp.example'", "ada@corp.example"),
            ("N'ada@corp.example'", "ada@corp.example"),
            ("_utf8mb4'ada@corp.example'", "ada@corp.example"),
            ("Contact o'brien@corp.example's office", "o'brien@corp.example"),
            ("&#39;ada@corp.example&#39;", "ada@corp.example"),
            ("\\u0027ada@corp.example\\u0027", "ada@corp.example"),
            ("%27ada@corp.example%27", "ada@corp.example"),
            ("\\'ada@corp.example\\'", "ada@corp.example"),
            ("https://shop.example/a:ada@corp.example", "ada@corp.example"),
            ("https://shop.example:80 ada@corp.example", "ada@corp.example"),
            ("?x=%22ada%2Btag@corp.example%22", "ada+tag@corp.example"),
            ("m%C3%BCller@corp.example", "müller@corp.example"),
            ("\"\\u00fcller7@corp.example\"", "üller7@corp.example"),
            ("\"m\\u00fcller7@corp.example\"", "müller7@corp.example"),
            ("\"m\\\\u00fcller7@corp.example\"", "müller7@corp.example"),
            ("\\u003cada@corp.example\\u003e", "ada@corp.example"),
            ("\"x\\nada@corp.example\\n\"", "ada@corp.example"),
            ("m&#252;ller@corp.example", "müller@corp.example"),
            ("&lt;ada@corp.example&gt;", "ada@corp.example"),
            ("=3Cada@corp.example=3E", "ada@corp.example"),
            ("mail=3Dada@corp.example", "ada@corp.example"),
            ("?mail=22ada@corp.example", "22ada@corp.example"),
            ("?mail=DADA@corp.example", "DADA@corp.example"),
            ("?a=b&mail=ada@corp.example&c=d", "ada@corp.example"),
            ("a;ada@corp.example;b", "ada@corp.example"),
            ("联系ada@corp.example谢谢", "ada@corp.example"),
            ("“ada@corp.example”", "ada@corp.example"),
            ("ada@bücher.example", "ada@bücher.example"),
            ("ada@corp.bücher.example", "ada@corp.bücher.example"),
            ("ada@corp.example.", "ada@corp.example"),
            ("...ada@corp.example...", "ada@corp.example"),
            ("ada@corp.example.Then", "ada@corp.example"),
            ("ada@corp.example--Bob", "ada@corp.example"),
            ("ada@corp.example:hunter2", "ada@corp.example"),
            ("?mail=ada%40corp.example&x", "ada@corp.example"),
            ("?mail=ada%2Btag%40corp.example%26x", "ada+tag@corp.example"),
            ("?next=ada%2540corp.example%250A", "ada@corp.example"),
            ("ada&#64;corp.example", "ada@corp.example"),
            ("&lt;ada&#x40;corp.example&gt;", "ada@corp.example"),
            ("ada&amp;#064;corp.example", "ada@corp.example"),
            ("ada&commat;corp.example", "ada@corp.example"),
            ("\"ada\\u0040corp.example\"", "ada@corp.example"),
            ("\"ada\\\\u0040corp.example\"", "ada@corp.example"),
            ("'ada\\x40corp.example'", "ada@corp.example"),
            ("https://ada%40corp.example/", "ada@corp.example"),
        ] {
            assert_eq!(all(text.as_bytes()), [Ok(expected.to_owned())], "{text}");
        }
    }

    #[test]
    fn long_run_is_split_between_addresses() {
        for separator in ["\\n", "&#59;", "%0A", ";"] {
            let expected: Vec<_> = (0..100_000).map(|n| format!("user{n}@corp.example")).collect();
            let found: Vec<_> =
                all(expected.join(separator).as_bytes()).into_iter().map(Result::unwrap).collect();
            assert!(found == expected, "{separator}: {} addresses", found.len());
        }
    }

    #[test]
    fn secret_in_a_url_is_skipped_across_reads() {
        let text = "ada@corp.example\nftp://bob:hunter2@files.example/\nftp:\\/\\/bob:x@y.example";
        let skipped = || Err(SkipReason::Fragment);
        for capacity in 1..text.len() {
            let input = io::BufReader::with_capacity(capacity, text.as_bytes());
            let found = collect(|each| read(input, each)).unwrap();
            let expected = [(1, Ok("ada@corp.example".to_owned())), (2, skipped()), (3, skipped())];
            assert_eq!(found, expected, "{capacity}");
        }
    }

    #[test]
    fn secret_after_its_label_is_not_read_as_an_address() {
        for start in [
            "Password: ",
            "PASS:",
            "pwd=",
            "\"password\": \"",
            "user password:\t'",
            "Password: my$",
            "Password: pa:ss/",
            "\"password\":\"my\\\"",
        ] {
            let text = format!("{start}p@ss.word");
            assert_eq!(all(text.as_bytes()), [Err(SkipReason::Fragment)], "{text}");
        }
        for (login, password) in [
            ("Логин: ", "Пароль: "),
            ("Usuario: ", "Contraseña: "),
            ("账号：", "密码："),
            ("Identifiant : ", "Mot de passe : "),
            ("Login: ", "Pass phrase: "),
        ] {
            let text = format!("{login}joe@right.example\n{password}sec@wrong.example\n");
            let expected = [Ok("joe@right.example".to_owned()), Err(SkipReason::Fragment)];
            assert_eq!(all(text.as_bytes()), expected, "{text}");
        }
        for start in [
            "Login: ",
            "compass: ",
            "Secretary: ",
            "Password:\n",
            "Lost your password? Ask: ",
            "Password: x, Email: ",
            "EMAIL:PASS = ",
            "Username / Password: ",
        ] {
            let text = format!("{start}ada@corp.example");
            assert_eq!(all(text.as_bytes()), [Ok("ada@corp.example".to_owned())], "{text}");
        }
    }

    #[test]
    fn secret_after_an_address_is_not_read_as_an_address() {
        let (first, second) = (Ok("ada@corp.example".to_owned()), Ok("bob@b.example".to_owned()));
        for text in [
            "ada@corp.example:p@ss.word",
            "ada@corp.example----x/p@ss.word",
            "ada@corp.example;p@ss.word",
            "ada@corp.example;p@sä.word",
            "ada@corp.example;my$p@ss.me",
            "ada@corp.example;p@ss@word.me",
            "ada@corp.example：p@ss.me",
        ] {
            let expected = [first.clone(), Err(SkipReason::Fragment)];
            assert_eq!(all(text.as_bytes()), expected, "{text}");
        }
        for separator in
            [",", ": ", " | ", "| ", ":x,", " -- ", ":x\\n", ":x%0D%0A", ";x@y;", ";x@y\\n"]
        {
            let text = format!("ada@corp.example{separator}bob@b.example");
            assert_eq!(all(text.as_bytes()), [first.clone(), second.clone()], "{text}");
        }
    }

    #[test]
    fn secret_after_an_address_is_recognised_by_the_title_of_its_column_across_reads() {
        for separator in [";", ",", "\t", " | "] {
            let lines = [
                "id;email;password;email2",
                "1;ada@corp.example;p@ss.me;bob@b.example",
                "2;eve@e.example;x;kim@k.example",
                "3;see;max@m.example",
            ];
            let text = lines.join("\n").replace(';', separator);
            let address = |line, text: &str| (line, Ok(text.to_owned()));
            let expected = [
                address(2, "ada@corp.example"),
                (2, Err(SkipReason::Fragment)),
                address(2, "bob@b.example"),
                address(3, "eve@e.example"),
                address(3, "kim@k.example"),
                address(4, "max@m.example"),
            ];
            for capacity in 1..text.len() {
                let input = io::BufReader::with_capacity(capacity, text.as_bytes());
                let found = collect(|each| read(input, each)).unwrap();
                assert_eq!(found, expected, "{separator} {capacity}");
            }
        }
    }

    #[test]
    fn addresses_within_words_that_cannot_be_decoded_are_counted() {
        for text in [
            &b"m\xFCller@corp.example"[..],
            b"m&uuml;ller@corp.example",
            b"m\\xfcller@corp.example",
            b"m%FCller@corp.example",
            b"100%ada@corp.example",
            b"%2Btag@corp.example",
            b"m=C3=BCller@corp.example",
            b"ada=2Btag@corp.example",
            b"+tag@corp.example",
            b"ada@corp.b\xFCcher.example",
            b"ada@corp.b\\u00fccher.example",
            b"ada@corp.b%C3%BCcher.example",
            b"ada@corp.example-2019",
            b"ada%40corp.b%C3%BCcher.example",
            b"m%FCller%40corp.example",
            b"?next=%3Fmail%253Dada%2540corp.example",
            b"m&amp;uuml;ller&amp;#64;corp.example",
            b"ftp://bob:hunter%40files.example",
            b"ada%40corp.example@lists.example",
            "ada@例子.example".as_bytes(),
            "ada@corp.例子.example".as_bytes(),
        ] {
            assert_eq!(all(text), [Err(SkipReason::Fragment)], "{}", String::from_utf8_lossy(text));
        }
        for text in [
            "%40mention",
            "/%40scope%2Fname.js",
            "ada%40localhost",
            "@mention",
            "a @ b.example",
            "ada@localhost",
            "@corp.example",
            "用户@corp.example",
        ] {
            assert_eq!(all(text.as_bytes()), [], "{text}");
        }
    }
}
