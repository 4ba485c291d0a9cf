//! Numbers read on worker threads.

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::mpsc;

use database::{Backend, DatabaseError, Db, NumberReader, Pools};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use testkit::{Database, until};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, yield_now};

use crate::hanging::through_proxy;
use crate::{NOTES, set_hits};

const HITS: &CStr = c"SELECT value FROM counter WHERE name = 'hits'";
/// Reads the number as of the start of the query.
const SLOW_HITS: &CStr = c"SELECT value FROM counter, pg_sleep(0.2) WHERE name = 'hits'";
const BACKEND: &CStr = c"SELECT pg_backend_pid()";

/// Sets the number through a pool, and then reads it until the worker's connection returns it.
async fn set_and_read(pools: &Pools, reader: &NumberReader, number: i64) {
    pools.write(move |db| set_hits(db, number)).await.unwrap();
    until("the worker is connected", async || {
        let read = reader.read().await;
        assert!(read.is_none_or(|read| read == number), "{read:?} instead of {number}");
        read.is_some()
    })
    .await;
}

#[tokio::test]
async fn numbers_are_never_older_than_the_last_commit() {
    let database = Database::new();
    let pools = database.open(&[&NOTES]);
    let reader = NumberReader::new(pools.clone(), HITS);
    let reads = async {
        if pools.backend() == Backend::Sqlite {
            assert_eq!(reader.read().await, None);
            return;
        }
        for number in 1..=50 {
            let (earlier, written) =
                tokio::join!(reader.read(), pools.write(move |db| set_hits(db, number)));
            written.unwrap();
            assert!(earlier.is_none_or(|read| read == number - 1 || read == number));
            let (one, other) = tokio::join!(reader.read(), reader.read());
            for read in [one, other].into_iter().flatten() {
                assert_eq!(read, number);
            }
        }
        set_and_read(&pools, &reader, 51).await;
    };
    LocalSet::new().run_until(reads).await;
}

#[tokio::test]
async fn number_of_a_query_that_began_before_a_commit_is_not_used_afterwards() {
    let database = Database::new();
    let pools = database.open(&[&NOTES]);
    if pools.backend() == Backend::Sqlite {
        return;
    }
    let reader = NumberReader::new(pools.clone(), SLOW_HITS);
    let reads = async {
        set_and_read(&pools, &reader, 1).await;
        let write_and_read = async {
            pools.write(|db| set_hits(db, 2)).await.unwrap();
            reader.read().await
        };
        let (earlier, later) = tokio::join!(reader.read(), write_and_read);
        assert!(earlier.is_none_or(|read| read == 1 || read == 2), "{earlier:?}");
        assert!(later.is_none_or(|read| read == 2), "{later:?}");
    };
    LocalSet::new().run_until(reads).await;
}

fn end_other_connections(db: &mut Db) -> Result<(), DatabaseError> {
    // Waits until each connection has ended.
    let text = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
                WHERE datname = current_database() AND pid <> pg_backend_pid()";
    diesel::sql_query(text).execute(db)?;
    Ok(())
}

#[tokio::test]
async fn callers_use_a_pool_while_the_server_hangs_or_has_closed_the_connection() {
    let database = Database::new();
    let Some((proxy, pools)) = through_proxy(&database) else { return };
    let reader = NumberReader::new(pools.clone(), HITS);
    let reads = async {
        set_and_read(&pools, &reader, 1).await;
        proxy.freeze();
        assert_eq!(reader.read().await, None);
        proxy.thaw();
        set_and_read(&pools, &reader, 2).await;
        pools.write(end_other_connections).await.unwrap();
        assert_eq!(reader.read().await, None);
        set_and_read(&pools, &reader, 3).await;
    };
    LocalSet::new().run_until(reads).await;
}

#[tokio::test]
async fn readers_of_other_databases_have_their_own_connection() {
    let databases = [Database::new(), Database::new()];
    let pools = databases.each_ref().map(|database| database.open(&[&NOTES]));
    if pools[0].backend() == Backend::Sqlite {
        return;
    }
    let readers = pools.each_ref().map(|pools| NumberReader::new(pools.clone(), HITS));
    let reads = async {
        for round in 0..3 {
            for ((pools, reader), number) in pools.iter().zip(&readers).zip(1..) {
                set_and_read(pools, reader, 10 * round + number).await;
            }
        }
    };
    LocalSet::new().run_until(reads).await;
}

#[tokio::test]
async fn connection_is_replaced_after_an_outage_even_if_requests_keep_coming() {
    let database = Database::new();
    let Some((proxy, pools)) = through_proxy(&database) else { return };
    let reader = NumberReader::new(pools.clone(), BACKEND);
    let is_over = Cell::new(false);
    let load = async || {
        while !is_over.get() {
            reader.read().await;
            yield_now().await;
        }
    };
    let reads = async {
        let mut first = None;
        until("the worker is connected", async || {
            first = reader.read().await;
            first.is_some()
        })
        .await;
        proxy.freeze();
        pools.ready().await.unwrap_err();
        proxy.thaw();
        let outage_ends = async {
            until("the server is back", async || pools.ready().await.is_ok()).await;
            until("the connection is replaced", async || {
                reader.read().await.is_some_and(|own| Some(own) != first)
            })
            .await;
            is_over.set(true);
        };
        // A request is always waiting for the next query, because the second load begins during the
        // first one's query.
        let later_load = async {
            yield_now().await;
            load().await;
        };
        tokio::join!(load(), later_load, outage_ends);
    };
    LocalSet::new().run_until(reads).await;
}

/// Counts the queries that are waiting for a lock.
fn waiting(db: &mut Db) -> Result<i64, DatabaseError> {
    let text = "(SELECT count(*) FROM pg_stat_activity \
                WHERE datname = current_database() AND wait_event_type = 'Lock')";
    Ok(diesel::select(diesel::dsl::sql::<BigInt>(text)).get_result(db)?)
}

#[tokio::test]
async fn server_cancels_a_query_that_waits_for_a_lock() {
    let database = Database::new();
    let pools = database.open(&[&NOTES]);
    if pools.backend() == Backend::Sqlite {
        return;
    }
    let reader = NumberReader::new(pools.clone(), HITS);
    let (lock, is_locked) = oneshot::channel();
    let (end, ends) = mpsc::channel::<()>();
    let reads = async {
        set_and_read(&pools, &reader, 1).await;
        let locked = pools.write(move |db| -> Result<(), DatabaseError> {
            diesel::sql_query("LOCK TABLE counter IN ACCESS EXCLUSIVE MODE").execute(db)?;
            let _ = lock.send(());
            let _ = ends.recv();
            Ok(())
        });
        let read = async {
            is_locked.await.unwrap();
            assert_eq!(reader.read().await, None);
            until("no query waits", async || pools.read(waiting).await.unwrap() == 0).await;
            end.send(()).unwrap();
        };
        tokio::join!(locked, read).0.unwrap();
        set_and_read(&pools, &reader, 2).await;
    };
    LocalSet::new().run_until(reads).await;
}
