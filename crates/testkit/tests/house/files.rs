//! Checks the sizes, names and locations of files, and which modules are public.

use crate::offence::{Offence, assert_obeyed};
use crate::source::{Place, SERVICES, Source, root, sources};

/// The maximum number of lines in a file.
const MOST_LINES: usize = 500;

/// Names that reveal nothing about the contents.
const NAMELESS: [&str; 8] =
    ["common", "helper", "helpers", "misc", "shared", "util", "utilities", "utils"];

/// The modules that may be public, each with the reason.
const PUBLIC_MODULES: &[(&str, &str)] = &[
    ("breaches::jobs", "tests run loads without a process"),
    ("breaches::model", "tests change breaches and opt-outs"),
    ("breaches::store", "tests fill and read the tables"),
    ("breaches::store::account_links", "its functions are named by their module"),
    ("breaches::store::accounts", "its functions are named by their module"),
    ("breaches::store::accounts::domain_walk", "its functions are named by their module"),
    ("breaches::store::blocks", "its functions are named by their module"),
    ("breaches::store::breaches", "its functions are named by their module"),
    ("breaches::store::cluster", "its functions are named by their module"),
    ("breaches::store::domain_controls", "its functions are named by their module"),
    ("breaches::store::domain_inheritance", "its functions are named by their module"),
    ("breaches::store::messages", "tests claim messages as another process"),
    ("breaches::store::webhooks", "its functions are named by their module"),
    ("breaches::store::domain_accounts", "its functions are named by their module"),
    ("breaches::store::jobs", "its functions are named by their module"),
    ("breaches::store::key_holders", "its functions are named by their module"),
    ("breaches::store::load_connections", "its functions are named by their module"),
    ("breaches::store::mail_domains", "its functions are named by their module"),
    ("breaches::store::opt_outs", "its functions are named by their module"),
    ("breaches::store::pastes", "its functions are named by their module"),
    ("breaches::store::plan_features", "its functions are named by their module"),
    ("breaches::store::schema", "its functions are named by their module"),
    ("breaches::store::stealer_logs", "its functions are named by their module"),
    ("breaches::store::subscribers", "its functions are named by their module"),
    ("breaches::store::unfiled_accounts", "its functions are named by their module"),
    ("breaches::store::versions", "its functions are named by their module"),
    ("buckets::engine", "the conformance suite, the bench and the examples drive the engines"),
    ("buckets::jobs", "tests and fuzz targets run the loader without a process"),
    ("buckets::model", "fuzz targets, and examples in the documentation"),
    ("buckets::model::extension", "its functions are named by their module"),
    ("buckets::model::path", "its functions are named by their module"),
    ("buckets::model::words", "its functions are named by their module"),
    ("buckets::store", "tests look at what was stored"),
    ("buckets::store::crawl_pages", "its functions are named by their module"),
    ("buckets::store::packages", "its functions are named by their module"),
    ("buckets::store::rejected_lines", "its functions are named by their module"),
    ("buckets::store::load_runs", "its functions are named by their module"),
    ("passwords::model", "fuzz targets read what strangers send; tests compare with it"),
    ("passwords::model::bucket", "its functions are named by their module"),
    ("passwords::model::gzip", "its functions are named by their module"),
    ("passwords::model::lines", "its functions are named by their module"),
    ("passwords::model::plaintext", "its functions are named by their module"),
    ("passwords::model::render", "its functions are named by their module"),
    ("shell::media", "its functions are named for their path: media::essence"),
    ("shell::pages", "its types are named for their path: pages::Site"),
    ("shell::params", "what services extend it with is named apart from what handlers take"),
    ("generator::model", "the bench measures its functions without HTTP"),
    ("generator::model::card", "its functions are named by their module"),
    ("generator::model::crypto", "its functions are named by their module"),
    ("generator::model::iban", "its functions are named by their module"),
    ("generator::model::imei", "its functions are named by their module"),
    ("generator::model::names", "its functions are named by their module"),
    ("generator::model::numbers", "fuzz targets check the numbers of all countries"),
    ("generator::model::person", "its types are named by their module"),
    ("generator::model::phone", "its functions are named by their module"),
    ("generator::model::ssn", "its functions are named by their module"),
    ("generator::model::text", "the bench measures its functions; they are named by their module"),
    ("shell::metrics", "its functions are named by their module"),
];

fn offence(rule: &'static str, source: &Source, line: usize, what: &str, fix: &str) -> Offence {
    Offence { rule, file: source.path.clone(), line, what: what.to_owned(), fix: fix.to_owned() }
}

#[test]
fn files_have_at_most_500_lines() {
    let offences = sources().iter().filter(|source| source.lines > MOST_LINES).map(|source| {
        let fix = format!("{} lines: split it by topic", source.lines);
        offence("long", source, MOST_LINES, "more than 500 lines", &fix)
    });
    assert_obeyed(&["long"], offences.collect());
}

#[test]
fn files_are_named_after_their_contents() {
    let nameless = sources().iter().filter(|source| {
        let mut parts = source.path.split('/').map(|part| part.trim_end_matches(".rs"));
        parts.any(|part| NAMELESS.contains(&part))
    });
    let offences = nameless.map(|source| {
        offence("name", source, 1, "a name that says nothing", "name it after its contents")
    });
    assert_obeyed(&["name"], offences.collect());
}

#[test]
fn a_module_with_children_is_a_folder_with_mod_rs() {
    let has_children = |source: &&Source| {
        let folder = source.path.trim_end_matches(".rs");
        let is_root = source.module.is_empty();
        !is_root && root().join(folder).is_dir()
    };
    let offences = sources().iter().filter(has_children).map(|source| {
        let folder = source.path.trim_end_matches(".rs").to_owned();
        let fix = format!("git mv {} {folder}/mod.rs", source.path);
        offence("form", source, 1, "is next to the folder of its children", &fix)
    });
    assert_obeyed(&["form"], offences.collect());
}

#[test]
fn modules_are_private_unless_listed_with_a_reason() {
    let (mut offences, mut public) = (Vec::new(), Vec::new());
    for source in sources().iter().filter(|source| source.place == Place::Src) {
        let items = source.contents.items.iter();
        for item in items.filter(|item| item.kind == "mod" && item.public && !item.test) {
            let mut path = vec![source.package.clone()];
            path.extend(source.module.iter().chain(&item.scope).cloned());
            path.push(item.name.clone());
            let path = path.join("::");
            let is_listed = PUBLIC_MODULES.iter().any(|(listed, _)| *listed == path);
            public.push(path);
            if !is_listed {
                let what = format!("pub mod {}", item.name);
                let fix = "make it `mod` and `pub use` the items, or `pub(crate) mod` where \
                            its path reads better; if a test or bench truly needs the path, list \
                            it with the reason in PUBLIC_MODULES";
                offences.push(offence("public", source, item.line, &what, fix));
            }
        }
    }
    assert_obeyed(&["public"], offences);
    let listed = PUBLIC_MODULES.iter().map(|(path, _)| *path);
    let stale: Vec<&str> = listed.filter(|path| !public.iter().any(|one| one == path)).collect();
    assert!(stale.is_empty(), "PUBLIC_MODULES lists private modules: {stale:?}");
}

#[test]
fn every_service_has_one_test_binary_with_a_harness() {
    let mut offences = Vec::new();
    for &service in SERVICES.iter() {
        for file in ["main.rs", "app.rs"] {
            let path = format!("services/{service}/tests/api/{file}");
            if !root().join(&path).exists() {
                offences.push(Offence {
                    rule: "tests",
                    file: path,
                    line: 1,
                    what: "does not exist".to_owned(),
                    fix: "main.rs names the files, app.rs is the harness `App`".to_owned(),
                });
            }
        }
    }
    for source in sources().iter().filter(|source| source.is_service()) {
        let harness = matches!(source.stem(), "support" | "harness" | "setup");
        if source.place == Place::Tests && harness {
            let fix = "the harness is `App` in tests/api/app.rs";
            offences.push(offence("tests", source, 1, "a second name for the harness", fix));
        }
        if source.place == Place::Tests && !source.target.ends_with("/tests/api") {
            let fix = "move it to tests/api: each binary costs link time";
            offences.push(offence("tests", source, 1, "is another test binary", fix));
        }
    }
    assert_obeyed(&["tests"], offences);
}

/// Tables with a single row. Their names are in the singular.
const SINGLE_ROWS: [&str; 1] = ["index_state"];

/// Returns the names of the tables in a `schema.rs`.
fn tables(schema: &str) -> Vec<String> {
    let mut tables = Vec::new();
    let mut lines = schema.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line.contains("table! {") {
            let table = lines.find(|line| line.contains('(') && !line.starts_with(['/', '#']));
            let name = table.and_then(|line| line.split(['(', ' ']).next());
            tables.extend(name.map(str::to_owned));
        }
    }
    tables
}

#[test]
fn query_files_are_named_after_their_table_in_the_plural() {
    let mut offences = Vec::new();
    for &service in SERVICES.iter() {
        let store = format!("services/{service}/src/store");
        let Ok(schema) = std::fs::read_to_string(root().join(&store).join("schema.rs")) else {
            continue;
        };
        for table in tables(&schema) {
            let path = format!("{store}/{table}.rs");
            let named_so = sources().iter().find(|source| source.path == path);
            if let Some(source) =
                named_so.filter(|_| !table.ends_with('s') && !SINGLE_ROWS.contains(&table.as_str()))
            {
                let fix = "name the file in the plural, like its resource";
                offences.push(offence("plural", source, 1, "is not in the plural", fix));
            }
        }
    }
    assert_obeyed(&["plural"], offences);
}

#[test]
fn every_decision_has_a_unique_number_and_is_in_the_index() {
    let folder = root().join("docs/decisions");
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut numbers = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if name != "README.md" {
            let listed = index.contains(&format!("]({name})"));
            assert!(listed, "docs/decisions/README.md does not list {name}");
            let number = name[..4].to_owned();
            assert!(numbers.insert(number), "{name}: the number is taken, use the next one");
        }
    }
}
