//! Schemas that callers have saved. A key can access only its own schemas.

use database::DatabaseError;

use crate::state::State;
use crate::store::schemas;

/// Maximum number of schemas per key.
pub const MOST_SCHEMAS: i64 = 100;

/// Returns the name and the time of the last change of each schema of a key, sorted by name.
///
/// # Errors
/// Returns an error if a query fails.
pub async fn list_schemas(state: &State, key_id: i64) -> Result<Vec<(String, i64)>, DatabaseError> {
    state.pools().read(move |db| schemas::list(db, key_id)).await
}

/// Returns a schema of a key, or `None` if there is none with this name.
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

/// Saves or replaces a schema of a key. Returns false if the key already has the maximum number of
/// other schemas.
///
/// # Errors
/// Returns an error if the database cannot be written.
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

/// Removes a schema of a key. Returns false if there is none with this name.
///
/// # Errors
/// Returns an error if the database cannot be written.
pub async fn remove_schema(
    state: &State,
    key_id: i64,
    name: String,
) -> Result<bool, DatabaseError> {
    let caller = key_id.to_string();
    state.pools().write_as(Some(&caller), move |db| schemas::remove(db, key_id, &name)).await
}
