//! Regular expressions over the path column.
//!
//! The column is searched as one long text for the *core* of the expression: the expression
//! without `.*` at its ends, without anchors, and unable to match a NUL, so that a hit never
//! crosses rows. The core finds at least every row that matches; each row with a hit is then
//! judged by itself. Where the core hits most rows, all rows are judged without looking for it.
//! Rows go in chunks to all threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Repetition,
};

use super::column::PathColumn;
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;
use crate::model::expression::{Expression, compile};
use crate::model::path::file_name_span;

/// Rows of one piece of work; a multiple of 64, so that pieces share no word of the result.
const CHUNK: usize = 32 * 1_024;
/// With fewer allowed rows than one in so many, rows are judged one by one.
const SPARSE: u64 = 24;
/// Hits between two checks of the time limit.
const CHECK_EVERY: u32 = 2_048;
/// With a hit in more rows than one in so many, finding them first costs more than judging all.
const DENSE: u64 = 3;
/// So many chunks are judged row by row before the core is tried again.
const JUDGED_CHUNKS: u32 = 16;

/// The allowed rows whose name, or path, matches the whole expression.
pub(super) fn matching_rows(
    column: &PathColumn,
    expression: &Expression,
    full_path: bool,
    allowed: &Bitmap,
    limits: &Limits,
) -> Result<Bitmap, EngineError> {
    let scan = Scan { column, expression, full_path, allowed, core: Core::of(expression.hir()) };
    let mut hits = Bitmap::new(column.rows());
    let chunks = Mutex::new(hits.words_mut().chunks_mut(CHUNK / 64).enumerate());
    let stopped = AtomicBool::new(false);
    let work = || {
        let mut caches = scan.caches();
        loop {
            let next = chunks.lock().ok().and_then(|mut chunks| chunks.next());
            let Some((place, words)) = next else { return };
            if scan.chunk((place * CHUNK) as u64, words, &mut caches, limits).is_err() {
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
    expression: &'a Expression,
    full_path: bool,
    allowed: &'a Bitmap,
    core: Core,
}

struct Caches {
    core: Option<Cache>,
    whole: Cache,
    /// How many of the next chunks are judged row by row, since the core hit most rows.
    to_judge: u32,
}

impl Scan<'_> {
    fn caches(&self) -> Caches {
        Caches {
            core: self.core.regex.as_ref().map(Regex::create_cache),
            whole: self.expression.whole().create_cache(),
            to_judge: 0,
        }
    }

    /// Sets the bits of the matching rows from `first` on.
    fn chunk(
        &self,
        first: u64,
        bits: &mut [u64],
        caches: &mut Caches,
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
        match &self.core.regex {
            Some(core) if wanted * SPARSE >= last - first && caches.to_judge == 0 => {
                let hits = self.search(core, first..last, bits, caches, limits)?;
                if u64::from(hits) * DENSE > last - first {
                    caches.to_judge = JUDGED_CHUNKS;
                }
                Ok(())
            }
            _ => {
                caches.to_judge = caches.to_judge.saturating_sub(1);
                self.one_by_one(first, allowed, bits, caches, limits)
            }
        }
    }

    fn one_by_one(
        &self,
        first: u64,
        allowed: &[u64],
        bits: &mut [u64],
        caches: &mut Caches,
        limits: &Limits,
    ) -> Result<(), EngineError> {
        let mut judged = 0u32;
        for (place, (&word, bits)) in allowed.iter().zip(bits).enumerate() {
            let mut word = word;
            while word != 0 {
                let bit = word.trailing_zeros();
                word &= word - 1;
                if self.row_matches(first + place as u64 * 64 + u64::from(bit), caches) {
                    *bits |= 1 << bit;
                }
                judged += 1;
                if judged.is_multiple_of(CHECK_EVERY) {
                    limits.check()?;
                }
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
        caches: &mut Caches,
        limits: &Limits,
    ) -> Result<u32, EngineError> {
        let bytes = self.column.bytes();
        let end = self.column.end(rows.end - 1);
        let mut at = self.column.start(rows.start);
        let mut row = rows.start;
        let mut hits = 0u32;
        while at < end {
            let input = Input::new(bytes).range(at..end).earliest(true);
            let hit = match &mut caches.core {
                Some(cache) => core.search_half_with(cache, &input),
                None => core.search_half(&input),
            };
            let Some(hit) = hit else { break };
            // A core never matches the empty text, so its last byte lies in the row of the hit.
            row = self.column.row_at(row, hit.offset() - 1);
            if self.allowed.contains(row) && self.row_matches(row, caches) {
                let bit = row - rows.start;
                bits[(bit / 64) as usize] |= 1 << (bit % 64);
            }
            at = self.column.end(row);
            hits += 1;
            if hits.is_multiple_of(CHECK_EVERY) {
                limits.check()?;
            }
        }
        Ok(hits)
    }

    fn row_matches(&self, row: u64, caches: &mut Caches) -> bool {
        let path = self.column.path(row);
        if path.is_empty() {
            return false;
        }
        let text = if self.full_path {
            path
        } else {
            let (start, end) = file_name_span(path);
            &path[start..end]
        };
        if let (true, Some(core), Some(cache)) =
            (self.core.decides, &self.core.regex, &mut caches.core)
        {
            let input = Input::new(text).earliest(true);
            return core.search_half_with(cache, &input).is_some();
        }
        let input = Input::new(text).earliest(true);
        self.expression.whole().search_half_with(&mut caches.whole, &input).is_some()
    }
}

/// What every match contains.
struct Core {
    /// `None` when it may be empty or is too big: then every row is judged.
    regex: Option<Regex>,
    /// Whether a text matches the whole expression as soon as it contains the core.
    decides: bool,
}

impl Core {
    fn of(expression: &Hir) -> Self {
        let stripped = Stripped::of(expression);
        let decides = stripped.both_ends && stripped.hir.properties().look_set().is_empty();
        let core = within_a_row(&stripped.hir);
        let never_empty = core.properties().minimum_len().is_none_or(|length| length > 0);
        let regex = never_empty.then(|| compile(&core).ok()).flatten();
        Self { decides: decides && regex.is_some(), regex }
    }
}

/// An expression without the `.*` at its ends.
struct Stripped {
    hir: Hir,
    /// Whether there was one at both ends, in every branch.
    both_ends: bool,
}

impl Stripped {
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Alternation(branches) => {
                let branches: Vec<Self> = branches.iter().map(Self::of).collect();
                Self {
                    both_ends: branches.iter().all(|branch| branch.both_ends),
                    hir: Hir::alternation(branches.into_iter().map(|branch| branch.hir).collect()),
                }
            }
            HirKind::Concat(parts) => {
                let front = parts.iter().take_while(|part| is_anything(part)).count();
                let rest = &parts[front..];
                let back = rest.iter().rev().take_while(|part| is_anything(part)).count();
                let core = rest[..rest.len() - back].to_vec();
                Self { hir: Hir::concat(core), both_ends: front > 0 && back > 0 }
            }
            _ => Self { hir: hir.clone(), both_ends: false },
        }
    }
}

/// Whether a part is `.*`: any number of any character.
fn is_anything(hir: &Hir) -> bool {
    let HirKind::Repetition(Repetition { min: 0, max: None, sub, .. }) = hir.kind() else {
        return false;
    };
    let HirKind::Class(Class::Unicode(class)) = sub.kind() else {
        return false;
    };
    class.ranges() == [ClassUnicodeRange::new('\0', char::MAX)]
}

/// The expression without anchors and without a way to match a NUL.
fn within_a_row(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&0) => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\0')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(0, 0)]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(within_a_row(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(Capture { sub, .. }) => within_a_row(sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(within_a_row).collect()),
        HirKind::Alternation(branches) => {
            Hir::alternation(branches.iter().map(within_a_row).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(".*backup.*", true, true)]
    #[case(".*(?:sql|bak).*", true, true)]
    #[case("(.*a.*|.*b.*)", true, false)]
    #[case(".*a|b.*", true, false)]
    #[case(".*^a.*", true, false)]
    #[case("backup.*", true, false)]
    #[case(".*", false, false)]
    #[case("a?", false, false)]
    #[case(".*a*.*", false, false)]
    fn cores(#[case] text: &str, #[case] searchable: bool, #[case] decides: bool) {
        let core = Core::of(Expression::parse(text, false).unwrap().hir());
        assert_eq!((core.regex.is_some(), core.decides), (searchable, decides), "{text}");
    }

    #[test]
    fn a_core_never_crosses_rows() {
        for text in ["a[^x]b", "a.b", r"a\x00b", r"a\Wb", "a(?s:.)+b"] {
            let core = Core::of(Expression::parse(text, false).unwrap().hir());
            let crosses = core.regex.is_some_and(|regex| regex.is_match("a\0b"));
            assert!(!crosses, "{text}");
        }
    }
}
