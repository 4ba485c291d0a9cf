//! Scans the path column with a regular expression.
//!
//! The whole column is first searched, as one long string, for the core of the expression. Matches
//! of the core never span rows, and every matching row contains one. Each row with a hit is then
//! checked on its own. If most rows have a hit, every row is checked instead, without looking for
//! the core. Threads work on chunks of rows, which they search piece by piece because a search
//! can't be interrupted.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use regex_automata::meta::{Cache, Regex};

use super::column::PathColumn;
use super::hits::each_hit;
use super::judge::{Caches, Judge};
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::limits::{Limits, Pace};

/// Rows per chunk. Must be a multiple of 64, so that no two chunks write to the same word.
const CHUNK: usize = 32 * 1_024;
/// If fewer than 1 in `SPARSE` rows is allowed, rows are checked one at a time.
const SPARSE: u64 = 24;
/// If more than 1 in `DENSE` rows has a hit, the core is no longer searched for.
const DENSE: u64 = 3;
/// Number of chunks to check row by row before trying the core again.
const JUDGED_CHUNKS: u32 = 16;

/// Returns the allowed rows whose name or path matches the expression.
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
        let walk = judge.core().map(|core| (core, core.create_cache()));
        let (caches, pace) = (judge.caches(), judge.pace());
        let mut worker = Worker { walk, caches, to_judge: 0, pace };
        loop {
            let next = chunks.lock().next();
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

/// Per-thread state.
struct Worker<'a> {
    /// The core and its search cache.
    walk: Option<(&'a Regex, Cache)>,
    caches: Caches,
    /// Number of chunks left to check row by row.
    to_judge: u32,
    pace: Pace,
}

impl Scan<'_> {
    /// Sets the bits of matching rows in the chunk that starts at row `first`.
    fn chunk(
        &self,
        first: u64,
        bits: &mut [u64],
        worker: &mut Worker<'_>,
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
        if worker.walk.is_some() && wanted * SPARSE >= last - first && worker.to_judge == 0 {
            let hits = self.search(first..last, bits, worker, limits)?;
            if u64::from(hits) * DENSE > last - first {
                worker.to_judge = JUDGED_CHUNKS;
            }
            return Ok(());
        }
        worker.to_judge = worker.to_judge.saturating_sub(1);
        self.one_by_one(first, allowed, bits, worker, limits)
    }

    fn one_by_one(
        &self,
        first: u64,
        allowed: &[u64],
        bits: &mut [u64],
        worker: &mut Worker<'_>,
        limits: &Limits,
    ) -> Result<(), EngineError> {
        for (place, (&word, bits)) in allowed.iter().zip(bits).enumerate() {
            let mut word = word;
            while word != 0 {
                let bit = word.trailing_zeros();
                word &= word - 1;
                let path = self.column.path(first + place as u64 * 64 + u64::from(bit));
                if self.judge.matches(path, &mut worker.caches, limits)? {
                    *bits |= 1 << bit;
                }
                worker.pace.count(path.len() + 1, limits)?;
            }
        }
        Ok(())
    }

    /// Searches a range of rows for the core and checks every row with a hit. Returns the number of
    /// hits.
    fn search(
        &self,
        rows: Range<u64>,
        bits: &mut [u64],
        worker: &mut Worker<'_>,
        limits: &Limits,
    ) -> Result<u32, EngineError> {
        let Worker { walk, caches, pace, .. } = worker;
        let Some((core, cache)) = walk else { return Ok(0) };
        let column = self.column;
        let bytes = column.start(rows.start)..column.end(rows.end - 1);
        let (mut row, mut hits) = (rows.start, 0u32);
        each_hit(core, cache, column.bytes(), bytes, limits, |byte| {
            hits += 1;
            row = column.row_at(row, byte);
            if self.allowed.contains(row) {
                let path = column.path(row);
                if self.judge.matches(path, caches, limits)? {
                    let bit = row - rows.start;
                    bits[(bit / 64) as usize] |= 1 << (bit % 64);
                }
                pace.count(path.len() + 1, limits)?;
            }
            Ok(column.end(row))
        })?;
        Ok(hits)
    }
}
