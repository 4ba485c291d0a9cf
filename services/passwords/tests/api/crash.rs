//! Recovery after a crash: each case in the specification's table, and kills at random times.

use std::io::Write;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Instant;

use passwords::Corpus;
use passwords::model::{Entry, Kind};
use passwords::{Passwords, Settings};

use testkit::until_blocking;

use crate::app::{App, Data, Numbers, expected_range, hash_list};

const PREFIXES: [u32; 4] = [0, 0x5BAA6, 0x80000, 0xFFFFF];

fn entries(seed: u64) -> Vec<Entry> {
    Numbers::new(seed).entries(Kind::Sha1, &PREFIXES.map(|prefix| (prefix, 50)))
}

/// Returns the index of the list whose digests the corpus in use contains.
fn served(data: &Data, lists: &[&[Entry]]) -> Option<usize> {
    let service = Passwords::open(&Settings::default(), data.path());
    let served = service.state().snapshot(Kind::Sha1)?;
    let text = |value| {
        let prefix = domain::HashPrefix::from_value(value).unwrap();
        let mut buffer = Vec::new();
        let bytes = served.corpus().sound_bytes(prefix, &mut buffer).unwrap();
        let bucket = passwords::model::Bucket::parse(Kind::Sha1, bytes).unwrap();
        String::from_utf8(passwords::model::render::text(&bucket).unwrap()).unwrap()
    };
    lists.iter().position(|list| {
        PREFIXES.iter().all(|prefix| text(*prefix) == expected_range(Kind::Sha1, list, *prefix))
    })
}

/// Waits until a child process has done something.
fn await_that(child: &mut Child, done: impl Fn() -> bool) {
    until_blocking("the command acts", || {
        assert!(child.try_wait().unwrap().is_none(), "the command ended early");
        done()
    });
}

/// Starts a build that reads an endless list from standard input.
fn endless_build(data: &Data, extra: &[&str]) -> (Child, impl FnOnce()) {
    let arguments = [&["build", "--activate", "--kind", "sha1"], extra, &["-"]].concat();
    let mut child = data
        .command(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = thread::spawn(move || {
        for at in 0u64.. {
            if stdin.write_all(format!("{:016X}{:024X}:1\n", at << 36, at).as_bytes()).is_err() {
                return;
            }
        }
    });
    (child, move || feeder.join().unwrap())
}

fn files(path: &std::path::Path, wanted: impl Fn(&str) -> bool) -> usize {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    entries.filter(|entry| wanted(entry.as_ref().unwrap().file_name().to_str().unwrap())).count()
}

#[test]
fn kill_while_partitioning_keeps_the_old_corpus() {
    let data = Data::new();
    let old = entries(1);
    data.activate(Kind::Sha1, &old);
    let list = data.write("list.txt", hash_list(Kind::Sha1, &old));
    let list = list.to_str().unwrap();
    let tmp = data.path().join("tmp");
    let folders = || files(&tmp, |name| name.starts_with("build-") && !name.ends_with(".lock"));
    for next in [&["build", "--unordered", list][..], &["build", list], &["prune"]] {
        let (mut child, joined) = endless_build(&data, &["--unordered", "--memory", "1M"]);
        await_that(&mut child, || {
            std::fs::read_dir(&tmp).is_ok_and(|entries| {
                entries.flatten().any(|e| files(&e.path(), |name| name.starts_with("sha1-")) > 0)
            })
        });
        child.kill().unwrap();
        child.wait().unwrap();
        joined();
        assert_eq!((folders(), served(&data, &[&old])), (1, Some(0)));
        data.done(next);
        assert_eq!(files(&tmp, |_| true), 0, "{next:?}");
    }
}

#[test]
fn kill_while_writing_leaves_a_file_without_header() {
    let data = Data::new();
    let old = entries(1);
    data.activate(Kind::Sha1, &old);
    let (mut child, joined) = endless_build(&data, &[]);
    let tmp = data.path().join("sha1/.sha1.tmp");
    let written = || std::fs::metadata(&tmp).is_ok_and(|data| data.len() > 17 << 20);
    await_that(&mut child, written);
    child.kill().unwrap();
    child.wait().unwrap();
    joined();
    assert_eq!(std::fs::read(&tmp).unwrap()[..4096], [0; 4096]);
    assert!(Corpus::open(&tmp, 0).is_err());
    assert_eq!(served(&data, &[&old]), Some(0));
    assert!(data.run(&["prune"]).code == Some(0));
    assert!(!tmp.exists());
}

#[test]
fn kill_before_the_rename_leaves_an_unnamed_file() {
    let data = Data::new();
    let (old, new) = (entries(1), entries(2));
    data.activate(Kind::Sha1, &old);
    let list = data.write("new.txt", hash_list(Kind::Sha1, &new));
    let built = data.path_of(&["build", list.to_str().unwrap()]);
    let tmp = data.path().join("sha1/.sha1.tmp");
    std::fs::rename(&built, &tmp).unwrap();
    assert_eq!(served(&data, &[&old, &new]), Some(0));
    data.path_of(&["build", list.to_str().unwrap()]);
    assert!(!tmp.exists() && built.exists());
}

#[test]
fn kill_after_the_rename_leaves_an_inactive_corpus() {
    let data = Data::new();
    let (old, new) = (entries(1), entries(2));
    data.activate(Kind::Sha1, &old);
    let list = data.write("new.txt", hash_list(Kind::Sha1, &new));
    let built = data.path_of(&["build", list.to_str().unwrap()]);
    assert_eq!(served(&data, &[&old, &new]), Some(0));
    std::fs::write(data.path().join("sha1/CURRENT.tmp"), "half a na").unwrap();
    assert_eq!(served(&data, &[&old, &new]), Some(0));
    data.path_of(&["activate", built.to_str().unwrap()]);
    assert_eq!(served(&data, &[&old, &new]), Some(1));
    assert!(!data.path().join("sha1/CURRENT.tmp").exists());
}

#[actix_web::test]
async fn serving_and_reloading_write_no_files() {
    let data = Data::new();
    data.activate(Kind::Sha1, &entries(1));
    let state = || {
        let mut state: Vec<_> = std::fs::read_dir(data.path().join("sha1"))
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let data = entry.metadata().unwrap();
                (entry.file_name(), data.len(), data.modified().unwrap())
            })
            .collect();
        state.sort();
        state
    };
    let before = state();
    let server = App::start(&data).await;
    for _ in 0..3 {
        server.text("/range/5BAA6").await;
        server.service.reload(true);
    }
    assert_eq!(state(), before);
}

#[test]
fn second_concurrent_build_is_refused() {
    let data = Data::new();
    let (mut child, joined) = endless_build(&data, &[]);
    let tmp = data.path().join("sha1/.sha1.tmp");
    await_that(&mut child, || tmp.exists());
    let list = data.write("list.txt", hash_list(Kind::Sha1, &entries(1)));
    let second = data.run(&["build", list.to_str().unwrap()]);
    assert_eq!(second.code, Some(1));
    assert!(second.errors.contains("another command is changing"), "{}", second.errors);
    child.kill().unwrap();
    child.wait().unwrap();
    joined();
    assert!(data.run(&["build", list.to_str().unwrap()]).code == Some(0));
}

/// Returns the number of kills: 200 in a full run. `PASSWORDS_KILL_ROUNDS` overrides it.
fn rounds() -> u64 {
    std::env::var("PASSWORDS_KILL_ROUNDS").map_or(24, |rounds| rounds.parse().unwrap())
}

#[test]
fn kill_at_any_moment_leaves_the_old_or_the_new_corpus() {
    let data = Data::new();
    let lists = [entries(1), entries(2)];
    let names = [
        data.write("a.txt", hash_list(Kind::Sha1, &lists[0])),
        data.write("b.txt", hash_list(Kind::Sha1, &lists[1])),
    ];
    let base = data.path().join("base.pwr");
    std::fs::rename(data.path_of(&["build", names[0].to_str().unwrap()]), &base).unwrap();
    data.path_of(&["build", "--activate", names[0].to_str().unwrap()]);
    let mut merged = [lists[0].clone(), lists[1].clone()].concat();
    merged.sort_by(Entry::compare);
    let merge = ["merge", "--activate", "--base", base.to_str().unwrap()];
    let commands = [
        vec!["build", "--activate", names[1].to_str().unwrap()],
        vec!["build", "--activate", "--unordered", names[0].to_str().unwrap()],
        [&merge[..], &[names[1].to_str().unwrap()]].concat(),
    ];
    let begin = Instant::now();
    assert!(data.run(&commands[0]).code == Some(0));
    // Timing: the duration of a run limits the random times.
    let whole = begin.elapsed();
    let mut numbers = Numbers::new(8);
    let all: [&[Entry]; 3] = [&lists[0], &lists[1], &merged];
    for round in 0..rounds() {
        let before = served(&data, &all).unwrap();
        let command = &commands[round as usize % 3];
        let aim = [1, 0, 2][round as usize % 3];
        let mut child =
            data.command(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Timing: the random time is the subject of this test.
        thread::sleep(whole.mul_f64((numbers.next() % 1200) as f64 / 1000.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = served(&data, &all);
        assert!(after == Some(before) || after == Some(aim), "round {round}: {after:?}");
    }
    assert!(data.run(&commands[0]).code == Some(0));
    assert_eq!(served(&data, &all), Some(1));
}
