//! The subcommands `keys` and `plans`.

use anyhow::bail;
use auth::{AnyOwner, KeysCommand, NoColumns, Owners, Plan, PlanColumns, PlansCommand};
use clap::Parser;
use database::{Db, Pools};
use diesel::prelude::*;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::House;

#[derive(Parser)]
enum Cli {
    #[command(subcommand)]
    Keys(KeysCommand),
    #[command(subcommand)]
    Plans(PlansCommand<Depth>),
}

#[derive(clap::Args, Clone, Debug)]
struct Depth {
    #[arg(long)]
    depth: Option<i32>,
}

/// A service with an additional column in a separate table.
struct Packages;

diesel::table! { package (plan_code) { plan_code -> Text, depth -> Integer, } }

impl PlanColumns<Depth> for Packages {
    fn set(&self, db: &mut Db, code: &str, flags: &Depth) -> anyhow::Result<()> {
        let Some(depth) = flags.depth else { return Ok(()) };
        if depth < 0 {
            bail!("--depth must not be negative");
        }
        diesel::delete(package::table.find(code)).execute(db)?;
        let row = (package::plan_code.eq(code), package::depth.eq(depth));
        diesel::insert_into(package::table).values(row).execute(db)?;
        Ok(())
    }

    fn show(&self, db: &mut Db, code: &str) -> anyhow::Result<Vec<(&'static str, Value)>> {
        let depth = package::table.find(code).select(package::depth).first::<i32>(db).optional()?;
        Ok(vec![("depth", json!(depth))])
    }
}

/// A service with two owners, each with one live key.
struct Subscribers;

impl Owners for Subscribers {
    fn canonical(&self, _: &mut Db, owner: &str) -> anyhow::Result<String> {
        let owner = owner.to_lowercase();
        if !["ann@example.com", "bob@example.com"].contains(&owner.as_str()) {
            bail!("there is no subscriber {owner}");
        }
        Ok(owner)
    }

    fn one_live_key(&self) -> bool {
        true
    }
}

/// A service with one live key per owner, and an audit log that fails if the flag is false.
struct Audited(bool);

impl Owners for Audited {
    fn canonical(&self, _: &mut Db, owner: &str) -> anyhow::Result<String> {
        Ok(owner.to_owned())
    }

    fn one_live_key(&self) -> bool {
        true
    }

    fn record(&self, _: &mut Db, _: &str, _: &str, _: &str) -> anyhow::Result<()> {
        anyhow::ensure!(self.0, "the change cannot be recorded");
        Ok(())
    }
}

/// Collects the text of all log lines.
struct Lines(Mutex<Vec<String>>);

static LINES: Lines = Lines(Mutex::new(Vec::new()));

impl log::Log for Lines {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().push(record.args().to_string());
    }

    fn flush(&self) {}
}

const FREE: AnyOwner = AnyOwner { default_plan: Some("free") };

fn run(house: &House, pools: &Pools, owners: &dyn Owners, line: &str) -> anyhow::Result<String> {
    let cli = Cli::try_parse_from(std::iter::once("test").chain(line.split_whitespace()))?;
    let mut out = Vec::new();
    match cli {
        Cli::Keys(command) => command.run_to(pools, owners, house.now(), &mut out)?,
        Cli::Plans(command) => command.run_to(pools, &Packages, &mut out)?,
    };
    Ok(String::from_utf8(out)?)
}

fn with_plans() -> (House, Pools) {
    let house = House::new();
    let pools = house.pools();
    let seeds = [Plan::new("free", "Free", 60, 10), Plan::new("premium", "Premium", 300, 20)];
    pools
        .write_blocking(|db| -> anyhow::Result<()> {
            auth::seed_plans(db, &seeds)?;
            let sql = "CREATE TABLE package (plan_code TEXT PRIMARY KEY, depth INTEGER NOT NULL)";
            diesel::sql_query(sql).execute(db)?;
            Ok(())
        })
        .unwrap();
    (house, pools)
}

#[test]
fn issued_key_is_alone_on_stdout_and_works() {
    let (house, pools) = with_plans();
    let out = run(&house, &pools, &FREE, "keys issue alice --until 2026-03-31").unwrap();
    let text = out.strip_suffix('\n').unwrap();
    assert!(auth::is_well_formed(text), "{out}");
    let key = house.find(&pools, text).unwrap();
    assert_eq!(key.plan.unwrap().code, "free");
    assert_eq!(key.expires_at, Some(1_775_001_600), "the midnight after the last day");
    let json = run(&house, &pools, &FREE, "keys issue bob --plan premium --json").unwrap();
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["owner"], &value["plan"]), (&json!("bob"), &json!("premium")));
    assert!(auth::is_well_formed(value["key"].as_str().unwrap()));
}

#[test]
fn list_shows_everything_but_the_key() {
    let (house, pools) = with_plans();
    let first = run(&house, &pools, &FREE, "keys issue alice").unwrap();
    run(&house, &pools, &FREE, "keys issue bob --until 2026-03-31").unwrap();
    run(&house, &pools, &FREE, "keys revoke 2").unwrap();
    let list = run(&house, &pools, &FREE, "keys list").unwrap();
    let lines: Vec<Vec<&str>> =
        list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..6], ["ID", "OWNER", "PLAN", "HINT", "STATE", "CREATED"]);
    assert_eq!(lines[1][..7], ["1", "alice", "free", &first[..6], "live", "2026-03-01", "12:00"]);
    assert_eq!(lines[2][4], "revoked");
    assert!(!list.contains(first.trim()));
    let json = run(&house, &pools, &FREE, "keys list --json").unwrap();
    let keys: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        keys[1]["expires_at"], "2026-04-01T00:00:00Z",
        "a last day ends at the next midnight"
    );
    assert_eq!(keys[0]["expires_at"], Value::Null);
}

#[test]
fn rotate_prints_the_new_key_once() {
    let (house, pools) = with_plans();
    let old = run(&house, &pools, &FREE, "keys issue alice").unwrap();
    let new = run(&house, &pools, &FREE, "keys rotate 1").unwrap();
    assert!(auth::is_well_formed(new.trim()) && new != old);
    let found = |text: &str| house.find(&pools, text);
    assert!(found(old.trim()).is_none());
    assert_eq!(found(new.trim()).unwrap().id, 1);
    let error = run(&house, &pools, &FREE, "keys rotate 9").unwrap_err();
    assert_eq!(error.to_string(), "there is no key 9");
}

#[test]
fn owner_must_exist_and_has_one_live_key() {
    let (house, pools) = with_plans();
    let error = run(&house, &pools, &Subscribers, "keys issue eve@example.com").unwrap_err();
    assert_eq!(error.to_string(), "there is no subscriber eve@example.com");
    run(&house, &pools, &Subscribers, "keys issue Ann@example.com").unwrap();
    run(&house, &pools, &Subscribers, "keys issue bob@example.com").unwrap();
    run(&house, &pools, &Subscribers, "keys issue ann@example.com").unwrap();
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    let states: Vec<_> = keys.iter().map(|key| key.state(house.now()).as_str()).collect();
    assert_eq!(states, ["revoked", "live", "live"]);
    let error =
        run(&house, &pools, &Subscribers, "keys issue ann@example.com --plan free").unwrap_err();
    assert_eq!(error.to_string(), "this service's keys do not have plans: remove --plan");
}

#[test]
fn revoked_keys_are_reported_after_the_change_is_committed() {
    log::set_logger(&LINES).unwrap();
    log::set_max_level(log::LevelFilter::Info);
    let (house, pools) = with_plans();
    let issue = |is_recorded| run(&house, &pools, &Audited(is_recorded), "keys issue carl");
    let is_reported = || LINES.0.lock().iter().any(|line| line == "1 older key(s) of carl revoked");
    issue(true).unwrap();
    assert_eq!(issue(false).unwrap_err().to_string(), "the change cannot be recorded");
    assert!(!is_reported());
    let keys = pools.read_blocking(auth::list_keys).unwrap();
    assert_eq!((keys.len(), keys[0].state(house.now()).as_str()), (1, "live"));
    issue(true).unwrap();
    assert!(is_reported());
}

#[test]
fn invalid_orders_create_no_key() {
    let (house, pools) = with_plans();
    for (line, text) in [
        ("keys issue alice --plan gold", "there is no plan gold"),
        ("keys issue alice --until 2025-01-01", "--until must be in the future"),
        ("keys issue alice --until soon", "2027-12-31"),
    ] {
        let error = run(&house, &pools, &FREE, line).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
    assert!(pools.read_blocking(auth::list_keys).unwrap().is_empty());
}

#[test]
fn plans_are_listed_with_the_columns_of_the_service() {
    let (house, pools) = with_plans();
    run(&house, &pools, &FREE, "plans set premium --burst 25 --depth 7").unwrap();
    run(&house, &pools, &FREE, "plans hide free").unwrap();
    assert_eq!(
        run(&house, &pools, &FREE, "plans list").unwrap(),
        "CODE     NAME     PER MINUTE  BURST  OFFERED  DEPTH\n\
         free     Free     60          10     no       -\n\
         premium  Premium  300         25     yes      7\n"
    );
    let json = run(&house, &pools, &FREE, "plans list --json").unwrap();
    let plans: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(plans[1]["depth"], 7);
    assert_eq!((&plans[0]["hidden"], &plans[0]["per_minute"]), (&json!(true), &json!(60)));
    run(&house, &pools, &FREE, "plans set free --offer").unwrap();
    assert!(!pools.read_blocking(auth::list_plans).unwrap()[0].hidden);
}

#[test]
fn plan_and_own_columns_are_written_in_one_transaction() {
    let (house, pools) = with_plans();
    let error = run(&house, &pools, &FREE, "plans set free --burst 99 --depth=-1").unwrap_err();
    assert_eq!(error.to_string(), "--depth must not be negative");
    assert_eq!(pools.read_blocking(auth::list_plans).unwrap()[0].burst, 10);
}

#[test]
fn plans_without_own_columns_need_no_flags() {
    #[derive(Parser)]
    enum Plain {
        #[command(subcommand)]
        Plans(PlansCommand),
    }
    let (_house, pools) = with_plans();
    let Plain::Plans(command) =
        Plain::try_parse_from(["test", "plans", "set", "free", "--name", "Gratis"]).unwrap();
    command.run_to(&pools, &NoColumns {}, &mut Vec::new()).unwrap();
    assert_eq!(pools.read_blocking(auth::list_plans).unwrap()[0].name, "Gratis");
}

#[test]
fn limits_beyond_the_table_are_refused_by_the_command_line() {
    let set = |flag: &str, value: &str| {
        Cli::try_parse_from(["test", "plans", "set", "gold", flag, value]).map(|_| ())
    };
    for flag in ["--per-minute", "--burst"] {
        for value in ["0", "10000001", "3000000000", "99999999999"] {
            assert!(set(flag, value).is_err(), "{flag} {value}");
        }
        set(flag, "10000000").unwrap();
    }
    set("--position", "4294967295").unwrap();
}
