//! Reads included resources.

use std::collections::HashSet;

use database::{DatabaseError, Db};

use super::postgres;
use super::selector::EventSelector;
use crate::model::event::Event;
use crate::model::included::Included;
use crate::model::linked::{Kind, Linked};
use crate::model::term::Term;
use crate::store::{
    event_moves, event_statuses, events, images, linked_posts, links, series, terms,
};

/// Maximum number of events to read with the PostgreSQL statement. Each array element takes up a
/// kilobyte until the response is sent, and with 500 events, it took 16 ms longer than separate
/// rows.
pub const LONGEST_ANSWER: usize = 50;

fn unique(ids: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut ids: Vec<i64> = ids.collect::<HashSet<_>>().into_iter().collect();
    ids.sort_unstable();
    ids
}

/// Reads events with all included resources.
///
/// On PostgreSQL, this is usually a single statement, because round trips take longer than the
/// query. SQLite has no round trips, and its short statements are already prepared.
///
/// This can run several statements, so call it in a transaction if concurrent writes matter.
pub fn of_events(
    db: &mut Db,
    which: EventSelector<'_>,
) -> Result<(Vec<Event>, Included), DatabaseError> {
    let is_long = matches!(which, EventSelector::Ids(ids) if ids.len() > LONGEST_ANSWER);
    if let Db::Pg(conn) = db
        && !is_long
    {
        let (events, mut included) = postgres::of_events(conn, which)?;
        included.previous_starts = event_moves::of_rescheduled(db, &included.statuses)?;
        return Ok((events, included));
    }
    let events = match which {
        EventSelector::Id(id) => events::find(db, id)?.into_iter().collect(),
        EventSelector::Slug(slug) => events::find_by_slug(db, slug)?.into_iter().collect(),
        EventSelector::Ids(ids) => events::by_ids(db, ids)?,
    };
    let ids: Vec<i64> = events.iter().map(|event| event.id).collect();
    let links = links::of_events(db, &ids)?;
    let all = || links.values();
    let term_ids = unique(all().flat_map(|l| l.categories.iter().chain(&l.tags)).copied());
    let venue_ids = unique(all().flat_map(|l| &l.venues).copied());
    let organizer_ids = unique(all().flat_map(|l| &l.organizers).copied());
    let terms = terms::with_ancestors(db, &term_ids)?;
    let venues = linked_posts::by_ids(db, Kind::Venue, &venue_ids)?;
    let organizers = linked_posts::by_ids(db, Kind::Organizer, &organizer_ids)?;
    let of_linked = venues.values().chain(organizers.values()).filter_map(|row| row.image);
    let image_ids = unique(events.iter().filter_map(|event| event.image).chain(of_linked));
    let images = images::by_ids(db, &image_ids)?;
    let statuses = event_statuses::of_events(db, &ids)?;
    let previous_starts = event_moves::of_rescheduled(db, &statuses)?;
    let series = series::of_events(db, &ids)?;
    let included =
        Included { links, terms, venues, organizers, images, statuses, previous_starts, series };
    Ok((events, included))
}

/// Reads the resources included with venues or organizers.
pub fn of_linked(db: &mut Db, rows: &[Linked]) -> Result<Included, DatabaseError> {
    let ids = unique(rows.iter().filter_map(|row| row.image));
    Ok(Included { images: images::by_ids(db, &ids)?, ..Included::default() })
}

/// Reads the resources included with terms.
pub fn of_terms(db: &mut Db, rows: &[Term]) -> Result<Included, DatabaseError> {
    let parents = unique(rows.iter().map(|term| term.parent).filter(|parent| *parent != 0));
    Ok(Included { terms: terms::with_ancestors(db, &parents)?, ..Included::default() })
}
