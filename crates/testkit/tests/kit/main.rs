//! Tests of the test kit.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

use std::process::Command;

use testkit::{Folder, Process, Program, Ran, Random, until, until_blocking};

/// Returns a program that is a shell script.
fn script(text: &str) -> (Folder, Program) {
    let folder = Folder::new();
    let path = folder.write("script", format!("#!/bin/sh\n{text}\n"));
    assert!(Command::new("chmod").arg("+x").arg(&path).status().unwrap().success());
    (folder, Program::new(path))
}

#[test]
fn program_runs_with_its_settings_and_data_folder() {
    let (_kept, program) = script("echo \"$1 $GREETING $DATA_DIR\"; echo oops >&2; exit $2");
    let program = program.setting("GREETING", "hallo").setting("GREETING", "hello");
    let Ran { code, out, errors, .. } = program.run(&["first", "3"]);
    let data = program.folder().path().display();
    assert_eq!((code, errors.as_str()), (Some(3), "oops\n"));
    assert_eq!(out, format!("first hello {data}\n"));
}

#[test]
fn program_reads_standard_input_and_prints_json() {
    let (_kept, program) = script("if [ \"$2\" = --json ]; then echo '[1]'; else cat; fi");
    let long = "x".repeat(1 << 20);
    assert_eq!(program.pipe(&["a"], long.as_bytes()).done(), long);
    assert_eq!(program.json(&["list"]), serde_json::json!([1]));
}

#[test]
fn process_is_killed_when_a_condition_holds() {
    let (_kept, program) = script("touch \"$DATA_DIR/begun\"; exec sleep 100");
    let begun = program.folder().join("begun");
    let mut process = program.start::<&str>(&[]);
    assert!(process.kill_when(|| begun.exists()));
    assert!(process.has_ended());
    let mut ended = Process::spawn(&mut Command::new("true"));
    assert_eq!(ended.wait(), Some(0));
    assert!(ended.kill(), "it had exited by itself");
}

#[test]
fn signals_reach_a_process() {
    let (_kept, program) =
        script("trap 'exit 7' TERM; touch \"$DATA_DIR/ready\"; while :; do sleep 0.01; done");
    let ready = program.folder().join("ready");
    let mut process = program.start::<&str>(&[]);
    until_blocking("the script is ready", || ready.exists());
    process.signal("TERM");
    assert_eq!(process.wait(), Some(7));
}

#[tokio::test]
async fn waiting_ends_as_soon_as_the_condition_holds() {
    let mut looks = 0;
    until("the third look", async || {
        looks += 1;
        looks == 3
    })
    .await;
    assert_eq!(looks, 3);
}

#[test]
fn random_numbers_depend_on_the_seed_alone() {
    let numbers = |seed| {
        let mut random = Random::new(seed);
        [random.number(), random.below(10), *random.pick(&[1, 2, 3])]
    };
    assert_eq!(numbers(5), numbers(5));
    assert_ne!(numbers(5), numbers(6));
}

#[test]
fn no_database_is_linked_without_the_feature() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "-p", "testkit", "-e", "normal", "--offline", "--prefix", "none"])
        .arg("--no-default-features")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.lines().any(|line| line.starts_with("reqwest ")));
    let found =
        tree.lines().find(|line| line.starts_with("diesel ") || line.starts_with("database "));
    assert_eq!(found, None);
}
