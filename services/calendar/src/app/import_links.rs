//! Finds the categories, venues and organizers of imported events.

use database::Db;
use serde_json::{Value, json};

use super::subscriber::{Subscriber, untrashed_venue};
use crate::error::Error;
use crate::ical::{self, Details};
use crate::model::event::Links;
use crate::model::html;
use crate::model::included::Included;
use crate::model::linked::{Kind, Linked};
use crate::model::list::Scope;
use crate::model::search;
use crate::model::term::{Term, TermRef};
use crate::store::linked_posts;

/// Maximum number of shortened names to try when looking for the venue. To shorten a location, we
/// cut it off at one of its commas.
const MAX_PARTS: usize = 8;

/// Returns the categories of a new event.
pub fn categories(
    db: &mut Db,
    subscriber: Option<&Subscriber>,
    details: &Details,
) -> Result<Vec<TermRef>, Error> {
    let categories = details.categories.iter();
    let mut categories = categories.map(|name| TermRef::Text(html::escape(name))).collect();
    if let Some(subscriber) = subscriber {
        subscriber.add_category(db, &mut categories)?;
    }
    Ok(categories)
}

/// Returns whether an event already has the categories that an import would assign. `old` is the
/// event as our feeds show it.
pub fn has_categories(
    subscriber: Option<&Subscriber>,
    details: &Details,
    (old, links): (Option<&Details>, &Links),
) -> bool {
    let Some(old) = old else { return false };
    match subscriber.and_then(Subscriber::category) {
        Some((id, name)) => {
            let others = |details: &Details| -> Vec<String> {
                details.categories.iter().filter(|one| *one != name).cloned().collect()
            };
            links.categories.contains(&id) && others(old) == others(details)
        }
        None => old.categories == details.categories,
    }
}

/// Splits the file's category names into categories and tags. A name is a tag if the event already
/// has a tag with this name, and a category otherwise.
pub fn terms(
    db: &mut Db,
    subscriber: Option<&Subscriber>,
    details: &Details,
    (links, included): (&Links, &Included),
) -> Result<(Vec<TermRef>, Vec<TermRef>), Error> {
    let names = &details.categories;
    let name_of = |id: &i64| included.terms.get(id).map(Term::line);
    let (mut tags, mut tag_names) = (Vec::new(), Vec::new());
    for id in &links.tags {
        let name = name_of(id);
        if name.as_ref().is_none_or(|name| names.contains(name)) {
            tags.push(TermRef::Id(*id));
        }
        tag_names.extend(name);
    }
    let categories = names.iter().filter(|name| !tag_names.contains(name));
    let mut categories = categories.map(|name| TermRef::Text(html::escape(name))).collect();
    if let Some(subscriber) = subscriber {
        subscriber.add_category(db, &mut categories)?;
    }
    Ok((categories, tags))
}

/// Returns whether an event already has the venue that an import would assign. `old` is the event
/// as our feeds show it.
pub fn has_venue(
    subscriber: Option<&Subscriber>,
    details: &Details,
    (old, links): (Option<&Details>, &Links),
) -> bool {
    match subscriber.and_then(Subscriber::venue).filter(|_| details.location.is_empty()) {
        Some(id) => links.venues == [id],
        None => old.is_some_and(|old| old.location == details.location),
    }
}

/// Returns the venue for a location: an existing one with this address or name, or else a new one
/// if that is permitted. Events without a location get the subscription's venue.
pub fn venue(
    db: &mut Db,
    subscriber: Option<&Subscriber>,
    (details, creates): (&Details, bool),
) -> Result<Option<Value>, Error> {
    let location = details.location.as_str();
    if location.is_empty() {
        // The venue might have been deleted since the import started.
        let own = match subscriber.and_then(Subscriber::venue) {
            Some(id) => untrashed_venue(db, id)?,
            None => None,
        };
        return Ok(Some(own.map_or_else(|| json!([]), |id| json!(id))));
    }
    let ends = location.match_indices(", ").map(|(at, _)| at).take(MAX_PARTS);
    for name in std::iter::once(location).chain(ends.map(|at| &location[..at])) {
        let same = |row: &Linked| name == location || ical::location(row) == location;
        if let Some(row) = known(db, Kind::Venue, name, same)? {
            return Ok(Some(json!(row.id)));
        }
    }
    let mut venue = json!({"venue": html::escape(location)});
    if let Some((lat, lng)) = details.geo {
        venue["geo_lat"] = json!(lat);
        venue["geo_lng"] = json!(lng);
    }
    Ok(Some(venue).filter(|_| creates))
}

/// Returns the organizer with this name, or a new one if that is permitted.
pub fn organizer(db: &mut Db, details: &Details, creates: bool) -> Result<Option<Value>, Error> {
    let Some((name, mail)) = &details.organizer else { return Ok(Some(json!([]))) };
    Ok(match known(db, Kind::Organizer, name, |_| true)? {
        Some(row) => Some(json!(row.id)),
        None => Some(json!([{"organizer": html::escape(name), "email": mail}])).filter(|_| creates),
    })
}

fn known(
    db: &mut Db,
    kind: Kind,
    name: &str,
    same: impl Fn(&Linked) -> bool,
) -> Result<Option<Linked>, Error> {
    for id in linked_posts::named(db, kind, &search::fold_name(name), &Scope::untrashed(), None)? {
        if let Some(row) = linked_posts::find(db, kind, id)?.filter(&same) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}
