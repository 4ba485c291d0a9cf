//! Detects whether an HTTP response can be truncated without notice.

/// Returns whether a client would notice that the body of an HTTP/1 response was truncated.
///
/// This requires a content length, or `chunked` as the last transfer coding. With any other coding,
/// the body extends to the end of the connection (RFC 9112, section 6.3). `codings` are the values
/// of the `Transfer-Encoding` fields.
///
/// Our HTTP clients are built without HTTP/2, where every response marks its own end.
///
/// ```
/// use domain::shows_its_end;
///
/// assert!(shows_its_end(Some(0), []));
/// assert!(shows_its_end(None, [&b"gzip, Chunked"[..]]));
/// assert!(!shows_its_end(None, [&b"chunked"[..], b"identity"]));
/// ```
pub fn shows_its_end<'a>(length: Option<u64>, codings: impl IntoIterator<Item = &'a [u8]>) -> bool {
    // The client ignores header fields that aren't ASCII.
    let field = codings.into_iter().last().filter(|field| field.is_ascii());
    let coding = field.and_then(|field| field.rsplit(|byte| *byte == b',').next());
    length.is_some()
        || coding.is_some_and(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_is_shown_by_a_length_or_by_chunked_as_the_last_coding() {
        assert!(shows_its_end(Some(7), []));
        assert!(!shows_its_end(None, []));
        let table: [(&[&[u8]], bool); 11] = [
            (&[b"chunked"], true),
            (&[b"CHUNKED "], true),
            (&[b"gzip,\tchunked"], true),
            (&[b"gzip", b"chunked"], true),
            (&[b"identity"], false),
            (&[b"xchunked"], false),
            (&[b"gzip, xchunked"], false),
            (&[b"chunked, gzip"], false),
            (&[b"chunked", b"gzip"], false),
            (&[b"chunked,"], false),
            (&[b"\xe9, chunked"], false),
        ];
        for (codings, shown) in table {
            assert_eq!(shows_its_end(None, codings.iter().copied()), shown, "{codings:?}");
        }
    }
}
