//! Derives file names and URLs from paths.

use std::fmt::Write;

/// Returns the file name in a path, which is everything after the last `/`. Trailing slashes are
/// ignored.
///
/// ```
/// use buckets::model::path::file_name;
///
/// assert_eq!(file_name("a/b 2011.txt"), "b 2011.txt");
/// assert_eq!(file_name("a/b/"), "b");
/// ```
pub fn file_name(path: &str) -> &str {
    let (start, end) = file_name_span(path.as_bytes());
    &path[start..end]
}

/// Returns the byte range of the file name within a path.
pub fn file_name_span(path: &[u8]) -> (usize, usize) {
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    let start = memchr::memrchr(b'/', &path[..end]).map_or(0, |slash| slash + 1);
    (start, end)
}

/// Returns the URL of a file. Its path is percent-encoded, so any path can be represented.
///
/// ```
/// let url = buckets::model::path::url("x.s3.amazonaws.com", "a/b 2011#1.txt");
/// assert_eq!(url, "http://x.s3.amazonaws.com/a/b%202011%231.txt");
/// ```
pub fn url(bucket: &str, path: &str) -> String {
    let mut url = String::with_capacity(8 + bucket.len() + path.len());
    url.push_str("http://");
    url.push_str(bucket);
    url.push('/');
    for &byte in path.as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            url.push(char::from(byte));
        } else {
            // Writing to a `String` can't fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

/// Converts to lower case one character at a time, so that folding a suffix always gives a suffix
/// of the folded string.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.chars().flat_map(char::to_lowercase).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_paths_have_file_names() {
        assert_eq!(file_name("plain"), "plain");
        assert_eq!(file_name("a//"), "a");
        assert_eq!(file_name("/"), "");
        assert_eq!(file_name("a//b"), "b");
    }

    #[test]
    fn reserved_bytes_are_encoded() {
        assert_eq!(url("b", "/é?%"), "http://b//%C3%A9%3F%25");
    }
}
