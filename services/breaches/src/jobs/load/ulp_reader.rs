//! Reads stealer logs with lines such as `https://shop.example/login:address:secret`.

use std::io::{self, BufRead};

use batch::{BoundedLines, Line};

use super::input::MAX_LINE;
use super::skip_reason::SkipReason;

type Each<'e> = &'e mut dyn FnMut(u64, Result<(&str, &str), SkipReason>) -> io::Result<()>;

/// Reads the address and website on each line. The secret is neither decoded nor copied.
///
/// # Errors
/// Returns I/O errors.
pub fn read(input: impl BufRead, delimiter: Option<&str>, each: Each<'_>) -> io::Result<()> {
    let mut lines = BoundedLines::new(input, MAX_LINE);
    while let Some((number, line)) = lines.next_line()? {
        let bytes = match line {
            Line::Bytes(bytes) => bytes,
            Line::TooLong { start } => start,
        };
        let bytes = bytes.trim_ascii_start();
        if bytes.is_empty() {
            continue;
        }
        let pair =
            parts(bytes, delimiter).ok_or(SkipReason::Column).and_then(|(website, login)| {
                let text = |bytes| std::str::from_utf8(bytes).map_err(|_| SkipReason::Encoding);
                Ok((text(login)?.trim(), text(website)?.trim()))
            });
        each(number, pair)?;
    }
    Ok(())
}

/// Splits a line into the website and the rest, i.e. the login followed by the secret. Returns
/// `None` if either is missing.
///
/// The login must come right after the URL, since any later field could be a secret that looks like
/// an address. If the last field is a URL but the first one isn't, the line may be in reverse order
/// and start with the secret.
fn parts<'l>(line: &'l [u8], delimiter: Option<&str>) -> Option<(&'l [u8], &'l [u8])> {
    let (end, start, separator) = match delimiter {
        Some(delimiter) => {
            let end = memchr::memmem::find(line, delimiter.as_bytes())?;
            (end, end, delimiter.as_bytes())
        }
        None => {
            let end = url_end(line)?;
            let start = end + blanks_before_separator(&line[end..]);
            (end, start, line.get(start..=start)?)
        }
    };
    let (website, rest) = (&line[..end], &line[start + separator.len()..]);
    let has_scheme = memchr::memmem::find(website, b"://").is_some();
    // As in `https://shop.example/login address:secret`.
    let colon = (delimiter.is_none() && has_scheme && separator.trim_ascii().is_empty())
        .then(|| memchr::memchr(b':', rest))
        .flatten();
    let login = [memchr::memmem::find(rest, separator), colon].into_iter().flatten().min()?;
    let last = &rest[login + separator.len()..];
    let is_reversed = is_url(last) && !has_scheme;
    let is_clear = !(is_reversed || separator == b":" && ends_in_user_name(website));
    is_clear.then_some((website, &rest[..login]))
}

/// Returns the number of blanks between a URL and its separator, as in `url | login | secret`. 0 if
/// the blanks are the separator.
fn blanks_before_separator(text: &[u8]) -> usize {
    let blanks = text.iter().take_while(|byte| b" \t".contains(byte)).count();
    let is_separator = text.get(blanks).is_some_and(|byte| b":|;,".contains(byte));
    if is_separator { blanks } else { 0 }
}

/// Returns `true` if a URL may have been cut off within `user:secret@host`. In names of Android
/// apps, the part before the `@` is a key.
fn ends_in_user_name(url: &[u8]) -> bool {
    let Some(scheme) = memchr::memmem::find(url, b"://") else { return false };
    let rest = &url[scheme + 3..];
    let is_cut = !rest.iter().any(|byte| b"/?#".contains(byte));
    is_cut && rest.contains(&b'@') && !url[..scheme].eq_ignore_ascii_case(b"android")
}

/// Returns `true` if a field starts with a URL scheme used by websites or apps.
fn is_url(field: &[u8]) -> bool {
    let schemes: [&[u8]; 3] = [b"https://", b"http://", b"android://"];
    let field = field.trim_ascii_start();
    let begins = |scheme: &[u8]| {
        field.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    schemes.into_iter().any(begins)
}

/// Finds the end of the URL at the start of a line, if any.
fn url_end(line: &[u8]) -> Option<usize> {
    let is_separator = |byte: &u8| b":|; \t,".contains(byte);
    // A later `://` belongs to the secret, or to another URL in the path.
    let is_scheme =
        |text: &[u8]| !text.iter().any(|byte| is_separator(byte) || b"@/?#".contains(byte));
    let start = memchr::memmem::find(line, b"://")
        .filter(|place| is_scheme(&line[..*place]))
        .map_or(0, |place| place + 3);
    let mut from = start;
    loop {
        let end = from + line[from..].iter().position(is_separator)?;
        let inside = match line[end] {
            b':' => after_colon(&line[start..end], &line[end + 1..]),
            _ => None,
        };
        let Some(length) = inside else { return Some(end) };
        from = end + 1 + length;
    }
}

/// Common ports of websites and hosting panels. Other digits after a host could be the login.
const USUAL_PORTS: [&[u8]; 16] = [
    b"80", b"443", b"2082", b"2083", b"2086", b"2087", b"2095", b"2096", b"2222", b"3000", b"8000",
    b"8080", b"8081", b"8443", b"8880", b"8888",
];

/// Returns how much of the text after a colon still belongs to the URL. `url` is the URL up to the
/// colon, without its scheme. Returns `None` if the URL ends at the colon.
fn after_colon(url: &[u8], rest: &[u8]) -> Option<usize> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let next = rest.get(digits).copied();
    let begins_login = || next == Some(b':') && begins_address(&rest[digits + 1..]);
    let inner = memchr::memmem::rfind(url, b"//").map_or(0, |place| place + 2);
    if !url[inner..].iter().any(|byte| b"/?#".contains(byte)) {
        let is_usual = USUAL_PORTS.contains(&&rest[..digits]);
        let is_port = digits > 0 && (next == Some(b'/') || is_usual && begins_login());
        return is_port.then_some(digits);
    }
    let is_scheme = |scheme: &[u8]| {
        let start = url.len().checked_sub(scheme.len());
        start.is_some_and(|start| url[start..].eq_ignore_ascii_case(scheme))
    };
    if rest.starts_with(b"//") && (is_scheme(b"http") || is_scheme(b"https")) {
        return Some(2);
    }
    // A time in the query.
    let is_time = digits == 2 && url.contains(&b'?') && url.last().is_some_and(u8::is_ascii_digit);
    (is_time && begins_login()).then_some(digits)
}

/// Returns `true` if `text` starts with an address followed by a colon.
fn begins_address(text: &[u8]) -> bool {
    memchr::memchr(b':', text).is_some_and(|end| text[..end].contains(&b'@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, delimiter: Option<&str>) -> Vec<(u64, Result<String, SkipReason>)> {
        let mut found = Vec::new();
        read(text.as_bytes(), delimiter, &mut |line, pair| {
            found.push((line, pair.map(|(email, site)| format!("{email} {site}"))));
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn website_and_login_are_separated_from_the_secret() {
        for (line, expected) in [
            (
                "https://shop.example/login:a@b.example:x@y.example",
                "a@b.example https://shop.example/login",
            ),
            ("https://shop.example:a@b.example:x:y", "a@b.example https://shop.example"),
            (
                "https://shop.example:8443/a?b=c:a@b.example:x",
                "a@b.example https://shop.example:8443/a?b=c",
            ),
            ("shop.example/login:a@b.example:x", "a@b.example shop.example/login"),
            ("https://ada@shop.example/:a@b.example:x", "a@b.example https://ada@shop.example/"),
            ("shop.example|a@b.example|x", "a@b.example shop.example"),
            ("https://shop.example/ a@b.example x", "a@b.example https://shop.example/"),
            ("https://shop.example/ a@b.example:x y", "a@b.example https://shop.example/"),
            ("https://shop.example/ a@b.example x:y", "a@b.example https://shop.example/"),
            ("https://shop.example/\ta@b.example:x", "a@b.example https://shop.example/"),
            ("https://shop.example/ name:x@y.example z", "name https://shop.example/"),
            (
                "https://shop.example/login | a@b.example | x@y.example",
                "a@b.example https://shop.example/login",
            ),
            (
                "https://shop.example/login : a@b.example : x:y",
                "a@b.example https://shop.example/login",
            ),
            ("shop.example\t; a@b.example;x", "a@b.example shop.example"),
            ("https://shop.example;a@b.example;x", "a@b.example https://shop.example"),
            (
                "android://x==@com.shop.example/:a@b.example:x",
                "a@b.example android://x==@com.shop.example/",
            ),
            ("shop.example:a@b.example:x://y.example:c@d.example:z", "a@b.example shop.example"),
            ("shop.example:name:x://y.example:c@d.example:z", "name shop.example"),
            ("https://shop.example/:12345:x@y.example", "12345 https://shop.example/"),
            ("https://shop.example:12345:x@y.example:z", "12345 https://shop.example"),
            ("http://shop.example:8080:a@b.example:x", "a@b.example http://shop.example:8080"),
            ("http://shop.example:8080:x@y.example", "8080 http://shop.example"),
            (
                "https://shop.example/login?c=https://y.example/z:a@b.example:x",
                "a@b.example https://shop.example/login?c=https://y.example/z",
            ),
            (
                "shop.example/login?c=https://y.example:8443/z:a@b.example:x",
                "a@b.example shop.example/login?c=https://y.example:8443/z",
            ),
            (
                "https://shop.example/login?t=12:30:a@b.example:x",
                "a@b.example https://shop.example/login?t=12:30",
            ),
            ("https://shop.example/a?t=12:345:x@y.example:z", "345 https://shop.example/a?t=12"),
        ] {
            assert_eq!(all(line, None), [(1, Ok(expected.to_owned()))], "{line}");
        }
        let named = all("https://shop.example/a:b----a@b.example----x", Some("----"));
        assert_eq!(named, [(1, Ok("a@b.example https://shop.example/a:b".to_owned()))]);
        let named = all("https://shop.example/ | a@b.example | x", Some("|"));
        assert_eq!(named, [(1, Ok("a@b.example https://shop.example/".to_owned()))]);
        for line in ["x", "https://shop.example", "https://shop.example/login:a@b.example"] {
            assert_eq!(all(line, None), [(1, Err(SkipReason::Column))], "{line}");
        }
        for line in [
            "Secret.word.com:a@b.example:https://shop.example/login",
            "x;a@b.example;HTTP://shop.example/",
            "x : a@b.example : https://shop.example/",
            "Secret.word.com a@b.example:x",
            "https://ada@corp.example:secret@shop.example:a@b.example:x",
        ] {
            assert_eq!(all(line, None), [(1, Err(SkipReason::Column))], "{line}");
        }
        let long = format!("\nhttps://shop.example/:a@b.example:{}", "x".repeat(1 << 20));
        assert_eq!(all(&long, None), [(2, Ok("a@b.example https://shop.example/".to_owned()))]);
    }
}
