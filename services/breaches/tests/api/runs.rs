//! Additional breaches, which SQLite stores in runs. Reads and changes of accounts are checked
//! against a simple model. PostgreSQL does not have runs, but the same checks apply.

use std::collections::{BTreeMap, BTreeSet};

use breaches::model::{AccountKey, OptOut};
use breaches::store::accounts::{self, domain_walk};
use breaches::store::{account_links, breaches as store_breaches};
use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use domain::EmailAddress;
use serde_json::{Value, json};

use crate::app::{App, NOW, entry};

/// The breaches of each address.
type Model = BTreeMap<String, BTreeSet<u16>>;

const BREACHES: u16 = 12;

async fn with_breaches() -> App {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    let mut entries: Vec<Value> = (1..=BREACHES).map(|n| entry(&format!("B{n}"))).collect();
    entries[11]["IsStealerLog"] = json!(true);
    app.import(&Value::Array(entries)).await;
    app
}

#[derive(QueryableByName)]
struct Runs {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Returns the number of runs; 1 on PostgreSQL, which does not have runs.
async fn runs(app: &App) -> i64 {
    let count = |db: &mut Db| -> Result<i64, DatabaseError> {
        let Db::Sqlite(conn) = db else { return Ok(1) };
        let statement = diesel::sql_query("SELECT count(*) AS number FROM account_run");
        Ok(statement.get_result::<Runs>(conn)?.number)
    };
    app.change(count).await
}

fn parse(text: &str) -> Result<EmailAddress, DatabaseError> {
    EmailAddress::parse(text).map_err(DatabaseError::broken)
}

fn person(n: u64) -> String {
    let domain = n.wrapping_mul(7) % 11;
    match n % 13 {
        0 => format!("person{n}@bücher{domain}.example"),
        _ => format!("person{n}@example{}.com", domain.min(5)),
    }
}

/// Loads random people of a breach into the database and the model.
async fn load(app: &App, model: &mut Model, breach: u16, seed: u64, people: u64) {
    let mut lines = String::new();
    for n in 0..people {
        let mixed = (n + seed * 1_000).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let address = person(mixed % 700);
        lines += &address;
        lines.push('\n');
        model.entry(address).or_default().insert(breach);
    }
    let before = app.change(move |db| store_breaches::loaded(db, breach)).await;
    let outcome = app.load(&format!("B{breach}"), &lines).await;
    let after = model.values().filter(|ids| ids.contains(&breach)).count() as i64;
    assert_eq!(outcome.added, after - before, "B{breach}, seed {seed}");
}

/// Compares all kinds of reads with the model.
async fn check(app: &App, model: &Model) {
    let expected: BTreeMap<String, Vec<u16>> = model
        .iter()
        .map(|(address, ids)| (address.clone(), ids.iter().copied().collect()))
        .collect();
    let list = |list: &[u8]| -> Vec<u16> {
        list.chunks(2).map(|id| u16::from_le_bytes([id[0], id[1]])).collect()
    };
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await;
    assert!(rows.is_sorted_by_key(|row| row.k));
    let found: BTreeMap<_, _> =
        rows.iter().map(|row| (row.address(), list(&row.breaches))).collect();
    assert_eq!(rows.len(), expected.len());
    assert_eq!(found, expected);

    // Read by page, by address, by ranges of all sizes, and by domain.
    let checked = expected.clone();
    app.change(move |db| {
        let (mut paged, mut after) = (Vec::new(), (i64::MIN, -1));
        loop {
            let rows = accounts::after(db, after, 7)?;
            let Some(last) = rows.last() else { break };
            after = (last.k, i16::MAX);
            paged.extend(rows.into_iter().map(|row| row.address()));
        }
        assert_eq!(paged, rows.iter().map(|row| row.address()).collect::<Vec<_>>());
        for (address, ids) in &checked {
            let row = accounts::find(db, &parse(address)?)?.unwrap();
            assert_eq!(&list(&row.breaches), ids, "{address}");
        }
        assert_eq!(accounts::find(db, &parse("unknown@example1.com")?)?, None);
        for shift in [4, 20, 62] {
            let keys =
                |row: &accounts::AccountRow| (row.k >> shift << shift, row.k | ((1 << shift) - 1));
            for row in rows.iter().step_by(97) {
                let (low, high) = keys(row);
                let ranged = accounts::range(db, None, AccountKey(low), AccountKey(high))?;
                let ranged: BTreeMap<_, _> =
                    ranged.into_iter().map(|row| ((row.local, row.domain), row.breaches)).collect();
                let same = rows.iter().filter(|row| (low..=high).contains(&row.k));
                let same: BTreeMap<_, _> = same
                    .map(|row| ((row.local.clone(), row.domain.clone()), row.breaches.clone()))
                    .collect();
                assert_eq!(ranged, same);
            }
        }
        let domains: BTreeSet<&str> = rows.iter().map(|row| row.domain.as_str()).collect();
        for domain in domains {
            let mut at: Vec<_> = domain_walk::at_domain(db, domain)?
                .into_iter()
                .map(|row| (row.k, row.local, row.breaches))
                .collect();
            at.sort();
            let same = rows.iter().filter(|row| row.domain == domain);
            let mut same: Vec<_> =
                same.map(|row| (row.k, row.local.clone(), row.breaches.clone())).collect();
            same.sort();
            assert_eq!(at, same, "{domain}");
        }
        for breach in store_breaches::all(db)? {
            let links = checked.values().filter(|ids| ids.contains(&breach.id)).count();
            assert_eq!(breach.loaded_count, links as i64, "{}", breach.name);
        }
        Ok(())
    })
    .await;
    let findings = breaches::jobs::examine(&app.context).unwrap();
    assert!(findings.is_sound(), "{findings:?}");
    assert_eq!(findings.accounts, expected.len() as i64);
}

#[actix_web::test]
async fn accounts_in_runs_behave_like_accounts_in_one_table() {
    let (app, mut model) = (with_breaches().await, Model::new());
    for breach in 1..=4 {
        load(&app, &mut model, breach, u64::from(breach), 120).await;
    }
    assert!(runs(&app).await > 0);
    check(&app, &model).await;
    // Loads a breach that already has links, some of which are the same.
    load(&app, &mut model, 2, 2, 90).await;
    load(&app, &mut model, 2, 9, 90).await;
    for breach in 5..=11 {
        load(&app, &mut model, breach, u64::from(breach), 100).await;
    }
    assert!((1..=8).contains(&runs(&app).await), "runs are merged when there are many");
    check(&app, &model).await;

    // Removes people, either completely or from one breach.
    let leaving: Vec<String> = model.keys().step_by(29).cloned().collect();
    for (n, address) in leaving.iter().enumerate() {
        let (email, all) = (parse(address).unwrap(), n % 2 == 0);
        let ids = if all { model.remove(address).unwrap() } else { model[address].clone() };
        let removed = ids.first().copied().unwrap();
        app.context
            .pools
            .write_blocking(|db| match all {
                true => breaches::opt_out(db, &email, OptOut::Delete, NOW),
                false => breaches::remove_link(db, &email, removed, NOW).map(drop),
            })
            .unwrap();
        if !all {
            let ids = model.get_mut(address).unwrap();
            ids.remove(&removed);
            if ids.is_empty() {
                model.remove(address);
            }
        }
    }
    check(&app, &model).await;

    // Stealer logs and pastes move accounts to the table. Then a breach is retired.
    let captured: Vec<String> = model.keys().step_by(31).cloned().collect();
    let pairs: String = captured.iter().map(|a| format!("{a},shop.example\n")).collect();
    app.load_pairs("B12", &format!("email,website\n{pairs}")).await;
    for address in &captured {
        model.get_mut(address).unwrap().insert(12);
    }
    let pasted: Vec<String> = model.keys().step_by(37).cloned().collect();
    let paste = json!({"Source": "Pastebin", "Id": "1", "Emails": pasted});
    app.load_pastes(&paste.to_string()).await;
    check(&app, &model).await;
    breaches::jobs::retire(&app.context, "B3").unwrap();
    for ids in model.values_mut() {
        ids.remove(&3);
    }
    let pasted: BTreeSet<String> = pasted.into_iter().collect();
    model.retain(|address, ids| !ids.is_empty() || pasted.contains(address));
    check(&app, &model).await;
}

#[actix_web::test]
async fn moving_accounts_from_runs_to_the_table_changes_no_read() {
    let (app, mut model) = (with_breaches().await, Model::new());
    for breach in 1..=6 {
        load(&app, &mut model, breach, u64::from(breach), 200).await;
    }
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await;
    let middle = rows[rows.len() / 2].k;
    app.change(move |db| account_links::merge_between(db, i64::MIN, middle)).await;
    check(&app, &model).await;
    // Moves the remaining accounts, as a large load would.
    let before = app.change(|db| accounts::in_table(db, AccountKey(middle))).await;
    assert_eq!(before.len(), 1);
    app.change(|db| account_links::merge_between(db, i64::MIN, i64::MAX)).await;
    check(&app, &model).await;
    if matches!(app.context.pools.connect().unwrap(), Db::Sqlite(_)) {
        assert_eq!(runs(&app).await, 0);
    }
}

#[actix_web::test]
async fn searches_find_accounts_in_runs_after_a_load() {
    let app = with_breaches().await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.verify("owner@example.org", "example.com").await;
    let path = "/api/v3/breachedaccount/ada@example.com";
    assert_eq!(app.get_with(&key, path).await.status(), 404);
    app.load("B1", "ada@example.com\nbob@example.com\n").await;
    app.load("B2", "ada@example.com\n").await;
    let both = json!([{"Name": "B1"}, {"Name": "B2"}]);
    assert_eq!(app.json_with(&key, path).await, both);
    let digest = parse("ada@example.com").unwrap().sha1().to_string();
    let range = format!("/api/v3/breachedaccount/range/{}", &digest[..6]);
    let expected = json!([{"hashSuffix": digest[6..].to_uppercase(), "websites": ["B1", "B2"]}]);
    assert_eq!(app.json_with(&key, &range).await, expected);
    let domain = app.json_with(&key, "/api/v3/breacheddomain/example.com").await;
    assert_eq!(domain, json!({"ada": ["B1", "B2"], "bob": ["B1"]}));
    let prefixes = json!({"prefixes": [&digest[..6], "000000"]});
    let (status, body) = app.post_with(&key, "/api/v3/breachedaccount/ranges", &prefixes).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains(&digest[6..].to_uppercase()), "{body}");
}

/// Damages all blocks except the first and the last. Returns the number of damaged blocks; 0 on
/// PostgreSQL, which does not have runs.
fn damage_blocks(db: &mut Db) -> Result<usize, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(0) };
    let statement = diesel::sql_query(
        "UPDATE account_block SET data = x'FF' WHERE id > (SELECT min(id) FROM account_block) \
         AND id < (SELECT max(id) FROM account_block)",
    );
    Ok(statement.execute(conn)?)
}

#[actix_web::test]
async fn a_small_load_reads_no_blocks_between_its_addresses() {
    let (app, mut model) = (with_breaches().await, Model::new());
    load(&app, &mut model, 1, 1, 600).await;
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await;
    let outermost = [rows.first().unwrap().address(), rows.last().unwrap().address()];
    if app.change(damage_blocks).await == 0 {
        return;
    }
    // They have links to this breach already, so the load has to find them.
    let again = app.load("B1", &outermost.join("\n")).await;
    assert_eq!((again.accepted, again.added), (2, 0));
    // Stealer logs move them to the table.
    let pairs = outermost.map(|address| format!("{address},shop.example\n")).concat();
    let captured = app.load_pairs("B12", &format!("email,website\n{pairs}")).await;
    assert_eq!(captured.added, 2);
}
