//! The search for files.

use batch::PagePermit;

use super::search::search;
use super::snapshot::newest;
use crate::error::Error;
use crate::metrics;
use crate::model::file_query::{FileQuery, FileRow, Found, Position, SortKey};
use crate::model::package::Package;
use crate::model::scroll::Scroll;
use crate::state::{Snapshot, State};
use crate::wire::files::{FileMeta, FileRecord, FileSearch, FilesAnswer};

/// Searches files within the limits of the caller's package. The permit holds the memory of the
/// page until the response is written.
pub async fn search_files(
    state: &State,
    (owner, plan): (&str, Option<&str>),
    request: FileSearch,
) -> Result<(FilesAnswer, Option<PagePermit>), Error> {
    let mut snapshot = state.snapshot();
    let mut again = true;
    loop {
        let package = snapshot.package(plan);
        permit(&request, &package, &snapshot)?;
        let fingerprint = request.fingerprint(owner);
        let binding = ScrollBinding { generation: snapshot.generation, fingerprint };
        let now = state.clock().unix();
        let query = query(&request, &package, &snapshot, &binding, now)?;
        let (found, permit) = match search(state, &snapshot, owner, query).await {
            // A rebuild dropped this generation before the server saw the new one.
            Err(Error::NotReady) if std::mem::take(&mut again) => {
                snapshot = newest(state).await?;
                continue;
            }
            searched => searched?,
        };
        metrics::searched("searchFiles", found.total);
        return Ok((answer(request, &package, &snapshot, &binding, now, found), permit));
    }
}

/// Values that a scroll id must match.
struct ScrollBinding {
    generation: u32,
    fingerprint: u64,
}

/// Rejects parameters that the package does not allow.
fn permit(search: &FileSearch, package: &Package, snapshot: &Snapshot) -> Result<(), Error> {
    let lacking = search.needs.iter().find(|(_, need)| !package.allows(*need));
    let Some((name, need)) = lacking else { return Ok(()) };
    let cheapest = snapshot.cheapest_with(*need).map_or("enterprise", |found| found.code.as_str());
    Err(Error::Package { name, package: cheapest.to_owned() })
}

/// Builds the query: adds bucket filters, package limits and the position.
fn query(
    search: &FileSearch,
    package: &Package,
    snapshot: &Snapshot,
    binding: &ScrollBinding,
    now: i64,
) -> Result<FileQuery, Error> {
    let mut query = search.query.clone();
    if !search.echo.buckets.is_empty() {
        query.buckets = Some(snapshot.bucket_ids(&search.echo.buckets));
    }
    query.excluded_buckets = snapshot.bucket_ids(&search.echo.excluded_buckets);
    if let Some(since) = package.hidden_since(now) {
        query.excluded_buckets.extend(snapshot.indexed_after(since));
    }
    query.excluded_buckets.extend(&snapshot.takedowns.buckets);
    query.excluded_buckets.sort_unstable();
    query.excluded_buckets.dedup();
    query.hidden = snapshot.takedowns.paths.clone();
    if search.scrolling {
        query.position = Position::After(first_key(search.query.descending));
        if let Some(scroll) = &search.scroll {
            query.position = Position::After(scroll_key(scroll, binding)?);
        }
        return Ok(query);
    }
    let reachable = package.reach().saturating_sub(search.echo.start);
    query.limit = query.limit.min(usize::try_from(reachable).unwrap_or(usize::MAX));
    if query.limit == 0 {
        query.position = Position::Offset(0);
    }
    Ok(query)
}

/// Returns a sort key that precedes every file.
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

fn answer(
    search: FileSearch,
    package: &Package,
    snapshot: &Snapshot,
    binding: &ScrollBinding,
    now: i64,
    found: Found,
) -> FilesAnswer {
    let results = search.scroll.map_or(found.total, |scroll| scroll.total);
    let record = |row: FileRow| {
        let bucket = snapshot.bucket(row.bucket)?;
        Some(FileRecord::new(row, &bucket.address, bucket.kind))
    };
    let next = found.next.filter(|_| search.scrolling).map(|last| {
        let ScrollBinding { generation, fingerprint } = *binding;
        Scroll { generation, fingerprint, total: results, last }.encode()
    });
    FilesAnswer {
        meta: FileMeta {
            results,
            notice: package.notice(now, results, search.scrolling),
            regex_notice: search.regex_notice,
            next_scroll_id: next,
        },
        query: search.echo,
        files: found.rows.into_iter().filter_map(record).collect(),
    }
}
