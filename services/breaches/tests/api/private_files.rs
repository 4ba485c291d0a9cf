//! Permissions of the files that the binary writes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use testkit::Program;

#[test]
fn data_folder_is_readable_by_its_owner_only() {
    let program = Program::new(env!("CARGO_BIN_EXE_breaches"));
    let data = program.folder().join("data");
    // Simulates a folder created by an earlier version.
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let program = program.setting("DATA_DIR", &data);
    program.done(&["subscriber", "add", "owner@example.org"]);
    let server = program.serve(&[]);
    assert_eq!(program.folder().open_to_others(), []);
    drop(server);
    assert_eq!(program.folder().open_to_others(), []);
}
