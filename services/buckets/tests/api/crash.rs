//! Kills the program at random times, and checks that publishes are atomic and durable.
//!
//! `CRASH_ROUNDS` (20) is the number of kills per command. `CRASH_SEED` repeats a failed run, which
//! prints its seed.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use crate::program::{Program, holds, text};

const FILES: usize = 4_000;

/// Generates the random times at which processes are killed.
struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    fn new(test: &str) -> Self {
        let seed = variable("CRASH_SEED").unwrap_or_else(|| RandomState::new().hash_one(test));
        eprintln!("{test}: CRASH_SEED={seed}");
        Self { seed, state: seed }
    }

    /// Returns a number below `end` (SplitMix64).
    fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    /// Returns a random time within the duration of a command.
    fn moment(&mut self, whole: Duration) -> Duration {
        Duration::from_micros(self.below(whole.as_micros() as u64 * 11 / 10))
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn rounds() -> usize {
    variable("CRASH_ROUNDS").unwrap_or(20) as usize
}

/// Runs a command and returns its duration.
fn timed(program: &Program, arguments: &[&str]) -> Duration {
    let begin = Instant::now();
    program.done(arguments);
    // Timing: the kills fall within the duration of a command.
    begin.elapsed()
}

fn bucket(number: usize) -> String {
    format!("b{number}.s3.amazonaws.com")
}

#[test]
fn killed_loads_are_atomic() {
    let program = Program::new();
    let mut dice = Dice::new("load");
    let whole = timed(&program, &["load", text(&program.source(0, FILES))]);
    let mut last = (Some(0), FILES);
    for round in 1..=rounds() {
        let source = program.source(round, FILES);
        program.killed(&["load", text(&source)], dice.moment(whole));
        let now = program.published();
        let new = (Some(round), FILES);
        assert!(now == last || now == new, "seed {}, round {round}: {now:?}", dice.seed);
        last = now;
    }
    program.done(&["load", text(&program.source(99, FILES))]);
    assert_eq!(program.published(), (Some(99), FILES));
    assert_eq!(program.status()["open_run"], serde_json::Value::Null);
}

/// The index has published a run, but SQL does not know.
#[test]
fn sql_is_reconciled_after_kill_between_commits() {
    let program = Program::new();
    program.done(&["load", text(&program.source(0, FILES))]);
    let (mut hits, mut last) = (0, 0);
    for round in 1..=rounds() * 2 {
        let source = program.source(round, FILES);
        let before = program.journal(1).unwrap()["published"]["run"].clone();
        let killed = program.killed_when(&["load", text(&source)], || {
            program.journal(1).is_some_and(|journal| journal["published"]["run"] != before)
        });
        let newest = &program.status()["runs"][0];
        let unsettled = killed && newest["state"] == "running";
        hits += usize::from(unsettled);
        last = round;
        assert_eq!(program.published(), (Some(round), FILES));
        // The next writing command or server start reconciles them.
        if unsettled {
            assert_eq!(program.run(&["load", "--resume", "7777"]).code, Some(1));
            let healed = program.status();
            assert_eq!(healed["runs"][0]["state"], "published");
            assert_eq!(healed["runs"][0]["id"], newest["id"]);
            assert_eq!(healed["buckets"], 7);
        }
        if hits >= 3 {
            break;
        }
    }
    assert!(hits > 0, "no process was killed between the two commits");
    assert_eq!(program.published(), (Some(last), FILES));
}

#[test]
fn load_resumes_from_last_checkpoint_after_kill() {
    let program = Program::new();
    let mut dice = Dice::new("resume");
    let whole = timed(&program, &["load", text(&program.source(0, FILES))]);
    let mut resumed = 0;
    for round in 1..=rounds() {
        let source = program.source(round, FILES);
        program.killed(&["load", text(&source)], dice.moment(whole));
        let mut kills = 0;
        while let Some(run) = program.status()["open_run"].as_u64() {
            resumed += 1;
            let resume = ["load", "--resume", &run.to_string()];
            // A resume may be killed too. Sometimes it completes.
            if kills < 2 && dice.below(3) == 0 {
                kills += 1;
                program.killed(&resume, dice.moment(whole));
                continue;
            }
            program.done(&resume);
            let now = program.published();
            assert_eq!(now, (Some(round), FILES), "seed {}, round {round}", dice.seed);
        }
    }
    assert!(resumed > 0, "no run was stopped while it was open");
}

#[test]
fn resume_fails_if_source_has_changed() {
    use std::io::Write;

    let program = Program::new();
    let source = program.source(1, FILES);
    let mut run = None;
    for wait in (20..2_000).step_by(40) {
        program.killed(&["load", text(&source)], Duration::from_millis(wait));
        run = program.status()["open_run"].as_u64();
        if run.is_some() {
            break;
        }
    }
    let run = run.expect("a run that was stopped").to_string();
    let mut file = std::fs::OpenOptions::new().append(true).open(&source).unwrap();
    file.write_all(b"\n").unwrap();
    let output = program.run(&["load", "--resume", &run]);
    assert_eq!(output.code, Some(1));
    assert!(output.errors.contains("changed since the run started"));
    assert_eq!(program.published().1, 0);
}

#[test]
fn killed_rebuilds_are_atomic() {
    let program = Program::new();
    let mut dice = Dice::new("rebuild");
    program.done(&["load", text(&program.source(0, FILES))]);
    let of_index = timed(&program, &["rebuild"]);
    let of_sources = timed(&program, &["rebuild", text(&program.source(0, FILES))]);
    let (mut last, mut switched) = ((Some(0), FILES), 0);
    for round in 1..=rounds() {
        let before = program.status()["generation"].clone();
        if dice.below(2) == 0 {
            program.killed(&["rebuild"], dice.moment(of_index));
            let now = program.published();
            assert_eq!(now, last, "seed {}, round {round}", dice.seed);
        } else {
            let source = program.source(round, FILES - round);
            program.killed(&["rebuild", text(&source)], dice.moment(of_sources));
            let (now, new) = (program.published(), (Some(round), FILES - round));
            assert!(now == last || now == new, "seed {}, round {round}: {now:?}", dice.seed);
            last = now;
        }
        switched += usize::from(program.status()["generation"] != before);
    }
    eprintln!("{switched} of {} killed rebuilds had switched", rounds());
    program.done(&["rebuild"]);
    assert_eq!(program.published(), last);
    let left = std::fs::read_dir(program.index()).unwrap().flatten();
    assert_eq!(left.filter(|entry| entry.path().is_dir()).count(), 1, "one generation is left");
    let runs = program.status()["runs"].as_array().unwrap().clone();
    assert!(runs.iter().all(|run| run["state"] != "running"), "{runs:?}");
}

#[test]
fn killed_removals_are_completed_by_next_writer() {
    let program = Program::new();
    let mut dice = Dice::new("remove");
    let source = program.source(5, FILES);
    program.done(&["load", text(&source)]);
    let share = |number: usize| (0..FILES).filter(|file| file % 7 == number).count();
    let whole = timed(&program, &["remove", &bucket(6)]);
    let all = FILES - share(6);
    assert_eq!(program.published().1, all);
    for round in 0..rounds() {
        let number = round % 6;
        let address = bucket(number);
        program.killed(&["remove", &address], dice.moment(whole));
        let now = program.published().1;
        assert!(now == all || now == all - share(number), "seed {}, round {round}", dice.seed);
        // A load, a rebuild or the same command completes the removal.
        let waits = program.status()["removals_waiting"] == 1;
        match dice.below(3) {
            0 if waits => {
                let other = program.folder().write("other.ndjson", "");
                assert_eq!(program.run(&["load", text(&other)]).code, Some(1));
            }
            1 if waits => drop(program.done(&["rebuild"])),
            _ => drop(program.done(&["remove", &address])),
        }
        assert_eq!(program.status()["removals_waiting"], 0);
        assert_eq!(program.published().1, all - share(number), "seed {}", dice.seed);
        let path = format!("dir/{number} mark-5.txt");
        assert!(!holds(&program.index(), path.as_bytes()), "seed {}: {path}", dice.seed);
        // Lifts the removals before the next round.
        let report = program.done(&["load", "--json", text(&source)]);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["skipped_removed"], (share(number) + share(6)) as u64);
        program.done(&["unremove", &address]);
        program.done(&["load", text(&source)]);
        assert_eq!(program.published().1, all);
    }
}

#[test]
fn removal_erases_unfinished_generation() {
    let program = Program::new();
    program.done(&["load", text(&program.source(1, FILES))]);
    let path = b"dir/0 mark-1.txt";
    for arguments in [vec!["rebuild".to_owned()], {
        let source = program.source(1, FILES);
        vec!["rebuild".to_owned(), text(&source).to_owned()]
    }] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let column = program.index().join("generation-2/column/paths");
        let written = || std::fs::metadata(&column).is_ok_and(|meta| meta.len() > 0);
        let mut hit = false;
        for _ in 0..20 {
            hit = program.killed_when(&arguments, written);
            if program.status()["generation"] != 1 {
                break;
            }
            if hit && holds(&program.index().join("generation-2"), path) {
                break;
            }
        }
        assert!(hit, "no rebuild was killed in progress");
        program.done(&["remove", &bucket(0), "--prefix", "dir/0 "]);
        assert!(!holds(&program.index(), path));
        program.done(&["unremove", &bucket(0)]);
        program.done(&["load", text(&program.source(1, FILES))]);
    }
}

/// Loads while another process removes. Then kills and resumes the load.
#[test]
fn run_does_not_undo_concurrent_removal() {
    const MANY: usize = 60_000;
    let program = Program::new();
    let mut dice = Dice::new("remove during load");
    program.done(&["load", text(&program.source(1, FILES))]);
    let source = program.source(2, MANY);
    for round in 0..3 {
        let address = bucket(round);
        let mut load = program.start(&["load", text(&source)]);
        testkit::until_blocking("the load begins", || !program.status()["open_run"].is_null());
        let output = program.run(&["remove", &address]);
        let during = !load.has_ended();
        assert_eq!(output.code, Some(0), "{}", output.errors);
        assert!(during, "the removal waited for the end of the load");
        let export = program.done(&["export"]);
        assert!(!export.contains(&address), "the published files are hidden");
        // Timing: the kill falls at a random time after the removal.
        std::thread::sleep(Duration::from_millis(dice.below(300)));
        load.kill();
        let path = format!("dir/{round} mark-2.txt");
        assert!(!holds(&program.index(), path.as_bytes()), "seed {}", dice.seed);
        if let Some(run) = program.status()["open_run"].as_u64() {
            program.done(&["load", "--resume", &run.to_string()]);
        }
        let (_, now) = program.published();
        let share = (0..MANY).filter(|file| file % 7 > round).count();
        assert_eq!(now, share, "seed {}, round {round}", dice.seed);
        assert!(!program.done(&["export"]).contains(&address));
        assert!(!holds(&program.index(), path.as_bytes()), "seed {}", dice.seed);
        // The next round removes from a small published state.
        program.done(&["rebuild", text(&program.source(1, FILES))]);
    }
}

#[test]
fn commands_have_exit_codes_and_messages() {
    let program = Program::new();
    let bad = program.folder().write("bad.ndjson", "{}\n".repeat(1_200));
    for command in ["load", "rebuild"] {
        let output = program.run(&[command, text(&bad)]);
        assert_eq!(output.code, Some(3));
        assert!(output.errors.contains("nothing was published"));
        let missing = program.run(&[command, "missing.ndjson"]);
        assert_eq!(missing.code, Some(1));
        assert_eq!(missing.errors.lines().count(), 1);
    }
    let file = program.folder().write("file", "");
    let mut command = program.command(&["status"]);
    command.env("INDEX_DIR", &file);
    let errors = program.run_command(command).errors;
    assert!(errors.contains(&format!("INDEX_DIR {}: index: ", text(&file))), "{errors}");
    assert_eq!(errors.matches("os error").count(), 1, "{errors}");
    assert_eq!(program.run(&["load"]).code, Some(2));
    assert_eq!(program.run(&["rebuild", "--format", "csv"]).code, Some(2));
    assert_eq!(program.run(&["load", "--resume", "77"]).code, Some(1));
    assert_eq!(program.run(&["unremove", "a.s3.amazonaws.com"]).code, Some(1));
}
