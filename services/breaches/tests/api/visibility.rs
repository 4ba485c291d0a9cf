//! Both tables of the visibility rules, applied to a running server.

use breaches::model::{Breach, OptOut};
use breaches::store::versions;
use database::DatabaseError;
use domain::{EmailAddress, Sha1Digest};
use serde_json::{Value, json};

use crate::app::{App, NOW, entry};

const ADDRESS: &str = "someone@example.com";

/// Starts a server whose subscriber controls example.com. One of its addresses is in a stealer log
/// and a paste.
async fn app() -> (App, String) {
    let app = App::start().await;
    let mut alpha = entry("Alpha");
    alpha["IsStealerLog"] = json!(true);
    app.import(&json!([alpha])).await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    app.load_pairs("Alpha", &format!("email,website\n{ADDRESS},https://shop.example.com/\n")).await;
    app.load_pastes(&format!("{}\n", json!({"Source": "Slexy", "Id": "1", "Emails": [ADDRESS]})))
        .await;
    for domain in ["example.com", "shop.example.com"] {
        app.verify("owner@example.org", domain).await;
    }
    (app, key)
}

/// Returns which of the operations 1, 2, 6, 12, 13, 14, 15 show the address, and whether 8 lists
/// the breach.
async fn seen(app: &App, key: &str) -> [bool; 8] {
    let prefix = &Sha1Digest::of(ADDRESS).to_string()[..6];
    let mut seen = [false; 8];
    for (place, path) in [
        format!("breachedaccount/{ADDRESS}"),
        format!("breachedaccount/range/{prefix}"),
        "breacheddomain/example.com".to_owned(),
        format!("stealerlogsbyemail/{ADDRESS}"),
        "stealerlogsbywebsitedomain/shop.example.com".to_owned(),
        "stealerlogsbyemaildomain/example.com".to_owned(),
        format!("pasteaccount/{ADDRESS}"),
    ]
    .iter()
    .enumerate()
    {
        let response = app.get_with(key, &format!("/api/v3/{path}")).await;
        seen[place] = match response.status().as_u16() {
            200 => response.text().await.unwrap() != "[]",
            404 => false,
            other => panic!("{path}: {other}"),
        };
        app.clock.advance(60);
    }
    let list: Value = app.get("/api/v3/breaches").await.json().await.unwrap();
    seen[7] = list.as_array().unwrap().iter().any(|breach| breach["Name"] == "Alpha");
    seen
}

const EVERYWHERE: [bool; 8] = [true; 8];

#[actix_web::test]
async fn each_flag_hides_exactly_the_operations_of_the_table() {
    let (app, key) = app().await;
    assert_eq!(seen(&app, &key).await, EVERYWHERE);
    let nowhere_but_paste = [false, false, false, false, false, false, true];
    let with = |mut seen: [bool; 8], listed: bool| {
        seen[7] = listed;
        seen
    };
    let hidden: [bool; 8] = std::array::from_fn(|i| nowhere_but_paste.get(i) == Some(&true));
    let from_public = [false, false, true, true, true, true, true, true];
    type Set = fn(&mut Breach);
    let cases: [(&str, Set, [bool; 8]); 8] = [
        ("inactive", |breach| breach.active = false, with(hidden, false)),
        ("sensitive", |breach| breach.flags.sensitive = true, from_public),
        ("retired", |breach| breach.flags.retired = true, with(hidden, true)),
        ("unverified", |breach| breach.flags.verified = false, EVERYWHERE),
        ("fabricated", |breach| breach.flags.fabricated = true, EVERYWHERE),
        ("malware", |breach| breach.flags.malware = true, EVERYWHERE),
        ("spam list", |breach| breach.flags.spam_list = true, EVERYWHERE),
        ("subscription free", |breach| breach.flags.subscription_free = true, EVERYWHERE),
    ];
    for (name, set, expected) in cases {
        app.set_breach("Alpha", set).await;
        assert_eq!(seen(&app, &key).await, expected, "{name}");
        app.set_breach("Alpha", |breach| {
            breach.flags =
                breaches::model::Flags { verified: true, stealer_log: true, ..Default::default() };
            breach.active = true;
        })
        .await;
    }
    let unverified = format!("/api/v3/breachedaccount/{ADDRESS}?IncludeUnverified=false");
    assert_eq!(app.get_with(&key, &unverified).await.status(), 200);
}

/// Returns whether a packed list contains the id of a breach.
fn contains(list: &[u8], id: u16) -> bool {
    list.chunks(2).any(|pair| pair == id.to_le_bytes())
}

async fn choose(app: &App, choice: OptOut) {
    let address = EmailAddress::parse(ADDRESS).unwrap();
    app.change(|db| breaches::opt_out(db, &address, choice, NOW).map_err(DatabaseError::broken))
        .await;
}

#[actix_web::test]
async fn public_opt_out_hides_an_address_until_it_is_reverted() {
    let (app, key) = app().await;
    choose(&app, OptOut::Public).await;
    let hidden = [false, false, true, true, true, true, false, true];
    assert_eq!(seen(&app, &key).await, hidden);
    assert_eq!(app.load("Alpha", ADDRESS).await.added, 0);
    assert_eq!(seen(&app, &key).await, hidden);
    let address = EmailAddress::parse(ADDRESS).unwrap();
    app.change(|db| breaches::opt_in(db, &address, NOW).map_err(DatabaseError::broken)).await;
    assert_eq!(seen(&app, &key).await, EVERYWHERE);
}

#[actix_web::test]
async fn breach_opt_out_removes_an_address_and_prevents_later_loads() {
    let (app, key) = app().await;
    choose(&app, OptOut::Breaches).await;
    let hidden = [false, false, false, false, false, false, false, true];
    assert_eq!(seen(&app, &key).await, hidden);
    assert_eq!(app.load("Alpha", ADDRESS).await.added, 0);
    app.load_pairs("Alpha", &format!("email,website\n{ADDRESS},shop.example.com\n")).await;
    app.load_pastes(&format!("{}\n", json!({"Source": "Slexy", "Id": "2", "Emails": [ADDRESS]})))
        .await;
    assert_eq!(seen(&app, &key).await, hidden);
    let taken = app
        .context
        .pools
        .write_blocking(|db| breaches::opt_in(db, &EmailAddress::parse(ADDRESS).unwrap(), NOW));
    assert!(taken.is_err());
}

#[actix_web::test]
async fn later_opt_out_of_another_kind_does_not_let_loads_in() {
    let (app, _) = app().await;
    choose(&app, OptOut::Breaches).await;
    for later in [OptOut::Public, OptOut::Delete] {
        choose(&app, later).await;
        assert_eq!(app.load("Alpha", ADDRESS).await.added, 0, "{later:?}");
    }
}

#[actix_web::test]
async fn deleted_address_is_stored_again_by_a_later_load() {
    let (app, key) = app().await;
    choose(&app, OptOut::Delete).await;
    assert!(seen(&app, &key).await[..7].iter().all(|seen| !seen));
    let rows = app.change(breaches::store::opt_outs::all).await;
    assert!(!rows.iter().any(|(hash, _)| *hash == Sha1Digest::of(ADDRESS).0));
    assert_eq!(app.load("Alpha", ADDRESS).await.added, 1);
    let found = seen(&app, &key).await;
    assert!(found[0] && found[1] && found[2] && !found[3]);
}

#[actix_web::test]
async fn retired_breach_is_hidden_and_removed_from_every_list() {
    let (app, key) = app().await;
    app.import(&json!([entry("Beta")])).await;
    let many: Vec<String> = (0..6000).map(|n| format!("user{n}@example.com")).collect();
    app.load("Alpha", &many.join("\n")).await;
    app.load("Beta", &format!("{ADDRESS}\n{}", many[..10].join("\n"))).await;
    breaches::jobs::retire(&app.context, "alpha").unwrap();
    app.state.reload().await.unwrap();
    let found = app.json_with(&key, &format!("/api/v3/breachedaccount/{ADDRESS}")).await;
    assert_eq!(found, json!([{"Name": "Beta"}]));
    let (alpha, rows, pairs) = app
        .change(|db| {
            let alpha = breaches::store::breaches::by_name(db, "Alpha")?.unwrap();
            let rows = breaches::store::accounts::after(db, (i64::MIN, -1), 100_000)?;
            Ok((alpha, rows, breaches::store::stealer_logs::count(db)?))
        })
        .await;
    assert!(rows.iter().all(|row| !contains(&row.breaches, alpha.id)));
    assert_eq!((alpha.loaded_count, alpha.pwn_count), (0, 6001));
    assert_eq!(pairs, 1, "only the pair of the test accounts is left");
    let listed: Value = app.get("/api/v3/breach/Alpha").await.json().await.unwrap();
    assert_eq!((&listed["IsRetired"], &listed["PwnCount"]), (&json!(true), &json!(6001)));
}

#[actix_web::test]
async fn retired_breach_accepts_no_accounts_and_stays_retired() {
    let (app, key) = app().await;
    breaches::jobs::retire(&app.context, "Alpha").unwrap();
    let options = breaches::jobs::AccountsOptions {
        breach: "Alpha".into(),
        files: vec![app.folder.write("late.txt", ADDRESS)],
        activate: true,
        ..Default::default()
    };
    let refused = breaches::jobs::load_accounts(&app.context, &options).unwrap_err();
    assert_eq!(refused.to_string(), "the breach Alpha is retired");
    // A catalogue that was published earlier.
    let mut alpha = entry("Alpha");
    alpha["IsRetired"] = json!(false);
    app.import(&json!([alpha])).await;
    let listed: Value = app.get("/api/v3/breach/Alpha").await.json().await.unwrap();
    assert_eq!(listed["IsRetired"], json!(true));
    assert!(!seen(&app, &key).await[0]);
}

#[actix_web::test]
async fn load_fails_if_its_breach_is_retired_meanwhile() {
    let (app, _) = app().await;
    let alpha = app.change(|db| breaches::store::breaches::by_name(db, "Alpha")).await.unwrap();
    let mut linker = breaches::jobs::Linker::new(&app.context, 1, &[alpha]);
    app.set_breach("Alpha", |breach| breach.flags.retired = true).await;
    let linked = app.context.pools.write_blocking(|db| linker.link(db, &[]));
    assert_eq!(linked.unwrap_err().to_string(), "the breach Alpha is retired or gone");
}

#[actix_web::test]
async fn load_without_new_links_keeps_the_catalogue_version() {
    let (app, _) = app().await;
    let mut versions = Vec::new();
    for address in ["new@example.com", "new@example.com", "newer@example.com"] {
        app.load("Alpha", address).await;
        versions.push(app.change(versions::current).await.catalogue);
    }
    assert_eq!(versions[0], versions[1]);
    assert_eq!(versions[1] + 1, versions[2]);
}

#[actix_web::test]
async fn changes_after_a_failover_that_lost_others_are_noticed() {
    let (app, key) = app().await;
    let is_postgres = app.context.pools.file().is_none();
    let before = app.change(versions::current).await;
    app.set_breach("Alpha", |breach| breach.flags.verified = false).await;
    let other = EmailAddress::parse("other@example.com").unwrap();
    app.change(|db| {
        breaches::opt_out(db, &other, OptOut::Public, NOW).map_err(DatabaseError::broken)
    })
    .await;
    let lost = app.change(versions::current).await;
    let address = EmailAddress::parse(ADDRESS).unwrap();
    let after = app.change(|db| {
        // The new server has none of the changes above.
        versions::set(db, versions::CATALOGUE_VERSION, before.catalogue)?;
        versions::set(db, versions::CATALOGUE_CHANGED_AT, before.catalogue_changed_at)?;
        versions::set(db, versions::OPTOUT_VERSION, before.opt_out)?;
        let mut alpha = breaches::store::breaches::by_name(db, "Alpha")?.unwrap();
        alpha.flags.spam_list = true;
        breaches::store::breaches::update(db, &alpha)?;
        versions::bump_catalogue(db, NOW + 60)?;
        if is_postgres {
            breaches::opt_out(db, &address, OptOut::Public, NOW).map_err(DatabaseError::broken)?;
        }
        versions::current(db)
    });
    assert_eq!(after.await.catalogue, lost.catalogue);
    let listed: Value = app.get("/api/v3/breach/Alpha").await.json().await.unwrap();
    assert_eq!(listed["IsSpamList"], json!(true));
    // SQLite has no failover, so its opt-outs can be counted.
    assert_eq!(seen(&app, &key).await[0], !is_postgres);
}

#[actix_web::test]
async fn changes_reach_another_process_on_the_same_database() {
    let (app, key) = app().await;
    let settings = app.context.settings.clone();
    let pools = app.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let other = breaches::State::new(
        pools,
        app.context.clock.clone(),
        settings,
        breaches::External::unavailable().unwrap(),
    )
    .unwrap();
    let server = testkit::TestServer::start(breaches::Breaches::new(other)).await;
    let ask = || {
        server
            .get(&format!("/api/v3/breachedaccount/{ADDRESS}"))
            .header("user-agent", "tests")
            .header("breach-api-key", &key)
            .send()
    };
    assert_eq!(ask().await.unwrap().status(), 200);
    app.set_breach("Alpha", |breach| breach.flags.sensitive = true).await;
    while ask().await.unwrap().status() == 200 {}
    app.set_breach("Alpha", |breach| breach.flags.sensitive = false).await;
    while ask().await.unwrap().status() == 404 {}
    choose(&app, OptOut::Public).await;
    while ask().await.unwrap().status() == 200 {}
}
