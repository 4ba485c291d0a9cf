//! Matches new files against alerts.
//!
//! Each alert has lookup keys: a word, trigrams, buckets or extensions. A matching file has at
//! least one of these keys, so only alerts that share a key with the file have to be checked. The
//! cost per file therefore depends on the number of near matches instead of the total number of
//! alerts.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::{EngineError, Gram, GramCondition, Limits, grams_of};
use crate::model::file_query::{FileQuery, FileRow, Matching};
use crate::model::{Expression, Keywords, extension, path, words};

/// Memory limit for compiled expressions, in bytes.
const MOST_COMPILED: usize = 64 << 20;
/// Number of comparisons with expressions to collect before they are made.
const MOST_WAITING: usize = 1 << 20;

/// An alert's saved search.
pub(super) struct Watched {
    /// The query. Buckets are already resolved to ids.
    pub(super) query: FileQuery,
    /// Only compare files with a higher id.
    pub(super) after: u64,
}

/// A word's number. 0 is for words that don't occur in any alert.
type WordNumber = u32;
/// Numbers of consecutive words.
type Numbers = Vec<WordNumber>;

/// An alert's condition on the file's name or path.
enum Text {
    Any,
    Words { include: Vec<Numbers>, exclude: Vec<Numbers> },
    Expression { condition: Option<GramCondition>, source: String },
}

struct Entry {
    watched: Watched,
    text: Text,
}

/// Lookup keys, either of the alerts on names or of the alerts on whole paths.
#[derive(Default)]
struct Keys {
    words: HashMap<WordNumber, Vec<usize>>,
    grams: HashMap<Gram, Vec<usize>>,
}

/// Matches files against alerts.
#[derive(Default)]
pub(super) struct Matcher {
    entries: Vec<Entry>,
    numbers: HashMap<String, WordNumber>,
    names: Keys,
    paths: Keys,
    buckets: HashMap<u64, Vec<usize>>,
    extensions: HashMap<String, Vec<usize>>,
    compiled: Compiled,
    /// For each alert, the last file it was compared with.
    compared: Vec<u64>,
    candidates: Vec<usize>,
    /// Alerts and places of files that still have to be compared with the alert's expression.
    waiting: Vec<(usize, usize)>,
}

/// Compiled expressions, by alert.
struct Compiled {
    expressions: HashMap<usize, Expression>,
    bytes: usize,
    /// Maximum value of `bytes`.
    most: usize,
    /// Number of expressions that were compiled.
    #[cfg(test)]
    made: usize,
}

impl Default for Compiled {
    fn default() -> Self {
        Self {
            expressions: HashMap::new(),
            bytes: 0,
            most: MOST_COMPILED,
            #[cfg(test)]
            made: 0,
        }
    }
}

impl Compiled {
    /// Returns an alert's expression, compiling it if necessary.
    fn get(&mut self, at: usize, source: &str) -> Option<&Expression> {
        if !self.expressions.contains_key(&at) {
            let expression = Expression::parse(source, false).ok()?;
            let bytes = expression.whole().memory_usage();
            while self.bytes + bytes > self.most {
                // Evict an arbitrary expression. Clearing the whole cache would mean recompiling
                // all of them.
                let Some(other) = self.expressions.keys().next().copied() else { break };
                let dropped = self.expressions.remove(&other);
                let freed = dropped.map_or(0, |one| one.whole().memory_usage());
                self.bytes = self.bytes.saturating_sub(freed);
            }
            #[cfg(test)]
            {
                self.made += 1;
            }
            self.bytes += bytes;
            self.expressions.insert(at, expression);
        }
        self.expressions.get(&at)
    }
}

impl Matcher {
    /// Adds an alert. Without a lookup key, it never matches, because it would have to be compared
    /// with every file.
    pub(super) fn add(&mut self, mut watched: Watched) {
        let at = self.entries.len();
        // Don't keep the parsed expressions. There can be thousands of them.
        let matching = std::mem::take(&mut watched.query.matching);
        let (text, has_key) = match matching {
            Matching::All => (Text::Any, false),
            Matching::Words(keywords) => self.add_words(at, &keywords, watched.query.full_path),
            Matching::Expression(expression) => {
                self.add_expression(at, &expression, watched.query.full_path)
            }
        };
        if !has_key {
            self.add_filters(at, &watched.query);
        }
        self.entries.push(Entry { watched, text });
        self.compared.push(0);
    }

    fn keys(&mut self, full_path: bool) -> &mut Keys {
        if full_path { &mut self.paths } else { &mut self.names }
    }

    fn add_words(&mut self, at: usize, keywords: &Keywords, full_path: bool) -> (Text, bool) {
        let mut numbered = |phrases: &[Vec<String>]| -> Vec<Numbers> {
            let mut number = |word: &String| {
                let next = self.numbers.len() as WordNumber + 1;
                *self.numbers.entry(word.clone()).or_insert(next)
            };
            phrases.iter().map(|phrase| phrase.iter().map(&mut number).collect()).collect()
        };
        let (include, exclude) = (numbered(&keywords.include), numbered(&keywords.exclude));
        // Long words tend to be rare.
        let longest = keywords.include.iter().flatten().max_by_key(|word| word.len());
        let key = longest.and_then(|word| self.numbers.get(word).copied());
        if let Some(key) = key {
            self.keys(full_path).words.entry(key).or_default().push(at);
        }
        (Text::Words { include, exclude }, key.is_some())
    }

    fn add_expression(&mut self, at: usize, parsed: &Arc<Expression>, full: bool) -> (Text, bool) {
        let condition = GramCondition::of(parsed.hir());
        for &gram in condition.iter().flat_map(GramCondition::keys) {
            self.keys(full).grams.entry(gram).or_default().push(at);
        }
        let has_key = condition.is_some();
        (Text::Expression { condition, source: parsed.source().to_owned() }, has_key)
    }

    fn add_filters(&mut self, at: usize, query: &FileQuery) {
        if let Some(buckets) = &query.buckets {
            buckets.iter().for_each(|id| self.buckets.entry(*id).or_default().push(at));
            return;
        }
        for extension in &query.extensions {
            self.extensions.entry(extension.clone()).or_default().push(at);
        }
    }

    /// Calls `each` with an alert and the place of a file for every match. `rows` are files with the
    /// codes of their buckets' types. The matches of an alert are in the order of the files.
    ///
    /// Expressions are compared alert by alert, because they might not all fit in memory. Compiling
    /// them for each file would take hours.
    pub(super) fn matching(
        &mut self,
        rows: &[(&FileRow, u64)],
        limits: &Limits,
        mut each: impl FnMut(usize, usize),
    ) -> Result<(), EngineError> {
        for (place, &(row, kind)) in rows.iter().enumerate() {
            limits.check()?;
            self.match_row(place, row, kind, &mut each);
            if self.waiting.len() >= MOST_WAITING {
                self.match_expressions(rows, limits, &mut each)?;
            }
        }
        self.match_expressions(rows, limits, &mut each)
    }

    /// Compares a file with all alerts, except for their expressions.
    fn match_row(
        &mut self,
        place: usize,
        row: &FileRow,
        kind: u64,
        each: &mut impl FnMut(usize, usize),
    ) {
        let name = path::file_name(&row.path);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let named = self.look(&self.names, name, &mut candidates);
        let pathed = self.look(&self.paths, &row.path, &mut candidates);
        candidates.extend(self.buckets.get(&row.bucket).into_iter().flatten());
        let mut extensions: Vec<String> = Vec::new();
        extension::for_each(name, |extension| extensions.push(extension.to_owned()));
        for extension in &extensions {
            candidates.extend(self.extensions.get(extension).into_iter().flatten());
        }
        for &at in &candidates {
            if std::mem::replace(&mut self.compared[at], row.id) == row.id {
                continue;
            }
            let full = self.entries[at].watched.query.full_path;
            let looked = if full { &pathed } else { &named };
            if !self.passes_filters(at, row, kind, &extensions) {
                continue;
            }
            match self.has_text(at, looked) {
                Some(true) => each(at, place),
                Some(false) => {}
                None => self.waiting.push((at, place)),
            }
        }
        self.candidates = candidates;
    }

    /// Compares the waiting files with the expressions of their alerts.
    fn match_expressions(
        &mut self,
        rows: &[(&FileRow, u64)],
        limits: &Limits,
        each: &mut impl FnMut(usize, usize),
    ) -> Result<(), EngineError> {
        self.waiting.sort_unstable();
        for (at, place) in self.waiting.drain(..) {
            limits.check()?;
            let Entry { watched, text } = &self.entries[at];
            let Text::Expression { source, .. } = text else { continue };
            let path = rows[place].0.path.as_str();
            let text = if watched.query.full_path { path } else { path::file_name(path) };
            if self.compiled.get(at, source).is_some_and(|one| one.matches(text)) {
                each(at, place);
            }
        }
        Ok(())
    }

    /// Collects the alerts with a lookup key in `text`.
    fn look(&self, keys: &Keys, text: &str, candidates: &mut Vec<usize>) -> Looked {
        let mut looked = Looked::default();
        // Look up all words, since alerts with other kinds of keys need them to check for excluded
        // phrases.
        words::for_each(text, |word| {
            looked.words.push(self.numbers.get(word).copied().unwrap_or(0));
        });
        for word in looked.words.iter().filter(|word| **word > 0) {
            candidates.extend(keys.words.get(word).into_iter().flatten());
        }
        if !keys.grams.is_empty() {
            let mut symbols = Vec::with_capacity(text.len() + 2);
            grams_of(text, &mut symbols, &mut looked.grams);
            for gram in &looked.grams {
                candidates.extend(keys.grams.get(gram).into_iter().flatten());
            }
        }
        looked
    }

    fn passes_filters(&self, at: usize, row: &FileRow, kind: u64, extensions: &[String]) -> bool {
        let Watched { query, after, .. } = &self.entries[at].watched;
        let has = |wanted: &String| extensions.contains(wanted);
        row.id > *after
            && query.buckets.as_ref().is_none_or(|ids| ids.binary_search(&row.bucket).is_ok())
            && query.excluded_buckets.binary_search(&row.bucket).is_err()
            && (query.types.is_empty() || query.types.contains(&kind))
            && (query.extensions.is_empty() || query.extensions.iter().any(has))
            && !query.stop_extensions.iter().any(has)
            && query.passes_intervals(&row.attributes)
    }

    /// Returns `true` if the name or path matches, or `None` if that depends on an expression.
    fn has_text(&self, at: usize, looked: &Looked) -> Option<bool> {
        match &self.entries[at].text {
            Text::Any => Some(true),
            Text::Words { include, exclude } => {
                let has = |phrase: &Numbers| {
                    looked.words.windows(phrase.len()).any(|window| window == phrase)
                };
                Some(include.iter().all(has) && !exclude.iter().any(has))
            }
            Text::Expression { condition, .. } => {
                let may = condition.as_ref().is_none_or(|one| one.holds(&looked.grams));
                if may { None } else { Some(false) }
            }
        }
    }
}

/// Words and trigrams of a string.
#[derive(Default)]
struct Looked {
    words: Numbers,
    grams: Vec<Gram>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Attributes;

    #[test]
    fn expressions_that_do_not_fit_in_memory_are_compiled_once_for_all_files() {
        let compiled = Compiled { most: 0, ..Compiled::default() };
        let mut matcher = Matcher { compiled, ..Matcher::default() };
        for text in [r".*\.jpg", r"x.*\.jpg", "dir/.*jpg"] {
            let matching = Matching::Expression(Arc::new(Expression::parse(text, false).unwrap()));
            let full_path = text.starts_with("dir");
            let query = FileQuery { matching, full_path, ..FileQuery::default() };
            matcher.add(Watched { query, after: 0 });
        }
        let row = |(id, path): (u64, &str)| FileRow {
            id,
            bucket: 1,
            path: path.to_owned(),
            attributes: Attributes::default(),
        };
        let rows = [(1, "dir/x1.jpg"), (2, "y.jpg"), (3, "y.png"), (4, "x2.jpg")].map(row);
        let rows: Vec<(&FileRow, u64)> = rows.iter().map(|row| (row, 0)).collect();
        let mut found = Vec::new();
        let each = |at, place| found.push((at, place));
        matcher.matching(&rows, &Limits::none(), each).unwrap();
        assert_eq!(found, [(0, 0), (0, 1), (0, 3), (1, 0), (1, 3), (2, 0)]);
        assert_eq!(matcher.compiled.made, 3);
        assert!(matcher.matching(&[], &Limits::none(), |_, _| {}).is_ok());
    }
}
