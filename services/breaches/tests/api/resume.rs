//! Loads that are killed and go on.

use std::process::{Child, Command, Stdio};

use breaches::store::{account, breach, job};
use serde_json::json;
use store::Pools;
use testkit::{Database, Folder};

/// A database on which the binary works, beside the test.
struct Bench {
    database: Database,
    folder: Folder,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { database: Database::new(), folder: Folder::new() };
        let entries = json!([crate::app::entry("Alpha"), crate::app::entry("Beta")]).to_string();
        let file = bench.folder.write("catalogue.json", entries);
        let status = bench.command(&["migrate"]).status().unwrap();
        assert!(status.success());
        let status = bench.command(&["catalogue", "import"]).arg(file).status().unwrap();
        assert!(status.success());
        bench
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_breaches"));
        command
            .args(arguments)
            .env("DATABASE_URL", self.database.url())
            .env("DATA_DIR", self.folder.path())
            .env("SEED_TEST_DATA", "false")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn load(&self, breach: &str, file: &std::path::Path) -> Command {
        let mut command = self.command(&["accounts", "load", "--breach", breach]);
        command.arg(file);
        command
    }

    fn pools(&self) -> Pools {
        self.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS])
    }

    fn tables(&self) -> (Vec<account::AccountRow>, Vec<i64>) {
        self.pools()
            .read_blocking(|db| -> Result<_, store::StoreError> {
                let counts = breach::all(db)?.iter().map(|breach| breach.loaded_count).collect();
                Ok((account::after(db, (i64::MIN, -1), 1_000_000)?, counts))
            })
            .unwrap()
    }
}

/// Kills a load as soon as it has committed `batches`, or lets it end when it was faster.
fn kill_after(mut child: Child, pools: &Pools, batches: i64) -> bool {
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        let added = pools
            .read_blocking(|db| -> Result<i64, store::StoreError> {
                Ok(job::all(db)?.first().map_or(0, |job| job.added))
            })
            .unwrap();
        if added >= batches * 5_000 {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
    }
}

#[test]
fn a_load_that_is_killed_again_and_again_gives_the_tables_of_one_clean_run() {
    let lines: String = (0..40_000).map(|n| format!("user{n}@example{}.com\n", n % 50)).collect();
    let half: String = lines.lines().step_by(2).flat_map(|line| [line, "\n"]).collect();
    let clean = Bench::new();
    let broken = Bench::new();
    for bench in [&clean, &broken] {
        let file = bench.folder.write("half.txt", &half);
        assert!(bench.load("Beta", &file).status().unwrap().success());
    }
    let file = clean.folder.write("lines.txt", &lines);
    assert!(clean.load("Alpha", &file).status().unwrap().success());

    let file = broken.folder.write("lines.txt", &lines);
    let pools = broken.pools();
    let mut kills = 0;
    for batches in [1, 3, 5, 6] {
        let child = broken.load("Alpha", &file).spawn().unwrap();
        kills += i32::from(kill_after(child, &pools, batches));
    }
    assert!(kills > 0, "no load was caught in its work");
    assert!(broken.load("Alpha", &file).status().unwrap().success());
    assert_eq!(broken.tables(), clean.tables());
    let jobs = pools.read_blocking(job::all).unwrap();
    let alpha: Vec<_> = jobs.iter().filter(|job| job.params.contains("Alpha")).collect();
    if alpha.len() == 1 {
        assert_eq!((alpha[0].state.as_str(), alpha[0].added), ("done", 40_000));
    }
}

#[test]
fn a_cancelled_load_stops_and_keeps_what_it_committed() {
    let bench = Bench::new();
    let lines: String = (0..60_000).map(|n| format!("user{n}@example.com\n")).collect();
    let file = bench.folder.write("lines.txt", lines);
    let mut child = bench.load("Alpha", &file).spawn().unwrap();
    let pools = bench.pools();
    let cancelled = loop {
        if child.try_wait().unwrap().is_some() {
            break false;
        }
        let found = pools.read_blocking(job::all).unwrap();
        if let Some(job) = found.first().filter(|job| job.added > 0) {
            let id = job.id.to_string();
            break bench.command(&["job", "cancel", &id]).status().unwrap().success();
        }
    };
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(i32::from(cancelled)));
    assert!(!bench.tables().0.is_empty());
}
