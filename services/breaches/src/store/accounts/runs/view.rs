//! Caches run filters and domain names in memory.

use std::collections::HashMap;
use std::sync::Arc;

use database::{DatabaseError, Db};
use diesel::prelude::*;
use parking_lot::Mutex;

use super::block::damaged;
use super::filter::{Filter, Place};
use super::key_map::KeyMap;
use super::list::{self, Run};
use super::run_account::RunAccount;
use crate::store::mail_domains::KnownNames;
use crate::store::schema::run_filter;

/// Filters and domain names shared by all connections of a process.
#[derive(Debug, Default)]
pub struct AccountFilters {
    filters: Mutex<HashMap<i64, Arc<Filter>>>,
    /// The key map, along with the ids of the runs it was built from.
    map: Mutex<Option<(Vec<i64>, Arc<KeyMap>)>>,
    names: Arc<KnownNames>,
}

impl AccountFilters {
    /// Returns the cache of domain names.
    pub(in crate::store::accounts) fn names(&self) -> &KnownNames {
        &self.names
    }

    /// Renews the cache of domain names.
    pub fn renew_names(&self, db: &mut Db, now: i64) -> Result<(), DatabaseError> {
        self.names.renew(db, now)
    }

    /// Returns a run's filter, loading it if necessary. Filters never change.
    fn get(&self, conn: &mut SqliteConnection, run: i64) -> Result<Arc<Filter>, DatabaseError> {
        let mut kept = self.filters.lock();
        if let Some(filter) = kept.get(&run) {
            return Ok(Arc::clone(filter));
        }
        let bytes: Vec<u8> = run_filter::table.find(run).select(run_filter::data).first(conn)?;
        let filter = Filter::from_bytes(&bytes).ok_or_else(|| damaged("filters"))?;
        let filter = Arc::new(filter);
        kept.insert(run, Arc::clone(&filter));
        Ok(filter)
    }

    /// Returns the key map for these runs, rebuilding it if necessary. `None` if there are no runs.
    fn map(&self, runs: &[(Run, Arc<Filter>)]) -> Option<Arc<KeyMap>> {
        let ids: Vec<i64> = runs.iter().map(|(run, _)| run.id).collect();
        let mut kept = self.map.lock();
        if ids.is_empty() {
            *kept = None;
        } else if kept.as_ref().is_none_or(|(known, _)| *known != ids) {
            let filters = runs.iter().map(|(_, filter)| filter.as_ref());
            *kept = Some((ids, Arc::new(KeyMap::of(filters))));
        }
        kept.as_ref().map(|(_, map)| Arc::clone(map))
    }

    /// Drops the filters of runs that no longer exist.
    fn keep_only(&self, runs: &[Run]) {
        let mut kept = self.filters.lock();
        kept.retain(|id, _| runs.iter().any(|run| run.id == *id));
    }
}

/// Opens a transaction and passes a view of its runs to `read`.
pub fn with_view<T, E: From<DatabaseError>>(
    db: &mut Db,
    filters: &AccountFilters,
    read: impl FnOnce(&mut Db, Arc<AccountView>) -> Result<T, E>,
) -> Result<T, E> {
    let done: Result<Result<T, E>, diesel::result::Error> = db.transaction(|db| {
        let view = match AccountView::read(db, filters) {
            Ok(view) => Arc::new(view),
            Err(error) => return Ok(Err(error.into())),
        };
        Ok(read(db, view))
    });
    done.map_err(DatabaseError::from)?
}

/// The runs visible to a transaction, with their filters. Empty on PostgreSQL.
#[derive(Debug, Default)]
pub struct AccountView {
    runs: Vec<(Run, Arc<Filter>)>,
    map: Option<Arc<KeyMap>>,
    names: Arc<KnownNames>,
}

impl AccountView {
    /// Reads the list of runs.
    pub fn read(db: &mut Db, filters: &AccountFilters) -> Result<Self, DatabaseError> {
        let Db::Sqlite(conn) = db else { return Ok(Self::default()) };
        let runs = list::all(conn)?;
        filters.keep_only(&runs);
        let mut with_filters = Vec::with_capacity(runs.len());
        for run in runs {
            with_filters.push((run, filters.get(conn, run.id)?));
        }
        let map = filters.map(&with_filters);
        Ok(Self { runs: with_filters, map, names: Arc::clone(&filters.names) })
    }

    /// Looks up the domain of each account, in the same order.
    pub fn domains(
        &self,
        conn: &mut SqliteConnection,
        accounts: &[RunAccount],
    ) -> Result<Vec<String>, DatabaseError> {
        self.names.names(conn, accounts.iter().map(|account| account.domain_id))
    }

    /// Returns the runs that may contain a key from `low` to `high`, inclusive.
    pub(super) fn with_keys(&self, low: i64, high: i64) -> Vec<i64> {
        if !self.map.as_ref().is_some_and(|map| map.may_have(low, high)) {
            return Vec::new();
        }
        // Compute all places up front so that the CPU waits for memory only once rather than once
        // per run.
        let places: Vec<Place> =
            self.runs.iter().map(|(_, filter)| filter.place(low, high)).collect();
        let at_places = self.runs.iter().zip(&places);
        let may_have = at_places.filter(|((_, filter), place)| filter.has(place));
        may_have.map(|((run, _), _)| run.id).collect()
    }
}
