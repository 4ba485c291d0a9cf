//! Decompresses inputs and converts them to UTF-8.

use std::io::{self, BufReader, Cursor, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::gzip::GzipMembers;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextEncoding {
    /// UTF-16 if there is a byte order mark, otherwise UTF-8.
    #[default]
    Auto,
    /// Windows-1252, which covers Latin-1 as well.
    Windows1252,
    /// Little-endian UTF-16.
    Utf16Le,
    /// Big-endian UTF-16.
    Utf16Be,
}

/// Number of bytes to read and convert at once.
const CHUNK: usize = 64 * 1024;

/// Reads an input as UTF-8. Gzip and Zstandard are detected by their magic bytes.
///
/// # Errors
/// Returns I/O errors. If the input isn't text, the error names its type.
pub fn text(input: impl Read + 'static, encoding: TextEncoding) -> io::Result<Box<dyn Read>> {
    with_line_feeds(decoded(input, encoding)?)
}

fn decoded(input: impl Read + 'static, encoding: TextEncoding) -> io::Result<Box<dyn Read>> {
    let (start, input) = start_of(Box::new(input))?;
    batch::refuse_archive(&start)?;
    let plain: Box<dyn Read> = match start.as_slice() {
        [0x1F, 0x8B, ..] => Box::new(GzipMembers::new(BufReader::with_capacity(CHUNK, input))),
        // The second pattern is the start of a skippable frame, as written by pzstd.
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => {
            Box::new(zstd::stream::read::Decoder::new(input)?)
        }
        _ => input,
    };
    let (start, mut plain) = start_of(plain)?;
    batch::refuse_archive(&start)?;
    let from = match (encoding, start.as_slice()) {
        (TextEncoding::Auto, [0xFF, 0xFE, ..]) | (TextEncoding::Utf16Le, _) => UTF_16LE,
        (TextEncoding::Auto, [0xFE, 0xFF, ..]) | (TextEncoding::Utf16Be, _) => UTF_16BE,
        (TextEncoding::Windows1252, _) => WINDOWS_1252,
        (TextEncoding::Auto, [0xEF, 0xBB, 0xBF, ..]) => {
            plain.read_exact(&mut [0; 3])?;
            return Ok(plain);
        }
        (TextEncoding::Auto, start) => {
            refuse_unmarked_utf16(start)?;
            return Ok(plain);
        }
    };
    Ok(Box::new(Transcoder::new(plain, from)))
}

/// Peeks at the first bytes of an input. Returns these bytes and a reader for the whole input.
fn start_of(mut input: Box<dyn Read>) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut start = Vec::with_capacity(batch::ARCHIVE_START);
    input.by_ref().take(batch::ARCHIVE_START as u64).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(input);
    Ok((start, Box::new(whole)))
}

/// Rejects ASCII text encoded as UTF-16 without a byte order mark.
///
/// # Errors
/// Fails with a message for the operator.
fn refuse_unmarked_utf16(start: &[u8]) -> io::Result<()> {
    let name = match start {
        [1..=255, 0, 1..=255, 0, ..] => "utf-16le",
        [0, 1..=255, 0, 1..=255, ..] => "utf-16be",
        _ => return Ok(()),
    };
    Err(io::Error::other(format!(
        "the file looks like UTF-16 without a byte order mark; --encoding {name} reads it"
    )))
}

/// Converts line endings that are only carriage returns, as on old Macs, to line feeds. Otherwise,
/// such a list would be a single line, in which everything after the first address could be the
/// secret. Its last line may end in a line feed, for example if it was added by an editor.
fn with_line_feeds(mut text: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let (mut start, mut length, mut ends) = (vec![0; CHUNK], 0, LineEnds::default());
    while length < start.len() && !ends.are_feeds {
        let read = match text.read(&mut start[length..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            break;
        }
        ends.count(&start[length..length + read]);
        length += read;
    }
    start.truncate(length);
    let whole = Cursor::new(start).chain(text);
    if ends.returns > 0 && !ends.are_feeds {
        return Ok(Box::new(LineFeeds(whole)));
    }
    Ok(Box::new(whole))
}

/// The line endings at the start of a text.
#[derive(Default)]
struct LineEnds {
    /// Number of carriage returns that are followed by something other than a line feed.
    returns: usize,
    feeds: usize,
    last: u8,
    /// Set at the first line feed up to which carriage returns don't outnumber line feeds.
    are_feeds: bool,
}

impl LineEnds {
    /// Counts byte by byte, so the result doesn't depend on the sizes of reads.
    fn count(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                self.feeds += 1;
                self.are_feeds |= self.returns <= self.feeds;
            } else if self.last == b'\r' {
                self.returns += 1;
            }
            self.last = *byte;
        }
    }
}

/// Replaces carriage returns with line feeds.
struct LineFeeds<R>(R);

impl<R: Read> Read for LineFeeds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.0.read(buffer)?;
        for byte in &mut buffer[..size] {
            if *byte == b'\r' {
                *byte = b'\n';
            }
        }
        Ok(size)
    }
}

/// Converts text to UTF-8. An invalid sequence becomes a byte that isn't valid UTF-8, so the line
/// will be skipped instead of being stored with a replacement character.
struct Transcoder<R> {
    input: R,
    decoder: Decoder,
    raw: Vec<u8>,
    /// Range of `raw` that still has to be decoded.
    left: std::ops::Range<usize>,
    text: Vec<u8>,
    given: usize,
    ended: bool,
}

impl<R: Read> Transcoder<R> {
    fn new(input: R, from: &'static Encoding) -> Self {
        let decoder = from.new_decoder_with_bom_removal();
        let (raw, text) = (vec![0; CHUNK], Vec::with_capacity(3 * CHUNK));
        Self { input, decoder, raw, left: 0..0, text, given: 0, ended: false }
    }

    fn decode(&mut self) -> io::Result<()> {
        if self.left.is_empty() {
            self.left = 0..self.input.read(&mut self.raw)?;
        }
        let last = self.left.is_empty();
        self.text.resize(3 * CHUNK, 0);
        let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
            &self.raw[self.left.clone()],
            &mut self.text,
            last,
        );
        self.text.truncate(written);
        self.given = 0;
        self.left.start += read;
        match result {
            DecoderResult::Malformed(..) => self.text.push(0xFF),
            DecoderResult::InputEmpty => self.ended = last,
            DecoderResult::OutputFull => {}
        }
        Ok(())
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() {
            if self.ended || buffer.is_empty() {
                return Ok(0);
            }
            self.decode()?;
        }
        let size = buffer.len().min(self.text.len() - self.given);
        buffer[..size].copy_from_slice(&self.text[self.given..self.given + size]);
        self.given += size;
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8], encoding: TextEncoding) -> Vec<u8> {
        let mut found = Vec::new();
        text(Cursor::new(bytes.to_vec()), encoding).unwrap().read_to_end(&mut found).unwrap();
        found
    }

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn byte_order_mark_or_option_selects_the_encoding() {
        let plain = "ada@bücher.example\n";
        assert_eq!(read(plain.as_bytes(), TextEncoding::Auto), plain.as_bytes());
        let marked = format!("\u{feff}{plain}");
        assert_eq!(read(marked.as_bytes(), TextEncoding::Auto), plain.as_bytes());
        let packed = zstd::encode_all(marked.as_bytes(), 1).unwrap();
        assert_eq!(read(&packed, TextEncoding::Auto), plain.as_bytes());
        for big in [false, true] {
            let marked = utf16(&format!("\u{feff}{plain}"), big);
            assert_eq!(read(&marked, TextEncoding::Auto), plain.as_bytes());
            let named = if big { TextEncoding::Utf16Be } else { TextEncoding::Utf16Le };
            assert_eq!(read(&utf16(plain, big), named), plain.as_bytes());
            assert_eq!(read(&marked, named), plain.as_bytes());
        }
        assert_eq!(read(b"ada@b\xFCcher.example\n", TextEncoding::Windows1252), plain.as_bytes());
        assert_eq!(read(b"", TextEncoding::Windows1252), b"");
        assert_eq!(read(b"a", TextEncoding::Auto), b"a");
    }

    /// Delivers one byte per read, like a slow pipe.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    #[test]
    fn lines_that_end_in_carriage_returns_are_separated() {
        for (bytes, expected) in [
            (&b"a:x\rb:y\r"[..], &b"a:x\nb:y\n"[..]),
            (b"a:x\rb:y", b"a:x\nb:y"),
            (b"a:x\r", b"a:x\r"),
            (b"a:x\r\nb:y\r\n", b"a:x\r\nb:y\r\n"),
            (b"\"a\rb\"\nc", b"\"a\rb\"\nc"),
            (b"\xEF\xBB\xBFa\rb\r\r", b"a\nb\n\n"),
            (b"a:x\rb:y\rc:z\n", b"a:x\nb:y\nc:z\n"),
            (b"a:x\rb:y\rc:z\r\n", b"a:x\nb:y\nc:z\n\n"),
            (b"a:x\nb:y\rc:z\rd:w\r", b"a:x\nb:y\rc:z\rd:w\r"),
            (b"a:x\r\r\nb:y\r\r\n", b"a:x\r\r\nb:y\r\r\n"),
        ] {
            assert_eq!(read(bytes, TextEncoding::Auto), expected, "{bytes:?}");
            let (mut found, slow) = (Vec::new(), Slow(Cursor::new(bytes.to_vec())));
            text(slow, TextEncoding::Auto).unwrap().read_to_end(&mut found).unwrap();
            assert_eq!(found, expected, "{bytes:?}");
        }
        let marked = utf16("\u{feff}a\rb\r", true);
        assert_eq!(read(&marked, TextEncoding::Auto), b"a\nb\n");
        let long = "ada@corp.example:x\r".repeat(10_000);
        let expected = long.replace('\r', "\n");
        assert!(read(long.as_bytes(), TextEncoding::Auto) == expected.as_bytes());
        let late = format!("{}\r\nb", "a".repeat(CHUNK - 1));
        assert!(read(late.as_bytes(), TextEncoding::Auto) == late.as_bytes());
    }

    #[test]
    fn invalid_sequence_affects_only_its_line() {
        let mut bytes = utf16("\u{feff}a\n", false);
        bytes.extend([0x00, 0xD8]);
        bytes.extend(utf16("b\nc", false));
        let found = read(&bytes, TextEncoding::Auto);
        let lines: Vec<_> = found.split(|byte| *byte == b'\n').collect();
        assert_eq!(lines[0], b"a");
        assert!(std::str::from_utf8(lines[1]).is_err());
        assert_eq!(lines[2], b"c");
    }

    #[test]
    fn compressed_inputs_with_several_parts_are_decompressed() {
        let mut gzip = Vec::new();
        for part in ["one\n", "two\n"] {
            let mut encoder = flate2::write::GzEncoder::new(&mut gzip, Default::default());
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.finish().unwrap();
        }
        assert_eq!(read(&gzip, TextEncoding::Auto), b"one\ntwo\n");
        let mut frames = zstd::encode_all(&utf16("\u{feff}one\n", true)[..], 1).unwrap();
        frames.extend(zstd::encode_all(&utf16("two\n", true)[..], 1).unwrap());
        assert_eq!(read(&frames, TextEncoding::Auto), b"one\ntwo\n");
        let skippable = b"\x50\x2A\x4D\x18\x04\x00\x00\x00size";
        let parallel = [&skippable[..], &zstd::encode_all(&b"one\n"[..], 1).unwrap()].concat();
        assert_eq!(read(&parallel, TextEncoding::Auto), b"one\n");
    }

    #[test]
    fn other_formats_are_refused_by_name() {
        let refusal = |bytes: &[u8]| {
            let refused = text(Cursor::new(bytes.to_vec()), TextEncoding::Auto).err();
            refused.map(|error| error.to_string()).unwrap_or_default()
        };
        let mut tar = vec![b'x'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        let packed = zstd::encode_all(&tar[..], 1).unwrap();
        for (bytes, name) in [
            (&b"PK\x03\x04\x14\x00"[..], "a ZIP archive"),
            (b"\xFD7zXZ\x00\x00\x04", "compressed with xz"),
            (b"BZh91AY&SY", "compressed with bzip2"),
            (b"7z\xBC\xAF\x27\x1C\x00\x04", "a 7z archive"),
            (b"Rar!\x1A\x07\x01\x00", "a RAR archive"),
            (b"SQLite format 3\x00", "a SQLite database"),
            (b"%PDF-1.7\n", "a PDF document"),
            (&tar, "a tar archive"),
            (&packed, "a tar archive"),
            (&utf16("a@b.example\n", false), "--encoding utf-16le"),
            (&utf16("a@b.example\n", true), "--encoding utf-16be"),
        ] {
            let refused = refusal(bytes);
            assert!(refused.contains(name), "{name}: {refused}");
        }
        for plain in ["", "PK", "BZh@x.example\n", "a\0b@c.example\n", "%PDF@x.example\n"] {
            assert_eq!(read(plain.as_bytes(), TextEncoding::Auto), plain.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn text_is_transcoded_independently_of_buffer_sizes(
            text in "\\PC{0,300}",
            size in 1_usize..40,
        ) {
            let mut input = Transcoder::new(Cursor::new(utf16(&text, true)), UTF_16BE);
            let (mut found, mut buffer) = (Vec::new(), vec![0; size]);
            loop {
                match input.read(&mut buffer).unwrap() {
                    0 => break,
                    read => found.extend_from_slice(&buffer[..read]),
                }
            }
            prop_assert_eq!(found, text.trim_start_matches('\u{feff}').as_bytes());
        }
    }
}
