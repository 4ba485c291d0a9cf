//! Permissions of the files that the program writes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::app::samples;
use crate::program::{Program, text};

#[test]
fn data_folder_is_private() {
    let program = Program::new();
    let (data, source) = (program.folder().join("data"), samples());
    // Simulates a folder created by an earlier version.
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    program.done(&["load", text(&source)]);
    assert_eq!(program.folder().open_to_others(), []);
    program.done(&["rebuild", text(&source)]);
    program.done(&["remove", "example.s3.amazonaws.com", "--reason", "asked"]);
    program.done(&["load", text(&source)]);
    let server = program.served(&["--tls-mode", "native", "--tls-bind", "127.0.0.1:0"]);
    program.done(&["rebuild"]);
    drop(server);
    assert_eq!(program.folder().open_to_others(), []);
}

#[test]
fn reject_files_follow_the_umask() {
    let program = Program::new();
    let mine = program.folder().write("mine", "");
    let reject = program.folder().join("bad");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let source = program.folder().write("x.ndjson", "{");
    program.run(&["load", "--reject", text(&reject), text(&source)]);
    assert_eq!(mode(&reject), mode(&mine));
    assert_eq!(mode(&program.folder().join("bad.reasons")), mode(&mine));
    fs::set_permissions(&reject, Permissions::from_mode(0o640)).unwrap();
    program.run(&["load", "--reject", text(&reject), text(&source)]);
    assert_eq!(mode(&reject), 0o640, "a file that exists keeps its permissions");
}

#[test]
fn reject_file_cannot_overwrite_own_data() {
    let program = Program::new();
    program.done(&["load", text(&samples())]);
    let folder = program.folder();
    let (data, index) = (folder.join("data"), program.index());
    let (hard, soft, new) = (folder.join("hard"), folder.join("soft"), folder.join("new"));
    let database = data.join("buckets.db");
    std::os::unix::fs::symlink(index.join("generation-1/fresh"), &new).unwrap();
    if database.exists() {
        fs::hard_link(&database, &hard).unwrap();
        std::os::unix::fs::symlink(&database, &soft).unwrap();
    }
    let refused = |path: &Path, what: &str| {
        let ran = program.run(&["load", "--reject", text(path), text(&samples())]);
        assert_eq!(ran.code, Some(1), "{}: {}", path.display(), ran.errors);
        assert!(ran.errors.contains(what), "{}: {}", path.display(), ran.errors);
    };
    for path in [index.join("new"), index.join("generation-1/words/meta.json"), new] {
        refused(&path, "is in the folder of the index");
    }
    if database.exists() {
        for path in [database.clone(), data.join("buckets.db-wal"), hard, soft] {
            refused(&path, "is part of the database");
        }
    }
    assert_eq!(program.done(&["verify"]), "the index is sound\n");
}

/// Adds permissions to a folder and everything in it, and removes others.
fn change(folder: &Path, add: u32, take: u32) {
    let mode = fs::metadata(folder).unwrap().permissions().mode();
    if folder.is_dir() {
        fs::read_dir(folder).unwrap().flatten().for_each(|entry| change(&entry.path(), add, take));
        fs::set_permissions(folder, Permissions::from_mode((mode | add | 0o555) & !take)).unwrap();
    } else {
        fs::set_permissions(folder, Permissions::from_mode((mode | add) & !take)).unwrap();
    }
}

#[test]
fn reading_commands_need_no_write_permission() {
    let program = Program::in_file();
    program.done(&["load", text(&samples())]);
    change(program.folder().path(), 0o444, 0o222);
    // Permissions do not restrict the root user.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    for arguments in [&["status"][..], &["verify"], &["export"], &["removals"]] {
        let mut command = program.command(arguments);
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        let ran = program.run_command(command);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.errors);
    }
    let mut load = program.command(&["load", text(&samples())]);
    if is_root {
        load.uid(65_534).gid(65_534);
    }
    let ran = program.run_command(load);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let lock = program.index().join("writer.lock");
    assert!(ran.errors.contains(text(&lock)), "{}", ran.errors);
    change(program.folder().path(), 0o200, 0);
}
