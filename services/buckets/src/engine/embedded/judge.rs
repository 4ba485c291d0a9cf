//! Checks rows against an expression.

use std::sync::Arc;

use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};
use regex_syntax::hir::Hir;
use tantivy::postings::SegmentPostings;
use tantivy::{DocId, DocSet};

use super::column::{PathColumn, unpurged};
use super::core::Core;
use super::trigrams::Comparison;
use crate::engine::error::EngineError;
use crate::engine::limits::{Limits, Pace, is_long};
use crate::model::expression::Expression;
use crate::model::path::file_name_span;
use crate::model::words::LONGEST_WORD;

/// Matches the names or paths of rows against an expression.
pub(super) struct Judge {
    expression: Arc<Expression>,
    full_path: bool,
    core: Core,
    /// A cheaper check that is sufficient for ASCII names. `None` if the expression is too complex.
    comparison: Option<Comparison>,
    /// Memory used by the compiled expression and its core, in bytes.
    memory: usize,
    column: PathColumn,
}

/// Per-thread caches for regex searches.
pub(super) struct Caches {
    core: Option<Cache>,
    whole: Cache,
}

impl Judge {
    /// Creates a judge. `of_rows` is the expression without anything that can't occur in rows.
    pub(super) fn new(
        expression: &Arc<Expression>,
        of_rows: &Hir,
        full_path: bool,
        column: &PathColumn,
    ) -> Self {
        let core = Core::of(of_rows);
        let comparison = Comparison::of(of_rows);
        let memory =
            core.regex.as_ref().map_or(0, Regex::memory_usage) + expression.whole().memory_usage();
        let (expression, column) = (Arc::clone(expression), column.clone());
        Self { expression, full_path, core, comparison, memory, column }
    }

    /// If the expression just looks for a text anywhere in the name, and that text is a word,
    /// returns the word.
    pub(super) fn word(&self) -> Option<&str> {
        let text = self.comparison.as_ref()?.anywhere()?;
        let is_word = !self.full_path
            && text.len() <= LONGEST_WORD
            && text.iter().all(u8::is_ascii_alphanumeric);
        std::str::from_utf8(text).ok().filter(|_| is_word)
    }

    pub(super) fn column(&self) -> &PathColumn {
        &self.column
    }

    /// Returns the expression's core, if it is usable.
    pub(super) fn core(&self) -> Option<&Regex> {
        self.core.regex.as_ref()
    }

    /// Returns the pace at which a thread should check the limits while matching.
    pub(super) fn pace(&self) -> Pace {
        Pace::of(self.memory)
    }

    pub(super) fn caches(&self) -> Caches {
        Caches {
            core: self.core().map(Regex::create_cache),
            whole: self.expression.whole().create_cache(),
        }
    }

    /// Returns `true` if a path matches. Purged rows have an empty path and never match.
    ///
    /// # Errors
    /// Returns [`EngineError::Stopped`] if the search was stopped in the middle of a long name.
    pub(super) fn matches(
        &self,
        path: &[u8],
        caches: &mut Caches,
        limits: &Limits,
    ) -> Result<bool, EngineError> {
        if path.is_empty() {
            return Ok(false);
        }
        let text = if self.full_path {
            path
        } else {
            let (start, end) = file_name_span(path);
            &path[start..end]
        };
        if let Some(comparison) = self.comparison.as_ref().filter(|_| text.is_ascii()) {
            return Ok(comparison.matches(text));
        }
        if is_long(self.memory, text.len()) {
            return self.expression.matches_in_steps(text, || limits.check());
        }
        let input = Input::new(text).earliest(true);
        Ok(match (&self.core.regex, &mut caches.core) {
            (Some(core), Some(cache)) if self.core.decides => {
                core.search_half_with(cache, &input).is_some()
            }
            _ => self.expression.whole().search_half_with(&mut caches.whole, &input).is_some(),
        })
    }
}

/// Checks blocks of rows until the search is stopped.
pub(super) struct Judging {
    judge: Arc<Judge>,
    /// Documents that contain [`Judge::word`] and are therefore known to match.
    sure: Option<SegmentPostings>,
    caches: Caches,
    limits: Limits,
    pace: Pace,
    stopped: bool,
}

/// Maximum number of rows per block.
const BLOCK: usize = tantivy::COLLECT_BLOCK_BUFFER_LEN;

impl Judging {
    pub(super) fn new(judge: &Arc<Judge>, sure: Option<SegmentPostings>, limits: &Limits) -> Self {
        let (judge, caches) = (Arc::clone(judge), judge.caches());
        let (limits, pace) = (limits.clone(), judge.pace());
        Self { judge, sure, caches, limits, pace, stopped: false }
    }

    /// Returns `true` if a document is already known to match. Documents must be passed in
    /// ascending order.
    fn is_sure(&mut self, document: DocId) -> bool {
        self.sure.as_mut().is_some_and(|sure| {
            if sure.doc() < document {
                sure.seek(document);
            }
            sure.doc() == document
        })
    }

    /// Clears `wanted` for files that don't match. If the search is stopped, clears it for all
    /// files, so the caller must check the limits afterwards.
    pub(super) fn retain(&mut self, documents: &[DocId], ids: &[u64], wanted: &mut [bool]) {
        if self.stopped {
            wanted.fill(false);
            return;
        }
        let mut doubtful = [false; BLOCK];
        for ((doubtful, wanted), &document) in doubtful.iter_mut().zip(&*wanted).zip(documents) {
            *doubtful = *wanted && !self.is_sure(document);
        }
        let column = &self.judge.column;
        // The names are scattered in memory. Touching a byte of every name up front lets the cache
        // misses overlap.
        let mut paths: [&[u8]; BLOCK] = [&[]; BLOCK];
        for ((path, &id), _) in
            paths.iter_mut().zip(ids).zip(&doubtful).filter(|(_, doubtful)| **doubtful)
        {
            *path = column.path_with_end(id - 1);
        }
        let last = paths.iter().map(|path| path.iter().rev().nth(1).copied().unwrap_or_default());
        std::hint::black_box(last.fold(0, |sum: u8, byte| sum ^ byte));
        let judged = wanted.iter_mut().zip(paths).zip(doubtful);
        for ((wanted, path), _) in judged.filter(|(_, doubtful)| *doubtful) {
            let judged = match self.stopped {
                true => Ok(false),
                false => self.judge.matches(unpurged(path), &mut self.caches, &self.limits),
            };
            self.stopped |= judged.is_err() || self.pace.count(path.len(), &self.limits).is_err();
            *wanted = judged.unwrap_or(false);
        }
        // Skipped rows take some time too.
        self.stopped |= self.pace.count(ids.len(), &self.limits).is_err();
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::ColumnWriter;
    use super::super::core::of_rows;
    use super::*;

    #[test]
    fn long_names_are_judged_in_steps() {
        let folder = tempfile::tempdir().unwrap();
        ColumnWriter::open(folder.path(), 0, 0).unwrap().sync().unwrap();
        let column = PathColumn::open(folder.path(), 0, 0).unwrap();
        let expression = Arc::new(Expression::parse(r".*\w{20}x", false).unwrap());
        let judge = Judge::new(&expression, &of_rows(expression.hir()), false, &column);
        let matches = |name: &str, limits: &Limits| {
            judge.matches(name.as_bytes(), &mut judge.caches(), limits)
        };
        let long = "y".repeat(4_000);
        let passed = Limits::after_checks(0);
        assert!(matches!(matches(&long, &passed), Err(EngineError::Stopped)));
        assert!(!matches("short", &passed).unwrap());
        assert!(matches(&format!("{long}x"), &Limits::none()).unwrap());
        assert!(!matches(&long, &Limits::none()).unwrap());
    }
}
