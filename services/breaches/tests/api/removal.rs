//! Removal of breaches and people: interrupted purges, and remains in the database file.

use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use breaches::jobs::{find_remains, resume_purge, retire};
use breaches::model::{AccountKey, OptOut};
use breaches::store::schema::job;
use breaches::store::{Layout, accounts, breaches as catalogue, jobs, mail_domains};
use database::DatabaseError;
use diesel::connection::SimpleConnection;
use diesel::{ExpressionMethods, QueryDsl, RunQueryDsl};
use domain::EmailAddress;
use serde_json::json;

use crate::app::{App, NOW, entry};
use crate::commands::Operator;
use crate::processes::Cluster;

/// Returns the number of links of each of two breaches, as stored with the accounts.
async fn links(app: &App) -> [usize; 2] {
    let ids = app
        .change(|db| {
            let id = |db: &mut _, name| catalogue::by_name(db, name).map(|found| found.unwrap().id);
            Ok([id(db, "Alpha")?, id(db, "Beta")?])
        })
        .await;
    let rows = app.change(|db| accounts::after(db, (i64::MIN, -1), 1_000_000)).await;
    ids.map(|id| {
        let has = |row: &&accounts::AccountRow| {
            row.breaches.as_chunks::<2>().0.contains(&u16::to_le_bytes(id))
        };
        rows.iter().filter(has).count()
    })
}

#[test]
fn removals_by_command_wait_for_a_long_write() {
    // A transaction waits for SQLite's write lock for five seconds.
    const LONG: Duration = Duration::from_secs(7);
    let operator = Operator::new();
    operator.run(&["job", "list"]);
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let mut db = pools.connect().unwrap();
    let address = "sensitive-breach@breach-integration-tests.example";
    let commands = database::transaction(&mut db, |_| {
        let commands = [
            &["address", "remove", address, "--breach", "Duskmatch"][..],
            &["address", "opt-out", "ada@corp.example", "--kind", "delete"],
        ]
        .map(|arguments| {
            let mut command = operator.command(arguments);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        });
        // Timing: only a wait shows that the commands do not give up.
        thread::sleep(LONG);
        Ok::<_, DatabaseError>(commands)
    });
    for command in commands.unwrap() {
        let output = command.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(operator.json(&["address", "show", address])["stored"], false);
}

#[actix_web::test]
async fn retirement_removes_links_from_table_and_runs_and_unused_domains() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    let person = |n: usize| format!("user{n}@domain{}.example", n % 40);
    let some = |range: std::ops::Range<usize>| {
        range.map(person).collect::<Vec<_>>().join("\n") + "\nonly@alone.example\n"
    };
    app.load("Alpha", &some(0..6_000)).await;
    app.load("Beta", &some(5_000..7_000).replace("only@alone.example\n", "")).await;
    // These accounts are few compared to the table, so on SQLite they are in a run.
    app.load("Alpha", "late@lonely.example\nuser6500@domain20.example\n").await;
    assert_eq!(links(&app).await, [6_003, 2_000]);
    retire(&app.context, "Alpha").unwrap();
    assert_eq!(links(&app).await, [0, 2_000]);
    let found = app.change(|db| catalogue::by_name(db, "Alpha")).await.unwrap();
    assert_eq!(found.loaded_count, 0);
    for (domain, is_kept) in
        [("alone.example", false), ("lonely.example", false), ("domain20.example", true)]
    {
        let id = app.change(|db| mail_domains::id(db, domain)).await;
        assert_eq!(id.is_some(), is_kept, "{domain}");
    }
    // A removed name can be loaded again.
    app.load("Beta", "again@alone.example\n").await;
    assert_eq!(links(&app).await, [0, 2_001]);
    assert!(breaches::jobs::examine(&app.context).unwrap().is_sound());
}

#[actix_web::test]
async fn large_purge_keeps_domains_that_a_run_uses() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    let people: Vec<String> =
        (0..600).map(|n| format!("user{n}@domain{}.example\n", n % 150)).collect();
    app.load("Alpha", &people.concat()).await;
    // These accounts are few compared to the table, so on SQLite they are in a run.
    app.load("Beta", "one@domain7.example\nuser9@domain9.example\n").await;
    retire(&app.context, "Alpha").unwrap();
    let mut kept = Vec::new();
    for n in 0..150 {
        let name = format!("domain{n}.example");
        if app.change(move |db| mail_domains::id(db, &name)).await.is_some() {
            kept.push(n);
        }
    }
    assert_eq!(kept, [7, 9]);
}

#[actix_web::test]
async fn interrupted_purge_is_continued_once_and_doctor_counts_its_links() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", "a@corp.example\nb@corp.example\n").await;
    retire(&app.context, "Beta").unwrap();
    // The process was killed after it had marked the breach as retired.
    app.set_breach("Alpha", |breach| breach.flags.retired = true).await;
    app.change(|db| {
        let killed = (
            job::state.eq("running"),
            job::params.eq("Alpha"),
            job::cursor.eq(None::<Vec<u8>>),
            job::updated_at.eq(NOW),
        );
        Ok(diesel::update(job::table.filter(job::kind.eq("purge"))).set(killed).execute(db)?)
    })
    .await;
    let doctor = || breaches::jobs::examine(&app.context).unwrap();
    assert_eq!((doctor().retired_links, doctor().is_sound()), (2, false));
    app.clock.advance(29);
    assert!(!resume_purge(&app.context).unwrap(), "its process may be alive");
    app.clock.advance(1);
    let context = [app.context.clone(), app.context.clone()];
    let resume = context.map(|context| thread::spawn(move || resume_purge(&context).unwrap()));
    let resumed = resume.map(|thread| usize::from(thread.join().unwrap()));
    assert_eq!(resumed.iter().sum::<usize>(), 1, "one of two replicas continues it");
    assert_eq!((links(&app).await, doctor().is_sound()), ([0, 0], true));
    assert!(!resume_purge(&app.context).unwrap());
}

#[actix_web::test]
async fn missing_purge_of_a_retired_breach_is_begun_once() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    for name in ["Alpha", "Beta"] {
        app.load(name, "a@corp.example\nb@corp.example\n").await;
    }
    assert!(!resume_purge(&app.context).unwrap());
    let mut beta = entry("Beta");
    beta["IsRetired"] = json!(true);
    for (name, left) in [("Alpha", [0, 2]), ("Beta", [0, 0])] {
        match name {
            // `breach retire` was killed between its transactions.
            "Alpha" => app.set_breach(name, |breach| breach.flags.retired = true).await,
            _ => drop(app.import(&json!([beta])).await),
        }
        let context = [app.context.clone(), app.context.clone()];
        let resume = context.map(|context| thread::spawn(move || resume_purge(&context).unwrap()));
        let resumed = resume.map(|thread| usize::from(thread.join().unwrap()));
        assert_eq!((resumed.iter().sum::<usize>(), links(&app).await), (1, left), "{name}");
    }
    assert!(breaches::jobs::examine(&app.context).unwrap().is_sound());
    let purges = job::table.filter(job::kind.eq("purge")).count();
    assert_eq!(app.change(|db| Ok(purges.get_result::<i64>(db)?)).await, 2);
    assert!(!resume_purge(&app.context).unwrap());
}

#[actix_web::test]
async fn cancelled_purge_is_not_begun_again() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", "a@corp.example\n").await;
    app.set_breach("Alpha", |breach| breach.flags.retired = true).await;
    app.change(|db| {
        let id = jobs::begin(db, "purge", "", "Alpha", NOW)?;
        jobs::cancel(db, id, NOW)
    })
    .await;
    assert!(!resume_purge(&app.context).unwrap());
    assert_eq!(links(&app).await, [1, 0]);
}

#[test]
fn log_that_is_in_use_is_cleared_later() {
    let operator = Operator::new();
    operator.run(&["job", "list"]);
    // PostgreSQL has no such log.
    let Some(file) = operator.database.file() else { return };
    let log = PathBuf::from(format!("{}-wal", file.display()));
    let removed = "sensitive-breach@breach-integration-tests.example";
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let mut reader = pools.connect_reader().unwrap();
    reader.batch_execute("BEGIN").unwrap();
    assert!(!catalogue::all(&mut reader).unwrap().is_empty());
    let output = operator.output(&["address", "remove", removed, "--breach", "Duskmatch"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("write-ahead log is in use"), "{errors}");
    assert!(log.metadata().unwrap().len() > 0);
    reader.batch_execute("COMMIT").unwrap();
    let verified = operator.output(&["address", "verify-removed", removed]);
    let errors = String::from_utf8(verified.stderr).unwrap();
    assert!(verified.status.success() && !errors.contains("in use"), "{errors}");
    assert_eq!(log.metadata().map_or(0, |found| found.len()), 0);
}

#[test]
fn cleaning_empties_the_log_of_an_interrupted_cleanup() {
    let operator = Operator::new();
    operator.run(&["job", "list"]);
    // PostgreSQL has no such log.
    let Some(file) = operator.database.file() else { return };
    let log = PathBuf::from(format!("{}-wal", file.display()));
    // Like a server, this connection keeps the log when a command ends.
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let written: Result<(), DatabaseError> =
        pools.write_blocking(|db| breaches::store::versions::bump_catalogue(db, NOW));
    written.unwrap();
    assert!(log.metadata().unwrap().len() > 0);
    operator.run(&["accounts", "clean"]);
    assert_eq!(log.metadata().map_or(0, |found| found.len()), 0);
}

#[actix_web::test]
async fn websites_where_only_a_removed_person_was_captured_are_removed() {
    let app = App::start().await;
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    app.import(&json!([logs])).await;
    let pairs = "email,url\na@corp.example,https://home-of-a.example/\n\
        a@corp.example,https://shop.example/\nb@corp.example,https://shop.example/\n";
    for choice in [None, Some(OptOut::Delete)] {
        app.load_pairs("Logs", pairs).await;
        let email = EmailAddress::parse("a@corp.example").unwrap();
        app.change(|db| {
            let removed = match choice {
                Some(choice) => breaches::opt_out(db, &email, choice, NOW),
                None => {
                    let id = catalogue::by_name(db, "Logs")?.unwrap().id;
                    breaches::remove_link(db, &email, id, NOW).map(drop)
                }
            };
            removed.map_err(DatabaseError::broken)
        })
        .await;
        for (website, is_kept) in [("home-of-a.example", false), ("shop.example", true)] {
            let id = app.change(|db| mail_domains::id(db, website)).await;
            // A distributed database keeps unused names.
            let is_kept = is_kept || app.change(Layout::of).await.is_distributed();
            assert_eq!(id.is_some(), is_kept, "{choice:?} {website}");
        }
    }
}

#[actix_web::test]
async fn checkpoints_do_not_keep_the_key_of_a_removed_person() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    let email = EmailAddress::parse("only@gone.example").unwrap();
    let key = AccountKey::of(&email.sha1()).0;
    app.load("Alpha", "only@gone.example\n").await;
    // An interrupted load, and a finished one of an earlier version.
    app.change(|db| {
        for state in ["running", "done"] {
            let id = jobs::begin(db, "accounts", "", "{}", NOW)?;
            jobs::advance(db, id, &key.to_le_bytes(), 1, NOW)?;
            diesel::update(job::table.find(id)).set(job::state.eq(state)).execute(db)?;
        }
        Ok(())
    })
    .await;
    let found = || {
        let mut found = find_remains(&app.context, &email, &[]).unwrap().found;
        found.retain(|(place, _)| place == "job.cursor");
        found
    };
    assert_eq!(found(), [("job.cursor".to_owned(), 2)], "the load has finished");
    app.change(|db| {
        breaches::opt_out(db, &email, OptOut::Delete, NOW).map_err(DatabaseError::broken)
    })
    .await;
    assert!(found().is_empty());
    let kept = job::table.filter(job::cursor.is_not_null()).select(job::cursor);
    let kept = app.change(|db| Ok(kept.load::<Option<Vec<u8>>>(db)?)).await;
    assert_eq!(kept, [Some(((key >> 40) << 40).to_le_bytes().to_vec())]);
}

#[test]
fn title_of_a_paste_that_contains_a_removed_address_is_found() {
    let operator = Operator::new();
    let paste = json!({"Source": "Pastebin", "Id": "1", "Title": "Logins of Ada@Gone.example", "Emails": ["ada@gone.example"]});
    let file = operator.folder.write("pastes.json", paste.to_string());
    operator.run(&["pastes", "load", file.to_str().unwrap()]);
    operator.run(&["address", "opt-out", "ada@gone.example", "--kind", "delete"]);
    let output = operator.output(&["address", "verify-removed", "ada@gone.example", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &found["found"][0]), (Some(1), &json!(["paste.title", 1])));
}

#[actix_web::test]
async fn removed_person_is_nowhere_in_the_database() {
    const PERSON: &str = "Removed.Person@gone.example";
    let cluster = Cluster::new();
    cluster.run(&["migrate"]);
    let folder = testkit::Folder::new();
    let many: String = (0..3_000).map(|n| format!("user{n}@kept{}.example\n", n % 50)).collect();
    let catalogue =
        folder.write("catalogue.json", json!([entry("Alpha"), entry("Beta")]).to_string());
    cluster.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let file = folder.write("all.txt", format!("{many}{PERSON}\n"));
    let load = |breach: &str, file: &std::path::Path| {
        cluster.run(&["accounts", "load", "--breach", breach, file.to_str().unwrap()]);
    };
    let verify = |also: &[&str]| {
        let command = [&["address", "verify-removed", PERSON, "--json"], also].concat();
        let output = cluster.command(&command).output().unwrap();
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), found)
    };
    for kind in ["remove", "opt-out", "retire"] {
        // First in the table, then (on SQLite) in a run.
        load("Alpha", &file);
        let few = folder.write("few.txt", format!("{PERSON}\nuser1@kept1.example\n"));
        load("Beta", &few);
        let (code, found) = verify(&[]);
        assert_eq!(code, Some(1), "{found}");
        if cluster.database.file().is_some() {
            assert!(found["found"].to_string().contains(".db"), "{found}");
        }
        match kind {
            "remove" => {
                for breach in ["Alpha", "Beta"] {
                    cluster.run(&["address", "remove", PERSON, "--breach", breach]);
                }
            }
            "opt-out" => drop(cluster.run(&["address", "opt-out", PERSON, "--kind", "delete"])),
            _ => {
                for breach in ["Beta", "Alpha"] {
                    cluster.run(&["breach", "retire", breach, "--yes"]);
                }
            }
        }
        let (code, found) = verify(&[]);
        assert_eq!((code, &found["found"]), (Some(0), &json!([])), "{kind}: {found}");
    }
    let log = folder.write("old.log", "someone looked up removed.person@GONE.example\n");
    let (code, found) = verify(&["--also", log.to_str().unwrap()]);
    assert_eq!((code, &found["found"]), (Some(1), &json!([[log, 1]])));
}
