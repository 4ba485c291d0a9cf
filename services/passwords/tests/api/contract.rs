//! The committed OpenAPI document matches the code.

use passwords::Passwords;

#[test]
fn openapi_json_matches_the_code() {
    testkit::assert_openapi_matches::<Passwords>(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/openapi.json"
    ));
}

#[test]
fn the_document_has_both_operations_with_every_status() {
    let document: serde_json::Value = serde_json::from_str(&shell::openapi::<Passwords>()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.keys().collect::<Vec<_>>(), ["/ntlm/range/{prefix}", "/range/{prefix}"]);
    for (path, id) in
        [("/range/{prefix}", "getPasswordRange"), ("/ntlm/range/{prefix}", "getNtlmRange")]
    {
        let operation = &paths[path]["get"];
        assert_eq!(operation["operationId"], id);
        let statuses: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
        assert_eq!(statuses, ["200", "304", "400", "403", "405", "500", "503"], "{path}");
        let prefix = &operation["parameters"][0];
        assert_eq!((&prefix["name"], &prefix["in"]), (&"prefix".into(), &"path".into()));
        assert_eq!(prefix["schema"]["pattern"], "^[0-9A-Fa-f]{5}$");
    }
}

#[test]
fn no_database_library_is_linked() {
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "-p", "passwords", "--offline", "--prefix", "none"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.lines().any(|line| line.starts_with("actix-web ")));
    for name in ["diesel", "libsqlite3-sys", "pq-sys", "store", "auth"] {
        let found = tree.lines().find(|line| line.split(' ').next() == Some(name));
        assert_eq!(found, None);
    }
}
