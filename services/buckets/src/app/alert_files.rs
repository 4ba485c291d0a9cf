//! Lists an alert's new files.

use std::fmt;

use auth::Key;
use batch::PagePermit;

use super::alerts::{end_of, own, permitted, plan_of, saved_search};
use super::files::{Extent, record, run_prepared, shown_between, shown_by};
use super::search::search;
use super::snapshot::newest;
use crate::error::Error;
use crate::model::file_query::{FileQuery, FileRow};
use crate::state::{Snapshot, State};
use crate::store::alerts::{self, Mark};
use crate::wire::alerts::{AlertFilesAnswer, AlertFilesMeta, AlertFilesParameters};
use crate::wire::files::FileSearch;

/// Default number of files per response.
const DEFAULT_LIMIT: u64 = 100;

/// A position in an alert's list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cursor {
    /// Index generation that the ids belong to.
    generation: i64,
    /// All files up to this id have been returned, except for pending ones.
    id: u64,
    pending: Option<Pending>,
}

/// Files that weren't returned because the package didn't show their buckets yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pending {
    /// The files have higher ids.
    above: u64,
    /// Their buckets were first indexed after this time.
    since: i64,
    /// Set if only some of the files have been returned since their delay ended. Contains the id of
    /// the last returned file, and the time by which the files' buckets were first indexed.
    part: Option<(u64, i64)>,
}

impl Cursor {
    /// Parses `GENERATION-ID`, `GENERATION-ID-ABOVE-SINCE` or
    /// `GENERATION-ID-ABOVE-SINCE-PART_ID-PART_TIME`.
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<i64>().ok().filter(|_| is_number)
        };
        let numbers = text.split('-').map(number).collect::<Option<Vec<i64>>>()?;
        let (generation, id, pending) = match numbers[..] {
            [generation, id] => (generation, id, None),
            [generation, id, above, since] => (generation, id, Some((above, since, None))),
            [generation, id, above, since, last, until] => {
                (generation, id, Some((above, since, Some((last as u64, until)))))
            }
            _ => return None,
        };
        let pending =
            pending.map(|(above, since, part)| Pending { above: above as u64, since, part });
        Some(Self { generation, id: id as u64, pending })
    }

    /// Returns the position at which a list starts.
    fn start(snapshot: &Snapshot, after: Option<Self>, since: Mark) -> Result<Self, Error> {
        let end = end_of(snapshot);
        // A rebuild doesn't add files.
        let first = if since.generation == end.generation { since.id } else { end.id };
        let first = first as u64;
        let Some(after) = after else {
            return Ok(Self { generation: end.generation, id: first, pending: None });
        };
        // An index restored from an older backup reuses later ids for other files.
        if after.generation != end.generation || after.id > end.id as u64 {
            return Err(Error::AfterExpired);
        }
        // Earlier files can only be found by searching, within the package's depth.
        let pending = after.pending.filter(|_| after.id > first);
        let pending = pending.map(|pending| Pending { above: pending.above.max(first), ..pending });
        Ok(Self { id: after.id.max(first), pending, ..after })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.generation, self.id)?;
        let Some(Pending { above, since, part }) = self.pending else { return Ok(()) };
        write!(f, "-{above}-{since}")?;
        part.map_or(Ok(()), |(id, until)| write!(f, "-{id}-{until}"))
    }
}

/// A page of the list.
struct Page {
    rows: Vec<FileRow>,
    next: Cursor,
    more: bool,
    permit: Option<PagePermit>,
}

/// Returns an alert's files that are new since a cursor. Keep the permit, which reserves memory for
/// the page, until the response has been written.
pub async fn get_alert_files(
    state: &State,
    key: &Key,
    id: i64,
    parameters: AlertFilesParameters,
) -> Result<(AlertFilesAnswer, Option<PagePermit>), Error> {
    permitted(state, key)?;
    let found = state.pools().read(move |db| alerts::by_id(db, id)).await?;
    let alert = own(found, key.id)?;
    let wrong = || Error::parameter("after", "after must be meta.next from an earlier response");
    let parse = |text: &str| Cursor::parse(text).ok_or_else(wrong);
    let after = parameters.after.as_deref().map(parse).transpose()?;
    let end = end_of(&state.snapshot());
    let is_later = |after: Cursor| (after.generation, after.id) > (end.generation, end.id as u64);
    if after.is_some_and(is_later) {
        // Another server might have noticed a publish or rebuild before this server.
        newest(state).await?;
    }
    let limit = parameters.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let request = saved_search(&alert.query)?;
    // If a delay ends during this request, the files are returned by a later request.
    let now = state.clock().unix();
    let run = async |snapshot: &Snapshot, _: FileQuery| {
        let cursor = Cursor::start(snapshot, after, alert.since())?;
        page(state, key, snapshot, &request, (cursor, limit, now)).await
    };
    let caller = (key.owner.as_str(), plan_of(key));
    let (prepared, page) = run_prepared(state, caller, &request, Extent::Page, run).await?;
    let Page { rows, next, more, permit } = page;
    let answer = AlertFilesAnswer {
        meta: AlertFilesMeta { next: next.to_string(), more },
        files: rows.into_iter().filter_map(|row| record(&prepared.snapshot, row)).collect(),
    };
    Ok((answer, permit))
}

/// Reads a page of the list. Pending files whose delay has ended come first.
async fn page(
    state: &State,
    key: &Key,
    snapshot: &Snapshot,
    request: &FileSearch,
    (mut cursor, limit, now): (Cursor, usize, i64),
) -> Result<Page, Error> {
    let hidden_since = snapshot.package(plan_of(key)).hidden_since(now);
    let shown = hidden_since.map_or(i64::MAX, |since| since.max(0));
    let between = |times, after| shown_between(request, snapshot, times, after);
    while let Some(pending) = cursor.pending.filter(|pending| pending.since < shown) {
        let (last, until) = pending.part.unwrap_or((pending.above, shown));
        let until = until.min(shown);
        cursor.pending = Some(Pending { since: until, part: None, ..pending });
        let Some(query) = between((pending.since, until), last.max(pending.above)) else {
            continue;
        };
        let query = FileQuery { limit, ..query };
        let (mut found, permit) = search(state, snapshot, &key.owner, query).await?;
        if let Some(next) = found.next.filter(|next| next.id <= cursor.id) {
            cursor.pending = Some(Pending { part: Some((next.id, until)), ..pending });
        }
        found.rows.retain(|row| row.id <= cursor.id);
        if !found.rows.is_empty() || cursor.pending.is_some_and(|pending| pending.part.is_some()) {
            return Ok(Page { rows: found.rows, next: cursor, more: true, permit });
        }
    }
    // If the package doesn't show a file's bucket yet, a later request returns the file.
    let above = cursor.pending.map_or(cursor.id, |pending| pending.above);
    let hidden = match between((shown, i64::MAX), above) {
        Some(query) => {
            let query = FileQuery { limit: 1, ..query };
            search(state, snapshot, &key.owner, query).await?.0.rows.pop()
        }
        None => None,
    };
    let query = shown_by(request, snapshot, hidden_since, cursor.id);
    let query = FileQuery { limit, ..query };
    let (mut found, permit) = search(state, snapshot, &key.owner, query).await?;
    // The index can be ahead of the snapshot. The snapshot then doesn't know about new buckets yet,
    // so a later request returns their files. The snapshot can also be behind the server that saved
    // the alert.
    let last = cursor.id.max(end_of(snapshot).id as u64);
    let more = found.next.filter(|next| next.id <= last);
    found.rows.retain(|row| row.id <= last);
    cursor.id = more.map_or(last, |next| next.id);
    let hidden = hidden.filter(|row| row.id <= cursor.id);
    cursor.pending = hidden.map(|row| Pending { above: row.id - 1, since: shown, part: None });
    Ok(Page { rows: found.rows, next: cursor, more: more.is_some(), permit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_written_and_parsed() {
        for text in ["1-0", "3-2101", "1-9-4-1795132800", "1-9-4-1795132800-6-1795132900"] {
            assert_eq!(Cursor::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "-", "1", "1-", "1-2-3", "1-2-3-4-5", "1-2-3-4-5-6-7", "1-+2", "a-1"] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
    }
}
