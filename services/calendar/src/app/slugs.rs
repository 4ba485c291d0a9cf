//! Assigns slugs.

use database::{DatabaseError, Db};

use crate::model::status::{Stage, Status};
use crate::model::{html, slug};
use crate::store::slugs;

pub struct SlugSource<'a> {
    /// The slug sent with the write.
    pub sent: Option<&'a str>,
    pub current: &'a str,
    /// The resource's title or name.
    pub title: &'a str,
    pub was_trashed: bool,
    pub is_trashed: bool,
}

impl<'a> SlugSource<'a> {
    /// Returns the slug sent with the write. `None` if it is the current one, because clients may
    /// send back the slug they read, even that of a trashed resource.
    fn new_one(&self) -> Option<&'a str> {
        self.sent.filter(|sent| !sent.eq_ignore_ascii_case(self.current))
    }
}

/// Returns the slug that a resource would get if it were free. Empty if neither the write nor the
/// title has a usable one.
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

/// Returns a resource's slug after a write. Slugs are unique per table. If the new slug used to
/// redirect to a different row, that redirect is removed.
///
/// We try the slug from the write, then the current one, then the title. If none of them has any
/// valid characters, we use the id. Trashed resources get a suffix.
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
    // The page with the name of a series leads to its next event.
    let base = match table == "events" && sent.is_none() && current.is_empty() {
        true => slugs::free(db, "series", &base, "", 0)?,
        false => base,
    };
    let new = slugs::free(db, table, &base, if is_trashed { slug::TRASHED } else { "" }, id)?;
    slugs::forget_former(db, table, &new)?;
    Ok(new)
}

/// Records a published row's former slug, so that the old URL redirects.
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
