//! Detects byte order marks and compressed files from the first bytes of a list.

use anyhow::bail;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Magic numbers of compressed formats, each with a command that decompresses to standard output.
const PACKED: [(&[u8], &str); 5] = [
    (b"\x1F\x8B", "gzip -dc"),
    (b"\x28\xB5\x2F\xFD", "zstd -dc"),
    (b"\xFD7zXZ\0", "xz -dc"),
    (b"PK\x03\x04", "unzip -p"),
    (b"7z\xBC\xAF\x27\x1C", "7z x -so"),
];
/// The magic number of a bzip2 block, which starts at offset 4. The file's own four bytes, such as
/// `BZh9`, could also be the start of a password.
const BZIP2_BLOCK: &[u8] = b"1AY&SY";

/// Number of leading bytes to inspect.
pub const LOOKED_AT: usize = 16;

/// Returns the length of the byte order mark, or 0 if there is none.
///
/// # Errors
/// Returns an error if the input is compressed or is UTF-16 text. `name` identifies the input in
/// the message.
pub fn check(name: &str, head: &[u8]) -> anyhow::Result<usize> {
    if let Some(unpack) = unpacker(head) {
        bail!("{name} is compressed; decompress it first: `{unpack} FILE | passwords build … -`");
    }
    if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") {
        bail!(
            "{name} is UTF-16 text; convert it on the way: \
             `iconv -f UTF-16 -t UTF-8 FILE | passwords build … -`"
        );
    }
    Ok(if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

fn unpacker(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"BZh") && head.get(4..10) == Some(BZIP2_BLOCK) {
        return Some("bzip2 -dc");
    }
    PACKED.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, unpack)| *unpack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_files_and_other_encodings_have_a_message() {
        for (head, said) in [
            (&b"\x1F\x8B\x08\0\0\0"[..], "gzip -dc"),
            (b"\x28\xB5\x2F\xFD\x04", "zstd -dc"),
            (b"\xFD7zXZ\0\0\x04", "xz -dc"),
            (b"BZh91AY&SY\x12\x9b", "bzip2 -dc"),
            (b"PK\x03\x04\x14", "unzip -p"),
            (b"7z\xBC\xAF\x27\x1C\0", "7z x -so"),
            (b"\xFF\xFEp\0", "iconv -f UTF-16"),
            (b"\xFE\xFF\0p", "iconv -f UTF-16"),
        ] {
            let error = check("list", head).unwrap_err().to_string();
            assert!(error.starts_with("list is ") && error.contains(said), "{error}");
        }
    }

    #[test]
    fn byte_order_mark_is_skipped() {
        for (head, mark) in [
            (&b""[..], 0),
            (b"password\r\n", 0),
            (b"BZhang1987\n", 0),
            (b"\xEF\xBB\xBFpassword", 3),
            (b"\xEF\xBB", 0),
        ] {
            assert_eq!(check("list", head).unwrap(), mark, "{head:?}");
        }
    }
}
