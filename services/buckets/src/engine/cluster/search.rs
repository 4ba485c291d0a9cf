//! Runs searches: counts the total, finds the page and reads its rows.

use std::collections::HashMap;

use super::error::ClusterError;
use super::generation::Generation;
use super::rows::Rows;
use super::view::View;
use super::{filter, layout, sql};
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;
use crate::model::Attributes;
use crate::model::file_query::{FileQuery, FileRow, Found, Order, Position, SortKey};

/// Up to this page size, look up the ids first, so that ClickHouse doesn't read the path of every
/// match.
const SHORT: usize = 1_000;
/// Assumed length of paths that haven't been read yet. S3 keys are never longer.
const LONGEST_USUAL_PATH: usize = 1_024;

/// Runs a search on a single state. `newest` means that there can't be a newer state yet.
pub(super) fn answer(
    index: &Generation,
    view: &View,
    query: &FileQuery,
    limits: &Limits,
    newest: bool,
) -> Result<Found, EngineError> {
    let Some((search, total)) = Search::begin(index, view, query, limits, newest)? else {
        return Ok(Found::default());
    };
    if search.is_beyond(total) {
        return Ok(Found { total, ..Found::default() });
    }
    let mut slots = if query.limit <= SHORT { search.by_ids()? } else { search.long_page(view)? };
    let more = slots.len() > query.limit;
    slots.truncate(query.limit);
    let next = slots.last().filter(|_| more).map(|slot| slot.key);
    Ok(Found { total, rows: slots.into_iter().filter_map(|slot| slot.row).collect(), next })
}

/// File id and bucket id.
pub(super) type Key = (u64, u64);

/// Returns the total and the keys of one page, both from a single state.
pub(super) fn keys(
    index: &Generation,
    view: &View,
    query: &FileQuery,
    limits: &Limits,
    newest: bool,
) -> Result<(u64, Vec<Key>), EngineError> {
    let Some((search, total)) = Search::begin(index, view, query, limits, newest)? else {
        return Ok((0, Vec::new()));
    };
    if search.is_beyond(total) {
        return Ok((total, Vec::new()));
    }
    let places = search.places()?;
    let keys = places.into_iter().take(query.limit).map(|(key, bucket)| (key.id, bucket));
    Ok((total, keys.collect()))
}

/// Reads rows by key, in the order of the keys. Rows that have since been deleted are skipped.
pub(super) fn rows_of(
    index: &Generation,
    keys: &[Key],
    limits: &Limits,
) -> Result<Vec<FileRow>, ClusterError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let room = limits.wait_for_memory(keys.len(), keys.len() * LONGEST_USUAL_PATH);
    room.map_err(|_| ClusterError::Stopped)?;
    let (ids, mut buckets): (Vec<u64>, Vec<u64>) = keys.iter().copied().unzip();
    buckets.sort_unstable();
    buckets.dedup();
    let statement = format!(
        "SELECT {} FROM {} WHERE bucket IN {} AND id IN {}",
        row_columns(),
        index.tables.all_files,
        sql::numbers(&buckets),
        sql::numbers(&ids)
    );
    let answer = execute(index, &statement, limits)?;
    let mut found: HashMap<u64, FileRow> = HashMap::new();
    found.extend(read(&answer)?.into_iter().map(|row| (row.id, row)));
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

/// Builds the condition for a search. Returns `None` if nothing can match because the bucket filter
/// is empty.
pub(super) fn condition(
    index: &Generation,
    view: &View,
    query: &FileQuery,
    newest: bool,
) -> Result<Option<String>, EngineError> {
    if query.buckets.as_ref().is_some_and(Vec::is_empty) {
        return Ok(None);
    }
    let mut conditions = match newest {
        true => view.record.visible_while_newest(&index.tables),
        false => vec![view.record.visible(&index.tables)],
    };
    conditions.extend(filter::conditions(query, index.layout)?);
    if conditions.is_empty() {
        conditions.push("1".to_owned());
    }
    Ok(Some(conditions.join(" AND ")))
}

pub(super) fn execute(
    index: &Generation,
    statement: &str,
    limits: &Limits,
) -> Result<Vec<u8>, ClusterError> {
    let base = &index.client.target.base;
    index.client.execute_within(base, &format!("{statement} FORMAT RowBinary"), limits)
}

struct Search<'a> {
    index: &'a Generation,
    query: &'a FileQuery,
    limits: &'a Limits,
    condition: String,
}

/// One result on the page.
struct Slot {
    key: SortKey,
    /// `None` if the row was deleted during the search.
    row: Option<FileRow>,
}

impl<'a> Search<'a> {
    /// Starts a search by counting its results. Returns `None` if the bucket filter is empty.
    fn begin(
        index: &'a Generation,
        view: &View,
        query: &'a FileQuery,
        limits: &'a Limits,
        newest: bool,
    ) -> Result<Option<(Self, u64)>, EngineError> {
        let Some(condition) = condition(index, view, query, newest)? else { return Ok(None) };
        let search = Self { index, query, limits, condition };
        let total = search.total(view)?;
        Ok(Some((search, total)))
    }

    /// Returns `true` if the page starts after the last result.
    fn is_beyond(&self, total: u64) -> bool {
        let is_behind = matches!(self.query.position, Position::Offset(start) if start >= total);
        total == 0 || is_behind
    }

    fn total(&self, view: &View) -> Result<u64, ClusterError> {
        if filter::is_by_bucket(self.query) {
            self.limits.note_known_total();
            return Ok(view.total_by_bucket(self.query));
        }
        if let Some(total) = view.known_total(&self.condition) {
            self.limits.note_known_total();
            return Ok(total);
        }
        let answer = self.execute(&format!(
            "SELECT count() FROM {} WHERE {}",
            self.index.tables.all_files, self.condition
        ))?;
        let total = Rows::of(&answer).u64()?;
        view.remember_total(&self.condition, total);
        Ok(total)
    }

    /// Looks up the ids first and then reads just those rows.
    fn by_ids(&self) -> Result<Vec<Slot>, ClusterError> {
        let places = self.places()?;
        let keys: Vec<Key> = places.iter().map(|(key, bucket)| (key.id, *bucket)).collect();
        let rows = rows_of(self.index, &keys, self.limits)?;
        let mut rows = rows.into_iter().peekable();
        let slot =
            |(key, _): (SortKey, u64)| Slot { key, row: rows.next_if(|row| row.id == key.id) };
        Ok(places.into_iter().map(slot).collect())
    }

    /// Returns the sort key and bucket of each result on the page, and of the next result.
    fn places(&self) -> Result<Vec<(SortKey, u64)>, ClusterError> {
        let value = filter::sort_column(self.query.order).unwrap_or("toInt64(0)");
        let answer = self.page(&format!("id, bucket, {value}"), "")?;
        let mut rows = Rows::of(&answer);
        let mut places = Vec::new();
        while !rows.is_at_end() {
            let (id, bucket) = (rows.u64()?, rows.u64()?);
            places.push((SortKey { value: rows.i64()?, id }, bucket));
        }
        Ok(places)
    }

    /// Reads all columns at once. In index order, the next results are usually close together, so
    /// we first try a narrow range of ids that only touches a few partitions.
    fn long_page(&self, view: &View) -> Result<Vec<Slot>, ClusterError> {
        let columns = &row_columns();
        if let (Order::Index, Position::After(place)) = (self.query.order, self.query.position) {
            let last = place.id.saturating_add(self.query.limit as u64 * 4);
            if last < view.record.cutoff() {
                let rows = read(&self.page(columns, &format!(" AND id <= {last}"))?)?;
                if rows.len() > self.query.limit {
                    return Ok(self.slots(rows));
                }
            }
        }
        Ok(self.slots(read(&self.page(columns, "")?)?))
    }

    fn slots(&self, rows: Vec<FileRow>) -> Vec<Slot> {
        let slot = |row| Slot { key: self.query.sort_key(&row), row: Some(row) };
        rows.into_iter().map(slot).collect()
    }

    /// Requests one more row than fits on the page, to find out whether there are further results.
    fn page(&self, columns: &str, further: &str) -> Result<Vec<u8>, ClusterError> {
        let (after, skip) = match self.query.position {
            Position::Offset(start) => (String::new(), start),
            Position::After(place) => (format!(" AND {}", filter::after(self.query, place)), 0),
        };
        self.execute(&format!(
            "SELECT {columns} FROM {} WHERE {}{after}{further} ORDER BY {} LIMIT {skip}, {}",
            self.index.tables.all_files,
            self.condition,
            filter::order(self.query),
            self.query.limit + 1
        ))
    }

    fn execute(&self, statement: &str) -> Result<Vec<u8>, ClusterError> {
        execute(self.index, statement, self.limits)
    }
}

fn row_columns() -> String {
    format!("id, bucket, path, {}", layout::attributes(""))
}

fn read(answer: &[u8]) -> Result<Vec<FileRow>, ClusterError> {
    let mut rows = Rows::of(answer);
    let mut found = Vec::new();
    while !rows.is_at_end() {
        found.push(FileRow {
            id: rows.u64()?,
            bucket: rows.u64()?,
            path: rows.text()?,
            attributes: Attributes::try_from_fn(|_| rows.i64())?,
        });
    }
    Ok(found)
}
