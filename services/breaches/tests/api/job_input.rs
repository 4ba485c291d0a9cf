//! The input of jobs: a resumed job needs the same file, and a file without lines is rejected.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use breaches::store::jobs::{self, Job};
use breaches::store::schema::{breach, job};
use breaches::store::versions;
use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde_json::json;
use testkit::until_blocking;

use crate::app::entry;
use crate::commands::Operator;

fn with_breaches() -> Operator {
    let operator = Operator::new();
    let mut logs = entry("Logs");
    logs["IsStealerLog"] = json!(true);
    let catalogue = operator.folder.write("c.json", json!([entry("Alpha"), logs]).to_string());
    operator.run(&["catalogue", "import", catalogue.to_str().unwrap()]);
    operator
}

fn run_in(operator: &Operator, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = operator.command(arguments);
    command.current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn all_jobs(operator: &Operator) -> Vec<Job> {
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    pools.read_blocking(jobs::all).unwrap()
}

/// Changes the newest job to look as if it was killed before its first batch. Returns its number.
fn interrupt(operator: &Operator) -> i64 {
    let id = all_jobs(operator)[0].id;
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let interrupted = (job::state.eq("running"), job::cursor.eq(None::<Vec<u8>>));
    pools
        .write_blocking(|db: &mut Db| -> Result<_, DatabaseError> {
            Ok(diesel::update(job::table.find(id)).set(interrupted).execute(db)?)
        })
        .unwrap();
    id
}

#[test]
fn job_is_resumed_with_its_own_file_or_refused() {
    let operator = with_breaches();
    let (here, there) = (operator.folder.join("here"), operator.folder.join("there"));
    for (folder, name) in [(&here, "right"), (&there, "wrong")] {
        std::fs::create_dir(folder).unwrap();
        let email = format!("{name}@corp.example");
        std::fs::write(folder.join("x.txt"), format!("{email}\n")).unwrap();
        std::fs::write(folder.join("m.txt"), "Alpha x.txt\n").unwrap();
        std::fs::write(folder.join("s.csv"), format!("email,website\n{email},a.example\n"))
            .unwrap();
        let paste = json!({ "Source": "Slexy", "Id": "a", "Emails": [email] });
        std::fs::write(folder.join("p.ndjson"), format!("{paste}\n")).unwrap();
    }
    let loads: [(&[&str], &str); 4] = [
        (&["accounts", "load", "--breach", "Alpha", "x.txt"], "x.txt"),
        (&["accounts", "load", "--manifest", "m.txt"], "x.txt"),
        (&["stealer-logs", "load", "--breach", "Logs", "s.csv"], "s.csv"),
        (&["pastes", "load", "p.ndjson"], "p.ndjson"),
    ];
    for (load, file) in loads {
        let loaded = run_in(&operator, &here, load);
        assert!(loaded.status.success(), "{}", errors(&loaded));
        let (id, count) = (interrupt(&operator), all_jobs(&operator).len());
        let resume = ["job", "resume", &id.to_string()];
        let resumed = run_in(&operator, &there, &resume);
        assert!(resumed.status.success(), "{load:?}: {}", errors(&resumed));
        let text = String::from_utf8_lossy(&resumed.stdout).into_owned();
        assert!(text.contains(&format!("job {id}: 1 read")), "{text}");
        let jobs = all_jobs(&operator);
        assert_eq!((jobs.len(), jobs[0].state.as_str()), (count, "done"));
        interrupt(&operator);
        let content = std::fs::read_to_string(here.join(file)).unwrap();
        std::fs::copy(there.join(file), here.join(file)).unwrap();
        let refused = run_in(&operator, &here, &resume);
        let text = errors(&refused);
        assert_eq!(refused.status.code(), Some(1), "{text}");
        assert!(text.contains(&format!("the input of job {id} has changed")), "{text}");
        assert_eq!(all_jobs(&operator).len(), count);
        operator.run(&["job", "cancel", &id.to_string()]);
        std::fs::write(here.join(file), content).unwrap();
    }
    assert!(!operator.run(&["account", "export", "--breach", "Alpha"]).contains("wrong"));
}

#[test]
fn job_that_read_a_stream_is_not_resumed() {
    let operator = with_breaches();
    let load = ["accounts", "load", "--breach", "Alpha", "-"];
    assert_eq!(run_in(&operator, operator.folder.path(), &load).status.code(), Some(1));
    let id = interrupt(&operator).to_string();
    let refused = run_in(&operator, operator.folder.path(), &["job", "resume", &id]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(errors(&refused).contains("cannot be read again"), "{}", errors(&refused));
    assert_eq!(all_jobs(&operator).len(), 1);
}

#[test]
fn file_that_grows_while_it_is_read_is_refused() {
    let operator = with_breaches();
    let pair = |n: u32| format!("user{n}@corp.example,shop.example\n");
    let paste = |n: u32| {
        let emails = [format!("user{n}@corp.example")];
        json!({ "Source": "Slexy", "Id": n.to_string(), "Emails": emails }).to_string() + "\n"
    };
    type Growing<'a> = (&'a [&'a str], u32, &'a dyn Fn(u32) -> String);
    let loads: [Growing<'_>; 4] = [
        (&["accounts", "load", "--breach", "Alpha", "--activate"], 10_000, &|n| {
            format!("user{n}@corp.example\n")
        }),
        (&["accounts", "load", "--breach", "Alpha", "--dry-run"], 10_000, &|n| {
            format!("user{n}@corp.example\n")
        }),
        (&["stealer-logs", "load", "--breach", "Logs"], 10_000, &pair),
        (&["pastes", "load"], 300, &paste),
    ];
    for (load, lines, line) in loads {
        let start = if load[0] == "stealer-logs" { "email,website\n" } else { "" };
        let text: String = (0..lines).map(line).collect();
        let file = operator.folder.write("list", format!("{start}{text}"));
        let mut command = operator.command(load);
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut writer = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
        let mut next = lines;
        until_blocking("the load ends", || {
            writer.write_all(line(next).as_bytes()).unwrap();
            next += 1;
            child.try_wait().unwrap().is_some()
        });
        let output = child.wait_with_output().unwrap();
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{load:?}: {text}");
        assert!(text.contains("list: changed while it was read"), "{load:?}: {text}");
        assert!(all_jobs(&operator).iter().all(|job| job.state == "failed"), "{load:?}");
    }
    assert_eq!(operator.run(&["account", "export", "--breach", "Alpha"]), "");
}

#[test]
fn cancelled_load_publishes_the_number_of_linked_accounts() {
    let operator = with_breaches();
    let list = operator.folder.write("list", "ada@corp.example\nbob@corp.example\n");
    let accounts = ["accounts", "load", "--breach", "Alpha"];
    let logs = ["stealer-logs", "load", "--breach", "Logs"];
    let pairs = operator.folder.write("pairs", "email,website\nada@corp.example,a.example\n");
    for (load, file, keep, expected) in [
        (&accounts[..], &list, "", "PwnCount of Alpha is 2"),
        (&logs[..], &pairs, "", "PwnCount of Logs is 1"),
        (&logs[..], &pairs, "--keep-count", "PwnCount of Logs is 0"),
    ] {
        let flags: Vec<&str> = [keep].into_iter().filter(|flag| !flag.is_empty()).collect();
        operator.run(&[load, &flags[..], &[file.to_str().unwrap()][..]].concat());
        let id = interrupt(&operator);
        let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
        let version = |db: &mut Db| versions::get(db, versions::CATALOGUE_VERSION);
        // The load was killed after its first batch, before it published the count.
        pools
            .write_blocking(|db: &mut Db| -> Result<_, DatabaseError> {
                diesel::update(job::table.find(id)).set(job::added.eq(1_i64)).execute(db)?;
                Ok(diesel::update(breach::table).set(breach::pwn_count.eq(0_i64)).execute(db)?)
            })
            .unwrap();
        let before = pools.read_blocking(version).unwrap();
        let text = operator.run(&["job", "cancel", &id.to_string()]);
        assert!(text.contains(expected) && text.contains("are kept and served"), "{text}");
        assert!(pools.read_blocking(version).unwrap() > before);
        let exported = operator.run(&["breach", "export"]);
        let exported: serde_json::Value = serde_json::from_str(&exported).unwrap();
        let counts: Vec<i64> =
            exported.as_array().unwrap().iter().filter_map(|b| b["PwnCount"].as_i64()).collect();
        let total: i64 = counts.iter().sum();
        assert!(expected.ends_with(&total.to_string()), "{counts:?}");
    }
}

#[test]
fn dump_that_ends_after_a_row_is_loaded_as_help_says() {
    let operator = with_breaches();
    let load = ["accounts", "load", "--breach", "Alpha", "--format", "sql"];
    let row = "INSERT INTO users (email) VALUES ('ada@corp.example')";
    let cut = operator.folder.write("cut.sql", format!("{row},"));
    let arguments = [&load[..], &[cut.to_str().unwrap()]].concat();
    let refused = run_in(&operator, operator.folder.path(), &arguments);
    assert!(errors(&refused).contains("the dump is incomplete"), "{}", errors(&refused));
    let whole = operator.folder.write("whole.sql", row);
    operator.run(&[&load[..], &[whole.to_str().unwrap()]].concat());
    let loaded = operator.run(&["account", "export", "--breach", "Alpha"]);
    assert!(loaded.contains("ada@corp.example"), "{loaded}");
    let help = operator.run(&["accounts", "load", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("ends after VALUES or after a row of an INSERT is taken as complete"));
}

#[test]
fn input_without_lines_is_refused() {
    let operator = with_breaches();
    let empty = operator.folder.write("empty", "");
    let blank = operator.folder.write("blank", "\u{feff}\r\n \n");
    let full = operator.folder.write("full", "ada@corp.example\n");
    let accounts = ["accounts", "load", "--breach", "Alpha", "--activate"];
    let mut loads: Vec<Vec<&str>> = vec![
        ["stealer-logs", "load", "--breach", "Logs", "--unchecked"].to_vec(),
        ["stealer-logs", "load", "--breach", "Logs", "--format", "ulp"].to_vec(),
        ["pastes", "load"].to_vec(),
        ["catalogue", "import"].to_vec(),
        [&accounts[..], &["--dry-run"]].concat(),
        [&accounts[..], &["--unchecked"]].concat(),
        [&accounts[..], &[full.to_str().unwrap()]].concat(),
    ];
    for format in ["lines", "combo", "csv", "jsonl", "text"] {
        loads.push([&accounts[..], &["--format", format]].concat());
    }
    for load in &loads {
        for input in [empty.to_str().unwrap(), blank.to_str().unwrap(), "-"] {
            let arguments = [&load[..], &[input]].concat();
            let refused = run_in(&operator, operator.folder.path(), &arguments);
            let text = errors(&refused);
            assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {text}");
            // A blank CSV file doesn't have columns either.
            let named =
                text.contains("contains no data") || text.contains("does not have a column");
            assert!(named, "{arguments:?}: {text}");
        }
    }
    assert!(all_jobs(&operator).iter().all(|job| job.state == "failed"));
    assert_eq!(operator.run(&["account", "export", "--breach", "Alpha"]), "");
    // Neither does a header or a text contain an address.
    for (format, content) in [
        ("csv", "email,name\n"),
        ("csv", "email,name\n,x\nNULL,y\n"),
        ("text", "no address\n"),
        ("sql", "INSERT INTO users (id, email) VALUES (1, NULL);\n"),
        ("jsonl", "{\"email\":null}\n"),
    ] {
        let file = operator.folder.write("nothing", content);
        let load = [&accounts[..], &["--format", format, file.to_str().unwrap()]].concat();
        let refused = run_in(&operator, operator.folder.path(), &load);
        let text = errors(&refused);
        assert_eq!(refused.status.code(), Some(1), "{content}: {text}");
        assert!(text.contains("no addresses were found; nothing was loaded"), "{text}");
    }
}
