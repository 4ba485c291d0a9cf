//! Backups, and restoring them.

use std::io::Write;

use passwords::model::Kind;
use testkit::{Exchange, Fixture, Folder, Program};

use crate::app::{Data, Numbers};

#[actix_web::test]
async fn restored_corpora_answer_as_before() {
    let program = Program::new(env!("CARGO_BIN_EXE_passwords"));
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/passwords.txt");
    program.done(&["build", "--input-format", "plaintext", "--activate", list]);
    let folder = Folder::new();
    let copy = folder.join("copy");
    let copy = copy.to_str().unwrap();
    let server = program.serve(&[]);
    program.done(&["backup", copy]);

    let other = Program::new(env!("CARGO_BIN_EXE_passwords"));
    other.done(&["restore", copy]);
    let restored = other.serve(&[]);
    for path in ["/range/5BAA6", "/range/5BAA6?mode=ntlm", "/range/00000"] {
        let [ours, theirs] = [server.get(path), restored.get(path)];
        let (ours, theirs) = (ours.answer().await.expect(200), theirs.answer().await.expect(200));
        assert_eq!(ours.body, theirs.body, "{path}");
    }
    let refused = other.run(&["restore", copy]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("restoring never replaces files"), "{}", refused.errors);
}

#[test]
fn backup_has_the_tags_of_a_corpus_and_no_unfinished_mirror() {
    let data = Data::new();
    let corpus = data.activate(Kind::Sha1, &Numbers::new(1).entries(Kind::Sha1, &[(5, 2)]));
    std::fs::write(corpus.with_extension("tags"), "tags").unwrap();
    let partial = ["mirror.data", "mirror.log"].map(|name| data.path().join("sha1").join(name));
    for path in &partial {
        std::fs::write(path, "first ranges").unwrap();
    }
    let folder = Folder::new();
    let copy = folder.join("copy");
    data.done(&["backup", copy.to_str().unwrap()]);
    // The mirror continues after the backup.
    for path in &partial {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"more ranges").unwrap();
    }
    let other = Data::new();
    other.done(&["restore", copy.to_str().unwrap()]);
    let names = std::fs::read_dir(other.path().join("sha1")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let [pwr, tags] = ["pwr", "tags"].map(|ending| corpus.with_extension(ending));
    let mut expected = [&pwr, &tags].map(|path| path.file_name().unwrap().to_owned()).to_vec();
    expected.push("CURRENT".into());
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn backup_of_a_missing_folder_is_refused() {
    let program = Program::new(env!("CARGO_BIN_EXE_passwords"));
    let (missing, to) = (program.folder().path().join("none"), program.folder().path().join("to"));
    let ran =
        program.run(&["backup", to.to_str().unwrap(), "--data-dir", missing.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    assert!(ran.errors.contains("none does not exist"), "{}", ran.errors);
}

#[test]
fn backup_of_a_missing_corpus_is_refused() {
    let program = Program::new(env!("CARGO_BIN_EXE_passwords"));
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/passwords.txt");
    let build = ["build", "--input-format", "plaintext", "--kind", "sha1", "--activate", list];
    let corpus = program.done(&build);
    std::fs::remove_file(corpus.trim()).unwrap();
    let folder = Folder::new();
    let refused = program.run(&["backup", folder.join("copy").to_str().unwrap()]);
    assert_eq!(refused.code, Some(1), "{}", refused.errors);
    assert!(refused.errors.contains("refers to a missing file"), "{}", refused.errors);
    assert!(!folder.join("copy").exists());
}

#[actix_web::test]
async fn data_of_every_version_are_served() {
    for fixture in Fixture::all("passwords") {
        let program = fixture.restored(Program::new(env!("CARGO_BIN_EXE_passwords")));
        let server = program.serve(&[]);
        let range = server.get("/range/5BAA6").answer().await.expect(200);
        assert!(range.text().contains("1E4C9B93F3F0682250B6CF8331B7EE68FD8:"), "{}", range.text());
        let ntlm = server.get("/range/8846F?mode=ntlm").answer().await;
        assert_eq!(ntlm.status, 200, "{}", ntlm.text());
    }
}
