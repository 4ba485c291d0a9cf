//! Inputs without digests: if a producer fails, the corpus in use is never replaced by an empty
//! one.

use passwords::Corpus;
use passwords::model::{Entry, Kind};
use rstest::rstest;

use crate::app::{Data, Numbers};

const PADDING: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:0\n";

fn entries(kind: Kind) -> Vec<Entry> {
    Numbers::new(1).entries(kind, &[(0x5BAA6, 3)])
}

/// Returns a data folder with an active corpus of each kind.
fn active() -> Data {
    let data = Data::new();
    for kind in Kind::ALL {
        data.activate(kind, &entries(kind));
    }
    data
}

/// Returns the names of all files and the content of `CURRENT`, for each kind.
fn state(data: &Data) -> [(Vec<String>, String); 2] {
    Kind::ALL.map(|kind| {
        let folder = data.path().join(kind.name());
        let files = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<String> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        (names, std::fs::read_to_string(folder.join("CURRENT")).unwrap())
    })
}

#[rstest]
#[case::nothing("", &["--kind", "sha1"], "no SHA-1 digest in 0 lines")]
#[case::unordered("", &["--kind", "ntlm", "--unordered"], "no NTLM digest in 0 lines")]
#[case::padding(PADDING, &[], "no SHA-1 digest in 1 lines (1 with count 0")]
#[case::skipped("x\n", &["--kind", "sha1", "--lenient"], "(0 with count 0, 1 skipped")]
#[case::passwords("\n\n", &["--input-format", "plaintext"], "no SHA-1 digest in 2 lines")]
fn a_list_without_a_digest_changes_nothing_unless_that_is_meant(
    #[case] text: &str,
    #[case] extra: &[&str],
    #[case] said: &str,
) {
    let data = active();
    let before = state(&data);
    let list = data.write("empty.txt", text);
    let build = [&["build", "--activate", list.to_str().unwrap()][..], extra].concat();
    let output = data.run(&build);
    assert_eq!(output.code, Some(1), "{}", output.errors);
    assert!(output.errors.contains("empty.txt: no "), "{}", output.errors);
    assert!(output.errors.contains(said), "{}", output.errors);
    assert!(output.errors.contains("use --allow-empty"), "{}", output.errors);
    assert_eq!(state(&data), before);
    let printed = data.done(&[&build[..], &["--allow-empty"]].concat());
    for path in printed.lines() {
        assert_eq!(Corpus::open(path.as_ref(), 0).unwrap().header().entries, 0);
    }
    assert_ne!(state(&data), before);
}

#[test]
fn inputs_without_digests_are_refused() {
    let data = active();
    let before = state(&data);
    let build = ["build", "--activate", "--kind", "sha1"];
    let piped = data.pipe(&[&build[..], &["--unordered", "-"]].concat(), b"");
    let folder = data.path().join("ranges");
    std::fs::create_dir(&folder).unwrap();
    let folder = data.run(&[&build[..], &[folder.to_str().unwrap()]].concat());
    let list = data.write("empty.txt", "");
    let list = list.to_str().unwrap();
    let several = data.run(&[&build[..], &[list, list]].concat());
    for (output, said) in [
        (piped, "standard input: no SHA-1 digest"),
        (folder, "ranges: no SHA-1 digest"),
        (several, "2 inputs: no SHA-1 digest"),
    ] {
        assert_eq!(output.code, Some(1), "{}", output.errors);
        assert!(output.errors.contains(said), "{}", output.errors);
    }
    assert_eq!(state(&data), before);
}

#[test]
fn merge_of_an_empty_list_needs_allow_empty() {
    let data = active();
    let base = data.activate(Kind::Sha1, &entries(Kind::Sha1));
    let before = state(&data);
    let list = data.write("empty.txt", "");
    let merge = ["merge", "--activate", "--base", base.to_str().unwrap(), list.to_str().unwrap()];
    for order in [&[][..], &["--unordered"]] {
        let output = data.run(&[&merge[..], order].concat());
        assert_eq!(output.code, Some(1), "{}", output.errors);
        assert!(output.errors.contains("empty.txt: no SHA-1 digest"), "{}", output.errors);
        assert_eq!(state(&data), before);
    }
    assert_eq!(data.path_of(&[&merge[..], &["--allow-empty"]].concat()), base);
}

#[test]
fn mirror_of_an_empty_service_is_refused() {
    let origin = active();
    let server = origin.program().serve(&["--reload-interval", "0"]);
    let url = format!("http://{}", server.http());
    let data = Data::new();
    let output = data.run(&["mirror", &url, "--first", "9", "--activate"]);
    assert_eq!(output.code, Some(1), "{}", output.errors);
    let said = "no SHA-1 digest in the first 9 ranges, so nothing was built";
    assert!(output.errors.contains(said), "{}", output.errors);
    let files = std::fs::read_dir(data.path().join("sha1")).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name == "CURRENT" || name.ends_with(".pwr")));
}
