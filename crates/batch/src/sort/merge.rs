//! Merges sorted sequences into one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fmt;
use std::io;

use super::record::{Record, Source};

/// Merges several sorted sources, reading them on demand.
///
/// Equal records are returned in the order of their sources. Apart from the sources' buffers, this
/// only keeps one record per source in memory, plus a single additional record.
///
/// ```
/// # use batch::{Record, RunWriter};
/// # #[derive(Default)]
/// # struct Number(u8);
/// # impl Record for Number {
/// #     fn compare(&self, other: &Self) -> std::cmp::Ordering { self.0.cmp(&other.0) }
/// #     fn write_to(&self, out: &mut impl std::io::Write) -> std::io::Result<()> { out.write_all(&[self.0]) }
/// #     fn read_from(&mut self, input: &mut impl std::io::Read) -> std::io::Result<()> {
/// #         let mut byte = [0]; input.read_exact(&mut byte)?; self.0 = byte[0]; Ok(())
/// #     }
/// # }
/// use batch::Merge;
///
/// let run = |numbers: [u8; 3]| {
///     let mut writer = RunWriter::create_in(&std::env::temp_dir(), 4096)?;
///     numbers.iter().try_for_each(|number| writer.push(&Number(*number)))?;
///     Ok::<_, std::io::Error>(writer.finish()?.read(4096))
/// };
/// let mut merge = Merge::new([run([1, 4, 6])?, run([2, 4, 5])?])?;
/// let mut found = Vec::new();
/// while let Some((number, source)) = merge.next()? {
///     found.push((number.0, source));
/// }
/// assert_eq!(found, [(1, 0), (2, 1), (4, 0), (4, 1), (5, 1), (6, 0)]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Merge<S: Source> {
    heads: BinaryHeap<Head<S>>,
    current: S::Record,
    begun: bool,
}

struct Head<S: Source> {
    record: S::Record,
    number: usize,
    source: S,
}

impl<S: Source> Merge<S> {
    /// Starts a merge by reading the first record of each source.
    ///
    /// # Errors
    /// Returns an error if a source can't be read.
    pub fn new(sources: impl IntoIterator<Item = S>) -> io::Result<Self> {
        let mut heads = BinaryHeap::new();
        for (number, mut source) in sources.into_iter().enumerate() {
            let mut record = S::Record::default();
            if source.next(&mut record)? {
                heads.push(Head { record, number, source });
            }
        }
        Ok(Self { heads, current: S::Record::default(), begun: false })
    }

    /// Returns the next record and the index of its source, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if a source cannot be read.
    #[allow(clippy::should_implement_trait, reason = "the record is lent until the next call")]
    pub fn next(&mut self) -> io::Result<Option<(&S::Record, usize)>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let number = head.number;
        self.begun = true;
        std::mem::swap(&mut self.current, &mut head.record);
        // When the modified head is dropped, the heap restores its order.
        let Head { record, source, .. } = &mut *head;
        if !source.next(record)? {
            PeekMut::pop(head);
        }
        Ok(Some((&self.current, number)))
    }

    /// Skips duplicates, and returns the next record that differs from the previous one, or `None`
    /// at the end.
    ///
    /// # Errors
    /// Returns an error if a source cannot be read.
    ///
    /// ```
    /// # use batch::{Merge, Record, RunWriter};
    /// # #[derive(Default)]
    /// # struct Number(u8);
    /// # impl Record for Number {
    /// #     fn compare(&self, other: &Self) -> std::cmp::Ordering { self.0.cmp(&other.0) }
    /// #     fn write_to(&self, out: &mut impl std::io::Write) -> std::io::Result<()> { out.write_all(&[self.0]) }
    /// #     fn read_from(&mut self, input: &mut impl std::io::Read) -> std::io::Result<()> {
    /// #         let mut byte = [0]; input.read_exact(&mut byte)?; self.0 = byte[0]; Ok(())
    /// #     }
    /// # }
    /// # let mut writer = RunWriter::create_in(&std::env::temp_dir(), 4096)?;
    /// for number in [7, 7, 9] {
    ///     writer.push(&Number(number))?;
    /// }
    /// let mut merge = Merge::new([writer.finish()?.read(4096)])?;
    /// assert_eq!(merge.next_distinct()?.map(|number| number.0), Some(7));
    /// assert_eq!(merge.next_distinct()?.map(|number| number.0), Some(9));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn next_distinct(&mut self) -> io::Result<Option<&S::Record>> {
        loop {
            let repeats = |head: &Head<S>| self.begun && head.record.compare(&self.current).is_eq();
            let repeated = self.heads.peek().is_some_and(repeats);
            if self.next()?.is_none() {
                return Ok(None);
            }
            if !repeated {
                return Ok(Some(&self.current));
            }
        }
    }

    /// Returns the record that [`Self::next`] is going to return, if any.
    ///
    /// ```
    /// # use batch::{Merge, Record, RunWriter};
    /// # #[derive(Default)]
    /// # struct Number(u8);
    /// # impl Record for Number {
    /// #     fn compare(&self, other: &Self) -> std::cmp::Ordering { self.0.cmp(&other.0) }
    /// #     fn write_to(&self, out: &mut impl std::io::Write) -> std::io::Result<()> { out.write_all(&[self.0]) }
    /// #     fn read_from(&mut self, input: &mut impl std::io::Read) -> std::io::Result<()> {
    /// #         let mut byte = [0]; input.read_exact(&mut byte)?; self.0 = byte[0]; Ok(())
    /// #     }
    /// # }
    /// # let mut writer = RunWriter::create_in(&std::env::temp_dir(), 4096)?;
    /// writer.push(&Number(7))?;
    /// let merge = Merge::new([writer.finish()?.read(4096)])?;
    /// assert_eq!(merge.peek().map(|number| number.0), Some(7));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn peek(&self) -> Option<&S::Record> {
        self.heads.peek().map(|head| &head.record)
    }

    /// Returns the number of sources that still have records.
    pub fn sources(&self) -> usize {
        self.heads.len()
    }
}

impl<S: Source> fmt::Debug for Merge<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merge").field("sources", &self.heads.len()).finish_non_exhaustive()
    }
}

impl<S: Source> Ord for Head<S> {
    /// Reversed, because the heap returns the greatest element first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.record.compare(&self.record).then_with(|| other.number.cmp(&self.number))
    }
}

impl<S: Source> PartialOrd for Head<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Source> PartialEq for Head<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S: Source> Eq for Head<S> {}
