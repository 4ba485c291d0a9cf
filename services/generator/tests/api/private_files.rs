//! The permissions of files that the service writes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use testkit::Program;

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
