//! One job that several processes run, as schedules that overlap make them.

use std::io::Write;
use std::ops::Range;
use std::process::{Child, Stdio};

use breaches::store::jobs::{self, Job};
use database::Pools;
use serde_json::json;
use testkit::until_blocking;

use crate::commands::Operator;

fn pools(operator: &Operator) -> Pools {
    operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS])
}

fn newest(pools: &Pools) -> Option<Job> {
    pools.read_blocking(jobs::all).unwrap().into_iter().next()
}

/// Starts a command, whose output is for the test.
fn start(operator: &Operator, arguments: &[&str]) -> Child {
    let mut command = operator.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Gives a command a part of its input.
fn feed(child: &mut Child, text: &str) {
    child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
}

/// Pastes with one address each, one a line.
fn pastes(numbers: Range<u32>) -> String {
    let paste = |n: u32| {
        let emails = [format!("user{n}@load.example")];
        json!({ "Source": "Slexy", "Id": n.to_string(), "Emails": emails }).to_string() + "\n"
    };
    numbers.map(paste).collect()
}

/// Ends the input of a command; its exit code, and what it says.
fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_load_that_is_started_again_while_it_runs_ends_well_both_times() {
    let operator = Operator::new();
    let lines: String = (0..20_000).map(|n| format!("user{n}@load.example\n")).collect();
    let file = operator.folder.write("list.txt", lines);
    operator.run(&["job", "list"]);
    let loads = ["Inkwell", "Cobaltbay", "Inkwell"].map(|breach| {
        start(&operator, &["accounts", "load", "--breach", breach, file.to_str().unwrap()])
    });
    for load in loads {
        let (code, said) = end(load);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("20000 read, 20000 accepted, 0 skipped"), "{said}");
    }
    let exported = operator.run(&["account", "export", "--breach", "Inkwell"]);
    assert_eq!(exported.lines().filter(|line| line.ends_with("@load.example")).count(), 20_000);
}

#[test]
fn pastes_that_another_process_has_loaded_meanwhile_are_no_failure() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let mut load = start(&operator, &["pastes", "load", "-"]);
    feed(&mut load, &pastes(0..250));
    // The load has stored its first batch, and waits for more.
    until_blocking("a batch is stored", || newest(&pools).is_some_and(|job| job.added == 200));
    let id = newest(&pools).unwrap().id;
    pools.write_blocking(|db| jobs::finish(db, id, 1)).unwrap();
    feed(&mut load, &pastes(250..700));
    let (code, said) = end(load);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("700 read, 700 accepted, 0 skipped, 200 added"), "{said}");
    assert_eq!(newest(&pools).unwrap().state, "done");
}

#[test]
fn a_load_heeds_what_became_of_its_job_while_it_read() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let cases =
        [("done", 0, "done", 0), ("failed", 0, "done", 1), ("cancelled", 1, "cancelled", 0)];
    for (became, code, state, added) in cases {
        let mut load = start(&operator, &["accounts", "load", "--breach", "Inkwell", "-"]);
        feed(&mut load, &format!("{became}@load.example\n"));
        until_blocking("the job runs", || newest(&pools).is_some_and(|job| job.state == "running"));
        let id = newest(&pools).unwrap().id;
        let noted = pools.write_blocking(|db| match became {
            "done" => jobs::finish(db, id, 1),
            "failed" => jobs::fail(db, id, "no room", 1),
            _ => jobs::cancel(db, id, 1),
        });
        noted.unwrap();
        let (found, said) = end(load);
        assert_eq!(found, Some(code), "{became}: {said}");
        let job = newest(&pools).unwrap();
        assert_eq!(
            (job.id, job.state.as_str(), job.read, job.added),
            (id, state, 1, added),
            "{became}"
        );
        assert_eq!(job.error, None);
    }
}

#[test]
fn a_purge_is_listed_with_what_it_removed() {
    let operator = Operator::new();
    let catalogue = operator.folder.write("c.json", crate::app::entry("Alpha").to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    let file = operator.folder.write("a.txt", "a@load.example\nb@load.example\nc@load.example\n");
    operator.run(&["accounts", "load", "--breach", "Alpha", file.to_str().unwrap()]);
    operator.run(&["breach", "retire", "Alpha", "--yes"]);
    let listed = operator.run(&["job", "list"]);
    assert!(
        listed.contains("\tpurge\tdone\t0 read, 0 accepted, 0 skipped, 3 removed\t"),
        "{listed}"
    );
    assert!(
        listed.contains("\taccounts\tdone\t3 read, 3 accepted, 0 skipped, 3 added\t"),
        "{listed}"
    );
}

#[test]
fn subscriber_added_by_two_processes_at_once_with_if_missing_is_added_once() {
    use domain::EmailAddress;
    let database = testkit::Database::new();
    let pools = database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    for round in 0..20 {
        let email = EmailAddress::parse(&format!("owner{round}@example.org")).unwrap();
        let start = std::sync::Barrier::new(4);
        let ids: Vec<i64> = std::thread::scope(|scope| {
            let add = || {
                start.wait();
                pools.write_blocking(|db| breaches::add_subscriber(db, &email, true, 1)).unwrap()
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
}
