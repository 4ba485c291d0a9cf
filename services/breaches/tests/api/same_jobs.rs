//! A job that several processes run at once, as may happen with overlapping schedules.

use std::io::Write;
use std::ops::Range;
use std::process::{Child, Stdio};

use breaches::store::jobs::{self, Job};
use breaches::store::{Layout, accounts};
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

/// Returns the number of pastes per transaction of a load.
fn paste_batch(pools: &Pools) -> u32 {
    if pools.read_blocking(Layout::of).unwrap().is_distributed() { 4_000 } else { 200 }
}

/// Starts a command whose input and output are piped.
fn start(operator: &Operator, arguments: &[&str]) -> Child {
    let mut command = operator.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Writes part of a command's input.
fn feed(child: &mut Child, text: &str) {
    child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
}

/// Builds pastes with one address each, one per line.
fn pastes(numbers: Range<u32>) -> String {
    let paste = |n: u32| {
        let emails = [format!("user{n}@load.example")];
        json!({ "Source": "Slexy", "Id": n.to_string(), "Emails": emails }).to_string() + "\n"
    };
    numbers.map(paste).collect()
}

/// Builds the input line for an address.
type Line = fn(&str) -> String;

/// Closes the input of a command. Returns its exit code and output.
fn end(child: Child) -> (Option<i32>, String) {
    let ended = child.wait_with_output().unwrap();
    let output = [ended.stdout, ended.stderr].concat();
    (ended.status.code(), String::from_utf8_lossy(&output).into_owned())
}

#[test]
fn same_load_started_twice_succeeds_both_times() {
    let operator = Operator::new();
    let lines: String = (0..20_000).map(|n| format!("user{n}@load.example\n")).collect();
    let file = operator.folder.write("list.txt", lines);
    operator.run(&["job", "list"]);
    let loads = ["Inkwell", "Cobaltbay", "Inkwell"].map(|breach| {
        start(&operator, &["accounts", "load", "--breach", breach, file.to_str().unwrap()])
    });
    for load in loads {
        let (code, output) = end(load);
        assert_eq!(code, Some(0), "{output}");
        assert!(output.contains("20000 read, 20000 accepted, 0 skipped"), "{output}");
    }
    let exported = operator.run(&["account", "export", "--breach", "Inkwell"]);
    assert_eq!(exported.lines().filter(|line| line.ends_with("@load.example")).count(), 20_000);
}

#[test]
fn load_succeeds_if_another_process_finishes_its_job() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let batch = paste_batch(&pools);
    let (first, all) = (batch + 50, batch + 500);
    let mut load = start(&operator, &["pastes", "load", "-"]);
    feed(&mut load, &pastes(0..first));
    // The load has committed its first batch and is waiting for more input.
    until_blocking("a batch is stored", || {
        newest(&pools).is_some_and(|job| job.added == i64::from(batch))
    });
    let id = newest(&pools).unwrap().id;
    pools.write_blocking(|db| jobs::finish(db, id, 1)).unwrap();
    feed(&mut load, &pastes(first..all));
    let (code, output) = end(load);
    assert_eq!(code, Some(0), "{output}");
    let counts = format!("{all} read, {all} accepted, 0 skipped, {batch} added");
    assert!(output.contains(&counts), "{output}");
    let job = newest(&pools).unwrap();
    let all = i64::from(all);
    assert_eq!((job.state.as_str(), job.read, job.accepted), ("done", all, all));
}

#[test]
fn cancelled_load_stops_and_keeps_committed_batches() {
    let operator = Operator::new();
    let pools = pools(&operator);
    operator.run(&["job", "list"]);
    let before = pools.read_blocking(accounts::count).unwrap();
    let batch = paste_batch(&pools);
    let (first, all) = (batch + 50, batch + 500);
    let mut load = start(&operator, &["pastes", "load", "-"]);
    feed(&mut load, &pastes(0..first));
    until_blocking("a batch is stored", || {
        newest(&pools).is_some_and(|job| job.added == i64::from(batch))
    });
    operator.run(&["job", "cancel", &newest(&pools).unwrap().id.to_string()]);
    feed(&mut load, &pastes(first..all));
    let (code, output) = end(load);
    assert_eq!(code, Some(1), "{output}");
    let job = newest(&pools).unwrap();
    assert_eq!((job.state.as_str(), job.added), ("cancelled", i64::from(batch)), "{output}");
    assert_eq!(pools.read_blocking(accounts::count).unwrap(), before + i64::from(batch));
}

#[test]
fn load_respects_a_state_change_of_its_job_while_reading() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let cases =
        [("done", 0, "done", 0), ("failed", 0, "done", 1), ("cancelled", 1, "cancelled", 0)];
    let commands: [(&[&str], Line); 2] = [
        (&["accounts", "load", "--breach", "Inkwell", "-"], |email| format!("{email}\n")),
        (&["pastes", "load", "-"], |email| {
            json!({"Source": "Slexy", "Id": email, "Emails": [email]}).to_string() + "\n"
        }),
    ];
    let of_each_command = cases.iter().flat_map(|case| commands.iter().map(move |of| (case, of)));
    for (&(became, code, state, added), (arguments, line)) in of_each_command {
        let mut load = start(&operator, arguments);
        feed(&mut load, &line(&format!("{became}@load.example")));
        until_blocking("the job runs", || newest(&pools).is_some_and(|job| job.state == "running"));
        let id = newest(&pools).unwrap().id;
        let noted = pools.write_blocking(|db| match became {
            "done" => jobs::finish(db, id, 1).map(drop),
            "failed" => jobs::fail(db, id, "no room", 1),
            _ => jobs::cancel(db, id, 1),
        });
        noted.unwrap();
        let (found, output) = end(load);
        assert_eq!(found, Some(code), "{became}: {output}");
        let job = newest(&pools).unwrap();
        assert_eq!((job.id, job.state.as_str(), job.added), (id, state, added), "{became}");
        assert_eq!(job.error, None);
    }
}

#[test]
fn load_adds_no_address_that_was_removed_while_it_ran() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let accounts: Line = |email| format!("{email}\n");
    let pastes: Line = |email| {
        let id = email.trim_end_matches("@load.example");
        json!({"Source": "Slexy", "Id": id, "Emails": [email]}).to_string() + "\n"
    };
    let verify = || operator.json(&["address", "verify-removed", "gone@load.example"]);
    for (arguments, line) in [
        (&["accounts", "load", "--breach", "Inkwell", "-"][..], accounts),
        (&["pastes", "load", "-"], pastes),
    ] {
        let mut load = start(&operator, arguments);
        feed(&mut load, &line("gone@load.example"));
        until_blocking("the job runs", || newest(&pools).is_some_and(|job| job.state == "running"));
        operator.run(&["address", "opt-out", "gone@load.example", "--kind", "delete"]);
        assert_eq!(verify()["kept_digest"], true);
        feed(&mut load, &line("kept@load.example"));
        let (code, output) = end(load);
        assert_eq!(code, Some(0), "{output}");
        assert_eq!(newest(&pools).unwrap().added, 1, "{arguments:?}");
        assert_eq!(verify()["kept_digest"], false);
        // A later load adds the address. Then there is no load that has to skip it.
        let file = operator.folder.write("later", line("gone@load.example"));
        let (_, later) = arguments.split_last().unwrap();
        operator.run(&[later, &[file.to_str().unwrap()]].concat());
        operator.run(&["address", "opt-out", "gone@load.example", "--kind", "delete"]);
        assert_eq!(verify()["kept_digest"], false);
    }
}

#[test]
fn load_adds_no_link_that_was_removed_while_it_ran() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let accounts: Line = |email| format!("{email}\n");
    let pairs: Line = |email| json!({"email": email, "website": "shop.example"}).to_string() + "\n";
    // The account exists because of another breach.
    let other = operator.folder.write("other", "gone@load.example\n");
    operator.run(&["accounts", "load", "--breach", "Cobaltbay", other.to_str().unwrap()]);
    let shown = || operator.json(&["address", "show", "gone@load.example"]);
    for (arguments, line, breach) in [
        (&["accounts", "load", "--breach", "Inkwell", "-"][..], accounts, "Inkwell"),
        (&["stealer-logs", "load", "--breach", "HollowLogs", "-"], pairs, "HollowLogs"),
    ] {
        let remove = ["address", "remove", "gone@load.example", "--breach", breach];
        let mut load = start(&operator, arguments);
        feed(&mut load, &line("gone@load.example"));
        until_blocking("the job runs", || newest(&pools).is_some_and(|job| job.state == "running"));
        operator.run(&remove);
        feed(&mut load, &line("kept@load.example"));
        let (code, output) = end(load);
        assert_eq!(code, Some(0), "{output}");
        let job = newest(&pools).unwrap();
        assert_eq!((job.added, job.removed), (1, None), "{arguments:?}");
        let found = shown();
        assert_eq!((&found["breaches"], &found["websites"]), (&json!(["Cobaltbay"]), &json!([])));
        // A later load adds the link.
        let file = operator.folder.write("later", line("gone@load.example"));
        let (_, later) = arguments.split_last().unwrap();
        operator.run(&[later, &[file.to_str().unwrap()]].concat());
        assert_eq!(shown()["breaches"], json!(["Cobaltbay", breach]));
        operator.run(&remove);
    }
}

#[test]
fn stealer_log_load_adds_no_pair_of_an_address_that_was_removed_while_it_ran() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let command = ["stealer-logs", "load", "--breach", "HollowLogs"];
    let mut load = start(&operator, &[&command[..], &["-"]].concat());
    feed(&mut load, "email,website\ngone@load.example,shop.example\n");
    until_blocking("the job runs", || newest(&pools).is_some_and(|job| job.state == "running"));
    operator.run(&["address", "opt-out", "gone@load.example", "--kind", "delete"]);
    let later = "email,website\ngone@load.example,other.example\n";
    let file = operator.folder.write("later.csv", later);
    operator.run(&[&command[..], &[file.to_str().unwrap()]].concat());
    feed(&mut load, "kept@load.example,shop.example\n");
    let (code, output) = end(load);
    assert_eq!(code, Some(0), "{output}");
    for (address, website) in
        [("gone@load.example", "other.example"), ("kept@load.example", "shop.example")]
    {
        let shown = operator.json(&["address", "show", address]);
        assert_eq!(shown["websites"], json!([website]), "{address}");
    }
}

#[test]
fn failed_load_keeps_the_digest_of_a_removed_address_until_it_is_cancelled_and_commands_say_so() {
    let operator = Operator::new();
    let pools = pools(&operator);
    let id = pools.write_blocking(|db| {
        jobs::begin(db, "purge", "", "Inkwell", 1)?;
        let id = jobs::begin(db, "accounts", "", "{}", 1)?;
        jobs::fail(db, id, "no room", 1)?;
        Ok::<_, database::DatabaseError>(id)
    });
    let id = id.unwrap();
    let address = "gone@load.example";
    let opt_out = ["address", "opt-out", address, "--kind", "delete"];
    let remove = ["address", "remove", address, "--breach", "Inkwell"];
    let verify = ["address", "verify-removed", address];
    let keeping = format!("until they are done or cancelled: job {id}. ");
    for command in [&opt_out[..], &opt_out, &verify] {
        let printed = operator.run(command);
        assert!(printed.contains(&keeping), "{command:?}: {printed}");
        assert_eq!(operator.json(command)["keeping_jobs"], json!([id]), "{command:?}");
    }
    let kept = || -> Vec<usize> {
        let all = pools.read_blocking(jobs::all).unwrap();
        all.into_iter().map(|job| job.removed.map_or(0, |digests| digests.len())).collect()
    };
    assert_eq!(kept(), [22, 0], "the newest job is a load");
    assert_eq!(operator.json(&remove)["keeping_jobs"], json!([id]));
    assert_eq!(kept(), [44, 0]);
    operator.run(&["job", "cancel", &id.to_string()]);
    assert_eq!(kept(), [0, 0]);
    assert_eq!(operator.run(&verify), "nothing is left\n");
    assert_eq!(operator.run(&opt_out), "done\n");
    assert_eq!(operator.json(&remove), json!({ "removed": false, "keeping_jobs": [] }));
}

#[test]
fn digest_that_an_opt_out_keeps_is_reported_with_its_purpose() {
    let operator = Operator::new();
    let address = "gone@load.example";
    for (kind, purpose) in
        [("public", "so that public searches hide the address"), ("breaches", "not loaded again")]
    {
        operator.run(&["address", "opt-out", address, "--kind", kind]);
        let printed = operator.run(&["address", "verify-removed", address]);
        assert!(printed.contains(purpose) && !printed.contains("job"), "{kind}: {printed}");
        assert_eq!(operator.json(&["address", "verify-removed", address])["kept_digest"], true);
    }
}

#[test]
fn cancelled_job_is_not_finished() {
    let operator = Operator::new();
    let pools = pools(&operator);
    for (is_cancelled, state) in [(true, "cancelled"), (false, "done")] {
        let id = pools.write_blocking(|db| jobs::begin(db, "purge", "", "Inkwell", 1)).unwrap();
        if is_cancelled {
            operator.run(&["job", "cancel", &id.to_string()]);
        }
        let is_open = pools.write_blocking(|db| jobs::finish(db, id, 2)).unwrap();
        assert_eq!(is_open, !is_cancelled);
        assert_eq!(newest(&pools).unwrap().state, state);
    }
}

#[test]
fn job_that_was_cancelled_or_finished_meanwhile_is_not_restarted() {
    let operator = Operator::new();
    let pools = pools(&operator);
    for (before, after) in [("failed", "running"), ("cancelled", "cancelled"), ("done", "done")] {
        let restarted = pools.write_blocking(|db| {
            let id = jobs::begin(db, "purge", "", "Inkwell", 1)?;
            match before {
                "failed" => jobs::fail(db, id, "no room", 2)?,
                "cancelled" => jobs::cancel(db, id, 2)?,
                _ => assert!(jobs::finish(db, id, 2)?),
            }
            jobs::restart(db, id, 3)
        });
        assert_eq!(restarted.unwrap(), after == "running", "{before}");
        assert_eq!(newest(&pools).unwrap().state, after);
    }
}

#[test]
fn purge_is_listed_with_its_removed_links() {
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
