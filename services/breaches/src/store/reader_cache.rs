//! Per-connection cache for readers.

use std::sync::Arc;

use database::{DatabaseError, Db};

use super::accounts::{AccountFilters, AccountView};
use super::known_keys::KnownKeys;

/// API keys that a connection has looked up, and a view of the accounts for its transaction.
#[derive(Debug, Default)]
pub struct ReaderCache {
    /// API keys looked up so far.
    pub known_keys: KnownKeys,
    /// View of the accounts for the current transaction, or `None` before the first one.
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
