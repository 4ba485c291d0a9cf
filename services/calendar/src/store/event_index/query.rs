//! Answers list queries from the index.

use std::collections::HashSet;

use database::{DatabaseError, Db};

use super::deadline::{Deadline, ListError};
use super::entries::{self, Columns};
use super::event_set::EventSet;
use super::index::{Index, Row};
use crate::model::list::{EventFilter, Paging, Scope, Unpublished};
use crate::model::search::{self, Words};
use crate::model::status::{Stage, Status};
use crate::model::window::Window;
use crate::store::conditions::within;
use crate::store::event_list::fast_paths::links;
use crate::store::event_list::places::geo_venues;
use crate::store::sql::Sql;

/// Number of events whose texts are read at a time.
const CHUNK: usize = 500;

/// The result of an index look-up.
pub enum Found {
    /// The ids of the page, and the total number of matches.
    Page(Vec<i64>, i64),
    /// The ids of all candidates in list order. Those in the set match only if their text does.
    Doubtful(Vec<i64>, EventSet),
}

impl Found {
    /// Returns the ids of the page and the total number of matches, after checking the texts of
    /// uncertain events.
    pub fn page(
        self,
        db: &mut Db,
        deadline: Deadline,
        words: &Words,
        paging: Paging,
    ) -> Result<(Vec<i64>, i64), ListError> {
        let (mut ids, doubtful) = match self {
            Found::Page(ids, total) => return Ok((ids, total)),
            Found::Doubtful(ids, doubtful) => (ids, doubtful),
        };
        let sure = by_text(db, deadline, &doubtful, words)?;
        let holds = |set: &EventSet, id: i64| u32::try_from(id).is_ok_and(|id| set.contains(id));
        ids.retain(|id| !holds(&doubtful, *id) || holds(&sure, *id));
        let total = ids.len();
        let (skip, take) = range(paging);
        Ok((ids.into_iter().skip(skip).take(take).collect(), number(total)))
    }
}

fn range(paging: Paging) -> (usize, usize) {
    let size = |rows: i64| usize::try_from(rows).unwrap_or(usize::MAX);
    (size(paging.offset()), size(paging.per_page))
}

fn number(total: usize) -> i64 {
    i64::try_from(total).unwrap_or(i64::MAX)
}

/// Finds the events of a list without the database. `linked` has the sets read from it before.
pub fn find(
    index: &Index,
    linked: Vec<EventSet>,
    deadline: Deadline,
    filter: &EventFilter,
    paging: Paging,
) -> Result<Found, ListError> {
    let EventFilter {
        scope,
        window,
        words,
        featured,
        order,
        descending,
        // Read from the database by `linked`.
        categories: _,
        tags: _,
        venues: _,
        organizers: _,
        include: _,
        parent: _,
        geo: _,
        venue_scope: _,
        // Handled before by `is_empty`.
        matches_nothing: _,
    } = filter;
    let narrow = |found: &mut Option<EventSet>, set: EventSet| match found {
        Some(found) => found.keep(&set),
        None => *found = Some(set),
    };
    let mut found: Option<EventSet> = None;
    for set in linked {
        narrow(&mut found, set);
    }
    if let Some(set) = with_words(index, &words.wanted) {
        narrow(&mut found, set);
    }
    deadline.check()?;
    let mut found = shown(index, found, &Visibility::of(index, scope), window, *featured);
    let doubtful = doubtful(index, &mut found, words);
    let (order, total) = ((*order, *descending), found.len());
    if doubtful.len() > 0 {
        return Ok(Found::Doubtful(index.in_order(&found, order, 0, total), doubtful));
    }
    let (skip, take) = range(paging);
    let ids = match skip < total {
        true => index.in_order(&found, order, skip, take.min(total - skip)),
        false => Vec::new(),
    };
    Ok(Found::Page(ids, number(total)))
}

/// Reads the sets that only the database has: by links, location, parent and list of ids.
pub fn linked(db: &mut Db, filter: &EventFilter) -> Result<Vec<EventSet>, DatabaseError> {
    let mut sets = Vec::new();
    for link in links(filter) {
        sets.push(of_link(db, link.table, link.ids, &filter.window)?);
    }
    if let Some(venues) = geo_venues(db, filter)? {
        sets.push(of_link(db, "event_venues", &venues, &filter.window)?);
    }
    if let Some(parent) = filter.parent {
        let mut sql = Sql::new(db, "select id from events where parent_id = ");
        sql.value(parent);
        sets.push(set_of(&sql.load_ids(db)?));
    }
    sets.extend(filter.include.as_deref().map(set_of));
    Ok(sets)
}

fn of_link(
    db: &mut Db,
    table: &str,
    ids: &[i64],
    window: &Window,
) -> Result<EventSet, DatabaseError> {
    let mut sql = Sql::new(db, "select e.event_id as id from ");
    sql.push(table).push(" e where e.other_id ").among(ids);
    if !window.depends_on_clock_changes() {
        within(&mut sql, window);
    }
    Ok(set_of(&sql.load_ids(db)?))
}

fn set_of(ids: &[i64]) -> EventSet {
    ids.iter().filter_map(|id| u32::try_from(*id).ok()).collect()
}

/// Returns the events that contain all wanted words. The words of a phrase may still be apart.
///
/// Starts with the rarest part. A part contained in another one adds nothing.
fn with_words(index: &Index, wanted: &[String]) -> Option<EventSet> {
    let parts: HashSet<&str> = wanted.iter().flat_map(|word| word.split_whitespace()).collect();
    let implied = |part: &str| parts.iter().any(|other| *other != part && other.contains(part));
    let mut words: Vec<(Vec<usize>, usize)> =
        parts.iter().filter(|part| !implied(part)).map(|part| index.words_with(part)).collect();
    words.sort_by_key(|(_, events)| *events);
    let mut sets = words.iter().map(|(words, _)| index.events_with(words));
    let mut found = sets.next()?;
    for set in sets {
        found.keep(&set);
    }
    Some(found)
}

fn is_one_word(word: &str) -> bool {
    !word.contains(char::is_whitespace)
}

/// Removes the events that contain an unwanted word. Returns the remaining events for which only
/// the text decides whether they contain a phrase.
fn doubtful(index: &Index, found: &mut EventSet, words: &Words) -> EventSet {
    let mut is_all = words.wanted.iter().any(|word| !is_one_word(word));
    let mut doubtful = EventSet::default();
    for word in &words.unwanted {
        match with_words(index, std::slice::from_ref(word)) {
            Some(with) if is_one_word(word) => found.take_out(&with),
            Some(with) => doubtful.add(&with),
            // Only white space.
            None => is_all = true,
        }
    }
    if is_all {
        return found.clone();
    }
    doubtful.keep(found);
    doubtful
}

/// Keeps the events whose text contains all wanted words and no unwanted one.
fn by_text(
    db: &mut Db,
    deadline: Deadline,
    set: &EventSet,
    words: &Words,
) -> Result<EventSet, ListError> {
    let mut kept = EventSet::default();
    let ids: Vec<i64> = set.iter().map(i64::from).collect();
    for ids in ids.chunks(CHUNK) {
        deadline.check()?;
        for entry in entries::by_ids(db, ids)? {
            let text = search::fold(&entry.search_ci);
            let holds = |word: &String| text.contains(word.as_str());
            if let Ok(id) = u32::try_from(entry.id)
                && words.wanted.iter().all(holds)
                && !words.unwanted.iter().any(holds)
            {
                kept.insert(id);
            }
        }
    }
    Ok(kept)
}

/// The visibility of events for a caller, prepared for checking many of them.
struct Visibility {
    /// By status number: whether its events are visible, to all or only to their author.
    statuses: Vec<Shown>,
    author: Option<i64>,
}

#[derive(Clone, Copy)]
enum Shown {
    Always,
    OfAuthor,
    Never,
}

impl Visibility {
    fn of(index: &Index, scope: &Scope) -> Visibility {
        let (author, listed) = match &scope.unpublished {
            Unpublished::None => (None, Some(&[][..])),
            Unpublished::Of { author, statuses } => (*author, statuses.as_deref()),
        };
        let publish = Status::of(Stage::Publish);
        let trash = Status::of(Stage::Trash);
        let shown = |status: &String| {
            let is = |other: &Status| other.as_str() == status;
            match listed {
                _ if is(&publish) && scope.published => Shown::Always,
                _ if is(&publish) => Shown::Never,
                Some(listed) if listed.iter().any(is) => Shown::OfAuthor,
                None if !is(&trash) => Shown::OfAuthor,
                _ => Shown::Never,
            }
        };
        Visibility { statuses: index.statuses.iter().map(shown).collect(), author }
    }

    fn shows(&self, row: &Row) -> bool {
        match self.statuses.get(usize::from(row.status)) {
            _ if !row.exists || !row.columns.listed => false,
            Some(Shown::Always) => true,
            Some(Shown::OfAuthor) => {
                self.author.is_none_or(|author| author == row.columns.author_id)
            }
            Some(Shown::Never) | None => false,
        }
    }
}

/// Keeps the events of a window that the caller sees. Starts from all events if no set was found
/// before.
fn shown(
    index: &Index,
    found: Option<EventSet>,
    visibility: &Visibility,
    window: &Window,
    featured: Option<bool>,
) -> EventSet {
    let depends_on_clock_changes = window.depends_on_clock_changes();
    let on_wall = |id: u32, Columns { start_local, end_local, .. }: &Columns| match index
        .set_backs
        .get(&id)
        .filter(|_| depends_on_clock_changes)
    {
        Some(set_back) => window.wall.contains_across_set_back(*start_local, *end_local, *set_back),
        None => window.wall.contains(*start_local, *end_local),
    };
    let holds = |id: u32, row: &Row| {
        let columns = &row.columns;
        visibility.shows(row)
            && on_wall(id, columns)
            && window.utc.contains(columns.start_utc, columns.end_utc)
            && featured.is_none_or(|wanted| wanted == columns.featured)
    };
    let mut kept = EventSet::with_room(index.rows.len());
    match found {
        None => {
            let rows = (0..).zip(&index.rows);
            rows.filter(|(id, row)| holds(*id, row)).for_each(|(id, _)| kept.insert(id));
        }
        Some(found) => found
            .iter()
            .filter(|id| index.rows.get(*id as usize).is_some_and(|row| holds(*id, row)))
            .for_each(|id| kept.insert(id)),
    }
    kept
}
