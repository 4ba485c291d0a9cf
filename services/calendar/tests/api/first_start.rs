//! The first administrator.

use std::os::unix::fs::PermissionsExt;

use testkit::Program;

#[test]
fn generated_key_is_in_a_private_file_and_not_in_the_log() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).with_database();
    program.done(&["migrate"]);
    let ran = program.run(&["users", "list"]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    let path = program.folder().join("admin-key");
    let key = std::fs::read_to_string(&path).unwrap();
    assert_eq!(key.trim().len(), 32);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!ran.errors.contains(key.trim()) && !ran.out.contains(key.trim()), "{}", ran.errors);
    assert!(ran.errors.contains("admin-key"), "{}", ran.errors);
    let again = program.run(&["users", "list"]);
    assert!(!again.errors.contains("admin-key"), "{}", again.errors);
    let server = program.serve(&[]);
    assert!(server.log().contains("admin-key"), "a killed start may have logged nothing");
    server.stop();
    std::fs::write(&path, "0".repeat(32)).unwrap();
    let stale = program.serve(&[]);
    assert!(!stale.log().contains("admin-key"), "{}", stale.log());
    stale.stop();
    std::fs::remove_file(&path).unwrap();
    program.done(&["users", "list"]);
    assert!(!path.exists(), "a second start creates no other key");
}

#[test]
fn admin_key_after_the_first_start_is_ignored_with_a_warning() {
    let first = "0123456789abcdef0123456789abcdef";
    let start =
        Program::new(env!("CARGO_BIN_EXE_calendar")).setting("ADMIN_KEY", first).with_database();
    start.done(&["migrate"]);
    assert!(!start.run(&["users", "list"]).errors.contains("ignored"));
    assert!(
        !start.run(&["users", "list"]).errors.contains("ignored"),
        "the key of the first start"
    );
    let late = start.setting("ADMIN_KEY", "f".repeat(32)).run(&["users", "list"]);
    assert_eq!(late.code, Some(0), "{}", late.errors);
    assert!(late.errors.contains("ADMIN_KEY is ignored"), "{}", late.errors);
    assert!(!late.errors.contains("ffff"), "{}", late.errors);
}

#[test]
fn start_fails_with_an_unusable_login_or_key() {
    let program = Program::new(env!("CARGO_BIN_EXE_calendar")).setting("ADMIN_KEY", "secret");
    let start = program.with_database();
    let refused = start.run(&["users", "list"]);
    assert_eq!(refused.code, Some(2), "{}", refused.errors);
    assert!(refused.errors.contains("ADMIN_KEY: a key must be 32"), "{}", refused.errors);
    assert!(!refused.errors.contains("secret"), "{}", refused.errors);
    assert!(!start.folder().join("calendar.db").exists(), "a failed start creates no database");
    let check = start.run(&["serve", "--check"]);
    assert_eq!(check.code, Some(2), "{}", check.out);
    assert!(check.out.contains("site: error: ADMIN_KEY: a key must be 32"), "{}", check.out);
    assert!(!check.out.contains("secret"), "{}", check.out);
    let program = start.setting("ADMIN_KEY", "0".repeat(32));
    for login in ["a b", "a:b", ""] {
        let refused = program.run(&["users", "add", login, "--role", "editor"]);
        assert_eq!(refused.code, Some(2), "{login}: {}", refused.errors);
    }
    program.done(&["users", "add", "ann", "--role", "editor"]);
}
