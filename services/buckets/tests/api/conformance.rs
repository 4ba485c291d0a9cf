//! Compares every engine with the naive model: random files, runs and queries.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use buckets::engine::{
    EmbeddedIndex, EngineError, FileIndex, FileWriter, Limits, Mode, NamedBucket, NewFile,
    NewerFiles, RemovalLimit,
};
use buckets::model::{
    Attribute, Attributes, Between, Expression, FileQuery, Found, HiddenPaths, IdRanges, Keywords,
    Matching, Order, Position, SortKey,
};
use proptest::prelude::*;

use crate::made_expressions::made_expression;
use crate::naive_model::Naive;

fn limits() -> Limits {
    Limits::until(Instant::now() + Duration::from_secs(60), 2)
}

/// Returns the buckets that a writer's last publish changed.
fn changed(writer: &dyn FileWriter) -> BTreeSet<u64> {
    (0..100).filter(|&bucket| writer.changed_buckets().contains(bucket)).collect()
}

fn file() -> impl Strategy<Value = NewFile> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "Report",
        "report",
        "2021-03-14",
        "dump",
        "é",
        "E\u{301}",
        "x y",
        "a_b",
        "19",
        "1984",
        "IMG",
        "%",
        "ſ",
        "\n",
        "BACKUP",
        "backups3",
        "pa\u{17f}\u{17f}word",
        "to\u{212a}en",
        "Straße",
        "ΣΊΣΥΦΟς",
    ]);
    let ending = prop::sample::select(vec![
        "",
        ".txt",
        ".TXT",
        ".tar.gz",
        ".sql",
        ".\u{17f}ql",
        ".ks",
        ".",
        ".min.js",
        "/",
    ]);
    let path = (prop::collection::vec(part, 1..5), ending, any::<u8>()).prop_map(
        |(parts, ending, cut)| {
            let separator = ["/", "-", " ", "/", "."][usize::from(cut) % 5];
            format!("{}{ending}", parts.join(separator))
        },
    );
    (1u64..6, path, 0i64..6, 0i64..5).prop_map(|(bucket, path, size, modified)| NewFile {
        bucket,
        kind: bucket % 5,
        path,
        attributes: Attributes::from_fn(|attribute| match attribute {
            Attribute::Size => size * 100,
            Attribute::LastModified => modified * 1_000,
        }),
        is_changed: false,
    })
}

/// Returns files of which some replace equal ones.
fn marked_files() -> impl Strategy<Value = Vec<NewFile>> {
    let marked = (file(), prop::bool::weighted(0.3))
        .prop_map(|(file, is_changed)| NewFile { is_changed, ..file });
    prop::collection::vec(marked, 0..40)
}

fn matching() -> impl Strategy<Value = Matching> {
    let word = prop::sample::select(vec![
        "a", "-a", "report", "a-b", "\"a b\"", "-\"x y\"", "2021", "14", "dump", "txt", "é", "-gz",
        "***", "nothing", "-img", "s",
    ]);
    let words = prop::collection::vec(word, 0..4).prop_map(|words| {
        let parsed = Keywords::parse(&words.join(" ")).unwrap();
        if parsed.is_empty() { Matching::All } else { Matching::Words(parsed) }
    });
    let expression = prop::sample::select(vec![
        "a",
        "a.*",
        ".*a",
        ".*a.*",
        "19[0-9]{2}",
        ".*[^a].*",
        "[^/]*",
        ".*a|b.*",
        "^a|t$",
        ".*",
        "a?b?",
        r".*\.(txt|sql)",
        r"\w+",
        r".*\bb\b.*",
        "é|e",
        ".*\\n.*",
        "(?-s:a.b)",
        r"[^\x00]+x",
        "(a|b)-.*",
        "s",
        r".*\Bt",
        "dump.*gz",
        r"a\x00b",
        "$",
        r"(?m)^a.*",
    ]);
    let expression = prop_oneof![expression.prop_map(str::to_owned), made_expression()];
    let expression = (expression, any::<bool>()).prop_map(|(text, correct)| {
        Matching::Expression(Arc::new(Expression::parse(&text, correct).unwrap()))
    });
    prop_oneof![3 => words, 2 => expression]
}

fn between(step: i64) -> impl Strategy<Value = Between> {
    let end = move || prop::option::weighted(0.3, (0i64..6).prop_map(move |n| n * step));
    (end(), end()).prop_map(|(from, to)| Between { from, to })
}

fn extensions() -> impl Strategy<Value = Vec<String>> {
    let extension =
        prop::sample::select(vec!["txt", "gz", "tar.gz", "js", "min.js", "sql", "none"]);
    prop::collection::vec(extension.prop_map(str::to_owned), 0..3)
}

fn orders() -> Vec<Order> {
    [Order::Index].into_iter().chain(Attribute::ALL.map(Order::By)).collect()
}

prop_compose! {
    pub fn query()(
        matching in matching(),
        full_path in any::<bool>(),
        buckets in prop::option::weighted(0.3, prop::collection::btree_set(1u64..8, 0..3)),
        excluded in prop::collection::btree_set(1u64..8, 0..2),
        hidden in prop::collection::vec((1u64..8, prop::sample::select(vec!["a", "Report"])), 0..3),
        types in prop::collection::btree_set(0u64..5, 0..2),
        (extensions, stop_extensions) in (extensions(), extensions()),
        (modified, size) in (between(1_000), between(100)),
        order in prop::sample::select(orders()),
        descending in any::<bool>(),
        (start, ids) in (0u64..30, prop::option::weighted(0.2, (0u64..60, 0u64..60))),
        limit in 0usize..12,
        narrow in 0u8..4,
    ) -> FileQuery {
        let plain = FileQuery {
            matching,
            full_path,
            order,
            descending: descending && order != Order::Index,
            position: Position::Offset(start),
            limit,
            ..FileQuery::default()
        };
        if narrow > 1 {
            return plain;
        }
        FileQuery {
            buckets: buckets.map(|set| set.into_iter().collect()),
            excluded_buckets: excluded.into_iter().collect(),
            hidden: hidden
                .into_iter()
                .map(|(bucket, prefix)| HiddenPaths { bucket, prefix: prefix.to_owned() })
                .collect(),
            types: types.into_iter().collect(),
            extensions,
            stop_extensions: if narrow == 0 { stop_extensions } else { Vec::new() },
            intervals: Attributes::from_fn(|attribute| match attribute {
                Attribute::Size => size,
                Attribute::LastModified => modified,
            }),
            ids: ids.map(|(first, more)| first..=first + more),
            ..plain
        }
    }
}

#[derive(Clone, Debug)]
pub enum Step {
    Publish(Mode, Vec<Vec<NewFile>>),
    /// A publish with a limit on removed files. If the limit is exceeded, it is lifted.
    Limited(Mode, RemovalLimit, Vec<NewFile>),
    /// A publish of a run that some files are newer than.
    Outdated(Mode, NewerFiles, Vec<NewFile>),
    Abort(Vec<NewFile>),
    Remove(u64, &'static str),
    /// A removal between two batches of a run.
    RemoveWithin(u64, Vec<NewFile>, Vec<NewFile>),
    Reopen,
}

pub fn step() -> impl Strategy<Value = Step> {
    let files = || prop::collection::vec(file(), 0..40);
    let modes = || prop::sample::select(vec![Mode::Replace, Mode::Append]);
    let (mode, limited, outdated) = (modes(), modes(), modes());
    prop_oneof![
        6 => (mode, prop::collection::vec(marked_files(), 1..4)).prop_map(|(mode, runs)| Step::Publish(mode, runs)),
        3 => (outdated, newer_files(), marked_files()).prop_map(|(mode, newer, files)| {
            Step::Outdated(mode, newer, files)
        }),
        2 => (limited, 0u64..6, 0u64..100, files()).prop_map(|(mode, least, percent, files)| {
            Step::Limited(mode, RemovalLimit { files: least, percent }, files)
        }),
        1 => files().prop_map(Step::Abort),
        1 => (1u64..6, prop::sample::select(vec!["", "a", "Report"]))
            .prop_map(|(bucket, prefix)| Step::Remove(bucket, prefix)),
        1 => (1u64..6, files(), files()).prop_map(|(bucket, a, b)| Step::RemoveWithin(bucket, a, b)),
        1 => Just(Step::Reopen),
    ]
}

fn newer_files() -> impl Strategy<Value = NewerFiles> {
    let ids = || prop::collection::vec(0u64..120, 0..40);
    (0u64..120, ids(), ids()).prop_map(|(after, confirmed, kept)| NewerFiles {
        after,
        confirmed: confirmed.into_iter().collect(),
        kept: kept.into_iter().collect(),
    })
}

fn named(files: &[NewFile]) -> Vec<NamedBucket> {
    let ids: BTreeSet<u64> = files.iter().map(|file| file.bucket).collect();
    ids.into_iter().map(|id| NamedBucket { id, truncated: false, partial: false }).collect()
}

/// An engine, and the model that it is compared with.
pub struct Pair {
    open: Box<dyn Fn() -> Box<dyn FileIndex>>,
    index: Box<dyn FileIndex>,
    model: Naive,
    runs: u64,
    removals: i64,
}

impl Pair {
    /// `rewrites` is true if the engine moves the files of a run that mostly repeats existing
    /// files.
    pub fn new(rewrites: bool, open: impl Fn() -> Box<dyn FileIndex> + 'static) -> Self {
        let index = open();
        let model = Naive::new(rewrites);
        Self { open: Box::new(open), index, model, runs: 0, removals: 0 }
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Reopen => self.index = (self.open)(),
            Step::Remove(bucket, prefix) => self.remove(*bucket, prefix),
            Step::Publish(mode, runs) => {
                let all: Vec<NewFile> = runs.concat();
                let mut writer = self.index.writer(64).unwrap();
                self.runs += 1;
                writer.begin(self.runs).unwrap();
                for files in runs {
                    writer.add(files).unwrap();
                    writer.checkpoint("{}".to_owned()).unwrap();
                    self.index.refresh().unwrap();
                    assert_eq!(self.index.summary().counts.as_ref(), &self.model.counts());
                }
                let buckets = named(&all);
                let ids: Vec<u64> = buckets.iter().map(|bucket| bucket.id).collect();
                let counts = writer.publish(*mode, buckets, 5).unwrap();
                self.model.add(&all);
                assert_eq!(counts, self.model.publish(*mode, &ids));
                assert_eq!(changed(&*writer), self.model.changed);
            }
            Step::Limited(mode, limit, files) => self.publish_limited(*mode, *limit, files),
            Step::Outdated(mode, newer, files) => self.publish_outdated(*mode, newer, files),
            Step::Abort(files) => {
                let mut writer = self.index.writer(64).unwrap();
                self.runs += 1;
                writer.begin(self.runs).unwrap();
                writer.add(files).unwrap();
                writer.abort().unwrap();
                self.model.add(files);
                self.model.abort();
            }
            Step::RemoveWithin(bucket, before, after) => self.remove_within(*bucket, before, after),
        }
        self.index.refresh().unwrap();
    }

    /// Checks that a publish beyond the limit changes nothing and keeps the run, even for another
    /// process.
    fn publish_limited(&mut self, mode: Mode, limit: RemovalLimit, files: &[NewFile]) {
        let mut writer = self.index.writer(64).unwrap();
        self.runs += 1;
        writer.begin(self.runs).unwrap();
        writer.add(files).unwrap();
        writer.checkpoint("noted".to_owned()).unwrap();
        writer.rules().removal_limit = Some(limit);
        self.model.add(files);
        let buckets = named(files);
        let ids: Vec<u64> = buckets.iter().map(|bucket| bucket.id).collect();
        let exceeded = self.model.exceeded(mode, &ids, limit);
        let counts = match writer.publish(mode, buckets.clone(), 5) {
            Err(EngineError::TooManyRemoved(losses)) => {
                assert_eq!(losses, exceeded);
                drop(writer);
                self.index = (self.open)();
                assert_eq!(self.index.summary().counts.as_ref(), &self.model.counts());
                writer = self.index.writer(64).unwrap();
                let open = writer.journal().open.clone().unwrap();
                assert_eq!((open.run, open.progress.as_str()), (self.runs, "noted"));
                writer.rules().removal_limit = None;
                writer.publish(mode, buckets, 5).unwrap()
            }
            published => {
                assert_eq!(exceeded, []);
                published.unwrap()
            }
        };
        assert_eq!(counts, self.model.publish(mode, &ids));
        assert_eq!(changed(&*writer), self.model.changed);
    }

    /// Checks that a publish changes no newer file, and that it records unchanged files of some buckets.
    fn publish_outdated(&mut self, mode: Mode, newer: &NewerFiles, files: &[NewFile]) {
        let mut writer = self.index.writer(64).unwrap();
        self.runs += 1;
        writer.rules().newer = Some(newer.clone());
        writer.rules().noted = HashSet::from([1, 3]);
        writer.begin(self.runs).unwrap();
        let last = writer.journal().published.as_ref();
        assert!(last.is_none_or(|last| last.confirmed.is_empty()));
        writer.add(files).unwrap();
        self.model.add(files);
        let buckets = named(files);
        let ids: Vec<u64> = buckets.iter().map(|bucket| bucket.id).collect();
        let counts = writer.publish(mode, buckets, 5).unwrap();
        assert_eq!(counts, self.model.publish_outdated(mode, &ids, newer));
        assert_eq!(changed(&*writer), self.model.changed);
        let noted: Vec<u64> = ids.into_iter().filter(|id| [1, 3].contains(id)).collect();
        let stayed = self.model.stayed.iter().filter(|(bucket, ..)| noted.contains(bucket));
        let confirmed = IdRanges::of_flagged(stayed.map(|&(_, id, is_equal)| (id, is_equal)));
        assert_eq!(writer.journal().published.as_ref().unwrap().confirmed, confirmed);
    }

    fn remove(&mut self, bucket: u64, prefix: &str) {
        let mut writer = self.index.writer(64).unwrap();
        self.removals += 1;
        let prefix_given = Some(prefix).filter(|prefix| !prefix.is_empty());
        let hidden = writer.remove(self.removals, bucket, prefix_given, None).unwrap();
        assert_eq!(hidden, self.model.remove(bucket, prefix));
    }

    fn remove_within(&mut self, bucket: u64, before: &[NewFile], after: &[NewFile]) {
        let mut writer = self.index.writer(64).unwrap();
        self.runs += 1;
        self.removals += 1;
        writer.begin(self.runs).unwrap();
        writer.add(before).unwrap();
        self.model.add(before);
        let hidden = writer.remove(self.removals, bucket, None, Some("{}".to_owned())).unwrap();
        assert_eq!(hidden, self.model.remove(bucket, ""));
        self.index.refresh().unwrap();
        assert_eq!(self.index.summary().counts.as_ref(), &self.model.counts());
        let after: Vec<NewFile> =
            after.iter().filter(|file| file.bucket != bucket).cloned().collect();
        writer.add(&after).unwrap();
        self.model.add(&after);
        let all: Vec<NewFile> =
            before.iter().filter(|f| f.bucket != bucket).chain(&after).cloned().collect();
        let buckets = named(&all);
        let ids: Vec<u64> = buckets.iter().map(|bucket| bucket.id).collect();
        let counts = writer.publish(Mode::Replace, buckets, 6).unwrap();
        assert_eq!(counts, self.model.publish(Mode::Replace, &ids));
        assert_eq!(changed(&*writer), self.model.changed);
    }

    fn compare(&self, query: &FileQuery) {
        let found = self.index.search(query, &limits()).unwrap();
        assert_eq!(found, self.model.search(query), "{query:?}");
        self.compare_list(query, &found);
        self.compare_facets(query);
    }

    /// Checks that facets count the files of all pages, in agreement with searches that filter by
    /// extension.
    fn compare_facets(&self, query: &FileQuery) {
        let facets = self.index.facets(query, &limits()).unwrap();
        assert_eq!(facets, self.model.facets(query), "{query:?}");
        if query.extensions.is_empty() {
            for (extension, files) in facets.extensions {
                let extensions = vec![extension];
                let narrowed = FileQuery { extensions, limit: 0, ..query.clone() };
                assert_eq!(self.model.search(&narrowed).total, files, "{narrowed:?}");
            }
        }
    }

    /// Checks that a list read in parts contains the same files as the page.
    fn compare_list(&self, query: &FileQuery, page: &Found) {
        let mut list = self.index.list(query, &limits()).unwrap();
        assert_eq!((list.total(), list.files()), (page.total, page.rows.len() as u64), "{query:?}");
        let mut rows = Vec::new();
        while let Some(part) = list.next(3, &limits()).unwrap() {
            rows.extend(part);
        }
        assert_eq!(rows, page.rows, "{query:?}");
    }

    /// Checks that paging by offset and paging by key give the same pages.
    fn walk(&self, query: &FileQuery) {
        let all = FileQuery { position: Position::Offset(0), limit: 10_000, ..query.clone() };
        let expected = self.model.search(&all);
        let (mut by_offset, mut by_place) = (Vec::new(), Vec::new());
        let size = query.limit.max(1);
        let start = if query.descending { i64::MAX } else { i64::MIN };
        let mut last = SortKey { value: start, id: 0 };
        for page in 0.. {
            let position = Position::Offset((page * size) as u64);
            let offset = FileQuery { position, limit: size, ..query.clone() };
            let place = FileQuery { position: Position::After(last), limit: size, ..query.clone() };
            let offset = self.index.search(&offset, &limits()).unwrap();
            let place = self.index.search(&place, &limits()).unwrap();
            assert_eq!((offset.total, offset.next), (expected.total, place.next), "{query:?}");
            by_offset.extend(offset.rows);
            by_place.extend(place.rows);
            let Some(next) = place.next else { break };
            last = next;
        }
        assert_eq!(by_offset, expected.rows, "{query:?}");
        assert_eq!(by_place, expected.rows, "{query:?}");
    }

    pub fn check(&mut self, steps: &[Step], queries: &[FileQuery]) {
        for step in steps {
            self.apply(step);
            assert_eq!(self.index.summary().counts.as_ref(), &self.model.counts(), "{step:?}");
        }
        assert_eq!(self.index.verify().unwrap(), Vec::<String>::new());
        for query in queries {
            self.compare(query);
        }
        if let Some(query) = queries.first() {
            self.walk(query);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn embedded_engine_answers_like_the_model(
        steps in prop::collection::vec(step(), 1..6),
        queries in prop::collection::vec(query(), 40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let mut pair =
            Pair::new(true, move || Box::new(EmbeddedIndex::open_or_create(&path).unwrap()));
        pair.check(&steps, &queries);
    }
}
