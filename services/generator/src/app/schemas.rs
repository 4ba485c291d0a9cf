//! Schemas saved by callers. A key can only access its own schemas.

use database::DatabaseError;

use crate::state::State;
use crate::store::schemas;

/// Maximum number of schemas per key.
pub const MOST_SCHEMAS: i64 = 100;

/// Returns the name and last modification time of each schema saved with the key, sorted by name.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn list_schemas(state: &State, key_id: i64) -> Result<Vec<(String, i64)>, DatabaseError> {
    state.pools().read(move |db| schemas::list(db, key_id)).await
}

/// Returns the schema called `name` that was saved with the key, if any.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn read_schema(
    state: &State,
    key_id: i64,
    name: String,
) -> Result<Option<String>, DatabaseError> {
    state.pools().read(move |db| schemas::get(db, key_id, &name)).await
}

/// Saves a schema, replacing any existing one of the same name. Returns false if the schema is new
/// and the key already has [`MOST_SCHEMAS`].
///
/// # Errors
/// Returns an error if writing to the database fails.
pub async fn save_schema(
    state: &State,
    key_id: i64,
    name: String,
    body: String,
) -> Result<bool, DatabaseError> {
    let (now, caller) = (state.now(), key_id.to_string());
    let save = move |db: &mut _| schemas::put(db, key_id, (&name, &body), now, MOST_SCHEMAS);
    state.pools().write_as(Some(&caller), save).await
}

/// Deletes a schema that was saved with the key. Returns false if there is no such schema.
///
/// # Errors
/// Returns an error if writing to the database fails.
pub async fn remove_schema(
    state: &State,
    key_id: i64,
    name: String,
) -> Result<bool, DatabaseError> {
    let caller = key_id.to_string();
    state.pools().write_as(Some(&caller), move |db| schemas::remove(db, key_id, &name)).await
}
