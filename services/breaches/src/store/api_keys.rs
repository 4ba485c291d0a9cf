//! Keys of the `auth` crate, by owner.

use database::{DatabaseError, Db};

/// The hint and the creation time of an owner's live key.
pub fn live(db: &mut Db, owner: &str, now: i64) -> Result<Option<(String, i64)>, DatabaseError> {
    let keys = auth::list_keys(db)?.into_iter().rev();
    let mut own = keys.filter(|key| {
        let over = key.expires_at.is_some_and(|end| end <= now);
        key.owner == owner && key.revoked_at.is_none() && !over
    });
    Ok(own.next().map(|key| (key.hint, key.created_at)))
}
