//! Tests of keys, plans, quotas and callers, on SQLite or on the server in `TEST_DATABASE_URL`.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod commands;
mod gate;
mod keys;
mod plans;
mod quotas;
mod races;

use database::Pools;
use domain::{Clock, ManualClock};
use testkit::Database;

/// A database with this crate's tables, and a clock that tests set.
struct House {
    database: Database,
    clock: ManualClock,
}

impl House {
    fn new() -> Self {
        let clock = ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap());
        Self { database: Database::new(), clock }
    }

    fn pools(&self) -> Pools {
        self.database.open(&[&auth::MIGRATIONS])
    }

    fn now(&self) -> i64 {
        self.clock.unix()
    }

    /// Looks up a key by its text. Returns `None` if it is not live.
    fn find(&self, pools: &Pools, text: &str) -> Option<auth::Key> {
        let store = auth::KeyStore::new(pools.clone(), self.clock.shared());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(store.find(text)).unwrap();
        found.map(|key| auth::Key::clone(&key))
    }

    fn issue(&self, pools: &Pools, owner: &str) -> (auth::Key, String) {
        pools.write_blocking(|db| auth::issue(db, owner, None, None, self.now())).unwrap()
    }
}
