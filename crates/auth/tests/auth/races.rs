//! Concurrent commands, and ids that are never reused.

use auth::{KeyError, KeyLimit, KeyState, KeyStore};
use database::{Backend, DatabaseError, Db, Pools};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Bool;

use crate::House;

fn live_keys(pools: &Pools, owner: &str, now: i64) -> usize {
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    keys.iter().filter(|key| key.owner == owner && key.state(now) == KeyState::Live).count()
}

#[test]
fn keys_issued_concurrently_leave_one_live_key() {
    let house = House::new();
    let pools = house.pools();
    let now = house.now();
    for round in 0..10 {
        let owner = format!("owner {round}");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    pools
                        .write_blocking(|db| auth::issue_only(db, &owner, None, None, None, now))
                        .unwrap()
                });
            }
        });
        assert_eq!(live_keys(&pools, &owner, now), 1, "{owner}");
    }
}

#[test]
fn keys_of_an_owner_are_limited_per_period() {
    let house = House::new();
    let pools = house.pools();
    let start = house.now();
    let limit = Some(KeyLimit { most: 2, seconds: 100 });
    let issue = |owner: &str, now: i64| {
        pools.write_blocking(|db| auth::issue_only(db, owner, None, None, limit, now))
    };
    issue("alice", start).unwrap();
    let (kept, ..) = issue("alice", start + 10).unwrap();
    let refused = issue("alice", start + 30).unwrap_err();
    assert!(matches!(refused, KeyError::TooManyKeys { retry_after: 70 }), "{refused:?}");
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    let live: Vec<_> = keys.iter().filter(|key| key.state(start) == KeyState::Live).collect();
    assert_eq!(live.iter().map(|key| key.id).collect::<Vec<_>>(), [kept.id]);
    issue("bob", start + 30).unwrap();
    issue("alice", start + 100).unwrap();
}

#[test]
fn of_two_concurrent_renewals_only_one_prints_a_key() {
    let house = House::new();
    let pools = house.pools();
    if pools.backend() == Backend::Sqlite {
        return; // With one writer, the second renewal begins after the first.
    }
    let (key, _) = house.issue(&pools, "alice");
    let now = house.now();
    let mut first = pools.connect().unwrap();
    first.batch_execute("BEGIN").unwrap();
    let (_, text) = auth::rotate(&mut first, key.id, now).unwrap();
    let waiting = std::thread::scope(|scope| {
        let second = scope.spawn(|| pools.write_blocking(|db| auth::rotate(db, key.id, now)));
        testkit::until_blocking("the second renewal waits for the row", || {
            let waits = "(SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                         AND datname = current_database())";
            let look = |db: &mut Db| -> Result<bool, DatabaseError> {
                Ok(diesel::select(diesel::dsl::sql::<Bool>(waits)).get_result(db)?)
            };
            pools.read_blocking(look).unwrap()
        });
        first.batch_execute("COMMIT").unwrap();
        second.join().unwrap()
    });
    assert!(matches!(waiting, Err(KeyError::Changed(id)) if id == key.id), "{waiting:?}");
    assert!(house.find(&pools, &text).is_some(), "the printed key works");
}

#[tokio::test]
async fn last_uses_are_written_in_the_order_of_ids() {
    let house = House::new();
    let pools = house.pools();
    if pools.backend() == Backend::Sqlite {
        return; // There are no locks of rows.
    }
    let keys: Vec<(i64, String)> = (0..40)
        .map(|number| house.issue(&pools, &format!("owner {number}")))
        .map(|(key, text)| (key.id, text))
        .collect();
    let store = KeyStore::new(pools.clone(), house.clock.shared());
    for (_, text) in &keys {
        assert!(store.find(text).await.unwrap().is_some());
    }
    // Another replica has written the first key and writes the others after it.
    let mut other = pools.connect().unwrap();
    let write = |other: &mut Db, id: i64| {
        other.batch_execute(&format!("UPDATE api_key SET last_used_at = 1 WHERE id = {id}"))
    };
    other.batch_execute("BEGIN").unwrap();
    write(&mut other, keys[0].0).unwrap();
    let flushing = tokio::spawn(async move { store.flush().await });
    testkit::until("the flush waits for the other replica", async || {
        let waits = "(SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                     AND datname = current_database())";
        let look = |db: &mut Db| -> Result<bool, DatabaseError> {
            Ok(diesel::select(diesel::dsl::sql::<Bool>(waits)).get_result(db)?)
        };
        pools.read_blocking(look).unwrap()
    })
    .await;
    for (id, _) in &keys[1..] {
        write(&mut other, *id).unwrap();
    }
    other.batch_execute("COMMIT").unwrap();
    flushing.await.unwrap().unwrap();
    let now = house.now();
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    assert!(keys.iter().all(|key| key.last_used_at == Some(now)));
}

#[test]
fn the_id_of_a_deleted_key_is_not_reused() {
    let house = House::new();
    let pools = house.pools();
    let (first, _) = house.issue(&pools, "alice");
    let delete =
        |db: &mut Db| -> Result<(), DatabaseError> { Ok(db.batch_execute("DELETE FROM api_key")?) };
    pools.write_blocking(delete).unwrap();
    let (second, _) = house.issue(&pools, "bob");
    assert!(second.id > first.id, "{} after {}", second.id, first.id);
}
