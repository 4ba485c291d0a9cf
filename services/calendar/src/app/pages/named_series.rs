//! Finds series by their name in addresses.

use database::{DatabaseError, Db};

use crate::store::{series, series_names};

/// Finds a series with public events by its present or former slug. Returns its present slug and
/// its next event.
pub fn find(db: &mut Db, slug: &str, now: i64) -> Result<Option<(String, i64)>, DatabaseError> {
    if let Some(next) = series::next_of_slug(db, slug, now)? {
        return Ok(Some((slug.to_owned(), next)));
    }
    let Some(slug) = series_names::present(db, slug)? else { return Ok(None) };
    Ok(series::next_of_slug(db, &slug, now)?.map(|next| (slug, next)))
}
