//! Looks up the rows that a request refers to.

use std::collections::{HashMap, HashSet};

use database::{DatabaseError, Db};

use crate::model::event::Event;
use crate::model::linked::Kind;
use crate::model::role::{self, Actor, User};
use crate::model::term::Taxonomy;
use crate::store::series_events::{self, Visibility};
use crate::store::{events, images, linked_posts, terms, users};
use crate::wire::names::{Known, KnownTerms, Names, TermNames};
use crate::wire::objects::{Labels, Objects, Row};

/// Looks up the rows and returns those that exist. Events and images that the caller isn't allowed
/// to read count as missing. So does a series if it consists only of such events.
pub fn look_up(db: &mut Db, names: &Names, actor: &Actor) -> Result<Known, DatabaseError> {
    let Names { users, events, series, images, venues, organizers, categories, tags, objects } =
        names;
    Ok(Known {
        users: existing(db, users, users::exists)?,
        events: readable_events(db, events, actor)?,
        series: existing(db, series, |db, id| is_shown(db, id, actor))?,
        images: existing(db, images, |db, id| images::is_shown(db, id, actor))?,
        venues: linked(db, Kind::Venue, venues)?,
        organizers: linked(db, Kind::Organizer, organizers)?,
        categories: known_terms(db, Taxonomy::Category, categories)?,
        tags: known_terms(db, Taxonomy::Tag, tags)?,
        objects: Objects(labels(db, objects, actor)?),
    })
}

/// Looks up ids one at a time, because a request only has a few.
fn existing(
    db: &mut Db,
    ids: &[i64],
    exists: impl Fn(&mut Db, i64) -> Result<bool, DatabaseError>,
) -> Result<HashSet<i64>, DatabaseError> {
    let mut found = HashSet::new();
    for id in ids {
        if !found.contains(id) && exists(db, *id)? {
            found.insert(*id);
        }
    }
    Ok(found)
}

/// Returns whether the caller is allowed to see at least one event of a series. If not, the
/// existence of the series must not be revealed.
fn is_shown(db: &mut Db, series: i64, actor: &Actor) -> Result<bool, DatabaseError> {
    let is_shown = |events: &Visibility| {
        let (status, author) = (events.status(), events.author);
        let edits = |user: &User| role::may_edit(user, &status, None, author);
        role::may_read(actor, &status, author)
            && (events.is_listed == 1 || actor.as_ref().is_some_and(edits))
    };
    Ok(series_events::visibilities(db, series)?.iter().any(is_shown))
}

/// Looks up the events whose content the caller is allowed to read. Without access to an event's
/// content, filtering by that event isn't allowed either, because its links and terms reveal as
/// much as the event itself.
fn readable_events(db: &mut Db, ids: &[i64], actor: &Actor) -> Result<HashSet<i64>, DatabaseError> {
    let mut found = HashSet::new();
    for id in ids {
        let Some(event) = events::find(db, *id)? else { continue };
        let Event { status, previous, author, password, .. } = event;
        let edits = actor
            .as_ref()
            .is_some_and(|user| role::may_edit(user, &status, previous.as_ref(), author));
        if role::may_read(actor, &status, author) && (password.is_none() || edits) {
            found.insert(*id);
        }
    }
    Ok(found)
}

/// Reads the slugs and names of rows that the client sends back as complete objects.
fn labels(
    db: &mut Db,
    objects: &[(Row, i64)],
    actor: &Actor,
) -> Result<HashMap<(Row, i64), Labels>, DatabaseError> {
    let mut found = HashMap::new();
    for (row, id) in objects {
        if found.contains_key(&(*row, *id)) {
            continue;
        }
        let labels = match row {
            Row::Linked(kind) => linked_posts::label(db, *kind, *id)?,
            Row::Term(taxonomy) => {
                terms::find(db, *taxonomy, *id)?.map(|term| (term.slug, term.name))
            }
            Row::Image if !images::is_shown(db, *id, actor)? => None,
            Row::Image => {
                images::by_ids(db, &[*id])?.remove(id).map(|image| (String::new(), image.url))
            }
        };
        found.extend(labels.map(|(slug, name)| ((*row, *id), Labels { slug, name })));
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
