//! Assigns slugs.

use database::{DatabaseError, Db};

use crate::model::status::{Stage, Status};
use crate::model::{html, slug};
use crate::store::{series, slugs};

pub struct SlugSource<'a> {
    /// The slug in the request.
    pub sent: Option<&'a str>,
    pub current: &'a str,
    /// The resource's title or name.
    pub title: &'a str,
    pub was_trashed: bool,
    pub is_trashed: bool,
}

impl<'a> SlugSource<'a> {
    /// Returns the slug in the request. `None` if it is the current slug, because clients often
    /// send back the slug they read, even for a trashed resource.
    fn new_one(&self) -> Option<&'a str> {
        self.sent.filter(|sent| !sent.eq_ignore_ascii_case(self.current))
    }
}

/// Returns the slug that a resource should get, even if it is taken. Returns an empty string if
/// neither the request nor the title contains a usable slug.
pub fn wanted(table: &str, source: &SlugSource<'_>) -> String {
    let SlugSource { current, title, was_trashed, .. } = *source;
    let untrashed =
        if was_trashed { current.strip_suffix(slug::TRASHED).unwrap_or(current) } else { current };
    let chosen = match source.new_one() {
        Some(sent) if table == "events" => slug::slugify_dated(sent),
        Some(sent) => slug::slugify(sent),
        None => untrashed.to_owned(),
    };
    if chosen.is_empty() { slug::slugify(&html::decode(title)) } else { chosen }
}

/// Returns a resource's slug after a change. Slugs are unique per table. If the new slug used to
/// redirect to a different row, that redirect is removed.
///
/// Candidates are the slug in the request, the current one, and the title, in this order. If none
/// of them has any valid characters, the id is used. Trashed resources get a suffix.
pub fn assign(
    db: &mut Db,
    table: &'static str,
    id: i64,
    source: SlugSource<'_>,
) -> Result<String, DatabaseError> {
    let SlugSource { current, was_trashed, is_trashed, .. } = source;
    let sent = source.new_one();
    if sent.is_none() && !current.is_empty() && was_trashed == is_trashed {
        return Ok(current.to_owned());
    }
    let base = match wanted(table, &source) {
        base if base.is_empty() => id.to_string(),
        base => base,
    };
    let suffix = if is_trashed { slug::TRASHED } else { "" };
    let new = match table {
        "events" => free_of_event(db, (&base, suffix), (id, sent.is_none()))?,
        _ => slugs::free(db, table, &base, suffix, id)?,
    };
    slugs::forget_former(db, table, &new)?;
    Ok(new)
}

/// Returns a slug that isn't used by another event or a series. Series slugs count because a
/// series' page redirects to its next event. An event that already shares its own series' slug can
/// keep it.
pub fn free_of_event(
    db: &mut Db,
    (base, suffix): (&str, &str),
    (id, may_share): (i64, bool),
) -> Result<String, DatabaseError> {
    let free = slug::free(base, |candidate| {
        if slugs::is_taken(db, "events", &slug::with_suffix(candidate, suffix), id)? {
            return Ok(true);
        }
        // Trashed events don't have a page, and series slugs don't contain a date.
        let is_address = suffix.is_empty() && !candidate.contains(slug::SEPARATOR);
        if !is_address || !slugs::is_taken(db, "series", candidate, 0)? {
            return Ok(false);
        }
        let own = if may_share { series::of_event(db, id)? } else { None };
        Ok::<_, DatabaseError>(own.is_none_or(|own| own.series.slug != candidate))
    })?;
    Ok(slug::with_suffix(&free, suffix))
}

/// Records a published row's former slug so that its old URL redirects.
pub fn remember(
    db: &mut Db,
    collection: &str,
    id: i64,
    (old, status): (&str, &Status),
    new: &str,
) -> Result<(), DatabaseError> {
    match old != new && status.stage() == Stage::Publish && !new.ends_with(slug::TRASHED) {
        true => slugs::note_former(db, collection, old, id),
        false => Ok(()),
    }
}
