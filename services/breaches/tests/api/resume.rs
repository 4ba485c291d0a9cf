//! Loads that are killed and resumed.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use breaches::store::{
    accounts, breaches as store_breaches, domain_accounts, jobs, unfiled_accounts,
};
use database::Pools;
use diesel::prelude::*;
use serde_json::json;
use testkit::{Database, Folder};

/// A database that the test shares with processes of the binary.
struct Bench {
    database: Database,
    folder: Folder,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { database: Database::new(), folder: Folder::new() };
        let mut logs = crate::app::entry("Logs");
        logs["IsStealerLog"] = json!(true);
        let entries =
            json!([crate::app::entry("Alpha"), crate::app::entry("Beta"), logs]).to_string();
        let file = bench.folder.write("catalogue.json", entries);
        let status = bench.command(&["migrate"]).status().unwrap();
        assert!(status.success());
        let status = bench.command(&["catalogue", "import"]).arg(file).status().unwrap();
        assert!(status.success());
        bench
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::commands::command(&self.database, &self.folder, arguments);
        command
            .env("SEED_TEST_DATA", "false")
            // The minimum, which causes small batches and sorted runs on disk.
            .env("LOAD_MEMORY_MB", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn load(&self, breach: &str, file: &Path) -> Command {
        let mut command = self.command(&["accounts", "load", "--breach", breach]);
        command.arg(file);
        command
    }

    fn pools(&self) -> Pools {
        self.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS])
    }

    fn tables(&self) -> (Vec<accounts::AccountRow>, Vec<i64>) {
        self.pools()
            .read_blocking(|db| -> Result<_, database::DatabaseError> {
                assert_eq!(domain_accounts::unfiled(db)?, 0);
                let counts =
                    store_breaches::all(db)?.iter().map(|breach| breach.loaded_count).collect();
                Ok((accounts::after(db, (i64::MIN, -1), 1_000_000)?, counts))
            })
            .unwrap()
    }

    /// Returns all pairs of account and website.
    fn pairs(&self) -> Vec<(i64, i16, String)> {
        use breaches::store::schema::{mail_domain, stealer_log};
        let query = stealer_log::table
            .inner_join(mail_domain::table.on(mail_domain::id.eq(stealer_log::website_id)))
            .select((stealer_log::k, stealer_log::seq, mail_domain::name))
            .order((stealer_log::k, stealer_log::seq, mail_domain::name));
        let read =
            |db: &mut database::Db| -> Result<_, database::DatabaseError> { Ok(query.load(db)?) };
        self.pools().read_blocking(read).unwrap()
    }

    /// Returns all accounts that are in a paste.
    fn pastes(&self) -> Vec<(i64, i16, String, i64)> {
        use breaches::store::schema::{paste, paste_account};
        let query = paste_account::table
            .inner_join(paste::table)
            .select((paste_account::k, paste_account::seq, paste::paste_id, paste::email_count))
            .order((paste_account::k, paste_account::seq, paste::paste_id));
        let read =
            |db: &mut database::Db| -> Result<_, database::DatabaseError> { Ok(query.load(db)?) };
        self.pools().read_blocking(read).unwrap()
    }
}

/// The phase of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// The load has not opened its input yet.
    Starting,
    /// The load is reading its input and sorting it on disk.
    Reading,
    /// The load is merging, and has not committed anything since it started.
    Merging,
    /// Has committed a batch.
    Inserting,
}

/// A running load, with the number of links that its job had added before.
struct Watched {
    child: Child,
    input: PathBuf,
    before: i64,
}

impl Watched {
    fn start(bench: &Bench, arguments: &[&str], input: &Path) -> Self {
        let before = added(&bench.pools(), input);
        let child = bench.command(arguments).arg(input).spawn().unwrap();
        let input = input.canonicalize().unwrap();
        Self { child, input, before }
    }

    /// Returns the phase, or `None` if the load has ended.
    fn phase(&mut self, pools: &Pools) -> Option<Phase> {
        if self.child.try_wait().unwrap().is_some() {
            return None;
        }
        if added_by(&self.jobs(pools), &self.input) > self.before {
            return Some(Phase::Inserting);
        }
        let files =
            std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).into_iter().flatten();
        let files: Vec<_> =
            files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok()).collect();
        if files.contains(&self.input) {
            return Some(Phase::Reading);
        }
        // The input is also opened earlier, to compute its fingerprint. Sorted runs are deleted
        // files.
        let sorted = files.iter().any(|file| file.to_string_lossy().ends_with(" (deleted)"));
        Some(if sorted { Phase::Merging } else { Phase::Starting })
    }

    /// Reads the jobs while the load is stopped. The load continues for a moment if it was stopped
    /// while it held a lock of the write-ahead log, which keeps readers out.
    fn jobs(&self, pools: &Pools) -> Vec<jobs::Job> {
        loop {
            match pools.read_blocking(jobs::all) {
                Ok(jobs) => return jobs,
                Err(error) => assert!(error.is_busy(), "{error}"),
            }
            self.signal("CONT");
            self.signal("STOP");
        }
    }

    /// Sends `STOP` or `CONT` to the load.
    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Kills the load `steps` short time slices after the start of a phase. Returns the phase in
    /// which it was killed, or `None` if it had already ended. The load is stopped while it is
    /// examined, so that a short phase is not missed on a busy machine.
    fn kill_in(mut self, wanted: Phase, steps: u32, pools: &Pools) -> Option<Phase> {
        self.signal("STOP");
        while self.phase(pools)? < wanted {
            self.signal("CONT");
            self.signal("STOP");
        }
        for _ in 0..steps {
            self.signal("CONT");
            self.signal("STOP");
        }
        self.phase(pools)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the number of links that the newest job on a file has added.
fn added(pools: &Pools, file: &Path) -> i64 {
    added_by(&pools.read_blocking(jobs::all).unwrap(), file)
}

/// Like [`added`], from jobs that were already read.
fn added_by(jobs: &[jobs::Job], file: &Path) -> i64 {
    let name = file.file_name().unwrap().to_str().unwrap();
    jobs.iter().find(|job| job.params.contains(name)).map_or(0, |job| job.added)
}

/// Returns a random number below `end`.
fn random(end: u32) -> u32 {
    let seed = RandomState::new().build_hasher().finish();
    u32::try_from(seed % u64::from(end)).unwrap()
}

/// Kills a load at random times in each phase, `LOAD_KILL_ROUNDS` (default 2) times, and then lets
/// it finish. Returns the phases in which it was killed.
fn kill_repeatedly(bench: &Bench, arguments: &[&str], file: &Path) -> Vec<Phase> {
    let rounds = std::env::var("LOAD_KILL_ROUNDS").ok().and_then(|text| text.parse().ok());
    let pools = bench.pools();
    let mut caught = Vec::new();
    for phase in [Phase::Starting, Phase::Reading, Phase::Merging, Phase::Inserting] {
        // The first kill is at the start of the phase, the others are later.
        for round in 0..rounds.unwrap_or(2) {
            let steps = if round == 0 { 0 } else { random(40) };
            caught.extend(Watched::start(bench, arguments, file).kill_in(phase, steps, &pools));
        }
    }
    assert!(bench.command(arguments).arg(file).status().unwrap().success());
    caught
}

#[test]
fn load_killed_repeatedly_gives_the_same_tables_as_one_run() {
    let lines: String = (0..60_000).map(|n| format!("user{n}@example{}.com\n", n % 50)).collect();
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
    let arguments = ["accounts", "load", "--breach", "Alpha"];
    let caught = kill_repeatedly(&broken, &arguments, &file);
    for phase in [Phase::Reading, Phase::Merging, Phase::Inserting] {
        assert!(caught.contains(&phase), "no load was caught in {phase:?}: {caught:?}");
    }
    assert_eq!(broken.tables(), clean.tables());
    let jobs = broken.pools().read_blocking(jobs::all).unwrap();
    let alpha: Vec<_> = jobs.iter().filter(|job| job.params.contains("Alpha")).collect();
    // If the load was killed after its last batch, its job is done, and the next run is a new job.
    let added: i64 = alpha.iter().map(|job| job.added).sum();
    assert_eq!((alpha[0].state.as_str(), added), ("done", 60_000));
}

#[test]
fn further_breach_killed_repeatedly_gives_the_same_tables_as_one_run() {
    let lines = |numbers: std::ops::Range<u32>| -> String {
        numbers.map(|n| format!("user{n}@example{}.com\n", n % 50)).collect()
    };
    let (clean, broken) = (Bench::new(), Bench::new());
    for bench in [&clean, &broken] {
        let file = bench.folder.write("first.txt", lines(0..80_000));
        assert!(bench.load("Beta", &file).status().unwrap().success());
        // A quarter of the accounts, half of which are already known. On SQLite this load is
        // written to a run in several transactions.
        bench.folder.write("further.txt", lines(70_000..90_000));
    }
    let file = clean.folder.join("further.txt");
    assert!(clean.load("Alpha", &file).status().unwrap().success());
    let file = broken.folder.join("further.txt");
    let caught = kill_repeatedly(&broken, &["accounts", "load", "--breach", "Alpha"], &file);
    assert!(caught.contains(&Phase::Reading), "{caught:?}");
    assert_eq!(broken.tables(), clean.tables());
    assert_eq!(broken.tables().0.len(), 90_000);
    assert!(broken.command(&["doctor"]).status().unwrap().success());
}

#[test]
fn killed_loads_of_stealer_logs_and_pastes_give_the_same_tables_as_one_run() {
    let pairs: String = (0..24_000)
        .map(|n| format!("user{}@example.com,shop{}.example\n", n / 2, n % 90))
        .collect();
    let pairs = format!("email,website\n{pairs}");
    let pastes: String = (0..6_000)
        .map(|n| {
            let emails = [format!("user{n}@example.com"), format!("user{}@example.net", n % 40)];
            json!({ "Source": "Pastebin", "Id": n.to_string(), "Emails": emails }).to_string()
                + "\n"
        })
        .collect();
    let clean = Bench::new();
    let broken = Bench::new();
    let loads: [(&str, &str, &[&str]); 2] = [
        ("pairs.csv", &pairs, &["stealer-logs", "load", "--breach", "Logs"]),
        ("pastes.ndjson", &pastes, &["pastes", "load"]),
    ];
    for (name, content, arguments) in loads {
        let file = clean.folder.write(name, content);
        assert!(clean.command(arguments).arg(file).status().unwrap().success());
        let file = broken.folder.write(name, content);
        let caught = kill_repeatedly(&broken, arguments, &file);
        assert!(caught.contains(&Phase::Inserting), "{name}: {caught:?}");
    }
    assert_eq!(broken.tables(), clean.tables());
    assert_eq!(broken.pairs(), clean.pairs());
    assert_eq!(broken.pastes(), clean.pastes());
}

#[test]
fn killed_manifest_and_concurrent_loads_give_the_same_tables_as_sequential_loads() {
    let file = |bench: &Bench, name: &str, step: usize| {
        let lines: String =
            (0..40_000).step_by(step).map(|n| format!("user{n}@example{}.com\n", n % 50)).collect();
        bench.folder.write(name, lines)
    };
    let (clean, killed, crowded) = (Bench::new(), Bench::new(), Bench::new());
    let loads = [("Alpha", "a.txt", 1), ("Beta", "b.txt", 2), ("Logs", "c.txt", 3)];
    let mut manifest = String::new();
    for (breach, name, step) in loads {
        assert!(clean.load(breach, &file(&clean, name, step)).status().unwrap().success());
        file(&killed, name, step);
        manifest += &format!("{breach} {name}\n");
    }
    let manifest = killed.folder.write("manifest.txt", manifest);
    let caught = kill_repeatedly(&killed, &["accounts", "load", "--manifest"], &manifest);
    assert!(caught.contains(&Phase::Inserting), "{caught:?}");
    let running = loads.map(|(breach, name, step)| {
        crowded.load(breach, &file(&crowded, name, step)).spawn().unwrap()
    });
    for mut load in running {
        assert!(load.wait().unwrap().success());
    }
    for bench in [&killed, &crowded] {
        assert!(bench.tables() == clean.tables());
    }
}

#[test]
fn killed_load_without_notices_resumes_without_them() {
    use breaches::store::schema::suppressed_link;
    let (bench, owner) = (Bench::new(), "corp@example.org");
    for arguments in
        [&["subscriber", "add", owner][..], &["domain", "verify", owner, "example.com"]]
    {
        assert!(bench.command(arguments).status().unwrap().success());
    }
    let lines: String = (0..60_000).map(|n| format!("user{n}@example.com\n")).collect();
    let file = bench.folder.write("lines.txt", lines);
    let (pools, silent) = (bench.pools(), ["accounts", "load", "--breach", "Alpha", "--no-notify"]);
    let killed = Watched::start(&bench, &silent, &file);
    let killed = killed.kill_in(Phase::Inserting, 0, &pools);
    assert_eq!(killed, Some(Phase::Inserting));
    let id = pools.read_blocking(jobs::all).unwrap()[0].id.to_string();
    let refused = bench.load("Alpha", &file).stderr(Stdio::piped()).output().unwrap();
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(1) && errors.contains(&format!("job resume {id}")),
        "{errors}"
    );
    let resumed = bench.command(&["job", "resume", &id]).stdout(Stdio::piped()).output().unwrap();
    assert!(String::from_utf8(resumed.stdout).unwrap().contains("without notices"));
    let noted = |db: &mut database::Db| -> Result<Vec<i64>, database::DatabaseError> {
        Ok(suppressed_link::table.select(suppressed_link::addresses).load(db)?)
    };
    assert_eq!(pools.read_blocking(noted).unwrap(), [60_000]);
}

#[test]
fn link_that_was_removed_before_a_killed_load_is_resumed_is_not_added() {
    let bench = Bench::new();
    let lines: String = (0..60_000).map(|n| format!("user{n}@example.com\n")).collect();
    let file = bench.folder.write("lines.txt", lines);
    let (pools, arguments) = (bench.pools(), ["accounts", "load", "--breach", "Alpha"]);
    let killed = Watched::start(&bench, &arguments, &file).kill_in(Phase::Inserting, 0, &pools);
    assert_eq!(killed, Some(Phase::Inserting));
    let alpha = || {
        let found = pools.read_blocking(|db| store_breaches::by_name(db, "Alpha"));
        found.unwrap().unwrap()
    };
    // Most of these addresses are in the sorted input that is not stored yet.
    let person = |n| domain::EmailAddress::parse(&format!("user{n}@example.com")).unwrap();
    let (id, removed) = (alpha().id, (0..60_000).step_by(1_500).map(person));
    let removed: Vec<domain::EmailAddress> = removed.collect();
    for email in &removed {
        pools.write_blocking(|db| breaches::remove_link(db, email, id, 1)).unwrap();
    }
    assert!(bench.command(&arguments).arg(&file).status().unwrap().success());
    for email in &removed {
        let found = pools.read_blocking(|db| accounts::find(db, email)).unwrap();
        assert_eq!(found, None, "{email}");
    }
    assert_eq!(alpha().loaded_count, 60_000 - removed.len() as i64);
    assert!(bench.command(&["doctor"]).status().unwrap().success());
}

/// Returns a process's peak memory in MiB.
fn peak(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib / 1_024)
}

#[test]
fn load_stays_within_its_memory() {
    let bench = Bench::new();
    // The text is twice the memory of the load, and there are enough domains for a large index.
    let file = bench.folder.join("lines.txt");
    let mut out = BufWriter::new(File::create(&file).unwrap());
    for n in 0..250_000_u64 {
        let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let padding = "x".repeat(30);
        writeln!(out, "someone.{padding}{n}@company{}.example", mixed % 20_000).unwrap();
    }
    drop(out.into_inner().unwrap());
    assert!(std::fs::metadata(&file).unwrap().len() > 14 << 20);
    let mut load = bench.load("Alpha", &file);
    let mut child = load.env("LOAD_MEMORY_MB", "8").spawn().unwrap();
    let mut highest = 0;
    testkit::until_blocking("the load ends", || {
        highest = highest.max(peak(child.id()).unwrap_or(0));
        child.try_wait().unwrap().is_some()
    });
    assert!(child.wait().unwrap().success());
    assert_eq!(added(&bench.pools(), &file), 250_000);
    assert!(highest > 0 && highest <= 8 + 100, "{highest} MiB");
}

/// Returns the newest job that completes the index by domain.
fn index_job(jobs: Vec<jobs::Job>) -> Option<jobs::Job> {
    jobs.into_iter().find(|job| job.kind == "index")
}

#[test]
fn large_load_killed_before_and_while_its_index_is_completed_gives_the_same_tables() {
    let (clean, broken) = (Bench::new(), Bench::new());
    if broken.database.file().is_none() {
        return; // PostgreSQL has an ordinary index.
    }
    let lines: String = (0..170_000).map(|n| format!("user{n}@example{}.com\n", n % 500)).collect();
    let file = clean.folder.write("lines.txt", &lines);
    // Transactions are larger with more memory, so there are few.
    let mut load = clean.load("Alpha", &file);
    assert!(load.env("LOAD_MEMORY_MB", "8").status().unwrap().success());
    assert!(index_job(clean.pools().read_blocking(jobs::all).unwrap()).is_none());

    let file = broken.folder.write("lines.txt", &lines);
    let (pools, arguments) = (broken.pools(), ["accounts", "load", "--breach", "Alpha"]);
    let killed = Watched::start(&broken, &arguments, &file);
    assert_eq!(killed.kill_in(Phase::Inserting, 0, &pools), Some(Phase::Inserting));
    assert!(pools.read_blocking(unfiled_accounts::is_postponed).unwrap());
    assert!(!broken.command(&["doctor"]).status().unwrap().success());
    let mut killed = Watched::start(&broken, &arguments, &file);
    killed.signal("STOP");
    while index_job(killed.jobs(&pools)).is_none() {
        assert!(killed.phase(&pools).is_some(), "the load has ended");
        killed.signal("CONT");
        killed.signal("STOP");
    }
    drop(killed);
    let job = index_job(pools.read_blocking(jobs::all).unwrap()).unwrap();
    assert_eq!(job.state, "running");
    // Otherwise, the next process would wait for half a minute, because the job may still be running.
    let age = |db: &mut database::Db| -> Result<usize, database::DatabaseError> {
        use breaches::store::schema::job::dsl::{job as table, kind, updated_at};
        Ok(diesel::update(table.filter(kind.eq("index"))).set(updated_at.eq(0_i64)).execute(db)?)
    };
    assert_eq!(pools.write_blocking(age).unwrap(), 1);
    let id = job.id.to_string();
    assert!(broken.command(&["job", "resume", &id]).status().unwrap().success());
    assert!(broken.tables() == clean.tables());
    let job = index_job(pools.read_blocking(jobs::all).unwrap()).unwrap();
    assert_eq!(job.state, "done");
    assert!(broken.command(&["doctor"]).status().unwrap().success());
}

#[test]
fn cancelling_a_killed_load_completes_the_index() {
    let bench = Bench::new();
    let pools = bench.pools();
    pools.write_blocking(unfiled_accounts::postpone).unwrap();
    let lines: String = (0..60_000).map(|n| format!("user{n}@example{}.com\n", n % 50)).collect();
    let file = bench.folder.write("lines.txt", lines);
    let killed = Watched::start(&bench, &["accounts", "load", "--breach", "Alpha"], &file);
    assert_eq!(killed.kill_in(Phase::Inserting, 0, &pools), Some(Phase::Inserting));
    let id = pools.read_blocking(jobs::all).unwrap()[0].id.to_string();
    assert!(bench.command(&["job", "cancel", &id]).status().unwrap().success());
    let (accounts, counts) = bench.tables();
    assert_eq!(i64::try_from(accounts.len()).unwrap(), counts.iter().sum::<i64>());
    assert!((1..60_000).contains(&accounts.len()), "{counts:?}");
}
