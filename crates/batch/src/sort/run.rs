//! Sorted runs of records in unnamed files.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};
use std::marker::PhantomData;
use std::path::Path;

use super::record::{Record, Source};

/// Writes a run, which is a file of sorted records.
///
/// The file is unnamed, so that it disappears however the process exits.
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
/// let mut writer = RunWriter::create_in(&std::env::temp_dir(), 64 * 1024)?;
/// writer.push(&Number(1))?;
/// writer.push(&Number(2))?;
/// let run = writer.finish()?;
/// assert_eq!(run.records(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct RunWriter<R> {
    out: BufWriter<File>,
    records: u64,
    record: PhantomData<fn(&R)>,
}

impl<R: Record> RunWriter<R> {
    /// Creates an unnamed file in `folder`. `buffer` is the size of the write buffer in bytes.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn create_in(folder: &Path, buffer: usize) -> io::Result<Self> {
        let out = BufWriter::with_capacity(buffer, tempfile::tempfile_in(folder)?);
        Ok(Self { out, records: 0, record: PhantomData })
    }

    /// Appends a record, which must not be less than the previous one.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn push(&mut self, record: &R) -> io::Result<()> {
        self.push_with(|out| record.write_to(out))
    }

    /// Appends the record written by `write`.
    pub(super) fn push_with(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.records += 1;
        write(&mut self.out)
    }

    /// Flushes the run so that it can be read.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn finish(self) -> io::Result<Run<R>> {
        let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Run { file, records: self.records, record: PhantomData })
    }
}

/// A run on disk. Until it is read, it uses a file descriptor but no buffer.
#[derive(Debug)]
pub struct Run<R> {
    file: File,
    records: u64,
    record: PhantomData<fn() -> R>,
}

impl<R: Record> Run<R> {
    /// Returns the number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Reads the run from the start, using a buffer of `buffer` bytes.
    pub fn read(self, buffer: usize) -> RunReader<R> {
        let input = BufReader::with_capacity(buffer, self.file);
        RunReader { input, left: self.records, record: PhantomData }
    }
}

/// Reads the records of a run.
#[derive(Debug)]
pub struct RunReader<R> {
    input: BufReader<File>,
    left: u64,
    record: PhantomData<fn() -> R>,
}

impl<R: Record> Source for RunReader<R> {
    type Record = R;

    fn next(&mut self, record: &mut R) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        record.read_from(&mut self.input).map(|()| true)
    }
}
