//! Searches for files.

use std::sync::Arc;

use batch::PagePermit;

use super::search::search;
use super::snapshot::newest;
use crate::error::Error;
use crate::metrics;
use crate::model::file_query::{FileQuery, FileRow, Found, Order, Position, SortKey};
use crate::model::package::{Capability, Package};
use crate::model::scroll::Scroll;
use crate::state::{Snapshot, State};
use crate::wire::files::{FileMeta, FileRecord, FileSearch, FilesAnswer};

/// Runs a file search within the limits of the caller's package. Keep the permit, which accounts
/// for the page's memory, until the response has been written.
pub async fn search_files(
    state: &State,
    (owner, plan): (&str, Option<&str>),
    request: FileSearch,
) -> Result<(FilesAnswer, Option<PagePermit>), Error> {
    let page = Extent::Page;
    let run = async |snapshot: &Snapshot, query| search(state, snapshot, owner, query).await;
    let (prepared, (found, permit)) =
        run_prepared(state, (owner, plan), &request, page, run).await?;
    metrics::searched("searchFiles", found.total);
    Ok((answer(request, &prepared, found), permit))
}

/// The part of the result to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// One page.
    Page,
    /// As much as the package allows in one download.
    Download,
}

/// Everything that a search needs apart from the request itself.
pub(super) struct Prepared {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) package: Package,
    binding: ScrollBinding,
    pub(super) now: i64,
}

/// Runs a search on the newest snapshot, within the limits of the caller's package.
pub(super) async fn run_prepared<T>(
    state: &State,
    (owner, plan): (&str, Option<&str>),
    request: &FileSearch,
    extent: Extent,
    run: impl AsyncFn(&Snapshot, FileQuery) -> Result<T, Error>,
) -> Result<(Prepared, T), Error> {
    let mut snapshot = state.snapshot();
    if request.scroll.is_some_and(|scroll| scroll.generation > snapshot.generation) {
        // Another server might have noticed a rebuild before this server.
        snapshot = newest(state).await?;
    }
    let mut again = true;
    loop {
        let package = snapshot.package(plan);
        permit(request, &package, &snapshot, extent)?;
        let fingerprint = request.fingerprint(owner);
        let binding = ScrollBinding { generation: snapshot.generation, fingerprint };
        let now = state.clock().unix();
        let query = query(request, &package, &snapshot, &binding, now, extent)?;
        match run(&snapshot, query).await {
            // A rebuild dropped this generation before this server noticed the new one.
            Err(Error::NotReady) if std::mem::take(&mut again) => {
                snapshot = newest(state).await?;
            }
            // The index is newer than the snapshot, so the snapshot doesn't know about new buckets
            // and finished removals yet.
            Ok(_) if again && is_behind(&snapshot) => {
                again = false;
                let newer = newest(state).await;
                snapshot = newer.unwrap_or(snapshot);
            }
            done => return Ok((Prepared { snapshot, package, binding, now }, done?)),
        }
    }
}

/// Returns `true` if the index is newer than the rest of the snapshot.
fn is_behind(snapshot: &Snapshot) -> bool {
    snapshot.index.summary().journal.sequence != snapshot.summary.journal.sequence
}

/// The values that must match for a scroll id to be valid.
struct ScrollBinding {
    generation: u32,
    fingerprint: u64,
}

/// Returns an error if the request uses a parameter that the package doesn't include.
fn permit(
    search: &FileSearch,
    package: &Package,
    snapshot: &Snapshot,
    extent: Extent,
) -> Result<(), Error> {
    let download = (extent == Extent::Download).then_some(&("Accept", Capability::Downloads));
    let mut needs = download.into_iter().chain(&search.needs);
    let lacking = needs.find(|(_, need)| !package.allows(*need));
    let Some((name, need)) = lacking else { return Ok(()) };
    let cheapest = snapshot.cheapest_with(*need).map_or("enterprise", |found| found.code.as_str());
    Err(Error::Package { name, package: cheapest.to_owned() })
}

/// Builds the query for the index from the request, the caller's package and the current takedowns.
fn query(
    search: &FileSearch,
    package: &Package,
    snapshot: &Snapshot,
    binding: &ScrollBinding,
    now: i64,
    extent: Extent,
) -> Result<FileQuery, Error> {
    let since = package.hidden_since(now);
    let delayed = since.map_or(Vec::new(), |since| snapshot.indexed_after(since));
    let mut query = conditions(search, snapshot, delayed);
    if search.scrolling {
        query.position = Position::After(first_key(search.query.descending));
        if let Some(scroll) = &search.scroll {
            query.position = Position::After(scroll_key(scroll, binding)?);
        }
        return Ok(query);
    }
    let (start, limit) = (search.echo.start, search.echo.limit);
    let limit = match extent {
        Extent::Page => limit.min(package.reach().saturating_sub(start)),
        Extent::Download => {
            package.download_reach(start).min(search.given_limit.unwrap_or(u64::MAX))
        }
    };
    query.limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if query.limit == 0 {
        query.position = Position::Offset(0);
    }
    Ok(query)
}

/// Builds the query for a search, without paging. Also excludes the `excluded` buckets.
fn conditions(search: &FileSearch, snapshot: &Snapshot, excluded: Vec<u64>) -> FileQuery {
    let mut query = search.query.clone();
    if !search.echo.buckets.is_empty() {
        query.buckets = Some(snapshot.bucket_ids(&search.echo.buckets));
    }
    query.excluded_buckets = excluded;
    query.excluded_buckets.extend(snapshot.bucket_ids(&search.echo.excluded_buckets));
    query.excluded_buckets.extend(&snapshot.takedowns.buckets);
    query.excluded_buckets.sort_unstable();
    query.excluded_buckets.dedup();
    query.hidden = snapshot.takedowns.paths.clone();
    query
}

/// Builds a query for a search's first files, by id, in visible buckets. With `until`, only
/// searches buckets that were first indexed by that time.
pub(super) fn shown_by(
    search: &FileSearch,
    snapshot: &Snapshot,
    until: Option<i64>,
    after: u64,
) -> FileQuery {
    let excluded = until.map_or(Vec::new(), |until| snapshot.indexed_after(until));
    by_id(conditions(search, snapshot, excluded), after)
}

/// Builds a query for a search's first files, by id, in buckets that were first indexed after
/// `since` and by `until`. Returns `None` if there are no such buckets.
pub(super) fn shown_between(
    search: &FileSearch,
    snapshot: &Snapshot,
    (since, until): (i64, i64),
    after: u64,
) -> Option<FileQuery> {
    let mut buckets = snapshot.indexed_between(since, until);
    let query = conditions(search, snapshot, Vec::new());
    if let Some(wanted) = &query.buckets {
        buckets.retain(|id| wanted.binary_search(id).is_ok());
    }
    let query = by_id(query, after);
    (!buckets.is_empty()).then(|| FileQuery { buckets: Some(buckets), ..query })
}

/// Makes a query return files in id order, starting after id `after`.
fn by_id(query: FileQuery, after: u64) -> FileQuery {
    let position = Position::After(SortKey { value: 0, id: after });
    FileQuery { order: Order::Index, descending: false, position, ..query }
}

/// Returns a sort key that comes before any file.
fn first_key(descending: bool) -> SortKey {
    SortKey { value: if descending { i64::MAX } else { i64::MIN }, id: 0 }
}

fn scroll_key(scroll: &Scroll, binding: &ScrollBinding) -> Result<SortKey, Error> {
    if scroll.generation != binding.generation {
        return Err(Error::ScrollExpired);
    }
    if scroll.fingerprint != binding.fingerprint {
        return Err(Error::parameter("scroll-id", "scroll-id belongs to another search"));
    }
    Ok(scroll.last)
}

fn answer(search: FileSearch, prepared: &Prepared, found: Found) -> FilesAnswer {
    let Prepared { snapshot, package, binding, now } = prepared;
    let results = search.scroll.map_or(found.total, |scroll| scroll.total);
    let record = |row: FileRow| record(snapshot, row);
    let next = found.next.filter(|_| search.scrolling).map(|last| {
        let ScrollBinding { generation, fingerprint } = *binding;
        Scroll { generation, fingerprint, total: results, last }.encode()
    });
    FilesAnswer {
        meta: FileMeta {
            results,
            notice: package.notice(*now, results, search.scrolling),
            regex_notice: search.regex_notice,
            next_scroll_id: next,
        },
        query: search.echo,
        files: found.rows.into_iter().filter_map(record).collect(),
    }
}

/// Converts a row to its wire format. Returns `None` if the snapshot doesn't know the bucket.
pub(super) fn record(snapshot: &Snapshot, row: FileRow) -> Option<FileRecord> {
    let bucket = snapshot.bucket(row.bucket)?;
    Some(FileRecord::new(row, &bucket.address, bucket.kind))
}
