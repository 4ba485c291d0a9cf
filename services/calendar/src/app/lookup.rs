//! Database look-ups during decoding.

use std::collections::{HashMap, HashSet};

use database::{DatabaseError, Db};

use crate::error::Error;
use crate::model::linked::Kind;
use crate::model::term::Taxonomy;
use crate::store::{events, images, linked_posts, terms, users};
use crate::wire::lookup::Lookup;
use crate::wire::parameter_errors::ParameterErrors;

struct DatabaseLookup<'a> {
    db: &'a mut Db,
    /// The first failure. Later look-ups return defaults.
    failure: Option<DatabaseError>,
}

impl DatabaseLookup<'_> {
    fn ask<T: Default>(&mut self, ask: impl FnOnce(&mut Db) -> Result<T, DatabaseError>) -> T {
        if self.failure.is_some() {
            return T::default();
        }
        ask(self.db).unwrap_or_else(|error| {
            self.failure = Some(error);
            T::default()
        })
    }
}

impl Lookup for DatabaseLookup<'_> {
    fn user(&mut self, id: i64) -> bool {
        self.ask(|db| users::exists(db, id))
    }

    fn event(&mut self, id: i64) -> bool {
        self.ask(|db| events::exists(db, id))
    }

    fn image(&mut self, id: i64) -> bool {
        self.ask(|db| images::exists(db, id))
    }

    fn linked(&mut self, kind: Kind, ids: &[i64]) -> HashSet<i64> {
        self.ask(|db| linked_posts::existing(db, kind, ids))
    }

    fn term(&mut self, taxonomy: Taxonomy, id: i64) -> bool {
        self.ask(|db| terms::find(db, taxonomy, id).map(|term| term.is_some()))
    }

    fn terms(&mut self, taxonomy: Taxonomy, ids: &[i64]) -> HashSet<i64> {
        self.ask(|db| terms::existing(db, taxonomy, ids))
    }

    fn terms_by_slug(&mut self, taxonomy: Taxonomy, slugs: &[String]) -> HashMap<String, i64> {
        self.ask(|db| terms::ids_by_slug(db, taxonomy, slugs))
    }
}

/// Decodes a request with database look-ups. A database failure takes precedence over invalid
/// parameters.
pub fn with_lookup<T>(
    db: &mut Db,
    decode: impl FnOnce(&mut dyn Lookup) -> Result<T, ParameterErrors>,
) -> Result<T, Error> {
    let mut database = DatabaseLookup { db, failure: None };
    let outcome = decode(&mut database);
    match database.failure {
        Some(failure) => Err(failure.into()),
        None => Ok(outcome?),
    }
}
