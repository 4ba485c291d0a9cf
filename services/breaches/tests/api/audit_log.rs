//! Changes by the operator, each of which shares a transaction with its entry in the audit log.

use breaches::store::jobs;
use breaches::store::schema::admin_event;
use database::DatabaseError;
use diesel::{ExpressionMethods, QueryDsl, RunQueryDsl};

use crate::commands::Operator;

const OWNER: &str = "corp@example.org";

impl Operator {
    /// Runs a command while the audit log cannot be written. The command must fail and print
    /// nothing, not even a new secret.
    fn run_unrecorded(&self, arguments: &[&str]) {
        let pools = self.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
        let rename = |from: &str, to: &str| {
            let renaming = diesel::sql_query(format!("ALTER TABLE {from} RENAME TO {to}"));
            pools.write_blocking(|db| Ok::<_, DatabaseError>(renaming.execute(db)?)).unwrap();
        };
        rename("admin_event", "renamed");
        let output = self.output(arguments);
        rename("renamed", "admin_event");
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn entries_say_what_was_changed_without_secrets() {
    let operator = Operator::new();
    let pools = operator.database.open(&[&auth::MIGRATIONS, &breaches::store::MIGRATIONS]);
    let job = pools.write_blocking(|db| jobs::begin(db, "accounts", "", "{}", 1)).unwrap();
    let job = job.to_string();
    let url = "https://hooks.example.org/services/T0P5ECRET";
    operator.run(&["subscriber", "add", OWNER]);
    let issued = operator.json(&["keys", "issue", OWNER]);
    let block = operator.json(&["block", "add", "--user-agent", "BadBot"])["id"].to_string();
    let person = "account-exists@breach-integration-tests.example";
    for arguments in [
        &crate::commands::subscription(OWNER, "pro1")[..],
        &["subscription", "end", OWNER],
        &["plans", "set", "core1", "--burst", "7", "--kanon", "true", "--description", "Short"],
        &["breach", "set", "Acmegram", "--title", "Acme", "--sensitive", "true"],
        &["breach", "retire", "Cobaltbay", "--yes"],
        &["address", "remove", person, "--breach", "acmegram"],
        &["domain", "recount", "example.com"],
        &["webhook", "add", OWNER, url],
        &["webhook", "remove", OWNER, url],
        &["block", "remove", &block],
        &["job", "cancel", &job],
    ] {
        operator.run(arguments);
    }
    let details = |action: &str| -> Vec<String> {
        let entries = admin_event::table.filter(admin_event::action.eq(action.to_owned()));
        let details = entries.select(admin_event::detail);
        pools.read_blocking(|db| Ok::<_, DatabaseError>(details.load(db)?)).unwrap()
    };
    let key = format!("key {}", issued["id"]);
    for (action, detail) in [
        ("keys issue", key.as_str()),
        ("block add", "badbot"),
        ("subscription end", "pro1"),
        ("plans set", "burst 7, kanon true, description changed"),
        ("breach set", "Title, IsSensitive"),
        ("breach retire", "1 links"),
        ("address remove", "breach Acmegram"),
        ("domain recount", "0 addresses"),
        ("webhook add", "hooks.example.org"),
        ("webhook remove", "hooks.example.org"),
        ("block remove", "badbot"),
        ("job cancel", "accounts, 0 added"),
    ] {
        assert_eq!(details(action), [detail], "{action}");
    }
}

#[test]
fn ended_subscription_keeps_its_end() {
    let operator = Operator::new();
    operator.run(&["subscriber", "add", OWNER]);
    operator.run(&crate::commands::subscription(OWNER, "pro1"));
    let end = ["subscription", "end", OWNER];
    operator.run(&end);
    let again = operator.output(&end);
    assert_eq!(again.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&again.stderr);
    assert!(errors.contains("corp@example.org has no active subscription"), "{errors}");
}

#[test]
fn webhook_is_not_changed_if_the_change_cannot_be_recorded() {
    let operator = Operator::new();
    let url = "https://hooks.example.org/x";
    operator.run(&["subscriber", "add", OWNER]);
    for (action, before) in [("add", 0), ("remove", 1)] {
        operator.run_unrecorded(&["webhook", action, OWNER, url]);
        let listed = operator.json(&["webhook", "list", OWNER]);
        assert_eq!(listed.as_array().unwrap().len(), before, "{action}");
        operator.run(&["webhook", action, OWNER, url]);
    }
}

#[test]
fn key_or_plan_is_not_changed_if_the_change_cannot_be_recorded() {
    let operator = Operator::new();
    operator.run(&["subscriber", "add", OWNER]);
    operator.run(&["keys", "issue", OWNER]);
    let listed = || [operator.json(&["keys", "list"]), operator.json(&["plans", "list"])];
    let before = listed();
    let id = before[0][0]["id"].to_string();
    for arguments in [
        &["keys", "issue", OWNER][..],
        &["keys", "rotate", &id],
        &["keys", "revoke", &id],
        &["plans", "set", "core1", "--burst", "7"],
        &["plans", "hide", "core1"],
    ] {
        operator.run_unrecorded(arguments);
        assert_eq!(listed(), before, "{arguments:?}");
    }
}
