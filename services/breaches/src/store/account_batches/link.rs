//! Cuts accounts into groups for their database.

use database::{DatabaseError, Db};

use super::changes::{Linked, NewAccount};
use super::{postgres, sqlite};

/// Links accounts, which are sorted by key and without repetitions, to their breaches.
///
/// What is linked and what is still to be filed under its domain is added to `linked`. No two
/// transactions may do so at once: see `versions::lock_accounts`.
pub fn link(db: &mut Db, new: &[NewAccount<'_>], linked: &mut Linked) -> Result<(), DatabaseError> {
    match db {
        Db::Sqlite(conn) => {
            groups(new, sqlite::GROUP).try_for_each(|group| sqlite::link(conn, group, linked))
        }
        Db::Pg(conn) => {
            groups(new, postgres::GROUP).try_for_each(|group| postgres::link(conn, group, linked))
        }
    }
}

/// Cuts into groups so that equal keys are never in one group: a second address with the same key
/// must see the first one as existing.
fn groups<'s, 'a>(
    new: &'s [NewAccount<'a>],
    size: usize,
) -> impl Iterator<Item = &'s [NewAccount<'a>]> {
    new.chunk_by(|a, b| a.k != b.k).flat_map(move |distinct| distinct.chunks(size))
}
