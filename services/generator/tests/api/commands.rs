//! The commands of the program.

use testkit::Program;

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_generator"))
}

#[test]
fn migrate_prints_the_applied_versions() {
    let program = program().with_database();
    assert_eq!(program.json(&["migrate"]).as_array().unwrap().len(), 1);
    assert_eq!(program.done(&["migrate"]), "");
}

#[test]
fn made_values_pass_their_check() {
    let program = program();
    let values = program.done(&["make", "iban", "DE", "-n", "3", "--seed", "demo"]);
    let checked = program.pipe(&["check", "iban", "DE"], values.as_bytes());
    assert_eq!((checked.code, checked.out.as_str()), (Some(0), "ok\nok\nok\n"));
    let checked = program.pipe(&["check", "iban"], b"DE00\n");
    assert_eq!((checked.code, checked.out.as_str()), (Some(1), "The value is not valid.\n"));
}

#[test]
fn keys_are_issued_before_the_first_start() {
    let program = program().with_database();
    assert!(!program.done(&["keys", "issue", "alice"]).trim().is_empty());
    assert!(program.done(&["keys", "list"]).contains("alice"));
}
