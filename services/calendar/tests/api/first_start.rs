//! The first administrator.

use std::os::unix::fs::PermissionsExt;

use testkit::Program;

#[test]
fn a_generated_key_is_in_a_private_file_and_not_in_the_log() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
    let ran = program.run(&["users", "list"]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let path = program.folder().join("admin-key");
    let key = std::fs::read_to_string(&path).unwrap();
    assert_eq!(key.trim().len(), 32);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!ran.errors.contains(key.trim()) && !ran.out.contains(key.trim()), "{}", ran.errors);
    assert!(ran.errors.contains("admin-key"), "{}", ran.errors);
    std::fs::remove_file(&path).unwrap();
    program.done(&["users", "list"]);
    assert!(!path.exists(), "a second start makes no other key");
}
