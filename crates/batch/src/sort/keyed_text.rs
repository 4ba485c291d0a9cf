//! A record that consists of a key and a string.

use std::cmp::Ordering;
use std::io::{self, Read, Write};

use super::record::Record;

/// A key and a string. In a run file, these are stored as the key, the length of the string in two
/// bytes, and the string itself.
///
/// ```
/// use batch::{KeyedText, Record};
///
/// let (a, b) = (KeyedText { key: 1, text: b"b".to_vec() }, KeyedText { key: 2, text: b"a".to_vec() });
/// assert!(a.compare(&b).is_lt());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyedText {
    /// The sort key.
    pub key: i64,
    /// The string, which decides the order of records with the same key. At most 65,535 bytes long.
    pub text: Vec<u8>,
}

impl Record for KeyedText {
    fn compare(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| self.text.cmp(&other.text))
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        write(out, self.key, &self.text)
    }

    fn read_from(&mut self, input: &mut impl Read) -> io::Result<()> {
        let mut head = [0; 10];
        input.read_exact(&mut head)?;
        let [key @ .., low, high] = head;
        self.key = i64::from_le_bytes(key);
        self.text.resize(usize::from(u16::from_le_bytes([low, high])), 0);
        input.read_exact(&mut self.text)
    }
}

/// Writes a record without copying the string.
pub(super) fn write(out: &mut impl Write, key: i64, text: &[u8]) -> io::Result<()> {
    out.write_all(&key.to_le_bytes())?;
    out.write_all(&u16::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes())?;
    out.write_all(text)
}
