//! Short reads on worker threads.

use database::{Backend, DatabaseError, Db, ReaderCache, WorkerReader};
use diesel::prelude::*;
use testkit::Database;
use tokio::task::{LocalSet, yield_now};

use crate::{NOTES, add, note};

/// Counts a connection's read transactions.
#[derive(Default)]
struct Transactions(i64);

impl ReaderCache for Transactions {
    type Shared = ();

    fn refresh(&mut self, _: &mut Db, (): &()) -> Result<(), DatabaseError> {
        self.0 += 1;
        Ok(())
    }
}

fn rows(
    db: &mut Db,
    cache: Option<&mut Transactions>,
) -> Result<(i64, Option<i64>), DatabaseError> {
    Ok((note::table.count().get_result(db)?, cache.map(|cache| cache.0)))
}

#[tokio::test]
async fn reads_of_one_turn_share_a_transaction_and_the_next_turn_sees_later_commits() {
    let database = Database::new();
    let pools = database.open(&[&NOTES]);
    if pools.backend() == Backend::Postgres {
        return;
    }
    let reader = WorkerReader::<Transactions>::new(pools.clone(), ());
    let turns = async {
        for turn in 1..=3 {
            let before = (turn - 1, Some(turn));
            assert_eq!(reader.read(true, rows).await.unwrap(), before);
            pools.write_blocking(|db| add(db, &turn.to_string(), None)).unwrap();
            assert_eq!(reader.read(true, rows).await.unwrap(), before);
            // An error in `work` does not end the transaction.
            let failed =
                |_: &mut Db, _: Option<&mut Transactions>| Err::<(), _>(DatabaseError::NotFound);
            assert!(reader.read(true, failed).await.is_err());
            assert_eq!(reader.read(true, rows).await.unwrap(), before);
            yield_now().await;
        }
        assert_eq!(reader.read(false, rows).await.unwrap(), (3, None));
    };
    LocalSet::new().run_until(turns).await;
}

#[tokio::test]
async fn readers_of_other_databases_have_their_own_connection() {
    let databases = [Database::new(), Database::new()];
    let pools = databases.each_ref().map(|database| database.open(&[&NOTES]));
    for (pools, rows) in pools.iter().zip(1..) {
        let fill =
            |db: &mut Db| (0..rows).try_for_each(|n: i32| add(db, &n.to_string(), None).map(drop));
        pools.write_blocking(fill).unwrap();
    }
    let readers = pools.map(|pools| WorkerReader::<Transactions>::new(pools, ()));
    let reads = async {
        for _ in 0..2 {
            for (reader, expected) in readers.iter().zip(1..) {
                assert_eq!(reader.read(true, rows).await.unwrap().0, expected);
            }
        }
    };
    LocalSet::new().run_until(reads).await;
}
