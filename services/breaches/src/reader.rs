//! The connection of a worker thread, for reads that are too short for a change of threads.
//!
//! Requests that lie ready together share one read transaction: SQLite locks its file for each
//! transaction, and looking whether the kept keys still hold costs a statement more. It ends before
//! the thread looks for further requests, so that they see whatever was committed until then.

use std::cell::RefCell;

use database::{DatabaseError, Db, Pools};

use crate::error::Error;
use crate::state::Session;
use crate::store::caller::Kept;

struct Reader {
    /// The state that the connection belongs to.
    state: u64,
    db: Db,
    kept: Kept,
    /// Whether a read transaction is open.
    open: bool,
}

thread_local! {
    static READER: RefCell<Option<Reader>> = const { RefCell::new(None) };
}

/// Reads with the connection of this thread, which belongs to the state with this number.
///
/// # Errors
/// What `work` returns, or that the connection cannot be made or used.
pub fn read<T>(
    state: u64,
    pools: &Pools,
    work: impl FnOnce(Session<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mine = READER.with_borrow_mut(Option::take).filter(|reader| reader.state == state);
    let mut reader = match mine {
        Some(reader) => reader,
        None => Reader { state, db: pools.connect()?, kept: Kept::default(), open: false },
    };
    reader.begin()?;
    let result = work(Session { db: &mut reader.db, kept: Some(&mut reader.kept) });
    READER.set(Some(reader));
    result
}

impl Reader {
    fn begin(&mut self) -> Result<(), DatabaseError> {
        if self.open {
            return Ok(());
        }
        database::begin_reading(&mut self.db)?;
        self.kept.renew(&mut self.db)?;
        self.open = true;
        // Waits behind the requests that are ready now, and in front of all that come later.
        actix_web::rt::spawn(async { end() });
        Ok(())
    }
}

/// Ends the read transaction; a connection that cannot even do that is given up.
fn end() {
    READER.with_borrow_mut(|mine| {
        let Some(reader) = mine.as_mut().filter(|reader| reader.open) else { return };
        reader.open = false;
        if let Err(error) = database::end_reading(&mut reader.db) {
            log::warn!("the reads of a worker could not be ended: {error}");
            *mine = None;
        }
    });
}

#[cfg(test)]
mod tests {
    use database::Backend;
    use testkit::Database;

    use super::*;
    use crate::store::{MIGRATIONS, meta};

    #[actix_web::test]
    async fn reads_of_one_turn_share_a_moment_and_the_next_turn_sees_later_commits() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        if pools.backend() == Backend::Postgres {
            return;
        }
        let version =
            || read(u64::MAX, &pools, |session| Ok(meta::versions(session.db)?.catalogue)).unwrap();
        for round in 1..=3 {
            let before = version();
            pools.write_blocking(|db| meta::bump_catalogue(db, round)).unwrap();
            assert_eq!(version(), before);
            // A search that finds nothing is an error, and no reason to end the others' moment.
            assert!(read(u64::MAX, &pools, |_| Err::<(), _>(Error::NotFound)).is_err());
            assert_eq!(version(), before);
            tokio::task::yield_now().await;
            assert_eq!(version(), before + 1);
            tokio::task::yield_now().await;
        }
    }
}
