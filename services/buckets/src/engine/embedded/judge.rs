//! Whether the name, or the path, of a row matches an expression.

use std::sync::Arc;

use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};

use super::column::{PathColumn, unpurged};
use super::core::Core;
use crate::engine::limits::Limits;
use crate::model::expression::Expression;
use crate::model::path::file_name_span;

/// Judges rows by an expression.
pub(super) struct Judge {
    expression: Arc<Expression>,
    full_path: bool,
    core: Core,
    column: PathColumn,
}

/// What a thread needs to judge.
pub(super) struct Caches {
    core: Option<Cache>,
    whole: Cache,
}

impl Caches {
    /// The cache of the core.
    pub(super) fn core(&mut self) -> Option<&mut Cache> {
        self.core.as_mut()
    }
}

impl Judge {
    pub(super) fn new(expression: &Arc<Expression>, full_path: bool, column: &PathColumn) -> Self {
        let core = Core::of(expression.hir());
        Self { expression: Arc::clone(expression), full_path, core, column: column.clone() }
    }

    /// The column whose rows are judged.
    pub(super) fn column(&self) -> &PathColumn {
        &self.column
    }

    /// What every match contains, if that is anything.
    pub(super) fn core(&self) -> Option<&Regex> {
        self.core.regex.as_ref()
    }

    pub(super) fn caches(&self) -> Caches {
        Caches {
            core: self.core().map(Regex::create_cache),
            whole: self.expression.whole().create_cache(),
        }
    }

    /// Whether a path matches; an empty one, that of a purged row, never does.
    pub(super) fn matches(&self, path: &[u8], caches: &mut Caches) -> bool {
        if path.is_empty() {
            return false;
        }
        let text = if self.full_path {
            path
        } else {
            let (start, end) = file_name_span(path);
            &path[start..end]
        };
        let input = Input::new(text).earliest(true);
        match (&self.core.regex, &mut caches.core) {
            (Some(core), Some(cache)) if self.core.decides => {
                core.search_half_with(cache, &input).is_some()
            }
            _ => self.expression.whole().search_half_with(&mut caches.whole, &input).is_some(),
        }
    }
}

/// Judges blocks of rows until the search has to stop.
pub(super) struct Judging {
    judge: Arc<Judge>,
    caches: Caches,
    limits: Limits,
    judged: usize,
    stopped: bool,
}

/// Rows between two checks of the time limit.
const CHECK_EVERY: usize = 2_048;
/// Rows of a block at most.
const BLOCK: usize = tantivy::COLLECT_BLOCK_BUFFER_LEN;

impl Judging {
    pub(super) fn new(judge: &Arc<Judge>, limits: &Limits) -> Self {
        let (judge, caches) = (Arc::clone(judge), judge.caches());
        Self { judge, caches, limits: limits.clone(), judged: 0, stopped: false }
    }

    /// Takes those of the wanted files away that do not match. Once the search has to stop, all of
    /// them: its limits tell the caller.
    pub(super) fn retain(&mut self, ids: &[u64], wanted: &mut [bool]) {
        if self.stopped {
            wanted.fill(false);
            return;
        }
        let column = &self.judge.column;
        // Names lie far apart. What comes next reads them all without waiting for one, so that
        // their memory is on its way together.
        let mut paths: [&[u8]; BLOCK] = [&[]; BLOCK];
        for ((path, &id), _) in
            paths.iter_mut().zip(ids).zip(&*wanted).filter(|(_, wanted)| **wanted)
        {
            *path = column.path_with_end(id - 1);
        }
        let last = paths.iter().map(|path| path.iter().rev().nth(1).copied().unwrap_or_default());
        std::hint::black_box(last.fold(0, |sum: u8, byte| sum ^ byte));
        for (wanted, path) in wanted.iter_mut().zip(paths).filter(|(wanted, _)| **wanted) {
            *wanted = self.judge.matches(unpurged(path), &mut self.caches);
        }
        self.judged += ids.len();
        if self.judged >= CHECK_EVERY {
            self.judged = 0;
            self.stopped = self.limits.check().is_err();
        }
    }
}
