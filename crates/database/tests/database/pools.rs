//! Readers, writers and waiting requests.

use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};

use database::{
    Backend, DatabaseError, DatabaseSettings, Db, Pools, begin_reading, end_reading, rehearse,
    transaction,
};
use diesel::prelude::*;
use parking_lot::Mutex;
use testkit::{Database, until, until_blocking};

use crate::{NOTES, add, hits, note, set_hits};

/// Opens pools whose requests wait only briefly. Their connections are open already, because opening
/// one may take longer on a busy machine.
fn impatient(database: &Database) -> Pools {
    let settings = DatabaseSettings { db_pool: 1, db_wait_ms: 300, ..database.settings() };
    let pools = settings.open(database.folder(), "test", &[&NOTES]).unwrap();
    pools.read_blocking(hits).unwrap();
    pools.write_blocking(|db| set_hits(db, 0)).unwrap();
    pools
}

/// Runs forty concurrent writes from two sets of pools.
async fn write_forty_times(
    database: &Database,
    work: impl Fn(&mut Db) -> Result<(), DatabaseError> + Copy + Send + 'static,
) {
    let processes = [database.open(&[&NOTES]), database.open(&[&NOTES])];
    let mut tasks = Vec::new();
    for n in 0..40 {
        let pools = processes[n % 2].clone();
        tasks.push(tokio::spawn(async move { pools.write(work).await }));
    }
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(processes[0].read(hits).await.unwrap(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_two_processes_lose_no_update() {
    write_forty_times(&Database::new(), |db| {
        diesel::update(crate::counter::table.find("hits"))
            .set(crate::counter::value.eq(crate::counter::value + 1))
            .execute(db)?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_writers_that_read_first_do_not_collide() {
    write_forty_times(&Database::in_file(), |db| {
        let value = hits(db)?;
        set_hits(db, value + 1)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn write_is_busy_when_no_connection_is_free() {
    let database = Database::new();
    let pools = impatient(&database);
    let (began, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let holder = pools.clone();
    let holding = tokio::spawn(async move {
        holder
            .write(move |db| {
                set_hits(db, 1)?;
                began.send(()).unwrap();
                released.recv().unwrap();
                Ok::<_, DatabaseError>(())
            })
            .await
    });
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    let refused = pools.write(|db| set_hits(db, 2)).await;
    assert!(matches!(refused, Err(DatabaseError::Busy)), "{refused:?}");
    assert_eq!(pools.read(hits).await.unwrap(), 0, "readers are not blocked");
    release.send(()).unwrap();
    holding.await.unwrap().unwrap();
    assert_eq!(pools.read(hits).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_reads_share_their_lane_and_do_not_delay_other_reads() {
    let database = Database::new();
    let pools = impatient(&database);
    let (began, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let holder = pools.clone();
    let holding = tokio::spawn(async move {
        holder
            .read_long(move |db| {
                began.send(()).unwrap();
                released.recv().unwrap();
                hits(db)
            })
            .await
    });
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    assert_eq!(pools.read(hits).await.unwrap(), 0);
    until("the database is ready", async || pools.ready().await.is_ok()).await;
    let mut next = Box::pin(pools.read_long(hits));
    let mut context = Context::from_waker(Waker::noop());
    assert!(next.as_mut().poll(&mut context).is_pending(), "the lane has one connection");
    release.send(()).unwrap();
    assert_eq!(next.await.unwrap(), 0);
    assert_eq!(holding.await.unwrap().unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn job_that_holds_the_writer_makes_requests_busy() {
    let database = Database::new();
    let pools = impatient(&database);
    let (began, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let job = pools.clone();
    let running = std::thread::spawn(move || {
        job.write_blocking(|_| {
            began.send(()).unwrap();
            released.recv().unwrap();
            Ok::<_, DatabaseError>(())
        })
    });
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    let refused = pools.write(|db| set_hits(db, 2)).await;
    assert!(matches!(refused, Err(DatabaseError::Busy)), "{refused:?}");
    release.send(()).unwrap();
    running.join().unwrap().unwrap();
}

#[test]
fn transactions_see_commits_made_while_they_wait_with_any_server_default() {
    let (database, pools) = Database::new().open_kept();
    if pools.backend() == Backend::Sqlite {
        return;
    }
    let mut other = pools.connect().unwrap();
    for level in ["repeatable read", "serializable"] {
        let default = format!("SET default_transaction_isolation = '{level}'");
        // New connections get the level from the server. Behind a pooler, an older connection may
        // have been changed.
        let name = database.url().rsplit('/').next().unwrap();
        diesel::sql_query(format!("ALTER DATABASE {name} {default}")).execute(&mut other).unwrap();
        let new = pools.connect().unwrap();
        let mut changed = pools.connect().unwrap();
        diesel::sql_query(default).execute(&mut changed).unwrap();
        for mut waiting in [new, changed] {
            let seen = transaction(&mut waiting, |db| {
                // With other isolation levels, the statement that waits for the lock would already
                // take the snapshot.
                diesel::sql_query("SELECT pg_advisory_xact_lock(1)").execute(db)?;
                let before = hits(db)?;
                set_hits(&mut other, before + 1)?;
                Ok::<_, DatabaseError>((before, hits(db)?))
            });
            let (before, after) = seen.unwrap();
            assert_eq!(after, before + 1, "{level}");
        }
        // Statements outside of transactions, and diesel's own transactions, use the default.
        let mut alone = pools.connect().unwrap();
        let isolation: String = diesel::select(diesel::dsl::sql::<diesel::sql_types::Text>(
            "current_setting('transaction_isolation')",
        ))
        .get_result(&mut alone)
        .unwrap();
        assert_eq!(isolation, "read committed");
    }
}

#[test]
fn postgres_ends_transactions_of_silent_clients() {
    let (_database, pools) = Database::new().open_kept();
    if pools.backend() == Backend::Sqlite {
        return;
    }
    let limit: String = diesel::select(diesel::dsl::sql::<diesel::sql_types::Text>(
        "current_setting('idle_in_transaction_session_timeout')",
    ))
    .get_result(&mut pools.connect().unwrap())
    .unwrap();
    assert_eq!(limit, "1min");
}

#[test]
fn jobs_ignore_the_default_statement_timeout_of_the_database() {
    let (_database, pools) = Database::new().open_kept();
    if pools.backend() == Backend::Sqlite {
        return;
    }
    let set = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 7000', \
               current_database()); END $$";
    diesel::sql_query(set).execute(&mut pools.connect().unwrap()).unwrap();
    for (connected, expected) in [(pools.connect(), "0"), (pools.connect_reader(), "30s")] {
        let limit: String = diesel::select(diesel::dsl::sql::<diesel::sql_types::Text>(
            "current_setting('statement_timeout')",
        ))
        .get_result(&mut connected.unwrap())
        .unwrap();
        assert_eq!(limit, expected);
    }
}

#[tokio::test]
async fn failed_write_is_rolled_back() {
    let (_database, pools) = Database::new().open_kept();
    let failed = pools
        .write(|db| {
            add(db, "milk", None)?;
            Err::<(), _>(DatabaseError::NotFound)
        })
        .await;
    assert!(matches!(failed, Err(DatabaseError::NotFound)));
    let count =
        pools.read(|db| Ok::<i64, DatabaseError>(note::table.count().get_result(db)?)).await;
    assert_eq!(count.unwrap(), 0);
}

#[tokio::test]
async fn panic_in_a_write_rolls_back_and_frees_the_writer() {
    let (_database, pools) = Database::new().open_kept();
    let victim = pools.clone();
    let panicked = tokio::spawn(async move {
        victim
            .write(|db| -> Result<(), DatabaseError> {
                add(db, "milk", None)?;
                panic!("on purpose")
            })
            .await
    })
    .await;
    assert!(panicked.unwrap_err().is_panic());
    pools.write(|db| add(db, "milk", None)).await.unwrap();
}

#[tokio::test]
async fn readers_refuse_to_write() {
    let (_database, pools) = Database::new().open_kept();
    let refused = pools.read(|db| add(db, "milk", None)).await;
    assert!(refused.is_err());
    let mut outside = pools.connect_reader().unwrap();
    assert_eq!(hits(&mut outside).unwrap(), 0);
    assert!(add(&mut outside, "milk", None).is_err());
}

#[test]
fn consistent_reads_of_sqlite_see_no_later_commit() {
    let (_database, pools) = Database::new().open_kept();
    let (mut reader, mut writer) = (pools.connect().unwrap(), pools.connect().unwrap());
    let sees_commits = pools.backend() == Backend::Postgres;
    for round in 1..=3 {
        begin_reading(&mut reader).unwrap();
        let before = hits(&mut reader).unwrap();
        set_hits(&mut writer, before + 1).unwrap();
        let after = hits(&mut reader).unwrap();
        end_reading(&mut reader).unwrap();
        assert_eq!((before, after), (round - 1, round - 1 + i64::from(sees_commits)));
        assert_eq!(hits(&mut reader).unwrap(), round);
    }
}

#[test]
fn job_commits_batches_and_nested_transactions_are_savepoints() {
    let (_database, pools) = Database::new().open_kept();
    let mut db = pools.connect().unwrap();
    transaction(&mut db, |db| {
        add(db, "kept", None)?;
        let inner = transaction(db, |db| {
            add(db, "undone", None)?;
            Err::<(), _>(DatabaseError::NotFound)
        });
        assert!(inner.is_err());
        let rehearsed = rehearse(db, |db| {
            add(db, "rehearsed", None)?;
            Ok::<i64, DatabaseError>(note::table.count().get_result(db)?)
        });
        assert_eq!(rehearsed.unwrap(), 2);
        Ok::<_, DatabaseError>(())
    })
    .unwrap();
    let texts: Vec<String> = note::table.select(note::text).load(&mut db).unwrap();
    assert_eq!(texts, ["kept"]);
}

#[tokio::test]
async fn connections_closed_by_the_server_are_replaced_transparently() {
    let (database, pools) = Database::new().open_kept();
    if pools.backend() == Backend::Sqlite {
        return;
    }
    pools.read(hits).await.unwrap();
    pools.write(|db| set_hits(db, 1)).await.unwrap();
    let mut db = database.open(&[&NOTES]).connect().unwrap();
    diesel::sql_query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .execute(&mut db)
    .unwrap();
    // The writer's BEGIN fails and is retried on a new connection. The idle reader must therefore
    // be checked, and is replaced.
    pools.write(|db| set_hits(db, 5)).await.unwrap();
    assert_eq!(pools.read(hits).await.unwrap(), 5);
}

trait Kept {
    fn open_kept(self) -> (Database, Pools);
}

impl Kept for Database {
    fn open_kept(self) -> (Self, Pools) {
        let pools = self.open(&[&NOTES]);
        (self, pools)
    }
}

#[test]
fn second_server_on_one_file_is_noticed() {
    let database = Database::in_file();
    let (first, second) = (database.open(&[]), database.open(&[]));
    let is_server_file = first.file().is_some();
    assert!(first.register_server());
    assert_eq!(second.register_server(), !is_server_file);
    drop(first);
    // The second server also holds the lock.
    let third = database.open(&[]);
    assert!(third.lock_out_servers().is_none());
    drop(second);
    let lock = third.lock_out_servers();
    assert_eq!(lock.is_some(), is_server_file);
    assert_eq!(third.register_server(), !is_server_file);
    drop(lock);
    // A server that started during a load holds the lock when the load ends.
    if is_server_file {
        let is_locked = || database.open(&[]).lock_out_servers().is_none();
        until_blocking("the server has the lock", is_locked);
    }
}

#[tokio::test]
async fn callers_take_turns_at_the_writer() {
    let database = Database::new();
    let settings = DatabaseSettings { db_pool: 1, db_wait_ms: 60_000, ..database.settings() };
    let pools = settings.open(database.folder(), "test", &[&NOTES]).unwrap();
    let (began, begun) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let job = pools.clone();
    let running = tokio::spawn(async move {
        let wait = move |_: &mut Db| {
            began.send(()).unwrap();
            released.recv().unwrap();
            Ok::<_, DatabaseError>(())
        };
        job.write_as(Some("busy"), wait).await
    });
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut writes: Vec<_> = ["busy", "busy", "busy", "other"]
        .into_iter()
        .map(|caller| {
            let (order, pools) = (Arc::clone(&order), pools.clone());
            Box::pin(async move {
                let note = move |_: &mut Db| {
                    order.lock().push(caller);
                    Ok::<_, DatabaseError>(())
                };
                pools.write_as(Some(caller), note).await
            })
        })
        .collect();
    for write in &mut writes {
        assert!(write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    release.send(()).unwrap();
    let writes: Vec<_> = writes.into_iter().map(tokio::spawn).collect();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    running.await.unwrap().unwrap();
    assert_eq!(*order.lock(), ["busy", "other", "busy", "busy"]);
}
