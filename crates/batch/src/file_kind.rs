//! Recognizes archives and other binary files by their first bytes.

use std::io;

/// Number of bytes that [`refuse_archive`] looks at.
pub const ARCHIVE_START: usize = 512;

/// Rejects archives, documents, and compressed formats other than gzip and Zstandard, judging by
/// the first bytes of a file.
///
/// # Errors
/// Returns a message for the operator that names the format.
pub fn refuse_archive(start: &[u8]) -> io::Result<()> {
    let advice = match start {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => {
            "is a ZIP archive or an Excel workbook. Extract it, or export the sheet as CSV"
        }
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => "is compressed with xz. Decompress it",
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..]
        | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, b'r', b'E', b'8', b'P', 0x90, ..] => {
            "is compressed with bzip2. Decompress it"
        }
        [b'7', b'z', 0xBC, 0xAF, 0x27, 0x1C, ..] => "is a 7z archive. Extract it",
        [b'R', b'a', b'r', b'!', 0x1A, 7, ..] => "is a RAR archive. Extract it",
        [0x04, 0x22, 0x4D, 0x18, ..] => "is compressed with LZ4. Decompress it",
        [0x1F, 0x9D, ..] => "is compressed with Unix compress (.Z). Decompress it",
        [b'P', b'G', b'D', b'M', b'P', ..] => {
            "is a binary dump of PostgreSQL. Convert it with pg_restore -f FILE.sql"
        }
        [b'%', b'P', b'D', b'F', b'-', ..] => "is a PDF document. Convert it to text",
        [0xD0, 0xCF, 0x11, 0xE0, ..] => "is a legacy Office document. Export it as CSV",
        _ if start.starts_with(b"SQLite format 3\0") => {
            "is a SQLite database. Export the table as CSV"
        }
        _ if start.get(257..262) == Some(b"ustar") => "is a tar archive. Extract it",
        _ => return Ok(()),
    };
    Err(io::Error::other(format!("the file {advice}; only gzip and Zstandard are decompressed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_refused_by_name() {
        let mut tar = vec![b'x'; ARCHIVE_START];
        tar[257..262].copy_from_slice(b"ustar");
        for (start, name) in [
            (&b"PK\x03\x04\x14\x00"[..], "a ZIP archive"),
            (b"\xFD7zXZ\x00\x00\x04", "compressed with xz"),
            (b"BZh91AY&SY", "compressed with bzip2"),
            (b"7z\xBC\xAF\x27\x1C\x00\x04", "a 7z archive"),
            (b"Rar!\x1A\x07\x01\x00", "a RAR archive"),
            (b"SQLite format 3\x00", "a SQLite database"),
            (b"%PDF-1.7\n", "a PDF document"),
            (&tar, "a tar archive"),
        ] {
            let refused = refuse_archive(start).unwrap_err().to_string();
            assert!(refused.contains(name), "{name}: {refused}");
        }
        for text in ["", "PK", "BZh@x.example\n", "a\0b@c.example\n", "%PDF@x.example\n"] {
            refuse_archive(text.as_bytes()).unwrap();
        }
    }
}
