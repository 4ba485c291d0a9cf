//! Operator commands of the binary, and their exit codes.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use testkit::{Database, Folder};

/// Builds a command of the binary, with a database and a folder.
pub fn command(database: &Database, folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_breaches"));
    command.args(arguments).env("DATABASE_URL", database.url()).env("DATA_DIR", folder.path());
    command
}

/// Returns the arguments that give a subscriber a plan.
pub fn subscription<'a>(owner: &'a str, plan: &'a str) -> [&'a str; 7] {
    ["subscription", "set", owner, "--plan", plan, "--until", "2099-01-01"]
}

pub struct Operator {
    pub database: Database,
    pub folder: Folder,
}

impl Operator {
    pub fn new() -> Self {
        let operator = Self { database: Database::new(), folder: Folder::new() };
        operator.run(&["migrate", "--partitions", "64"]);
        operator
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        command(&self.database, &self.folder, arguments)
    }

    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command, which must succeed. Returns its standard output.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns every recorded change's action and subject.
    fn trail(&self) -> Vec<(String, String)> {
        use breaches::store::schema::admin_event::dsl::{action, admin_event, subject};
        use diesel::{QueryDsl, RunQueryDsl};
        let pools = self.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
        pools
            .read_blocking(|db| -> Result<_, database::DatabaseError> {
                Ok(admin_event.select((action, subject)).load(db)?)
            })
            .unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.run(&arguments)).unwrap()
    }
}

#[test]
fn commands_manage_subscribers_keys_domains_and_plans() {
    let operator = Operator::new();
    operator.run(&["subscriber", "add", "Owner@Example.org"]);
    assert_eq!(operator.output(&["subscriber", "add", "owner@example.org"]).status.code(), Some(1));
    operator.run(&["subscriber", "add", "owner@example.org", "--if-missing"]);
    let absent = operator.output(&["keys", "issue", "unknown@example.org"]);
    assert_eq!(absent.status.code(), Some(1));
    let plan = operator.output(&subscription("owner@example.org", "gold"));
    assert!(String::from_utf8_lossy(&plan.stderr).contains("there is no plan gold"));
    operator.run(&subscription("owner@example.org", "pro1"));
    let first = operator.run(&["keys", "issue", "owner@example.org"]);
    assert_eq!(first.trim().len(), 32);
    operator.run(&["keys", "issue", "owner@example.org"]);
    let keys = operator.json(&["keys", "list"]);
    let states: Vec<&str> =
        keys.as_array().unwrap().iter().map(|k| k["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["revoked", "live"]);
    assert_eq!(
        operator.json(&["domain", "verify", "owner@example.org", "example.com"]),
        json!(["example.com"])
    );
    assert_eq!(operator.json(&["domain", "list", "owner@example.org"])[0]["state"], "verified");
    let listed = operator.json(&["domain", "list"]);
    assert_eq!(listed[0]["subscriber"], "owner@example.org");
    assert!(
        operator.run(&["domain", "list"]).contains("example.com\tverified\t0\towner@example.org")
    );
    operator.run(&["domain", "recount", "example.com"]);
    operator.run(&["domain", "revoke", "owner@example.org", "example.com"]);
    assert_eq!(operator.json(&["domain", "list"]), json!([]));
    operator.run(&["subscription", "end", "owner@example.org"]);
    let plan =
        operator.json(&["plans", "set", "core1", "--per-minute", "20", "--max-domains", "2"]);
    assert_eq!((&plan["code"], &plan["max_domains"]), (&json!("core1"), &json!(2)));
    let plans = operator.json(&["plans", "list"]);
    assert_eq!(plans[0], plan);
    assert_eq!(plans.as_array().unwrap().len(), 15);
    let bulk = operator.json(&["plans", "set", "core1", "--bulk-check", "true"]);
    assert_eq!((&plan["bulk_check"], &bulk["bulk_check"]), (&json!(false), &json!(true)));
    assert_eq!(operator.json(&["plans", "set", "core1", "--max-domains", "3"])["bulk_check"], true);
    assert_eq!(operator.json(&["plans", "hide", "core1"])["hidden"], true);
    let id = keys[1]["id"].to_string();
    assert_eq!(operator.json(&["keys", "rotate", &id])["state"], "live");
    assert_eq!(
        operator.json(&["keys", "revoke", &id]),
        json!({ "id": keys[1]["id"], "state": "revoked" })
    );
    assert_eq!(operator.json(&["seed-test"]), json!({ "test_accounts": "made" }));
    assert_eq!(operator.json(&["seed-test", "--remove"]), json!({ "test_accounts": "removed" }));
    assert_eq!(operator.json(&["migrate"]), json!([]));
    assert!(operator.json(&["doctor"])["schema_version"].is_string());
    let trail = operator.trail();
    for action in [
        "subscriber add",
        "subscription set",
        "keys issue",
        "domain verify",
        "domain recount",
        "domain revoke",
        "subscription end",
        "plans set",
        "plans hide",
        "keys rotate",
        "keys revoke",
        "seed-test",
    ] {
        assert!(trail.iter().any(|(found, _)| found == action), "{action} is not in {trail:?}");
    }
}

#[test]
fn commands_change_and_show_breaches_and_addresses() {
    let operator = Operator::new();
    operator.run(&["breach", "set", "acmegram", "--sensitive", "true", "--title", "Acme"]);
    let export: Value = serde_json::from_str(&operator.run(&["breach", "export"])).unwrap();
    let acme = export.as_array().unwrap().iter().find(|b| b["Name"] == "Acmegram").unwrap();
    assert_eq!((&acme["Title"], &acme["IsSensitive"]), (&json!("Acme"), &json!(true)));
    operator.run(&["breach", "deactivate", "Borealis"]);
    operator.run(&["breach", "activate", "Borealis", "--keep-dates"]);
    let address = "account-exists@breach-integration-tests.example";
    let held = operator.json(&["address", "show", address]);
    assert_eq!((&held["breaches"], &held["opt_out"]), (&json!(["Acmegram"]), &Value::Null));
    operator.run(&["address", "opt-out", address, "--kind", "public"]);
    assert_eq!(operator.json(&["address", "show", address])["opt_out"], 1);
    operator.run(&["address", "opt-in", address]);
    operator.run(&["address", "remove", address, "--breach", "Acmegram"]);
    assert_eq!(operator.json(&["address", "show", address])["breaches"], json!([]));
    let retire =
        operator.command(&["breach", "retire", "Cobaltbay"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(retire.status.code(), Some(1));
    operator.run(&["breach", "retire", "Cobaltbay", "--yes"]);
    assert_eq!(operator.run(&["account", "export", "--breach", "Cobaltbay"]), "");
    assert_eq!(
        operator.run(&["account", "export", "--breach", "Inkwell"]),
        "unverified-breach@breach-integration-tests.example\n"
    );
    assert_eq!(operator.json(&["doctor"])["wrong_keys"], 0);
    let entry = operator.json(&["block", "add", "--ip", "192.0.2.0/24", "--until", "2030-01-01"]);
    assert_eq!(operator.json(&["block", "list"])[0]["cidr"], "192.0.2.0/24");
    operator.run(&["block", "remove", &entry["id"].to_string()]);
    assert_eq!(operator.json(&["block", "list"]), json!([]));
}

#[test]
fn load_with_skipped_rows_exits_with_3_and_imports_are_atomic() {
    let operator = Operator::new();
    let file = operator.folder.write("list.txt", "a@example.com\nsecret text\n");
    let load =
        operator.output(&["accounts", "load", "--breach", "Inkwell", file.to_str().unwrap()]);
    assert_eq!(load.status.code(), Some(3));
    let output =
        String::from_utf8_lossy(&load.stderr).into_owned() + &String::from_utf8_lossy(&load.stdout);
    assert!(output.contains("line 2: address") && !output.contains("secret"), "{output}");
    let jobs = operator.json(&["job", "list"]);
    assert_eq!(jobs[0]["state"], "done");
    let id = jobs[0]["id"].to_string();
    assert_eq!(operator.json(&["job", "show", &id])["skips"], "[[2,\"address\"]]");
    assert_eq!(operator.output(&["job", "resume", &id]).status.code(), Some(1));

    let mut bad = crate::app::entry("Bad");
    bad["LogoPath"] = json!("nowhere");
    let file = operator.folder.write("c.json", json!([crate::app::entry("Good"), bad]).to_string());
    let import = operator.output(&["catalogue", "import", file.to_str().unwrap()]);
    assert_eq!(import.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&import.stderr).contains("entry 2 (Bad): LogoPath"));
    let file = operator.folder.write("d.json", crate::app::entry("Good").to_string());
    let dry = operator.run(&["catalogue", "import", "--dry-run", file.to_str().unwrap()]);
    assert_eq!(dry, "+ Good\n");
    assert!(!operator.run(&["breach", "export"]).contains("\"Good\""));
    let report = operator.json(&[
        "catalogue",
        "import",
        "--deactivate-missing",
        "--yes",
        file.to_str().unwrap(),
    ]);
    assert_eq!(report["deactivated"].as_array().unwrap().len(), 8);
}

#[test]
fn load_reads_a_pipe_and_names_an_unusable_temporary_folder() {
    use std::io::Write;
    let operator = Operator::new();
    for path in ["-", "/dev/stdin"] {
        let mut command = operator.command(&["accounts", "load", "--breach", "Inkwell", path]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "pipe@example.com").unwrap();
        assert!(child.wait().unwrap().success(), "{path}");
    }
    let lines: String = (0..60_000).map(|n| format!("user{n}@example.com\n")).collect();
    let file = operator.folder.write("list.txt", lines);
    let nowhere = operator.folder.join("nowhere");
    let mut command =
        operator.command(&["accounts", "load", "--breach", "Inkwell", file.to_str().unwrap()]);
    let output = command.env("LOAD_TMP", &nowhere).env("LOAD_MEMORY_MB", "1").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let expected = format!("a temporary file in {}", nowhere.display());
    assert!(output.status.code() == Some(1) && errors.contains(&expected), "{errors}");
}

#[test]
fn domain_of_the_deny_list_is_verified_only_on_request() {
    let operator = Operator::new();
    operator.run(&["subscriber", "add", "owner@example.org"]);
    let verify = ["domain", "verify", "owner@example.org", "gmail.com"];
    let refused = operator.output(&verify);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("VERIFY_DENY") && errors.contains("--despite-deny-list"), "{errors}");
    assert_eq!(operator.json(&["domain", "list"]), json!([]));
    operator.run(&[&verify[..], &["--despite-deny-list"]].concat());
    operator.run(&["domain", "revoke", "owner@example.org", "gmail.com"]);
    operator.run(&["domain", "verify", "owner@example.org", "corp.example"]);
    let list = operator.folder.write("deny.txt", "corp.example\n");
    let mut command = operator.command(&["domain", "verify", "owner@example.org", "corp.example"]);
    assert_eq!(command.env("VERIFY_DENY", list).output().unwrap().status.code(), Some(1));
}

#[test]
fn unusable_settings_print_one_line_and_exit_with_2() {
    let operator = Operator::new();
    let long = format!("unix:/{}", "x".repeat(200));
    let missing = operator.folder.join("no such file");
    let wildcard = operator.folder.write("deny.txt", "corp.example\n*.corp.example\n");
    for (name, value) in [
        ("DATABASE_URL", "mysql://root:geheim@localhost/x"),
        ("DATABASE_URL", ""),
        ("DATABASE_URL", "data/a.db"),
        ("SMTP_URL", "http://root:geheim@localhost"),
        ("MAIL_FROM", "x"),
        ("VERIFY_DENY", missing.to_str().unwrap()),
        ("VERIFY_DENY", wildcard.to_str().unwrap()),
        ("MAIL_DIR", "/proc/x"),
        ("LOAD_TMP", missing.to_str().unwrap()),
        ("BIND", &long),
    ] {
        let serve = |more: &[&str]| {
            let mut command =
                operator.command(&[&["serve", "--tls-mode", "off"][..], more].concat());
            command.env("BIND", "127.0.0.1:0").env("ADMIN_BIND", "127.0.0.1:0").env(name, value);
            command.env("RUST_LOG", "error").output().unwrap()
        };
        assert_eq!(serve(&["--check"]).status.code(), Some(2), "{name}={value}");
        let output = serve(&[]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}={value}: {errors}");
        let lines = errors.lines().filter(|line| !line.is_empty());
        assert!(name == "BIND" || lines.count() == 1, "{name}={value}: {errors}");
        assert!(errors.contains(name) || name == "BIND", "{name}={value}: {errors}");
        assert!(!errors.contains("geheim"), "{errors}");
    }
    let mut command = operator.command(&["serve", "--check", "--tls-mode", "off"]);
    let output = command.env("RUST_LOG", "((").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("RUST_LOG: (( is not a level or module"), "{errors}");
    assert_eq!(operator.output(&["doctor", "--no-such-flag"]).status.code(), Some(2));
    let fresh = Folder::new();
    let mut command = operator.command(&["serve", "--tls-mode", "off"]);
    command.env_remove("DATABASE_URL").env("DATA_DIR", fresh.path()).env("MAIL_FROM", "x");
    assert_eq!(command.output().unwrap().status.code(), Some(2));
    assert!(!fresh.join("breaches.db").exists(), "a failed start creates no database");
}

#[test]
fn subscription_may_last_until_the_end_of_the_calendar() {
    let operator = Operator::new();
    operator.run(&["subscriber", "add", "owner@example.org"]);
    let set = ["subscription", "set", "owner@example.org", "--plan", "pro1", "--until"];
    let set = operator.json(&[&set[..], &["9999-12-31"]].concat());
    assert_eq!(set["until"], "9999-12-31T23:59:59");
    let line = operator.run(&subscription("owner@example.org", "pro1"));
    assert_eq!(line, "owner@example.org: pro1 until 2099-01-02T00:00:00Z\n");
}

#[test]
fn import_deactivates_only_on_confirmation_and_not_for_an_empty_file() {
    let operator = Operator::new();
    let active = || operator.json(&["breach", "export"]).as_array().unwrap().len();
    let before = active();
    let import = ["catalogue", "import", "--deactivate-missing"];
    let one = operator.folder.write("one.json", json!([crate::app::entry("Alpha")]).to_string());
    let refused = operator.output(&[&import[..], &[one.to_str().unwrap()]].concat());
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--yes"));
    for empty in ["", "\n", "[]"] {
        let file = operator.folder.write("empty.json", empty);
        let refused = operator.output(&[&import[..], &["--yes", file.to_str().unwrap()]].concat());
        assert_eq!(refused.status.code(), Some(1), "{empty:?}");
    }
    assert_eq!(active(), before);
}

#[test]
fn webhook_is_added_listed_and_removed_and_its_secret_shown_once() {
    let operator = Operator::new();
    let (owner, url) = ("corp@example.org", "https://hooks.example.org/x");
    let stranger = refusal(&operator, &["webhook", "add", owner, url]);
    assert!(stranger.contains("the subscriber corp@example.org does not exist"), "{stranger}");
    operator.run(&["subscriber", "add", owner]);
    let added = operator.json(&["webhook", "add", owner, url]);
    let secret = added["secret"].as_str().unwrap();
    assert_eq!((added["url"].as_str(), &secret[..6]), (Some(url), "whsec_"));
    let plain = operator.run(&["webhook", "add", owner, "http://hooks.example.org/y"]);
    assert!(plain.starts_with("whsec_") && plain.trim() != secret, "{plain}");
    let twice = refusal(&operator, &["webhook", "add", owner, url]);
    assert!(twice.contains("already has https://hooks.example.org/x"), "{twice}");
    for (target, is_web) in [
        ("ftp://hooks.example.org/x", false),
        ("hooks.example.org", false),
        ("http://127.0.0.1/", true),
        ("http://[::1]/", true),
        ("http://169.254.169.254/latest", true),
        ("https://hooks.example.org:8443/", true),
        ("https://user:word@hooks.example.org/", false),
    ] {
        let refused = refusal(&operator, &["webhook", "add", owner, target]);
        assert_eq!(refused.contains("VERIFY_ALLOW_PRIVATE"), is_web, "{target}: {refused}");
        assert_eq!(refused.contains("not an http or https address"), !is_web, "{refused}");
    }
    let mut local = operator.command(&["webhook", "add", owner, "http://127.0.0.1:9/"]);
    assert!(local.env("VERIFY_ALLOW_PRIVATE", "true").status().unwrap().success());
    let listed = operator.json(&["webhook", "list", owner]);
    let urls = [url, "http://hooks.example.org/y", "http://127.0.0.1:9/"];
    for (row, url) in listed.as_array().unwrap().iter().zip(urls) {
        assert_eq!((&row["url"], &row["enabled"]), (&json!(url), &json!(true)), "{listed}");
        assert!(row["id"].as_i64() > Some(0) && row.get("secret").is_none(), "{listed}");
        let line = format!("{}\t{url}\tenabled\t", row["id"]);
        assert!(operator.run(&["webhook", "list", owner]).contains(&line), "{line}");
    }
    assert_eq!(listed.as_array().unwrap().len(), urls.len());
    operator.run(&["webhook", "remove", owner, url]);
    let gone = refusal(&operator, &["webhook", "remove", owner, url]);
    assert!(gone.contains("has no webhook"), "{gone}");
    assert!(!operator.run(&["webhook", "list", owner]).contains("/x"));
    let trail = operator.trail();
    for (action, times) in [("webhook add", 3), ("webhook remove", 1)] {
        assert_eq!(trail.iter().filter(|(found, _)| found == action).count(), times, "{trail:?}");
    }
    assert!(!format!("{trail:?}").contains("whsec_"));
}

/// Returns the standard error of a command, which must fail.
fn refusal(operator: &Operator, arguments: &[&str]) -> String {
    let output = operator.output(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn change_without_effect_keeps_the_catalogue_version() {
    let operator = Operator::new();
    let version = || {
        let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
        pools.read_blocking(breaches::store::versions::current).unwrap().catalogue
    };
    let (before, began) = (operator.json(&["breach", "export"]), version());
    assert!(refusal(&operator, &["breach", "set", "Acmegram"]).contains("nothing to set"));
    operator.run(&["breach", "set", "Acmegram", "--title", "Acmegram"]);
    operator.run(&["breach", "activate", "Acmegram"]);
    assert_eq!((operator.json(&["breach", "export"]), version()), (before, began));
    operator.run(&["breach", "activate", "Emberforum"]);
    assert_eq!(version(), began + 1);
    let frame = "<iframe src=\"https://a.example\"></iframe>";
    let refused = refusal(&operator, &["breach", "set", "Acmegram", "--description", frame]);
    assert!(refused.contains("plain markup"), "{refused}");
    for (flag, value, why) in [
        ("--logo-path", "javascript:alert(1)", "absolute http or https URL"),
        ("--title", "Borealis", "another breach has the title"),
    ] {
        let refused = refusal(&operator, &["breach", "set", "Acmegram", flag, value]);
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn hidden_plan_is_renewed_only_for_its_subscribers() {
    let operator = Operator::new();
    for owner in ["old@example.org", "new@example.org"] {
        operator.run(&["subscriber", "add", owner]);
    }
    operator.run(&subscription("old@example.org", "core2"));
    operator.run(&["plans", "hide", "core2"]);
    operator.run(&subscription("old@example.org", "core2"));
    let refused = refusal(&operator, &subscription("new@example.org", "core2"));
    assert!(refused.contains("the plan core2 is hidden"), "{refused}");
}

#[test]
fn job_without_a_heartbeat_is_listed_as_interrupted() {
    let operator = Operator::new();
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    for (silent, state) in [(40, "interrupted"), (0, "running")] {
        let begin = |db: &mut database::Db| {
            breaches::store::jobs::begin(db, "accounts", "x", "{}", now - silent)
        };
        let id = pools.write_blocking(begin).unwrap();
        assert_eq!(operator.json(&["job", "list"])[0]["state"], state);
        assert_eq!(operator.json(&["job", "show", &id.to_string()])["state"], state);
    }
}

#[test]
fn mistyped_database_path_creates_no_file() {
    let folder = Folder::new();
    let path = folder.join("mistyped.db");
    for arguments in [
        &["doctor"][..],
        &["job", "list"],
        &["account", "export", "--breach", "A"],
        &["breach", "export"],
        &["keys", "list"],
        &["keys", "issue", "owner@example.org"],
        &["plans", "list"],
        &["domain", "list"],
        &["webhook", "list", "owner@example.org"],
        &["block", "list"],
        &["subscription", "end", "owner@example.org"],
        &["catalogue", "import", "--dry-run", "-"],
        &["accounts", "load", "--breach", "A", "--dry-run", "-"],
        &["accounts", "clean", "--dry-run"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_breaches"));
        command.args(arguments).env("DATABASE_URL", format!("sqlite://{}", path.display()));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("does not exist; nothing was created")
        );
        assert!(!path.exists());
    }
}

#[test]
fn export_succeeds_when_its_reader_closes_the_pipe() {
    let operator = Operator::new();
    for arguments in [&["account", "export", "--breach", "Acmegram"][..], &["breach", "export"]] {
        let mut command = operator.command(arguments);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    }
}

#[test]
fn usage_line_lists_required_arguments_only() {
    let operator = Operator::new();
    let words = ["subscription", "set"];
    for (arguments, expected) in [
        (&["accounts", "load"][..], "Usage: breaches accounts load "),
        (&words, "Usage: breaches subscription set "),
    ] {
        let refused = refusal(&operator, arguments);
        let usage = refused.lines().find(|line| line.starts_with("Usage:")).unwrap();
        assert!(usage.starts_with(expected), "{usage}");
        assert!(!usage.contains("--bind") && !usage.contains("--data-dir"), "{usage}");
    }
}
