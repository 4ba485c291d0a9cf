//! Decompresses gzip files, which may have several members.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Reads the members of a gzip file one after another. Unlike flate2's reader, this one returns a
/// distinct error for trailing garbage.
pub struct GzipMembers<R> {
    /// Current member. `None` at the end or after an error.
    member: Option<GzDecoder<R>>,
    failed: bool,
}

impl<R: BufRead> GzipMembers<R> {
    /// Reads an input that starts with a gzip header.
    pub fn new(input: R) -> Self {
        Self { member: Some(GzDecoder::new(input)), failed: false }
    }

    /// Moves on to the next member, if any.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(mut input) = self.member.take().map(GzDecoder::into_inner) else { return Ok(()) };
        self.failed = true;
        match after_padding(&mut input)? {
            None => {}
            Some(0x1F) => self.member = Some(GzDecoder::new(input)),
            Some(_) => return Err(foreign()),
        }
        self.failed = false;
        Ok(())
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) if !buffer.is_empty() => self.next_member()?,
                Ok(read) => return Ok(read),
                Err(error) => {
                    let has_header = member.header().is_some();
                    (self.member, self.failed) = (None, true);
                    return Err(match error.kind() {
                        io::ErrorKind::UnexpectedEof => cut(),
                        io::ErrorKind::InvalidInput if !has_header => foreign(),
                        _ => error,
                    });
                }
            }
        }
        if self.failed { Err(io::Error::other("the gzip file is damaged")) } else { Ok(0) }
    }
}

/// Skips NUL bytes after a member, as added by tape drives and some copies. `gzip -d` also ignores
/// them. Returns the next byte without consuming it.
fn after_padding(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let buffer = input.fill_buf()?;
        let padding = buffer.iter().take_while(|byte| **byte == 0).count();
        let next = buffer.get(padding).copied();
        let is_end = buffer.is_empty();
        input.consume(padding);
        if is_end || next.is_some() {
            return Ok(next);
        }
    }
}

fn cut() -> io::Error {
    let text = "the gzip file is incomplete: it ends before its checksum";
    io::Error::new(io::ErrorKind::UnexpectedEof, text)
}

fn foreign() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the gzip file is followed by bytes that do not belong to it; remove them or compress the \
         file again",
    )
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use super::*;

    fn packed(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> (String, Option<String>) {
        // A one-byte buffer puts every boundary at the end of the buffer.
        let mut members = GzipMembers::new(BufReader::with_capacity(1, bytes));
        let mut text = Vec::new();
        let error = members.read_to_end(&mut text).err().map(|error| error.to_string());
        assert_eq!(error.is_some(), members.read(&mut [0]).is_err());
        (String::from_utf8(text).unwrap(), error)
    }

    #[test]
    fn members_are_joined_and_other_bytes_after_them_are_named() {
        let members = [packed("one\n"), packed(""), packed("two\n")].concat();
        assert_eq!(read(&members), ("one\ntwo\n".to_owned(), None));
        for garbage in ["x", "\0x", "garbage\n", "\u{1f}", "\u{1f}x12345678901"] {
            let (text, error) = read(&[&members, garbage.as_bytes()].concat());
            assert_eq!(text, "one\ntwo\n");
            let expected = if garbage == "\u{1f}" { "incomplete" } else { "do not belong to it" };
            assert!(error.unwrap().contains(expected), "{garbage:?}");
        }
        for padding in [1, 100_000] {
            let padded = [&members[..], &vec![0_u8; padding], &packed("three\n"), &[0_u8]].concat();
            assert_eq!(read(&padded), ("one\ntwo\nthree\n".to_owned(), None));
        }
        for end in 1..packed("two\n").len() {
            let (_, error) = read(&members[..members.len() - end]);
            assert!(error.unwrap().contains("incomplete"), "{end}");
        }
    }
}
