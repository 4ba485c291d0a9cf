//! Slugs of resources as writes assign them.

use database::{DatabaseError, Db};

use crate::model::{html, slug};
use crate::store::slugs;

/// What a slug is made from.
pub struct SlugSource<'a> {
    /// The slug that the write sends.
    pub sent: Option<&'a str>,
    /// The slug that the resource has.
    pub current: &'a str,
    /// Title or name of the resource.
    pub title: &'a str,
    pub was_trashed: bool,
    pub is_trashed: bool,
}

/// Returns the slug of a resource after a write, free in its table.
///
/// A slug that is sent wins, then the one it has, then its title; where neither leaves anything
/// that can stand in a URL, its id. In the trash the slug carries a suffix.
pub fn assign(
    db: &mut Db,
    table: &'static str,
    id: i64,
    source: SlugSource<'_>,
) -> Result<String, DatabaseError> {
    let SlugSource { sent, current, title, was_trashed, is_trashed } = source;
    // What a read shows can be sent back, from the trash too.
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
    slugs::free(db, table, &base, if is_trashed { slug::TRASHED } else { "" }, id)
}
