//! Sets of events linked to terms, venues and organizers. Each set is loaded from the database when
//! a list request first needs it, and then kept up to date from the change log.

use std::collections::HashMap;

use database::{DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Double};
use roaring::RoaringBitmap;

use super::table::Table;
use crate::model::event::Links;
use crate::model::geo::Point;
use crate::model::list::{EventFilter, Geo, Scope};
use crate::store::conditions::statuses;
use crate::store::sql::Sql;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkTable {
    Terms,
    Venues,
    Organizers,
}

impl LinkTable {
    /// Returns the SQL table name.
    pub fn name(self) -> &'static str {
        match self {
            LinkTable::Terms => "event_terms",
            LinkTable::Venues => "event_venues",
            LinkTable::Organizers => "event_organizers",
        }
    }
}

/// Matches events that are linked to any of these ids.
pub struct LinkFilter {
    pub table: LinkTable,
    pub ids: Vec<i64>,
}

/// Returns the link filters in `filter`, excluding the location filter.
pub fn own_link_filters(filter: &EventFilter) -> Vec<LinkFilter> {
    let links = [
        (LinkTable::Terms, &filter.categories),
        (LinkTable::Terms, &filter.tags),
        (LinkTable::Venues, &filter.venues),
        (LinkTable::Organizers, &filter.organizers),
    ];
    let links = links.into_iter();
    links.filter_map(|(table, ids)| ids.clone().map(|ids| LinkFilter { table, ids })).collect()
}

/// Returns the link filters in `filter`. A location filter is converted to a venue filter.
pub fn link_filters(db: &mut Db, filter: &EventFilter) -> Result<Vec<LinkFilter>, DatabaseError> {
    let mut filters = own_link_filters(filter);
    let venues = geo_venues(db, filter)?;
    filters.extend(venues.map(|ids| LinkFilter { table: LinkTable::Venues, ids }));
    Ok(filters)
}

/// Returns the venues that match the location filter, or `None` if there is no location filter.
/// Searches a bounding box first, because that can use an index, and then checks the exact
/// distance.
fn geo_venues(db: &mut Db, filter: &EventFilter) -> Result<Option<Vec<i64>>, DatabaseError> {
    match filter.geo {
        None => Ok(None),
        Some(Geo::Known) => {
            let text = "select v.id as id from venues v where v.geo_lat is not null and ";
            let mut sql = Sql::new(db, text);
            statuses(&mut sql, "v", &filter.venue_scope);
            sql.load_ids(db).map(Some)
        }
        Some(Geo::Near { point, km }) => near(db, &filter.venue_scope, point, km).map(Some),
    }
}

#[derive(QueryableByName)]
struct PlaceRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Double)]
    geo_lat: f64,
    #[diesel(sql_type = Double)]
    geo_lng: f64,
}

fn near(db: &mut Db, scope: &Scope, point: Point, km: f64) -> Result<Vec<i64>, DatabaseError> {
    let reach = point.around(km);
    let text = format!(
        "select v.id, v.geo_lat, v.geo_lng from venues v where v.geo_lat between {} and {} \
         and v.geo_lng between {} and {} and ",
        reach.south, reach.north, reach.west, reach.east
    );
    let mut sql = Sql::new(db, &text);
    statuses(&mut sql, "v", scope);
    let rows: Vec<PlaceRow> = sql.load(db)?;
    let within =
        |row: &PlaceRow| point.distance_km(Point { lat: row.geo_lat, lng: row.geo_lng }) <= km;
    Ok(rows.iter().filter(|row| within(row)).map(|row| row.id).collect())
}

#[derive(QueryableByName)]
struct LinkRow {
    #[diesel(sql_type = BigInt)]
    other_id: i64,
    #[diesel(sql_type = BigInt)]
    event_id: i64,
}

/// Links loaded for a list request.
pub struct LinkRows {
    table: LinkTable,
    ids: Vec<i64>,
    rows: Vec<LinkRow>,
}

/// Reads all links to the ids in a filter.
pub fn read(db: &mut Db, missing: LinkFilter) -> Result<LinkRows, DatabaseError> {
    let LinkFilter { table, ids } = missing;
    let mut sql = Sql::new(db, "select other_id, event_id from ");
    sql.push(table.name()).push(" where other_id ").among(&ids);
    Ok(LinkRows { table, rows: sql.load(db)?, ids })
}

/// Maximum number of updates to the sets. Each changed event is an update to each set.
const MAX_UPDATES: usize = 4_000_000;

/// The sets loaded so far, by table and id.
#[derive(Default)]
pub struct LinkSets(HashMap<(LinkTable, i64), RoaringBitmap>);

impl LinkSets {
    /// Returns whether no sets have been loaded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a filter with only the ids for which no set has been loaded, or `None` if all sets
    /// have been loaded.
    pub fn missing(&self, filter: &LinkFilter) -> Option<LinkFilter> {
        let LinkFilter { table, ids } = filter;
        let missing = ids.iter().copied().filter(|id| !self.0.contains_key(&(*table, *id)));
        let ids: Vec<i64> = missing.collect();
        (!ids.is_empty()).then_some(LinkFilter { table: *table, ids })
    }

    /// Adds sets that were loaded from the database.
    pub fn fill(&mut self, links: LinkRows, table: &Table) {
        let LinkRows { table: kind, ids, rows } = links;
        let mut events: HashMap<i64, Vec<u32>> = HashMap::new();
        for LinkRow { other_id, event_id } in rows {
            if let Some(at) = table.position(event_id) {
                events.entry(other_id).or_default().push(at);
            }
        }
        for id in ids {
            let set = events.remove(&id).unwrap_or_default().into_iter().collect();
            self.0.insert((kind, id), set);
        }
    }

    /// Returns the events that match a filter.
    pub fn events(&self, filter: &LinkFilter) -> RoaringBitmap {
        let sets = filter.ids.iter().filter_map(|id| self.0.get(&(filter.table, *id)));
        let mut events = RoaringBitmap::default();
        sets.for_each(|set| events |= set);
        events
    }

    /// Replaces the links of changed events, given by position. Drops all sets if this would take
    /// too long, because list requests wait for it.
    pub fn replace_all(&mut self, events: &[(u32, &Links)]) {
        if events.len().saturating_mul(self.0.len()) > MAX_UPDATES {
            self.clear();
            return;
        }
        for (at, links) in events {
            self.replace(*at, links);
        }
    }

    fn replace(&mut self, at: u32, links: &Links) {
        for set in self.0.values_mut() {
            set.remove(at);
        }
        for (table, ids) in [
            (LinkTable::Terms, &links.categories),
            (LinkTable::Terms, &links.tags),
            (LinkTable::Venues, &links.venues),
            (LinkTable::Organizers, &links.organizers),
        ] {
            for id in ids {
                if let Some(set) = self.0.get_mut(&(table, *id)) {
                    set.insert(at);
                }
            }
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_changes_drop_many_sets() {
        let key = |id: i64| (LinkTable::Venues, id);
        let mut sets = LinkSets::default();
        sets.0.extend((0..2000).map(|id| (key(id), RoaringBitmap::default())));
        let links = Links { venues: vec![7], ..Links::default() };
        sets.replace_all(&[(3, &links)]);
        assert!(sets.0[&key(7)].contains(3) && !sets.0[&key(8)].contains(3));
        let all: Vec<(u32, &Links)> = (0..2001).map(|at| (at, &links)).collect();
        sets.replace_all(&all);
        assert!(sets.is_empty());
    }
}
