//! The remaining commands.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use passwords::model::{Entry, Kind};

use crate::app::{Data, Numbers, hash_list};

fn current(data: &Data, kind: &str) -> String {
    std::fs::read_to_string(data.path().join(kind).join("CURRENT")).unwrap()
}

fn samples() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/passwords.txt").to_owned()
}

#[test]
fn the_samples_build_and_activate_both_kinds() {
    let data = Data::new();
    let arguments = ["build", "--input-format", "plaintext", "--activate"];
    let output = data.run(&[&arguments[..], &[&samples()]].concat());
    assert!(output.code == Some(0), "{}", output.errors);
    for (kind, path) in ["sha1", "ntlm"].iter().zip(output.out.lines()) {
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        assert_eq!(current(&data, kind), format!("{name}\n"));
        let verified = data.run(&["verify", path]);
        assert_eq!(verified.code, Some(0), "{}", verified.out);
    }
}

#[test]
fn check_counts_passwords_and_hashes_from_standard_input() {
    let data = Data::new();
    let arguments = ["build", "--input-format", "plaintext", "--activate"];
    assert!(data.run(&[&arguments[..], &[&samples()]].concat()).code == Some(0));
    for kind in ["sha1", "ntlm"] {
        let some = data.pipe(&["check", "--kind", kind], b"password\nnot in the list\n");
        assert_eq!((some.code, some.out.as_str()), (Some(10), "3\n0\n"));
    }
    let none = data.pipe(&["check"], b"not in the list\r\n");
    assert_eq!((none.code, none.out.as_str()), (Some(0), "0\n"));
    let marked = data.pipe(&["check"], b"\xEF\xBB\xBFpassword\n");
    assert_eq!((marked.code, marked.out.as_str()), (Some(10), "3\n"));
    let hash = b"5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8";
    let hashed = data.pipe(&["check", "--hash"], hash);
    assert_eq!((hashed.code, hashed.out.as_str()), (Some(10), "3\n"));
    let wrong = data.pipe(&["check", "--hash"], b"password");
    assert_eq!(wrong.code, Some(1));
    assert!(!wrong.errors.contains("password"), "{}", wrong.errors);
    let nothing = Data::new().pipe(&["check"], b"x");
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.errors.contains("no corpus is active"));
    assert_eq!(data.run(&["check", "password"]).code, Some(2));
}

#[test]
fn check_finds_bytes_of_another_encoding_raw_and_as_hex() {
    let data = Data::new();
    let list = data.write("list.txt", b"p\xFCss\n");
    let build = ["build", "--input-format", "plaintext", "--encoding", "latin1", "--activate"];
    data.done(&[&build[..], &["--kind", "sha1", list.to_str().unwrap()]].concat());
    let checked = data.pipe(&["check"], b"p\xFCss\r\n$HEX[70fc7373]\n$HEX[70fc]\n");
    assert_eq!((checked.code, checked.out.as_str()), (Some(10), "1\n1\n0\n"));
}

#[test]
fn info_shows_the_header() {
    let data = Data::new();
    let entries = Numbers::new(1).entries(Kind::Ntlm, &[(1, 5), (7, 2)]);
    let list = data.write("list.txt", hash_list(Kind::Ntlm, &entries));
    let path = data.path_of(&["build", "--note", "two lists", list.to_str().unwrap()]);
    let shown = data.run(&["info", "--json", path.to_str().unwrap()]);
    let info: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!((&info["kind"], &info["entries"]), (&"ntlm".into(), &7.into()));
    assert_eq!((&info["smallest_bucket"], &info["largest_bucket"]), (&0.into(), &5.into()));
    assert_eq!(info["note"], "two lists");
    assert_eq!(info["corpus_id"], path.file_stem().unwrap().to_str().unwrap());
    assert_eq!(info["bytes"], std::fs::metadata(&path).unwrap().len());
    let text = data.done(&["info", path.to_str().unwrap()]);
    assert!(text.contains("kind        ntlm\n") && text.contains("bucket size 0 to 5\n"), "{text}");
    assert_eq!(data.run(&["info", list.to_str().unwrap()]).code, Some(1));
}

#[test]
fn activate_switches_the_corpus_and_prune_removes_unused_ones() {
    let data = Data::new();
    let mut paths = Vec::new();
    for seed in 1..=3 {
        let entries = Numbers::new(seed).entries(Kind::Sha1, &[(5, 2)]);
        let list = data.write("list.txt", hash_list(Kind::Sha1, &entries));
        paths.push(data.path_of(&["build", list.to_str().unwrap()]));
    }
    assert!(!data.path().join("sha1/CURRENT").exists());
    let second = paths[1].to_str().unwrap();
    data.path_of(&["activate", second]);
    assert!(current(&data, "sha1").contains(paths[1].file_name().unwrap().to_str().unwrap()));
    std::fs::write(data.path().join("sha1/.sha1.tmp"), "left by a crash").unwrap();
    assert!(data.run(&["prune", "--keep", "2"]).code == Some(0));
    assert!(paths[1].exists());
    assert_eq!(paths.iter().filter(|path| path.exists()).count(), 2);
    assert!(!data.path().join("sha1/.sha1.tmp").exists());
    assert!(data.run(&["prune"]).code == Some(0));
    assert_eq!(paths.iter().filter(|path| path.exists()).count(), 1);
    assert!(paths[1].exists());
    let other = Data::new();
    let copied = other.path_of(&["activate", second]);
    assert!(copied.starts_with(other.path()) && copied.exists());
    std::fs::write(data.path().join("damaged.pwr"), "PWRANGE").unwrap();
    let damaged = data.run(&["activate", data.path().join("damaged.pwr").to_str().unwrap()]);
    assert_eq!(damaged.code, Some(1));
    assert!(current(&data, "sha1").contains(paths[1].file_name().unwrap().to_str().unwrap()));
}

#[test]
fn prune_keeps_the_newest_corpus_if_current_names_a_missing_file() {
    let data = Data::new();
    let mut numbers = Numbers::new(1);
    let active = data.activate(Kind::Sha1, &numbers.entries(Kind::Sha1, &[(5, 2)]));
    let list = hash_list(Kind::Sha1, &numbers.entries(Kind::Sha1, &[(5, 3)]));
    let list = data.write("list.txt", list);
    let other = data.path_of(&["build", list.to_str().unwrap()]);
    std::fs::remove_file(&active).unwrap();
    data.done(&["prune"]);
    assert!(other.exists());
}

#[test]
fn merge_sums_takes_the_larger_or_replaces() {
    let data = Data::new();
    let (a, b, c) = ("A".repeat(40), "B".repeat(40), "C".repeat(40));
    let old = data.write("old.txt", format!("{a}:5\n{b}:7\n"));
    let base = data.path_of(&["build", old.to_str().unwrap()]);
    let before = std::fs::read(&base).unwrap();
    let new = data.write("new.txt", format!("{b}:2\n{c}:1\n"));
    for (mode, count) in [("sum", 9), ("max", 7), ("replace", 2)] {
        for order in [&[][..], &["--unordered"]] {
            let (base, new) = (base.to_str().unwrap(), new.to_str().unwrap());
            let arguments = [&["merge", "--base", base, "--mode", mode, new][..], order].concat();
            let merged = data.path_of(&arguments);
            let merged = merged.to_str().unwrap();
            assert_eq!(data.run(&["verify", merged]).code, Some(0));
            let text = data.done(&["export", "--format", "hashes", merged]);
            assert_eq!(text, format!("{a}:5\n{b}:{count}\n{c}:1\n"), "{mode}");
        }
    }
    assert_eq!(std::fs::read(&base).unwrap(), before);
}

#[test]
fn a_merge_equals_a_build_of_both_lists() {
    let data = Data::new();
    let mut numbers = Numbers::new(20);
    let prefixes: Vec<(u32, usize)> = (0..400).map(|at| (at * 2600, 3)).collect();
    let old = numbers.entries(Kind::Sha1, &prefixes);
    let mut new = numbers.entries(Kind::Sha1, &[(0, 2), (2600, 1), (77, 1), (0xFFFFF, 4)]);
    new.extend(old.iter().step_by(9).map(|e| Entry { count: e.count / 2 + 1, ..*e }));
    new.sort_by(Entry::compare);
    let old = data.write("old.txt", hash_list(Kind::Sha1, &old));
    let new = data.write("new.txt", hash_list(Kind::Sha1, &new));
    let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
    let whole = data.path_of(&["build", old, new]);
    let base = data.path_of(&["build", old]);
    let merged = data.path_of(&["merge", "--base", base.to_str().unwrap(), new]);
    assert_eq!(merged, whole);
    let other = data.write("ntlm.txt", "8846F7EAEE8FB117AD06BDD830B7586C:1\n");
    let output = data.run(&["merge", "--base", base.to_str().unwrap(), other.to_str().unwrap()]);
    assert_eq!(output.code, Some(1));
}

#[test]
fn export_needs_a_folder_to_write_to() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(5, 2)]));
    let output = data.run(&["export", "--format", "folder", path.to_str().unwrap()]);
    assert_eq!(output.code, Some(2));
    assert!(output.errors.contains("--output"));
}

#[test]
fn an_export_reports_what_it_wrote() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(5, 2), (9, 3)]));
    let (file, target) = (path.to_str().unwrap(), data.path().join("hashes.txt"));
    let export = ["export", "--format", "hashes", "--json", file, "-o", target.to_str().unwrap()];
    let report: serde_json::Value = serde_json::from_str(&data.done(&export)).unwrap();
    assert_eq!(report["kind"], "sha1");
    assert_eq!(report["corpus_id"], path.file_stem().unwrap().to_str().unwrap());
    assert_eq!(report["path"], target.to_str().unwrap());
    assert_eq!((&report["entries"], &report["prefixes"]), (&5.into(), &2.into()));
    assert_eq!(std::fs::read_to_string(&target).unwrap().lines().count(), 5);
    // With standard output, the lists themselves are printed there.
    for wrong in ["--json", "--compress"] {
        let output = data.run(&["export", "--format", "hashes", wrong, file]);
        assert_eq!(output.code, Some(2), "{wrong}");
    }
}

#[test]
fn healthcheck_fails_without_a_server() {
    let output = Data::new().run(&["healthcheck", "--admin-bind", "127.0.0.1:1"]);
    assert_eq!(output.code, Some(1));
}

/// Returns the sorted names in a folder.
fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn serve_check_describes_the_start_and_exits_2_if_it_would_fail() {
    let data = Data::new();
    let file = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(5, 9)]));
    let before = names(data.path());
    let free = "127.0.0.1:0";
    let addresses = ["--bind", free, "--tls-bind", free, "--admin-bind", free];
    let usable =
        data.run(&[&["serve", "--check", "--tls-mode", "native"][..], &addresses].concat());
    assert_eq!(usable.code, Some(0), "{}", usable.out);
    assert!(usable.out.contains(&format!("sha1: 9 digests in {}\n", file.display())));
    assert!(usable.out.contains("  TLS_MODE=native\n"), "{}", usable.out);
    assert!(usable.out.contains("certificate: `serve` creates one in "), "{}", usable.out);
    assert!(usable.out.ends_with("`serve` can start\n"), "{}", usable.out);
    let name = ["serve", "--check", "--bind", "name.invalid:1"];
    let unusable = data.run(&name);
    assert_eq!(unusable.code, Some(2));
    assert!(unusable.out.contains("requests: error: "), "{}", unusable.out);
    assert!(unusable.out.ends_with("`serve` would fail\n"), "{}", unusable.out);
    let one = "127.0.0.1:1";
    let twice = data.run(&["serve", "--check", "--bind", one, "--admin-bind", one]);
    assert_eq!(twice.code, Some(2), "{}", twice.out);
    assert!(twice.out.contains("127.0.0.1:1 is used twice in BIND,"), "{}", twice.out);
    let listener = TcpListener::bind(free).unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let check = |bind: &str, admin: &str| {
        data.run(&["serve", "--check", "--bind", bind, "--tls-bind", free, "--admin-bind", admin])
    };
    let unusable = check(&taken, free);
    assert_eq!(unusable.code, Some(2), "{}", unusable.out);
    assert!(unusable.out.contains("is in use by another program"), "{}", unusable.out);
    assert_eq!(check("192.0.2.1:8080", free).code, Some(2), "an address of another machine");
    let admin = TcpListener::bind(free).unwrap();
    let answering = admin.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        // Both addresses are in use, and each is asked about.
        for stream in admin.incoming().take(2) {
            let mut stream = stream.unwrap();
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok").unwrap();
        }
    });
    let upgrade = check(&taken, &answering);
    assert_eq!(upgrade.code, Some(0), "{}", upgrade.out);
    let end = "`serve` can start once the running server has stopped\n";
    assert!(upgrade.out.ends_with(end), "{}", upgrade.out);
    server.join().unwrap();
    assert_eq!(names(data.path()), before, "a check changes nothing");
    std::fs::write(&file, b"not a corpus").unwrap();
    assert_eq!(data.run(&["serve", "--check"]).code, Some(2));
}

#[test]
fn packages_get_man_pages_completions_and_licences_from_the_program() {
    let data = Data::new();
    let folder = data.path().join("man");
    std::fs::create_dir(&folder).unwrap();
    data.done(&["man", folder.to_str().unwrap()]);
    let page = std::fs::read_to_string(folder.join("passwords-mirror.1")).unwrap();
    assert!(page.contains(".SH SYNOPSIS") && page.contains("interval"), "{page}");
    for shell in ["bash", "fish", "zsh"] {
        assert!(data.done(&["completions", shell]).contains("mirror"), "{shell}");
    }
    let licences = data.done(&["licenses"]);
    for library in ["actix-web 4", "rustls 0.23", "PostgreSQL Global Development Group"] {
        assert!(licences.contains(library), "{library}");
    }
}

#[test]
fn closed_output_pipe_is_success() {
    let data = Data::new();
    let entries = Numbers::new(1).entries(Kind::Sha1, &[(5, 9000)]);
    let path = data.activate(Kind::Sha1, &entries);
    let (program, file) = (env!("CARGO_BIN_EXE_passwords"), path.display());
    for command in [
        format!("{program} export --format hashes {file}"),
        format!("{program} export --format hashes -o /dev/stdout {file}"),
        format!("yes {} | head -n 200000 | {program} check --hash", "A".repeat(40)),
    ] {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &format!("{command} | head -n 1; exit ${{PIPESTATUS[-2]}}")]);
        let output = data.program().run_command(with_data(shell, &data));
        assert_eq!((output.code, output.out.lines().count()), (Some(0), 1), "{command}");
        assert_eq!(output.errors, "", "{command}");
    }
}

fn with_data(mut command: std::process::Command, data: &Data) -> std::process::Command {
    command.env("DATA_DIR", data.path());
    command
}

#[test]
fn export_refuses_to_overwrite_its_corpus() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(5, 2)]));
    let before = std::fs::read(&path).unwrap();
    let (hard, soft) = (data.path().join("hard"), data.path().join("soft"));
    std::fs::hard_link(&path, &hard).unwrap();
    std::os::unix::fs::symlink(&path, &soft).unwrap();
    let folder = data.path().join("ranges");
    let file = path.to_str().unwrap();
    data.done(&["export", "--format", "folder", "-o", folder.to_str().unwrap(), file]);
    let range = folder.join("00005.txt");
    std::fs::remove_file(&range).unwrap();
    std::fs::hard_link(&path, &range).unwrap();
    for (format, output) in
        [("hashes", &path), ("hashes", &hard), ("hashes", &soft), ("folder", &folder)]
    {
        let output = output.to_str().unwrap();
        let exported = data.run(&["export", "--format", format, "-o", output, file]);
        assert_eq!(exported.code, Some(1), "{output}");
        let said = "cannot be both input and output";
        assert!(exported.errors.contains(said), "{}", exported.errors);
        assert!(std::fs::read(&path).unwrap() == before);
    }
    // A link still leads to the file that was written.
    let target = data.write("target.txt", "old");
    let link = data.path().join("link");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    data.done(&["export", "--format", "hashes", "-o", link.to_str().unwrap(), file]);
    assert_eq!(std::fs::read_to_string(&target).unwrap().lines().count(), 2);
    assert!(link.is_symlink());
}

#[test]
fn check_refuses_its_input_as_output() {
    let data = Data::new();
    let path = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(5, 2)]));
    let list = data.write("list", "a\nb\n");
    for (arguments, file) in [
        (&["check"][..], &list),
        (&["export", "--format", "hashes", path.to_str().unwrap()], &path),
    ] {
        let before = std::fs::read(file).unwrap();
        let mut command = data.command(arguments);
        command.stdin(std::fs::File::open(file).unwrap());
        command.stdout(std::fs::File::options().append(true).open(file).unwrap());
        assert_eq!(command.status().unwrap().code(), Some(1));
        assert!(std::fs::read(file).unwrap() == before);
    }
}
