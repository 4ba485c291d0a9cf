//! Looks up the rows that a request names.

use std::collections::HashSet;

use database::{DatabaseError, Db};

use crate::model::linked::Kind;
use crate::model::term::Taxonomy;
use crate::store::{events, images, linked_posts, terms, users};
use crate::wire::names::{Known, KnownTerms, Names, TermNames};

/// Returns the named rows that exist.
pub fn look_up(db: &mut Db, names: &Names) -> Result<Known, DatabaseError> {
    let Names { users, events, images, venues, organizers, categories, tags } = names;
    Ok(Known {
        users: existing(db, users, users::exists)?,
        events: existing(db, events, events::exists)?,
        images: existing(db, images, images::exists)?,
        venues: linked(db, Kind::Venue, venues)?,
        organizers: linked(db, Kind::Organizer, organizers)?,
        categories: known_terms(db, Taxonomy::Category, categories)?,
        tags: known_terms(db, Taxonomy::Tag, tags)?,
    })
}

/// Looks up ids one by one, since a request names only a few.
fn existing(
    db: &mut Db,
    ids: &[i64],
    exists: fn(&mut Db, i64) -> Result<bool, DatabaseError>,
) -> Result<HashSet<i64>, DatabaseError> {
    let mut found = HashSet::new();
    for id in ids {
        if !found.contains(id) && exists(db, *id)? {
            found.insert(*id);
        }
    }
    Ok(found)
}

fn linked(db: &mut Db, kind: Kind, ids: &[i64]) -> Result<HashSet<i64>, DatabaseError> {
    match ids.is_empty() {
        true => Ok(HashSet::new()),
        false => linked_posts::existing(db, kind, ids),
    }
}

fn known_terms(
    db: &mut Db,
    taxonomy: Taxonomy,
    TermNames { ids, slugs }: &TermNames,
) -> Result<KnownTerms, DatabaseError> {
    let mut known = KnownTerms::default();
    if !ids.is_empty() {
        known.ids = terms::existing(db, taxonomy, ids)?;
    }
    if !slugs.is_empty() {
        known.slugs = terms::ids_by_slug(db, taxonomy, slugs)?;
    }
    Ok(known)
}
