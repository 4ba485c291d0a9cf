//! Who may read what the program writes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::app::samples;
use crate::program::{Program, text};

#[test]
fn nothing_in_the_data_folder_is_open_to_others() {
    let program = Program::new();
    let (data, source) = (program.folder().join("data"), samples());
    // As an earlier version made it.
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let reject = data.join("bad");
    program.done(&["load", "--reject", text(&reject), text(&source)]);
    assert_eq!(program.folder().open_to_others(), []);
    program.done(&["rebuild", text(&source)]);
    program.done(&["remove", "example.s3.amazonaws.com", "--reason", "asked"]);
    program.done(&["load", text(&source)]);
    let server = program.served(&["--tls-mode", "native", "--tls-bind", "127.0.0.1:0"]);
    program.done(&["rebuild"]);
    drop(server);
    assert_eq!(program.folder().open_to_others(), []);
}
