//! Loads of several breaches with a manifest.

use std::collections::{BTreeMap, BTreeSet};

use breaches::jobs::{AccountsOptions, JobError, Outcome};
use breaches::store::{accounts, breaches as store_breaches};
use serde_json::json;

use crate::app::{App, entry};

const NAMES: [&str; 3] = ["Alpha", "Beta", "Gamma"];

async fn with_breaches() -> App {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    app.import(&json!(NAMES.map(entry))).await;
    app
}

/// Returns all accounts with their packed lists, and the counts of the breaches.
async fn tables(app: &App) -> (BTreeMap<String, Vec<u8>>, Vec<(i64, i64)>) {
    app.change(|db| {
        let rows = accounts::after(db, (i64::MIN, -1), 1_000_000)?;
        let counts = store_breaches::all(db)?;
        let counts = counts.iter().map(|breach| (breach.loaded_count, breach.pwn_count)).collect();
        Ok((rows.into_iter().map(|row| (row.address(), row.breaches)).collect(), counts))
    })
    .await
}

fn load(app: &App, manifest: &str) -> Result<Outcome, JobError> {
    let manifest = Some(app.folder.write("manifest.txt", manifest));
    let options = AccountsOptions { manifest, ..AccountsOptions::default() };
    breaches::jobs::load_accounts(&app.context, &options)
}

/// Builds addresses in pseudo-random order, some of them twice.
fn lines(seed: u64, people: u64, chosen: u64) -> String {
    let mixed = |n: u64| (n + seed * 1_000).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    (0..chosen)
        .map(|n| mixed(n) % people)
        .map(|person| format!("person{person}@example{}.com\n", person % 9))
        .collect()
}

#[actix_web::test]
async fn manifest_gives_the_same_tables_as_single_loads() {
    let files = [("Gamma", 1), ("Alpha", 2), ("Beta", 3), ("Gamma", 4)];
    let text = |seed: u64| lines(seed, 6_000, 3_000);
    let one_by_one = with_breaches().await;
    for (name, seed) in files {
        one_by_one.load(name, &text(seed)).await;
    }
    let expected = tables(&one_by_one).await;
    let (empty, partly) = (with_breaches().await, with_breaches().await);
    partly.load("Beta", &text(3)).await;
    partly.load("Gamma", &text(1)).await;
    for app in [&empty, &partly] {
        let mut manifest = "# breach and file\n\n".to_owned();
        for (name, seed) in files {
            app.folder.write(format!("f{seed}.txt"), text(seed));
            manifest += &format!("{name}\tf{seed}.txt\r\n");
        }
        assert_eq!(load(app, &manifest).unwrap().accepted, 12_000);
        assert!(tables(app).await == expected);
        assert_eq!(load(app, &manifest).unwrap().added, 0);
        assert!(tables(app).await == expected);
        assert!(breaches::jobs::examine(&app.context).unwrap().is_sound());
    }
}

#[actix_web::test]
async fn invalid_manifest_is_refused_before_reading() {
    let app = with_breaches().await;
    app.folder.write("a.txt", "a@example.com\n");
    for (manifest, expected) in [
        ("Alpha a.txt\nDelta a.txt\n", "line 2: there is no such breach"),
        ("Alpha b.txt\n", "line 1: there is no file "),
        ("Alpha\n", "line 1: a breach and a file are required"),
        ("# nothing\n", "no line contains a file"),
    ] {
        let error = load(&app, manifest).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // A list instead of a manifest: the error contains nothing from it.
    for list in ["ada@corp.example hunter2\n", "hunter2,ada@corp.example\n", "hunter2\tx\n"] {
        let error = load(&app, list).unwrap_err().to_string();
        assert!(error.ends_with("manifest.txt: line 1: there is no such breach"), "{error}");
    }
    assert!(app.change(breaches::store::jobs::all).await.is_empty());
    assert_eq!(load(&app, "alpha,a.txt\n").unwrap().added, 1);
}

#[actix_web::test]
async fn loads_in_any_order_behave_like_sets() {
    let app = with_breaches().await;
    let mut model: BTreeMap<String, BTreeSet<u16>> = BTreeMap::new();
    // The first breach is loaded again after the last one, so that its id is inserted in the middle
    // of lists.
    for (round, place) in [1_u16, 2, 0, 1, 0, 2].into_iter().enumerate() {
        let text = lines(round as u64, 3_000, 1_200);
        let fresh: BTreeSet<&str> = text
            .lines()
            .filter(|line| !model.get(*line).is_some_and(|ids| ids.contains(&(place + 1))))
            .collect();
        let outcome = app.load(NAMES[usize::from(place)], &text).await;
        assert_eq!(outcome.added, fresh.len() as i64, "round {round}");
        for line in text.lines() {
            model.entry(line.to_owned()).or_default().insert(place + 1);
        }
    }
    let packed = |ids: BTreeSet<u16>| ids.into_iter().flat_map(u16::to_le_bytes).collect();
    let expected: BTreeMap<String, Vec<u8>> =
        model.into_iter().map(|(address, ids)| (address, packed(ids))).collect();
    assert!(tables(&app).await.0 == expected);
    assert!(breaches::jobs::examine(&app.context).unwrap().is_sound());
}
