//! Finds `@` signs in text. They may be plain or escaped (JSON, URL, SQL, HTML).

/// Finds every `@` between `start` and `end`, plain or escaped. Returns where each one starts and
/// ends.
pub fn signs(piece: &[u8], start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
    let text = &piece[start..end];
    let plain =
        memchr::memchr_iter(b'@', text).map(move |place| (start + place, start + place + 1));
    let escapes = memchr::memchr3_iter(b'%', b'\\', b'&', text).map(move |place| start + place);
    let escaped = escapes
        .filter_map(|place| escaped_sign(&piece[place..]).map(|length| (place, place + length)));
    let (mut plain, mut escaped) = (plain.peekable(), escaped.peekable());
    std::iter::from_fn(move || match (plain.peek(), escaped.peek()) {
        (Some(one), Some(other)) if other < one => escaped.next(),
        (None, _) => escaped.next(),
        _ => plain.next(),
    })
}

/// Returns the length of the escaped `@` at the start of `text`, if any. The escape may itself be
/// escaped.
fn escaped_sign(text: &[u8]) -> Option<usize> {
    const LONGEST_ESCAPE: usize = 16;
    let text = &text[..text.len().min(LONGEST_ESCAPE)];
    let (&first, mut rest) = text.split_first()?;
    let ends: &[&[u8]] = match first {
        b'%' => {
            while let Some(inner) = rest.strip_prefix(b"25") {
                rest = inner;
            }
            &[b"40"]
        }
        b'\\' => {
            while let Some(inner) = rest.strip_prefix(b"\\") {
                rest = inner;
            }
            &[b"u0040", b"x40"]
        }
        _ => {
            while let Some(inner) = rest.strip_prefix(b"amp;") {
                rest = inner;
            }
            &[b"#64;", b"#064;", b"#x40;", b"#X40;", b"#x0040;", b"commat;"]
        }
    };
    let end = ends.iter().find(|end| rest.starts_with(end))?;
    Some(text.len() - rest.len() + end.len())
}
