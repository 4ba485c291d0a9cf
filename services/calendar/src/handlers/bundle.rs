//! Gathers what resources refer to: one batched query for each kind.

use std::collections::{HashMap, HashSet};

use store::{Db, StoreError};

use crate::model::event::Event;
use crate::model::linked::{Kind, Linked};
use crate::model::role::{self, Actor};
use crate::model::term::Term;
use crate::store::{images, linked, links, terms};
use crate::wire::view::Bundle;

fn unique(ids: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut ids: Vec<i64> = ids.collect::<HashSet<_>>().into_iter().collect();
    ids.sort_unstable();
    ids
}

/// Reads the linked rows that the caller may read; what lies in the trash is nobody's.
fn readable(
    db: &mut Db,
    kind: Kind,
    ids: &[i64],
    actor: &Actor,
) -> Result<HashMap<i64, Linked>, StoreError> {
    let mut rows = linked::by_ids(db, kind, ids)?;
    rows.retain(|_, row| {
        !row.status.is_trashed() && role::may_read(actor, &row.status, row.author)
    });
    Ok(rows)
}

/// Gathers for events.
pub fn of_events(db: &mut Db, events: &[Event], actor: &Actor) -> Result<Bundle, StoreError> {
    let ids: Vec<i64> = events.iter().map(|event| event.id).collect();
    let links = links::of_events(db, &ids)?;
    let all = || links.values();
    let term_ids = unique(all().flat_map(|l| l.categories.iter().chain(&l.tags)).copied());
    let venue_ids = unique(all().flat_map(|l| &l.venues).copied());
    let organizer_ids = unique(all().flat_map(|l| &l.organizers).copied());
    let terms = terms::with_ancestors(db, &term_ids)?;
    let venues = readable(db, Kind::Venue, &venue_ids, actor)?;
    let organizers = readable(db, Kind::Organizer, &organizer_ids, actor)?;
    let of_linked = venues.values().chain(organizers.values()).filter_map(|row| row.image);
    let image_ids = unique(events.iter().filter_map(|event| event.image).chain(of_linked));
    let images = images::by_ids(db, &image_ids)?;
    Ok(Bundle { links, terms, venues, organizers, images })
}

/// Gathers for venues or organizers.
pub fn of_linked(db: &mut Db, rows: &[Linked]) -> Result<Bundle, StoreError> {
    let ids = unique(rows.iter().filter_map(|row| row.image));
    Ok(Bundle { images: images::by_ids(db, &ids)?, ..Bundle::default() })
}

/// Gathers for terms.
pub fn of_terms(db: &mut Db, rows: &[Term]) -> Result<Bundle, StoreError> {
    let parents = unique(rows.iter().map(|term| term.parent).filter(|parent| *parent != 0));
    Ok(Bundle { terms: terms::with_ancestors(db, &parents)?, ..Bundle::default() })
}
