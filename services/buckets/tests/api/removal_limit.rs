//! Loads that would remove most files of a large bucket.

use std::io::Write;
use std::process::Stdio;

use buckets::jobs::{
    CheckpointPolicy, JobError, export, resume, resume_accepting_removals, status, verify,
};
use buckets::{Settings, jobs};

use crate::app::{Fixture, line};
use crate::program::{Program, text};
use crate::public_bucket::{Behaviour, PublicBucket};

const A: &str = "a.s3.amazonaws.com";
const B: &str = "b.s3.amazonaws.com";

fn files(bucket: &str, count: usize) -> String {
    (0..count).map(|file| line(bucket, &format!("{file}.txt"), 1, 1) + "\n").collect()
}

fn exported(fixture: &Fixture) -> usize {
    let mut written = Vec::new();
    export(&fixture.context, None, &mut written).unwrap() as usize
}

#[test]
fn removal_of_most_files_needs_consent() {
    let fixture = Fixture::new();
    let all = fixture.folder.write("all.ndjson", files(A, 1_200) + &files(B, 1_000));
    fixture.load(&[all]).unwrap();
    let few = fixture.folder.write("few.ndjson", files(A, 599) + &files(B, 1));
    let checkpoints = CheckpointPolicy::of(&Settings::for_tests());
    let run = match fixture.load(&[few]) {
        Err(error @ JobError::TooManyRemoved { run, .. }) => {
            let expected = format!(
                "run {run} would remove 601 of 1200 files of {A}: nothing was published; check the \
                 sources, then: buckets load --resume {run} --accept-removals"
            );
            assert_eq!(error.to_string(), expected, "a bucket of 1,000 files is not protected");
            run
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(exported(&fixture), 2_200);
    assert_eq!(status(&fixture.context).unwrap()["open_run"], run);
    assert!(matches!(
        resume(&fixture.context, run, checkpoints),
        Err(JobError::TooManyRemoved { .. })
    ));
    assert_eq!(exported(&fixture), 2_200);
    let report = resume_accepting_removals(&fixture.context, run, checkpoints).unwrap();
    assert_eq!((report.counts.removed, report.tally.files), (601 + 999, 600));
    assert_eq!(exported(&fixture), 600);
    assert_eq!(verify(&fixture.context).unwrap(), Vec::<String>::new());
}

#[test]
fn other_loads_need_no_consent() {
    let fixture = Fixture::new();
    let all = fixture.folder.write("all.ndjson", files(A, 1_200));
    fixture.load(&[all]).unwrap();
    let half = fixture.folder.write("half.ndjson", files(A, 600));
    assert_eq!(fixture.load(&[half]).unwrap().counts.removed, 600);
    let all = fixture.folder.write("all.ndjson", files(A, 1_200));
    fixture.load(std::slice::from_ref(&all)).unwrap();
    let one = fixture.folder.write("one.ndjson", files(A, 1));
    let options = jobs::LoadOptions { removal_limit: None, ..Fixture::options(&[one]) };
    assert_eq!(fixture.run(&options).unwrap().counts.removed, 1_199);
}

#[test]
fn standard_input_is_not_read_again_after_consent() {
    let program = Program::new();
    let all = program.folder().write("all.ndjson", files(A, 30));
    program.done(&["load", text(&all)]);
    let piped = |arguments: &[&str]| {
        let mut command = program.command(arguments);
        command.env("PROTECTED_FILES", "20").env("PROTECTED_PERCENT", "10");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut load = command.spawn().unwrap();
        load.stdin.take().unwrap().write_all(files(A, 26).as_bytes()).unwrap();
        load.wait_with_output().unwrap()
    };
    let ended = piped(&["load", "-"]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(4), "{said}");
    assert!(said.contains("would remove 4 of 30 files of a.s3.amazonaws.com"), "{said}");
    let run = program.status()["open_run"].to_string();
    program.done(&["load", "--resume", &run, "--accept-removals"]);
    assert_eq!(program.done(&["export"]).lines().count(), 26);
    let ended = piped(&["load", "--accept-removals", "-"]);
    assert_eq!(ended.status.code(), Some(0));
}

#[test]
fn held_crawl_names_the_command_that_publishes_it() {
    let program = Program::new();
    let keys: Vec<String> = (0..30).map(|number| format!("{number}.txt")).collect();
    let bucket = PublicBucket::start(Behaviour { keys: keys.into(), ..Behaviour::default() });
    let url = format!("{}/s3/", bucket.address);
    let host = ["--format", "s3", "--bucket", A, "--type", "aws"];
    program.done(&[&["crawl", "add", url.as_str()], &host[..]].concat());
    let run = ["crawl", "run", "1", "--allow-private", "--protected-files", "20"];
    program.done(&run);
    bucket.behaviour.keys.lock().truncate(2);
    let held = program.run(&run);
    assert_eq!(held.code, Some(1));
    let command = "crawl run 1 --accept-removals --allow-private";
    let advice = format!(
        "would lose 28 of 30 files: nothing was published; to publish anyway, run buckets \
         {command}\n"
    );
    assert!(held.out.ends_with(&advice), "{}", held.out);
    let words: Vec<&str> = command.split(' ').collect();
    assert!(program.done(&words).ends_with(": 0 new, 0 changed, 28 gone\n"));
    assert_eq!(program.done(&["export"]).lines().count(), 2);
    assert_eq!(program.run(&["crawl", "run", "--accept-removals"]).code, Some(2), "it needs an id");
}
