//! Records and their sources.

use std::cmp::Ordering;
use std::io::{self, Read, Write};

/// A record that can be sorted and stored in a file.
///
/// A file is just a sequence of records, so each record must have a fixed length or start with its
/// length.
///
/// ```
/// use std::cmp::Ordering;
/// use std::io::{self, Read, Write};
///
/// #[derive(Default)]
/// struct Number(u32);
///
/// impl batch::Record for Number {
///     fn compare(&self, other: &Self) -> Ordering {
///         self.0.cmp(&other.0)
///     }
///
///     fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
///         out.write_all(&self.0.to_le_bytes())
///     }
///
///     fn read_from(&mut self, input: &mut impl Read) -> io::Result<()> {
///         let mut bytes = [0; 4];
///         input.read_exact(&mut bytes)?;
///         self.0 = u32::from_le_bytes(bytes);
///         Ok(())
///     }
/// }
/// ```
pub trait Record: Default {
    /// Compares two records. Records that compare equal can still be different.
    fn compare(&self, other: &Self) -> Ordering;

    /// Writes the record to a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    fn write_to(&self, out: &mut impl Write) -> io::Result<()>;

    /// Replaces this record with the next one from a file, reusing the memory.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or ends within the record.
    fn read_from(&mut self, input: &mut impl Read) -> io::Result<()>;
}

/// A sorted source of records.
///
/// ```
/// use batch::{Record, Source};
///
/// /// A source in memory.
/// struct Listed<R>(std::vec::IntoIter<R>);
///
/// impl<R: Record> Source for Listed<R> {
///     type Record = R;
///
///     fn next(&mut self, record: &mut R) -> std::io::Result<bool> {
///         let next = self.0.next();
///         Ok(next.map(|next| *record = next).is_some())
///     }
/// }
/// ```
pub trait Source {
    /// The type of the records.
    type Record: Record;

    /// Replaces `record` with the next one. At the end, returns false and leaves `record`
    /// unchanged.
    ///
    /// # Errors
    /// Returns an error if the records cannot be read.
    fn next(&mut self, record: &mut Self::Record) -> io::Result<bool>;
}
