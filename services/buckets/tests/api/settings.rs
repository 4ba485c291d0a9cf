//! Settings and their ranges.

#[test]
fn numeric_settings_have_ranges() {
    testkit::assert_settings_have_ranges::<buckets::Cli>();
}

#[test]
fn malformed_cluster_settings_exit_with_2_and_are_not_quoted() {
    for (url, name) in
        [("secret", "a"), ("ftp://u:secret@host/", "a"), ("http://u:secret@127.0.0.1:1/", "a b")]
    {
        let program = testkit::Program::new(env!("CARGO_BIN_EXE_buckets"))
            .setting("ENGINE", "cluster")
            .setting("CLUSTER_URL", url)
            .setting("CLUSTER_NAME", name);
        for arguments in [&["serve", "--check"][..], &["status"]] {
            let ran = program.run(arguments);
            let text = format!("{}{}", ran.out, ran.errors);
            assert_eq!(ran.code, Some(2), "{arguments:?}: {text}");
            assert!(text.contains("CLUSTER_") && !text.contains("secret"), "{text}");
        }
    }
}
