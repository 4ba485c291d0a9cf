//! The cache of each worker's connection.

use std::sync::Arc;

use database::{DatabaseError, Db};

use super::accounts::{AccountFilters, AccountView};
use super::key_holders::KnownKeys;

/// The keys that a connection has looked up, and the accounts as its transaction sees them.
#[derive(Debug, Default)]
pub struct ReaderCache {
    /// Keys that have been looked up before.
    pub known_keys: KnownKeys,
    /// The accounts as the transaction sees them; `None` before the first transaction.
    pub view: Option<Arc<AccountView>>,
}

impl database::ReaderCache for ReaderCache {
    type Shared = AccountFilters;

    fn refresh(&mut self, db: &mut Db, filters: &AccountFilters) -> Result<(), DatabaseError> {
        if self.known_keys.renew(db)? || self.view.is_none() {
            self.view = Some(Arc::new(AccountView::read(db, filters)?));
        }
        Ok(())
    }
}
