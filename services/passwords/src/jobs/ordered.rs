//! Reads a sorted hash list in one pass, using all threads.

use std::cmp::Ordering;
use std::fmt;

use batch::{Input, ProgressReporter};

use super::chunks::{Chunk, Chunks, Cut};
use super::reading::{self, BadLine, Reading};
use super::tally::Tally;
use super::worker_pool::{WorkerPool, in_order};
use crate::model::lines::{self, Form, LineError};
use crate::model::{Entry, Kind, add_up_sorted};

/// How many bytes a thread parses at once.
pub const CHUNK: usize = 1 << 20;

/// The error for a line that is out of order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// The input's name.
    pub input: String,
    /// The line number, starting at 1.
    pub line: u64,
}

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: not sorted by hash; use --unordered", self.input, self.line)
    }
}

impl std::error::Error for Disorder {}

/// Parameters for an ordered pass.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The list.
    pub input: &'a Input,
    /// The list's kind.
    pub kind: Kind,
    /// How to read lines.
    pub reading: Reading,
    /// The worker threads.
    pub pool: WorkerPool,
    /// How many bytes a thread parses at once.
    pub chunk: usize,
    /// Reports progress.
    pub progress: &'a ProgressReporter,
}

struct Piece<T> {
    tally: Tally,
    first: Option<Entry>,
    last: Option<Entry>,
    disorder: Option<u64>,
    error: Option<(u64, LineError)>,
    open_end: bool,
    content: Content<T>,
}

/// Either complete prefixes, already passed to `finish` by the thread that parsed them, or part of
/// a single prefix.
enum Content<T> {
    Whole(T),
    Part(Vec<Entry>),
}

/// Reads a sorted list.
///
/// `finish` runs on the worker threads and receives the entries of complete prefixes in ascending
/// order. `consume` receives the results in order.
///
/// # Errors
/// Returns [`BadLine`], [`Disorder`], an error from the input, or an error from `finish` or
/// `consume`.
pub fn read<T: Send>(
    pass: Pass<'_>,
    finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
    mut consume: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<Tally> {
    let name = pass.input.to_string();
    let (reader, _) = reading::open_hashes(pass.input, Some(pass.kind))?;
    let mut chunks = Chunks::new(reader, &name, pass.chunk, Cut::Prefix);
    let mut after_open = false;
    let produce = || {
        let Some(chunk) = chunks.next_chunk()? else { return Ok(None) };
        let begins_open = std::mem::replace(&mut after_open, chunk.open_end);
        Ok(Some((chunk, begins_open)))
    };
    let work = |(chunk, begins_open)| parse(pass, chunk, begins_open, &finish);
    let mut joint = Joint { name: &name, tally: Tally::default(), last: None, part: Vec::new() };
    in_order(pass.pool, produce, work, |piece| joint.take(piece, &finish, &mut consume))?;
    joint.flush(&finish, &mut consume)?;
    Ok(joint.tally)
}

fn parse<T>(
    pass: Pass<'_>,
    chunk: Chunk,
    begins_open: bool,
    finish: &impl Fn(Vec<Entry>) -> anyhow::Result<T>,
) -> anyhow::Result<Piece<T>> {
    let parsed = lines::parse(&chunk.text, pass.kind, Form::Whole, pass.reading.lenient);
    pass.progress.add(chunk.text.len() as u64);
    let tally = Tally::of(&parsed);
    let (first, last) = (parsed.entries.first().copied(), parsed.entries.last().copied());
    let unusable = parsed.disorder.is_some() || parsed.error.is_some();
    let content = if chunk.open_end || begins_open || unusable {
        Content::Part(parsed.entries)
    } else {
        Content::Whole(finish(parsed.entries)?)
    };
    let disorder = parsed.disorder.map(|(_, line)| line);
    let open_end = chunk.open_end;
    Ok(Piece { tally, first, last, disorder, error: parsed.error, open_end, content })
}

/// Joins the results of the chunks: keeps track of line numbers, checks the order between chunks,
/// and reassembles prefixes that span several of them.
struct Joint<'a> {
    name: &'a str,
    tally: Tally,
    last: Option<Entry>,
    part: Vec<Entry>,
}

impl Joint<'_> {
    fn take<T>(
        &mut self,
        piece: Piece<T>,
        finish: &impl Fn(Vec<Entry>) -> anyhow::Result<T>,
        consume: &mut impl FnMut(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let before = self.tally.lines;
        let input = self.name.to_owned();
        if let (Some(last), Some(first)) = (&self.last, &piece.first) {
            let order = last.compare(first);
            let spans = order == Ordering::Equal && !self.part.is_empty();
            // The input was cut within a prefix, at a skipped line that seemed to have a different
            // prefix.
            let is_split = self.part.is_empty() && last.prefix() == first.prefix();
            if is_split || order != Ordering::Less && !spans {
                return Err(Disorder { input, line: before + 1 }.into());
            }
        }
        match (piece.disorder, piece.error) {
            (Some(line), Some((error, _))) if line < error => {
                return Err(Disorder { input, line: before + line + 1 }.into());
            }
            (_, Some((line, cause))) => {
                return Err(BadLine { input, line: before + line + 1, cause }.into());
            }
            (Some(line), None) => {
                return Err(Disorder { input, line: before + line + 1 }.into());
            }
            (None, None) => {}
        }
        self.tally.add(piece.tally);
        self.last = piece.last.or(self.last);
        match piece.content {
            Content::Whole(done) => {
                self.flush(finish, consume)?;
                consume(done)
            }
            Content::Part(entries) => {
                self.part.extend(entries);
                add_up_sorted(&mut self.part);
                if piece.open_end { Ok(()) } else { self.flush(finish, consume) }
            }
        }
    }

    fn flush<T>(
        &mut self,
        finish: &impl Fn(Vec<Entry>) -> anyhow::Result<T>,
        consume: &mut impl FnMut(T) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if self.part.is_empty() {
            return Ok(());
        }
        consume(finish(std::mem::take(&mut self.part))?)
    }
}
