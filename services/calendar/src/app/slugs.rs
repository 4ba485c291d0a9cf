//! Slugs that writes assign.

use database::{DatabaseError, Db};

use crate::model::status::{Stage, Status};
use crate::model::{html, slug};
use crate::store::slugs;

pub struct SlugSource<'a> {
    /// The slug in the write.
    pub sent: Option<&'a str>,
    pub current: &'a str,
    /// Title or name of the resource.
    pub title: &'a str,
    pub was_trashed: bool,
    pub is_trashed: bool,
}

/// Returns the slug of a resource after a write, unique in its table. If the new slug used to
/// redirect to another row, that redirect is removed.
///
/// The sent slug takes precedence, then the current one, then the title. If none has valid
/// characters, the id is used. Trashed resources get a suffix.
pub fn assign(
    db: &mut Db,
    table: &'static str,
    id: i64,
    source: SlugSource<'_>,
) -> Result<String, DatabaseError> {
    let SlugSource { sent, current, title, was_trashed, is_trashed } = source;
    // A slug that was read may be sent back, even that of a trashed resource.
    let sent = sent.filter(|sent| !sent.eq_ignore_ascii_case(current));
    if sent.is_none() && !current.is_empty() && was_trashed == is_trashed {
        return Ok(current.to_owned());
    }
    let untrashed =
        if was_trashed { current.strip_suffix(slug::TRASHED).unwrap_or(current) } else { current };
    let chosen = match sent {
        Some(sent) => slug::slugify(sent),
        None => untrashed.to_owned(),
    };
    let candidates = [chosen, slug::slugify(&html::decode(title)), id.to_string()];
    let base = candidates.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let new = slugs::free(db, table, &base, if is_trashed { slug::TRASHED } else { "" }, id)?;
    slugs::forget_former(db, table, &new)?;
    Ok(new)
}

/// Remembers the former slug of a published row, so that its URL redirects.
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
