//! The permissions of files that the service writes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use testkit::{Program, Ran};

/// Runs a command as a user whom permissions restrict, unlike root.
fn run_restricted(program: &Program, arguments: &[&str]) -> Ran {
    let mut command = program.command(arguments);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    program.run_command(command)
}

#[test]
fn data_folder_is_readable_by_its_owner_only() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let data = program.folder().join("data");
    // The folder has the permissions that an earlier version gave it.
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let program = program.setting("DATA_DIR", &data);
    program.done(&["keys", "issue", "tester"]);
    let server = program.serve(&["--tls-mode", "native"]);
    assert_eq!(program.folder().open_to_others(), []);
    drop(server);
    assert_eq!(program.folder().open_to_others(), []);
}

#[test]
fn folder_with_foreign_files_keeps_its_permissions() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let data = program.folder().join("srv");
    fs::create_dir_all(data.join("www")).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let program = program.setting("DATA_DIR", &data);
    let ran = program.run(&["keys", "list"]);
    assert!(ran.errors.contains("holds www"), "{}", ran.errors);
    assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn check_finds_a_folder_in_which_serve_cannot_create_its_files() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let closed = program.folder().join("closed");
    fs::create_dir(&closed).unwrap();
    for (folder, mode) in [(program.folder().path(), 0o755), (&*closed, 0o555)] {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    }
    let program = program.setting("DATA_DIR", closed.join("data"));
    let check = run_restricted(&program, &["serve", "--check", "--tls-mode", "native"]);
    assert_eq!(check.code, Some(2), "{}", check.out);
    for part in ["database: error: cannot create the database", "certificate: error: cannot create"]
    {
        assert!(check.out.contains(part), "{part}: {}", check.out);
    }
    let free = "127.0.0.1:0";
    let serve = ["serve", "--bind", free, "--admin-bind", free];
    assert_eq!(run_restricted(&program, &serve).code, Some(1));
}

#[test]
fn check_warns_about_a_database_in_a_folder_that_cannot_be_written() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let data = program.folder().join("data");
    let program = program.setting("DATA_DIR", &data);
    program.done(&["keys", "issue", "tester"]);
    for file in fs::read_dir(&data).unwrap() {
        fs::set_permissions(file.unwrap().path(), Permissions::from_mode(0o666)).unwrap();
    }
    for (folder, mode) in [(program.folder().path(), 0o755), (&*data, 0o555)] {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    }
    let free = "127.0.0.1:0";
    let check = run_restricted(
        &program,
        &["serve", "--check", "--tls-mode", "off", "--bind", free, "--admin-bind", free],
    );
    // Otherwise, the folder could not be removed.
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(check.code, Some(0), "{}{}", check.out, check.errors);
    assert!(check.out.contains("; warning: its folder cannot be written ("), "{}", check.out);
}
