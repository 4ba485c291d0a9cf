//! Answers of the database to what the reading of a request asks.

use std::collections::{HashMap, HashSet};

use database::{DatabaseError, Db};

use crate::error::Error;
use crate::model::linked::Kind;
use crate::model::term::Taxonomy;
use crate::store::{events, images, linked, people, terms};
use crate::wire::decode::Problems;
use crate::wire::facts::Facts;

struct Known<'a> {
    db: &'a mut Db,
    /// The first failure; what is answered after it does not count.
    failure: Option<DatabaseError>,
}

impl Known<'_> {
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

impl Facts for Known<'_> {
    fn user(&mut self, id: i64) -> bool {
        self.ask(|db| people::exists(db, id))
    }

    fn event(&mut self, id: i64) -> bool {
        self.ask(|db| events::exists(db, id))
    }

    fn image(&mut self, id: i64) -> bool {
        self.ask(|db| images::exists(db, id))
    }

    fn linked(&mut self, kind: Kind, ids: &[i64]) -> HashSet<i64> {
        self.ask(|db| linked::existing(db, kind, ids))
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

/// Reads a request against the database; a failing database wins over failing parameters.
pub fn with_facts<T>(
    db: &mut Db,
    read: impl FnOnce(&mut dyn Facts) -> Result<T, Problems>,
) -> Result<T, Error> {
    let mut known = Known { db, failure: None };
    let outcome = read(&mut known);
    match known.failure {
        Some(failure) => Err(failure.into()),
        None => Ok(outcome?),
    }
}
