//! Changes by the operator, each of which shares a transaction with its entry in the audit log.

use database::DatabaseError;
use diesel::RunQueryDsl;

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
