//! Looks up the rows of imported items in this calendar.

use database::Db;

use super::items::ItemKind;
use crate::error::Error;
use crate::store::{events, linked_posts, terms};

/// Returns whether the item still has a row.
pub fn exists(db: &mut Db, kind: ItemKind, id: i64) -> Result<bool, Error> {
    Ok(match kind {
        ItemKind::Term(taxonomy) => terms::find(db, taxonomy, id)?.is_some(),
        ItemKind::Linked(kind) => linked_posts::label(db, kind, id)?.is_some(),
        ItemKind::Event => true,
    })
}

/// Returns whether the item was erased or trashed here.
pub fn is_removed(db: &mut Db, kind: ItemKind, id: i64) -> Result<bool, Error> {
    Ok(match kind {
        ItemKind::Term(_) => !exists(db, kind, id)?,
        ItemKind::Linked(kind) => {
            linked_posts::find(db, kind, id)?.is_none_or(|row| row.status.is_trashed())
        }
        ItemKind::Event => events::find(db, id)?.is_none_or(|row| row.status.is_trashed()),
    })
}
