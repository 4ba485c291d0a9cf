//! The gzip trailer (RFC 1952), with the checksum and length of the uncompressed text.

/// The checksum and length of some uncompressed text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trailer {
    crc: u32,
    length: u32,
}

impl Trailer {
    /// Returns the trailer for `text`.
    pub fn of(text: &[u8]) -> Self {
        Self::default().and(text)
    }

    /// Returns the trailer for this text followed by `more`.
    #[must_use]
    pub fn and(self, more: &[u8]) -> Self {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.crc);
        hasher.update(more);
        Self { crc: hasher.finalize(), length: self.length.wrapping_add(more.len() as u32) }
    }

    /// Returns the length of the text in bytes.
    pub fn length(self) -> usize {
        self.length as usize
    }

    /// Encodes the last eight bytes of a gzip file, first the checksum and then the length.
    pub fn to_bytes(self) -> [u8; 8] {
        let [a, b, c, d] = self.crc.to_le_bytes();
        let [e, f, g, h] = self.length.to_le_bytes();
        [a, b, c, d, e, f, g, h]
    }

    /// Decodes the output of [`Trailer::to_bytes`].
    pub fn from_bytes([a, b, c, d, e, f, g, h]: [u8; 8]) -> Self {
        Self { crc: u32::from_le_bytes([a, b, c, d]), length: u32::from_le_bytes([e, f, g, h]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_pieces_has_the_trailer_of_the_whole() {
        let whole = Trailer::of(b"0123456789");
        assert_eq!(Trailer::of(b"012").and(b"").and(b"3456789"), whole);
        assert_eq!(whole.length(), 10);
        assert_eq!(Trailer::from_bytes(whole.to_bytes()), whole);
        assert_eq!(whole.to_bytes()[..4], 0xA684_C7C6_u32.to_le_bytes());
        assert_eq!(Trailer::default().to_bytes(), [0; 8]);
    }
}
