//! Secrets shared by all replicas.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::server_key;

/// Name of the form token key.
const FORMS: &str = "forms";

/// Reads the form token key. Returns `None` before the first start.
pub fn forms(db: &mut Db) -> Result<Option<Vec<u8>>, DatabaseError> {
    Ok(server_key::table.find(FORMS).select(server_key::secret).first(db).optional()?)
}

/// Stores the form token key unless there already is one. Returns the key that is stored.
pub fn ensure_forms(db: &mut Db, new: &[u8]) -> Result<Vec<u8>, DatabaseError> {
    let row = (server_key::name.eq(FORMS), server_key::secret.eq(new));
    on_backend!(db, conn => diesel::insert_into(server_key::table)
        .values(row)
        .on_conflict_do_nothing()
        .execute(conn))?;
    forms(db)?.ok_or(DatabaseError::NotFound)
}
