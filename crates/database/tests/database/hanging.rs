//! PostgreSQL servers that stop responding or are busy.

use std::sync::mpsc;
use std::time::Duration;

use database::{Backend, DatabaseError, DatabaseSettings, Pools};
use testkit::{Database, TcpProxy};

use crate::storage::until_ready;
use crate::{NOTES, hits, set_hits};

/// Fails a test if a request hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Opens pools through a proxy. Returns `None` on SQLite.
pub fn through_proxy(database: &Database) -> Option<(TcpProxy, Pools)> {
    let proxy = TcpProxy::to(database.server_address()?);
    let settings = DatabaseSettings { db_pool: 2, ..database.settings_by(proxy.address()) };
    let pools = settings.open(database.folder(), "test", &[&NOTES]).unwrap();
    Some((proxy, pools))
}

async fn read(pools: &Pools) -> Result<i64, DatabaseError> {
    tokio::time::timeout(TIMEOUT, pools.read(hits)).await.unwrap()
}

async fn until_it_reads(pools: &Pools) -> i64 {
    let mut value = None;
    testkit::until("the database is read again", async || {
        match read(pools).await {
            Ok(read) => value = Some(read),
            Err(error) => assert!(matches!(error, DatabaseError::Busy), "{error:?}"),
        }
        value.is_some()
    })
    .await;
    value.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_end_while_the_server_hangs_and_are_served_once_it_answers() {
    let database = Database::new();
    let Some((proxy, pools)) = through_proxy(&database) else { return };
    assert_eq!(read(&pools).await.unwrap(), 0);
    until_ready(&pools).await;
    proxy.freeze();
    for _ in 0..3 {
        let refused = read(&pools).await;
        assert!(matches!(refused, Err(DatabaseError::Busy)), "{refused:?}");
    }
    let ready = tokio::time::timeout(TIMEOUT, pools.ready()).await.unwrap();
    assert!(matches!(ready, Err(DatabaseError::Busy)), "{ready:?}");
    proxy.thaw();
    assert_eq!(until_it_reads(&pools).await, 0);
    until_ready(&pools).await;
    pools.write(|db| set_hits(db, 3)).await.unwrap();
    assert_eq!(read(&pools).await.unwrap(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_write_is_not_made_later() {
    let database = Database::new();
    let Some((proxy, pools)) = through_proxy(&database) else { return };
    let (begin, begun) = mpsc::channel();
    let (resume, resumed) = mpsc::channel::<()>();
    let (end, ended) = mpsc::channel();
    let writer = pools.clone();
    let writing = tokio::spawn(async move {
        writer
            .write(move |db| {
                begin.send(()).unwrap();
                resumed.recv().unwrap();
                let written = set_hits(db, 7);
                end.send(written.is_ok()).unwrap();
                written
            })
            .await
    });
    tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
    proxy.freeze();
    resume.send(()).unwrap();
    let refused = tokio::time::timeout(TIMEOUT, writing).await.unwrap();
    assert!(matches!(refused.unwrap(), Err(DatabaseError::Busy)));
    proxy.thaw();
    let written = tokio::task::spawn_blocking(move || ended.recv().unwrap()).await.unwrap();
    assert!(written, "the server executed the statement");
    assert_eq!(until_it_reads(&pools).await, 0);
    // The abandoned transaction holds a lock on the row until it is rolled back.
    let count = |db: &mut database::Db| {
        let before = hits(db)?;
        set_hits(db, before + 1)
    };
    pools.write(count).await.unwrap();
    assert_eq!(until_it_reads(&pools).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_stay_silent_are_replaced() {
    let database = Database::new();
    let Some((proxy, pools)) = through_proxy(&database) else { return };
    assert_eq!(read(&pools).await.unwrap(), 0);
    until_ready(&pools).await;
    proxy.strand();
    assert_eq!(until_it_reads(&pools).await, 0);
    pools.write(|db| set_hits(db, 1)).await.unwrap();
    until_ready(&pools).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_query_is_not_cut_while_the_server_answers() {
    use diesel::prelude::*;
    let database = Database::new();
    let pools = database.open(&[&NOTES]);
    if pools.backend() == Backend::Sqlite {
        return;
    }
    let slept = pools.read(|db| -> Result<usize, DatabaseError> {
        Ok(diesel::sql_query("SELECT pg_sleep(3)").execute(db)?)
    });
    slept.await.unwrap();
}
