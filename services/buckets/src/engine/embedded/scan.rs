//! Regular expressions over the path column.
//!
//! The column is searched as one long text for the core of the expression, which never crosses
//! rows and finds at least every row that matches; each row with a hit is then judged by itself.
//! Where the core hits most rows, all rows are judged without looking for it. Rows go in chunks to
//! all threads, and a chunk is searched in pieces, since one search cannot be stopped.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use regex_automata::Input;
use regex_automata::meta::Regex;

use super::column::{PathColumn, piece_end};
use super::judge::{Caches, Judge};
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::limits::{Limits, Pace};

/// Rows of one piece of work; a multiple of 64, so that pieces share no word of the result.
const CHUNK: usize = 32 * 1_024;
/// With fewer allowed rows than one in so many, rows are judged one by one.
const SPARSE: u64 = 24;
/// With a hit in more rows than one in so many, finding them first costs more than judging all.
const DENSE: u64 = 3;
/// So many chunks are judged row by row before the core is tried again.
const JUDGED_CHUNKS: u32 = 16;

/// The allowed rows whose name, or path, matches the whole expression.
pub(super) fn matching_rows(
    judge: &Judge,
    allowed: &Bitmap,
    limits: &Limits,
) -> Result<Bitmap, EngineError> {
    let column = judge.column();
    let scan = Scan { column, judge, allowed };
    let mut hits = Bitmap::new(column.rows());
    let chunks = Mutex::new(hits.words_mut().chunks_mut(CHUNK / 64).enumerate());
    let stopped = AtomicBool::new(false);
    let work = || {
        let mut worker = Worker { caches: judge.caches(), to_judge: 0, pace: Pace::default() };
        loop {
            let next = chunks.lock().ok().and_then(|mut chunks| chunks.next());
            let Some((place, words)) = next else { return };
            if scan.chunk((place * CHUNK) as u64, words, &mut worker, limits).is_err() {
                stopped.store(true, Ordering::Relaxed);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..limits.threads {
            scope.spawn(work);
        }
        work();
    });
    if stopped.load(Ordering::Relaxed) { Err(EngineError::Stopped) } else { Ok(hits) }
}

struct Scan<'a> {
    column: &'a PathColumn,
    judge: &'a Judge,
    allowed: &'a Bitmap,
}

/// What a thread keeps from chunk to chunk.
struct Worker {
    caches: Caches,
    /// How many of the next chunks are judged row by row, since the core hit most rows.
    to_judge: u32,
    pace: Pace,
}

impl Scan<'_> {
    /// Sets the bits of the matching rows from `first` on.
    fn chunk(
        &self,
        first: u64,
        bits: &mut [u64],
        worker: &mut Worker,
        limits: &Limits,
    ) -> Result<(), EngineError> {
        limits.check()?;
        let last = (first + bits.len() as u64 * 64).min(self.column.rows());
        let place = (first / 64) as usize;
        let allowed = &self.allowed.words()[place..place + bits.len()];
        let wanted: u64 = allowed.iter().map(|word| u64::from(word.count_ones())).sum();
        if wanted == 0 {
            return Ok(());
        }
        match self.judge.core() {
            Some(core) if wanted * SPARSE >= last - first && worker.to_judge == 0 => {
                let hits = self.search(core, first..last, bits, worker, limits)?;
                if u64::from(hits) * DENSE > last - first {
                    worker.to_judge = JUDGED_CHUNKS;
                }
                Ok(())
            }
            _ => {
                worker.to_judge = worker.to_judge.saturating_sub(1);
                self.one_by_one(first, allowed, bits, worker, limits)
            }
        }
    }

    fn one_by_one(
        &self,
        first: u64,
        allowed: &[u64],
        bits: &mut [u64],
        worker: &mut Worker,
        limits: &Limits,
    ) -> Result<(), EngineError> {
        for (place, (&word, bits)) in allowed.iter().zip(bits).enumerate() {
            let mut word = word;
            while word != 0 {
                let bit = word.trailing_zeros();
                word &= word - 1;
                let path = self.column.path(first + place as u64 * 64 + u64::from(bit));
                if self.judge.matches(path, &mut worker.caches) {
                    *bits |= 1 << bit;
                }
                worker.pace.count(path.len() + 1, limits)?;
            }
        }
        Ok(())
    }

    /// Searches the rows as one text and judges each row with a hit; returns how many had one.
    fn search(
        &self,
        core: &Regex,
        rows: std::ops::Range<u64>,
        bits: &mut [u64],
        worker: &mut Worker,
        limits: &Limits,
    ) -> Result<u32, EngineError> {
        let bytes = self.column.bytes();
        let end = self.column.end(rows.end - 1);
        let mut at = self.column.start(rows.start);
        let mut row = rows.start;
        let mut hits = 0u32;
        while at < end {
            limits.check()?;
            let piece = piece_end(bytes, at, end);
            while at < piece {
                let input = Input::new(bytes).range(at..piece).earliest(true);
                let hit = match worker.caches.core() {
                    Some(cache) => core.search_half_with(cache, &input),
                    None => core.search_half(&input),
                };
                let Some(hit) = hit else { break };
                // A core never matches the empty text, so its last byte lies in the row of the hit.
                row = self.column.row_at(row, hit.offset() - 1);
                if self.allowed.contains(row) && self.matches(row, worker) {
                    let bit = row - rows.start;
                    bits[(bit / 64) as usize] |= 1 << (bit % 64);
                }
                at = self.column.end(row);
                hits += 1;
            }
            at = at.max(piece);
        }
        Ok(hits)
    }

    fn matches(&self, row: u64, worker: &mut Worker) -> bool {
        self.judge.matches(self.column.path(row), &mut worker.caches)
    }
}
