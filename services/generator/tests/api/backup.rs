//! Backups, and restoring them.

use testkit::{Fixture, Folder, Program};

#[test]
fn restored_keys_are_accepted() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    program.done(&["keys", "issue", "ann"]);
    let folder = Folder::new();
    let copy = folder.join("copy");
    let copy = copy.to_str().unwrap();
    program.done(&["backup", copy]);
    let other = Program::new(env!("CARGO_BIN_EXE_generator"));
    let restored = other.run(&["restore", copy]);
    assert_eq!(restored.code, Some(0), "{}", restored.errors);
    assert!(restored.errors.contains("generator was restored from"), "{}", restored.errors);
    assert_eq!(other.json(&["keys", "list"]), program.json(&["keys", "list"]));
    assert_eq!(other.done(&["doctor"]), "sound\n");
}

#[test]
fn doctor_names_faults_and_changes_nothing() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    // The database does not exist yet, and the command does not create it.
    assert_eq!(program.run(&["doctor"]).code, Some(1));
    assert!(!program.folder().join("generator.db").exists());
    program.done(&["keys", "issue", "ann"]);
    assert_eq!(program.json(&["doctor"]), serde_json::json!({ "faults": [] }));
}

#[test]
fn data_of_every_version_are_read() {
    let program = || Program::new(env!("CARGO_BIN_EXE_generator"));
    let has_key = |program: Program| {
        // As after an upgrade.
        program.done(&["migrate"]);
        assert_eq!(program.json(&["keys", "list"])[0]["owner"], "demo");
    };
    for fixture in Fixture::all("generator") {
        has_key(fixture.restored(program()));
        if let Some(program) = fixture.on_server(program()) {
            has_key(program);
        }
    }
}
