//! The life of a key.

use std::time::Duration;

use auth::{KeyError, KeyState, KeyStore, Plan};
use database::{DatabaseError, DatabaseSettings, Db};

use crate::House;

diesel::table! {
    api_key (id) {
        id -> BigInt,
        digest -> Binary,
    }
}

#[tokio::test]
async fn key_is_found_in_any_case_and_its_text_is_not_stored() {
    use diesel::prelude::*;
    let house = House::new();
    let pools = house.pools();
    let (key, text) = house.issue(&pools, "alice");
    assert_eq!(text.len(), 32);
    assert!(text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{text}");
    let store = KeyStore::new(pools.clone(), house.clock.shared());
    for text in [text.clone(), text.to_uppercase()] {
        assert_eq!(store.find(&text).await.unwrap().as_deref(), Some(&key));
    }
    let digest: Vec<u8> = pools
        .read_blocking(|db| {
            Ok::<_, DatabaseError>(api_key::table.select(api_key::digest).first(db)?)
        })
        .unwrap();
    assert_eq!(digest, auth::digest(&text));
}

#[tokio::test]
async fn unknown_and_malformed_keys_are_not_found() {
    let house = House::new();
    let store = KeyStore::new(house.pools(), house.clock.shared());
    for text in ["", "abc", &"0".repeat(32), &"g".repeat(32), &"é".repeat(16)] {
        assert!(store.find(text).await.unwrap().is_none(), "{text}");
    }
}

#[tokio::test]
async fn key_revoked_by_another_process_stops_at_once() {
    let house = House::new();
    let (here, there) = (house.pools(), house.pools());
    let (key, text) = house.issue(&here, "alice");
    let stores = [&here, &there].map(|pools| KeyStore::new(pools.clone(), house.clock.shared()));
    for store in &stores {
        assert!(store.find(&text).await.unwrap().is_some());
        assert!(store.find(&text).await.unwrap().is_some(), "a second time, from memory");
    }
    let now = house.now();
    assert!(there.write(move |db| auth::revoke(db, key.id, now)).await.unwrap());
    for store in &stores {
        assert!(store.find(&text).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn rotated_key_keeps_its_row_and_the_old_text_stops_at_once() {
    let house = House::new();
    let pools = house.pools();
    let now = house.now();
    let until = now + 1_000;
    let (old, text) = pools
        .write_blocking(|db| {
            auth::seed_plans(db, &[Plan::new("standard", "Standard", 600, 300)])?;
            auth::issue(db, "alice", Some("standard"), Some(until), now)
        })
        .unwrap();
    let store = KeyStore::new(pools.clone(), house.clock.shared());
    assert!(store.find(&text).await.unwrap().is_some());
    let other = house.pools();
    let (new, new_text) = other.write_blocking(|db| auth::rotate(db, old.id, now)).unwrap();
    assert_ne!(text, new_text);
    assert_eq!((new.id, &new.owner, &new.plan), (old.id, &old.owner, &old.plan));
    assert_eq!(new.expires_at, Some(until));
    assert!(store.find(&text).await.unwrap().is_none());
    assert_eq!(store.find(&new_text).await.unwrap().as_deref(), Some(&new));
}

#[tokio::test]
async fn key_expires_at_the_exact_second() {
    let house = House::new();
    let pools = house.pools();
    let now = house.now();
    let (key, text) =
        pools.write_blocking(|db| auth::issue(db, "alice", None, Some(now + 60), now)).unwrap();
    let store = KeyStore::new(pools.clone(), house.clock.shared());
    house.clock.advance(59);
    assert!(store.find(&text).await.unwrap().is_some());
    house.clock.advance(1);
    assert!(store.find(&text).await.unwrap().is_none());
    assert_eq!(key.state(house.now()), KeyState::Expired);
    let renewed = pools.write_blocking(|db| auth::rotate(db, key.id, now + 60));
    assert!(matches!(renewed, Err(KeyError::Dead(_))), "{renewed:?}");
}

#[test]
fn given_key_is_stored_once_and_must_be_well_formed() {
    let house = House::new();
    let pools = house.pools();
    let text = "00112233445566778899AABBCCDDEEFF";
    let file = |text: &str| {
        let now = house.now();
        pools.write_blocking(|db| auth::issue_with_text(db, text, "admin", None, None, now))
    };
    assert_eq!(file(text).unwrap().hint, "001122");
    assert!(matches!(file(text), Err(KeyError::Store(DatabaseError::Conflict))));
    assert!(matches!(file(&text.to_lowercase()), Err(KeyError::Store(DatabaseError::Conflict))));
    assert!(matches!(file("secret"), Err(KeyError::Malformed)));
}

#[test]
fn revoking_an_owner_returns_the_number_of_keys() {
    let house = House::new();
    let pools = house.pools();
    let now = house.now();
    let (first, _) = house.issue(&pools, "alice");
    house.issue(&pools, "alice");
    house.issue(&pools, "bob");
    assert!(pools.write_blocking(|db| auth::revoke(db, first.id, now)).unwrap());
    assert!(!pools.write_blocking(|db| auth::revoke(db, first.id, now)).unwrap());
    let none = pools.write_blocking(|db| auth::revoke(db, 99, now));
    assert!(matches!(none, Err(KeyError::NoKey(99))));
    assert_eq!(pools.write_blocking(|db| auth::revoke_owner(db, "alice", now)).unwrap(), 1);
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    let live = keys.iter().filter(|key| key.state(now) == KeyState::Live);
    assert_eq!(live.map(|key| key.owner.as_str()).collect::<Vec<_>>(), ["bob"]);
}

#[tokio::test]
async fn last_use_is_written_when_flushed() {
    let house = House::new();
    let pools = house.pools();
    let (key, text) = house.issue(&pools, "alice");
    let store = KeyStore::new(pools.clone(), house.clock.shared());
    house.clock.advance(30);
    store.find(&text).await.unwrap();
    let last_use = || pools.read_blocking(auth::list_keys).unwrap()[0].last_used_at;
    assert_eq!(last_use(), None);
    store.flush().await.unwrap();
    assert_eq!(last_use(), Some(key.created_at + 30));

    let late = KeyStore::new(house.pools(), house.clock.shared());
    house.clock.set("2026-03-01T12:00:10Z".parse().unwrap());
    late.find(&text).await.unwrap();
    late.flush().await.unwrap();
    assert_eq!(last_use(), Some(key.created_at + 30), "an earlier use changes nothing");
}

#[tokio::test]
async fn last_use_of_a_failed_flush_is_written_by_the_next_one() {
    use diesel::connection::SimpleConnection;
    let house = House::new();
    let pools = house.pools();
    let ((key, text), (_, again)) = (house.issue(&pools, "alice"), house.issue(&pools, "bob"));
    let rename = |from: &str, to: &str| {
        let statement = format!("ALTER TABLE {from} RENAME TO {to}");
        pools.write_blocking(|db| Ok::<_, DatabaseError>(db.batch_execute(&statement)?)).unwrap();
    };
    let store = KeyStore::new(pools.clone(), house.clock.shared());
    for text in [&text, &again] {
        store.find(text).await.unwrap();
    }
    rename("api_key", "elsewhere");
    assert!(store.flush().await.is_err());
    rename("elsewhere", "api_key");
    house.clock.advance(30);
    store.find(&again).await.unwrap();
    store.flush().await.unwrap();
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    let last_used: Vec<_> = keys.iter().map(|key| (key.owner.as_str(), key.last_used_at)).collect();
    let at = key.created_at;
    assert_eq!(last_used, [("alice", Some(at)), ("bob", Some(at + 30))]);
}

#[tokio::test]
async fn last_use_of_an_aborted_flush_is_written_by_the_next_one() {
    let house = House::new();
    let settings = DatabaseSettings { db_pool: 1, ..house.database.settings() };
    let pools = settings.open(house.database.folder(), "test", &[&auth::MIGRATIONS]).unwrap();
    let (key, text) = house.issue(&pools, "alice");
    let store = KeyStore::new(pools.clone(), house.clock.shared());
    store.find(&text).await.unwrap();
    // The only write connection is in use, so the flush waits until it is aborted.
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (begin, begun) = tokio::sync::oneshot::channel();
    let other = pools.clone();
    let writing = tokio::spawn(async move {
        let write = move |_: &mut Db| {
            let _ = (begin.send(()), released.recv());
            Ok::<_, DatabaseError>(())
        };
        other.write(write).await
    });
    begun.await.unwrap();
    let flush = tokio::time::timeout(Duration::ZERO, store.flush()).await;
    assert!(flush.is_err(), "the flush has not waited");
    drop(release);
    writing.await.unwrap().unwrap();
    store.flush().await.unwrap();
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    assert_eq!(keys[0].last_used_at, Some(key.created_at));
}

#[tokio::test]
async fn last_use_is_written_after_a_minute_and_after_the_clock_was_set_back() {
    for seconds in [60, -3_600] {
        let house = House::new();
        let pools = house.pools();
        let (key, text) = house.issue(&pools, "alice");
        let store = KeyStore::new(pools.clone(), house.clock.shared());
        store.find(&text).await.unwrap();
        house.clock.advance(seconds);
        store.find(&text).await.unwrap();
        let expected = Some(key.created_at + seconds);
        testkit::until(&format!("the use after {seconds} s is written"), async || {
            let keys = pools.read(auth::list_keys).await.unwrap();
            keys[0].last_used_at == expected
        })
        .await;
    }
}
