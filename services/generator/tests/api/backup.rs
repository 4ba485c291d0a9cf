//! Backups and what is restored from them.

use testkit::{Folder, Program};

#[test]
fn restored_keys_are_accepted() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    program.done(&["keys", "issue", "ann"]);
    let folder = Folder::new();
    let copy = folder.join("copy");
    let copy = copy.to_str().unwrap();
    program.done(&["backup", copy]);
    let other = Program::new(env!("CARGO_BIN_EXE_generator"));
    other.done(&["restore", copy]);
    assert_eq!(other.json(&["keys", "list"]), program.json(&["keys", "list"]));
}
