//! What is sorted, and where it comes from.

use std::cmp::Ordering;
use std::io::{self, Read, Write};

/// What is sorted: how it is ordered, and how it lies in a file.
///
/// Records may have a fixed length or begin with their length; the file has no other structure.
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
    /// The order of two records; equal ones may be told apart otherwise.
    fn compare(&self, other: &Self) -> Ordering;

    /// Appends the record to a file.
    ///
    /// # Errors
    /// The file cannot be written.
    fn write_to(&self, out: &mut impl Write) -> io::Result<()>;

    /// Reads the next record of a file in place of this one, whose memory it may use.
    ///
    /// # Errors
    /// The file cannot be read or ends within the record.
    fn read_from(&mut self, input: &mut impl Read) -> io::Result<()>;
}

/// Gives records in order.
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
    /// What it gives.
    type Record: Record;

    /// Puts the next record in place of `record`, or leaves it and returns false at the end.
    ///
    /// # Errors
    /// The records cannot be read.
    fn next(&mut self, record: &mut Self::Record) -> io::Result<bool>;
}
