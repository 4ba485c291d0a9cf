//! Digests of opted-out addresses.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use domain::Sha1Digest;

use super::schema::opt_out;
use super::versions;
use crate::model::{AccountKey, OptOut, OptOutSet};

pub fn count(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(opt_out::table.count().get_result(db)?)
}

/// Reads all digests along with the code of each choice.
pub fn all(db: &mut Db) -> Result<Vec<([u8; 20], u8)>, DatabaseError> {
    let rows = opt_out::table.select((opt_out::hash, opt_out::kind)).load::<(Vec<u8>, i16)>(db)?;
    rows.into_iter()
        .map(|(hash, kind)| {
            let hash = <[u8; 20]>::try_from(hash)
                .map_err(|_| DatabaseError::broken("an opt-out hash is not 20 bytes long"))?;
            Ok((hash, u8::try_from(kind).map_err(DatabaseError::broken)?))
        })
        .collect()
}

/// Looks up the choice for a digest.
pub fn get(db: &mut Db, digest: &Sha1Digest) -> Result<Option<OptOut>, DatabaseError> {
    let kind: Option<i16> =
        opt_out::table.find(&digest.0[..]).select(opt_out::kind).first(db).optional()?;
    Ok(kind.and_then(OptOut::from_kind))
}

/// Stores an opt-out, replacing any earlier one. [`OptOut::Delete`] leaves no row behind.
pub fn set(
    db: &mut Db,
    digest: &Sha1Digest,
    choice: Option<OptOut>,
    now: i64,
) -> Result<(), DatabaseError> {
    diesel::delete(opt_out::table.find(&digest.0[..])).execute(db)?;
    if let Some(choice @ (OptOut::Public | OptOut::Breaches)) = choice {
        let row = (
            opt_out::hash.eq(&digest.0[..]),
            opt_out::kind.eq(choice.kind()),
            opt_out::created_at.eq(now),
        );
        on_backend!(db, conn => diesel::insert_into(opt_out::table).values(row).execute(conn))?;
    }
    versions::bump_opt_out(db)
}

/// Opt-outs. They're cached in memory unless there are too many, in which case each one is looked
/// up on demand.
#[derive(Debug)]
pub enum OptOuts {
    /// All of them, in memory.
    Memory(OptOutSet),
    /// Looked up in the database on demand.
    Database,
}

impl Default for OptOuts {
    fn default() -> Self {
        Self::Memory(OptOutSet::default())
    }
}

impl OptOuts {
    /// Loads the opt-outs into memory unless there are more than `max`.
    pub fn load(db: &mut Db, max: i64) -> Result<Self, DatabaseError> {
        if count(db)? > max {
            return Ok(Self::Database);
        }
        Ok(Self::Memory(OptOutSet::new(all(db)?)))
    }

    /// Looks up the choice for a digest.
    pub fn get(&self, db: &mut Db, digest: &Sha1Digest) -> Result<Option<OptOut>, DatabaseError> {
        match self {
            Self::Memory(set) => Ok(set.get(digest)),
            Self::Database => get(db, digest),
        }
    }

    /// Checks quickly by key. If this returns `true`, compute the digest and call [`Self::get`].
    pub fn may_contain(&self, key: AccountKey) -> bool {
        match self {
            Self::Memory(set) => set.may_contain(key),
            Self::Database => true,
        }
    }
}
