//! The permissions of files that the service writes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use testkit::Program;

#[test]
fn files_in_the_data_folder_are_private() {
    let program = Program::new(env!("CARGO_BIN_EXE_passwords"));
    let data = program.folder().join("data");
    // The folder has the permissions that an earlier version gave it.
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let program = program.setting("DATA_DIR", &data);
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/passwords.txt").to_owned();
    program.done(&["build", "--input-format", "plaintext", "--activate", list.as_str()]);
    let server = program.serve(&[]);
    assert_eq!(program.folder().open_to_others(), []);
    drop(server);
    assert_eq!(program.folder().open_to_others(), []);
}

#[test]
fn an_export_gets_the_permissions_of_other_new_files() {
    let program = Program::new(env!("CARGO_BIN_EXE_passwords"));
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/passwords.txt");
    let built = program.done(&["build", "--input-format", "plaintext", "--kind", "sha1", list]);
    let (corpus, folder) = (built.trim(), program.folder());
    // The export creates the folder above its folder too.
    let (file, ranges) = (folder.join("list.txt"), folder.join("site/ranges"));
    let [to_file, to_folder] = [&file, &ranges].map(|path| path.to_str().unwrap());
    program.done(&["export", "--format", "hashes", "--output", to_file, corpus]);
    program.done(&["export", "--format", "folder", "--output", to_folder, corpus]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    // The permissions that result from the test's umask.
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("other/file"), "").unwrap();
    assert_eq!(mode(&file), mode(&folder.join("other/file")));
    assert_eq!(mode(&ranges), mode(&folder.join("other")));
    assert_eq!(mode(&folder.join("site")), mode(&folder.join("other")));
    let range = fs::read_dir(&ranges).unwrap().next().unwrap().unwrap().path();
    assert_eq!(mode(&range), mode(&folder.join("other/file")));
}
