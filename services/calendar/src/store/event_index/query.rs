//! Answers list queries from the index.

use std::collections::{HashMap, HashSet};

use database::{DatabaseError, Db};
use roaring::RoaringBitmap;

use super::chunk::Wanted;
use super::columns::Key;
use super::deadline::{Deadline, ListError};
use super::entries;
use super::index::Index;
use super::links::{LinkFilter, link_filters, own_link_filters};
use crate::model::changes::{Change, ChangeFilter};
use crate::model::list::{EventFilter, Paging, Slice};
use crate::model::search::{self, Words};
use crate::model::window::Window;
use crate::store::sql::Sql;

/// Number of events per query that reads search text.
const CHUNK: usize = 500;

/// If fewer than 1 in `SPARSE` events match, the matches are sorted. Otherwise the complete order
/// is walked.
const SPARSE: usize = 16;

/// Sets of events that a list request is restricted to.
pub struct Sets {
    pub links: Vec<LinkFilter>,
    /// Sets of ids. Only events in all of them match.
    ids: Vec<Vec<i64>>,
}

impl Sets {
    /// Returns the sets for `filter`, or `None` if any of them would have to be read from the
    /// database.
    pub fn known(filter: &EventFilter) -> Option<Sets> {
        let links = own_link_filters(filter);
        let ids = filter.include.iter().cloned().collect();
        let is_known = filter.parent.is_none() && filter.geo.is_none() && filter.series.is_none();
        is_known.then_some(Sets { links, ids })
    }

    /// Reads the sets for `filter`. The links of each link filter are loaded later.
    pub fn of(db: &mut Db, filter: &EventFilter) -> Result<Sets, DatabaseError> {
        let links = link_filters(db, filter)?;
        let mut ids: Vec<Vec<i64>> = filter.include.iter().cloned().collect();
        if let Some(parent) = filter.parent {
            let mut sql = Sql::new(db, "select id from events where parent_id = ");
            sql.value(parent);
            ids.push(sql.load_ids(db)?);
        }
        if let Some(series) = filter.series {
            let mut sql =
                Sql::new(db, "select event_id as id from series_events where series_id = ");
            sql.value(series);
            ids.push(sql.load_ids(db)?);
        }
        Ok(Sets { links, ids })
    }
}

/// The result of an index lookup.
pub enum Found {
    /// The ids on the page, and the total number of matches.
    Page(Vec<i64>, i64),
    /// The ids of all candidates, in list order. Candidates in the set only match if their text
    /// does. If several candidates belong to the same series according to the map, only the next
    /// one that matches is kept.
    Doubtful(Vec<i64>, HashSet<i64>, HashMap<i64, InSeries>),
}

/// An event's rank: whether it is over, and whether it is cancelled; its start; its publication
/// date; its id.
type Place = ((bool, bool), i64, i64, i64);

/// An event's series, and how the event ranks within it.
#[derive(Clone, Copy)]
pub struct InSeries {
    series: i64,
    /// The event's rank. The next event that isn't cancelled has the lowest rank, followed by the
    /// next cancelled one. If all events are over, the last one has the lowest rank.
    place: Place,
}

impl Found {
    /// Returns the ids on the page and the total number of matches. If some candidates might not
    /// match, reads their search text first.
    pub fn page(
        self,
        db: &mut Db,
        deadline: Deadline,
        words: &Words,
        paging: Paging,
    ) -> Result<(Vec<i64>, i64), ListError> {
        let (mut ids, mut doubtful, series) = match self {
            Found::Page(ids, total) => return Ok((ids, total)),
            Found::Doubtful(ids, doubtful, series) => (ids, doubtful, series),
        };
        drop_matching(db, deadline, &mut doubtful, words)?;
        ids.retain(|id| !doubtful.contains(id));
        collapse(&mut ids, |id| series.get(&id).copied());
        let total = number(ids.len());
        let size = |rows: i64| usize::try_from(rows).unwrap_or(usize::MAX);
        let page = ids.into_iter().skip(size(paging.offset())).take(size(paging.per_page));
        Ok((page.collect(), total))
    }
}

fn number(total: usize) -> i64 {
    i64::try_from(total).unwrap_or(i64::MAX)
}

/// Finds the events that a list request selects.
pub fn find(
    index: &Index,
    sets: &Sets,
    deadline: Deadline,
    filter: &EventFilter,
    paging: Paging,
) -> Result<Found, ListError> {
    let traits = index.table.traits().iter().map(|traits| traits.matches(filter));
    let wanted = Wanted::new(&index.table, traits.collect(), filter.window);
    let all = || filter.collapsed_at.map(|_| index.table.all().collect());
    let Some(candidates) = candidates(index, sets, &filter.words).or_else(all) else {
        let total = index.order(Key::Start).count(&wanted);
        let Some(slice) = Slice::of(paging, number(total)) else {
            return Ok(Found::Page(Vec::new(), number(total)));
        };
        let key = Key::from(filter.order);
        let is_sorted = key != Key::Start && total < index.table.len() / SPARSE;
        let page = match is_sorted {
            true => {
                let all = index.order(Key::Start).all(&wanted);
                slice_of(index, all, (key, filter.descending), slice)
            }
            false => index.order(key).slice(&wanted, filter.descending, slice),
        };
        return Ok(Found::Page(ids(index, page), number(total)));
    };
    deadline.check()?;
    let mut found: Vec<u32> = candidates.into_iter().filter(|at| wanted.has(*at)).collect();
    let doubtful = doubtful(index, &mut found, &filter.words);
    let order = (Key::from(filter.order), filter.descending);
    let series_of = |at: u32| in_series(index, at, filter.collapsed_at?);
    if doubtful.is_empty() {
        collapse(&mut found, series_of);
    }
    let total = number(found.len());
    if !doubtful.is_empty() {
        let all = Slice { skip: 0, take: total, backwards: false };
        let all = slice_of(index, found, order, all);
        let series = all.iter().filter_map(|at| Some((index.table.id(*at), series_of(*at)?)));
        let series = series.collect();
        let doubtful = doubtful.into_iter().map(|at| index.table.id(at)).collect();
        return Ok(Found::Doubtful(ids(index, all), doubtful, series));
    }
    let page = match Slice::of(paging, total) {
        Some(slice) => slice_of(index, found, order, slice),
        None => Vec::new(),
    };
    Ok(Found::Page(ids(index, page), total))
}

/// Returns an event's series, if any.
fn in_series(index: &Index, at: u32, now: i64) -> Option<InSeries> {
    let ((series, is_cancelled), times) = (index.table.series(at)?, index.table.times(at));
    let is_over = times.end_utc < now;
    let start = if is_over { -times.start_utc } else { times.start_utc };
    let state = (is_over, is_cancelled && !is_over);
    Some(InSeries { series, place: (state, start, times.published_utc, index.table.id(at)) })
}

/// Keeps only the next event in each series. A cancelled event is kept only if no other event
/// follows it.
fn collapse<T: Copy>(events: &mut Vec<T>, series_of: impl Fn(T) -> Option<InSeries>) {
    let mut first: HashMap<i64, Place> = HashMap::new();
    for InSeries { series, place } in events.iter().filter_map(|event| series_of(*event)) {
        let known = first.entry(series).or_insert(place);
        *known = place.min(*known);
    }
    events.retain(|event| {
        series_of(*event).is_none_or(|one| first.get(&one.series) == Some(&one.place))
    });
}

fn ids(index: &Index, events: Vec<u32>) -> Vec<i64> {
    events.into_iter().map(|at| index.table.id(at)).collect()
}

/// Sorts events by a key and returns a slice of them.
fn slice_of(
    index: &Index,
    mut found: Vec<u32>,
    (key, descending): (Key, bool),
    slice: Slice,
) -> Vec<u32> {
    let table = &index.table;
    if found.len() >= table.len() / SPARSE {
        let wanted = Wanted::set(table, found.into_iter().collect());
        return index.order(key).slice(&wanted, descending, slice);
    }
    let compare = |a: &u32, b: &u32| match descending && !table.ties(key, *a, *b) {
        true => table.compare(key, *b, *a),
        false => table.compare(key, *a, *b),
    };
    let size = |rows: i64| usize::try_from(rows).unwrap_or(usize::MAX);
    let (skip, take) = (size(slice.skip), size(slice.take));
    // Only sort the slice itself, after partitioning the rest.
    let range = match slice.backwards {
        false => skip.min(found.len())..skip.saturating_add(take).min(found.len()),
        true => {
            let end = found.len().saturating_sub(skip);
            end.saturating_sub(take)..end
        }
    };
    if range.start > 0 && range.start < found.len() {
        found.select_nth_unstable_by(range.start, compare);
    }
    let mut page = found.split_off(range.start);
    let length = range.len();
    if length > 0 && length < page.len() {
        page.select_nth_unstable_by(length - 1, compare);
    }
    page.truncate(length);
    page.sort_unstable_by(compare);
    page
}

/// Returns the events that match the sets and search words, or `None` if there are neither.
fn candidates(index: &Index, sets: &Sets, words: &Words) -> Option<RoaringBitmap> {
    let mut found: Option<RoaringBitmap> = None;
    let mut narrow = |set: RoaringBitmap| match &mut found {
        Some(found) => *found &= set,
        None => found = Some(set),
    };
    for ids in &sets.ids {
        narrow(index.table.positions(ids.iter().copied()).collect());
    }
    for filter in &sets.links {
        narrow(index.links.lock().events(filter));
    }
    if let Some(set) = with_words(index, &words.wanted) {
        narrow(set);
    }
    if found.is_none() && *words != Words::default() {
        found = Some(index.table.all().collect());
    }
    found
}

/// Returns the events that contain all wanted words, or `None` if there aren't any wanted words. At
/// this stage, the words in a phrase don't have to be adjacent.
///
/// Starts with the rarest word. Skips words that are part of another wanted word.
fn with_words(index: &Index, wanted: &[String]) -> Option<RoaringBitmap> {
    let parts: HashSet<&str> = wanted.iter().flat_map(|word| word.split_whitespace()).collect();
    let implied = |part: &str| parts.iter().any(|other| *other != part && other.contains(part));
    let mut words: Vec<(Vec<usize>, usize)> = parts
        .iter()
        .filter(|part| !implied(part))
        .map(|part| index.words.with_part(part))
        .collect();
    words.sort_by_key(|(_, events)| *events);
    let mut sets = words.iter().map(|(words, _)| index.words.events_with(words));
    let mut found = sets.next()?;
    for set in sets {
        found &= set;
    }
    Some(found)
}

fn is_one_word(word: &str) -> bool {
    !word.contains(char::is_whitespace)
}

/// Removes events that contain an unwanted word. Returns the remaining events whose text must be
/// read to check for phrases.
fn doubtful(index: &Index, found: &mut Vec<u32>, words: &Words) -> RoaringBitmap {
    let mut is_all = words.wanted.iter().any(|word| !is_one_word(word));
    let mut doubtful = RoaringBitmap::default();
    for word in &words.unwanted {
        match with_words(index, std::slice::from_ref(word)) {
            Some(with) if is_one_word(word) => found.retain(|at| !with.contains(*at)),
            Some(with) => doubtful |= with,
            // The phrase consists only of whitespace.
            None => is_all = true,
        }
    }
    let found = found.iter().copied();
    match is_all {
        true => found.collect(),
        false => found.filter(|at| doubtful.contains(*at)).collect(),
    }
}

/// Removes the events whose text contains all of the wanted words and none of the unwanted ones.
fn drop_matching(
    db: &mut Db,
    deadline: Deadline,
    events: &mut HashSet<i64>,
    words: &Words,
) -> Result<(), ListError> {
    let mut ids: Vec<i64> = events.iter().copied().collect();
    ids.sort_unstable();
    for ids in ids.chunks(CHUNK) {
        deadline.check()?;
        for entry in entries::by_ids(db, ids)? {
            let text = search::fold(&entry.search_ci);
            let contains = |word: &String| text.contains(word.as_str());
            if words.wanted.iter().all(contains) && !words.unwanted.iter().any(contains) {
                events.remove(&entry.id);
            }
        }
    }
    Ok(())
}

/// Returns the first visible changes and the total count.
pub fn changes(index: &Index, filter: &ChangeFilter, rows: i64) -> (Vec<Change>, i64) {
    let table = &index.table;
    let traits = table.traits().iter().map(|traits| traits.is_visible(&filter.scope)).collect();
    let wanted = Wanted::new(table, traits, Window::default());
    let key = |at: u32| (table.times(at).modified_utc, table.id(at));
    let is_after = |at: u32| key(at) > (filter.since, filter.behind);
    let most = usize::try_from(rows).unwrap_or(usize::MAX);
    let (found, total) = index.order(Key::Modified).after(&wanted, is_after, most);
    let change = |at: u32| Change { event: table.id(at), at: key(at).0, is_gone: false };
    (found.into_iter().map(change).collect(), number(total))
}
