//! Schemas for dumps of databases, whose constraints the rows must satisfy.

use database::{DatabaseError, Db};
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{QueryableByName, RunQueryDsl};
use serde_json::{Value, json};
use testkit::{Database, Program};

/// A shop's tables, as printed by pg_dump 15.
const PG_DUMP: &str = include_str!("sql/pg_dump.sql");
/// A shop's tables, as printed by `.dump` in SQLite 3.40.
const SQLITE_DUMP: &str = include_str!("sql/sqlite_dump.sql");
/// A shop's tables, as printed by MariaDB 10.11's mysqldump.
const MYSQL_DUMP: &str = include_str!("sql/mysqldump.sql");

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_generator"))
}

/// Returns the schema for a dump, and the constraints that it does not keep.
fn schema(program: &Program, dump: &str) -> (Value, String) {
    let file = program.folder().write("dump.sql", dump);
    let made = program.run(&["schema", file.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{}", made.errors);
    let lines = made.errors.lines().filter(|line| line.starts_with("the rows may violate"));
    (serde_json::from_str(&made.out).unwrap(), lines.map(|line| format!("{line}\n")).collect())
}

#[test]
fn rows_for_a_dump_satisfy_every_constraint_of_its_database() {
    let database = Database::new();
    let dump = if database.file().is_some() { SQLITE_DUMP } else { PG_DUMP };
    let pools = database.open(&[]);
    // The test uses its own transaction.
    let tables = dump.replace("BEGIN TRANSACTION;", "").replace("COMMIT;", "");
    pools
        .write_blocking(move |db: &mut Db| db.batch_execute(&tables).map_err(DatabaseError::from))
        .unwrap();
    let program = program();
    let (schema, broken) = schema(&program, dump);
    assert_eq!(broken, "");
    let file = program.folder().write("schema.json", schema.to_string());
    let file = file.to_str().unwrap();
    program.done(&["records", file, "--seed", "demo", "-n", "60", "--into", database.url()]);
    let count = |table: &str| {
        let sql = format!("SELECT COUNT(*) AS number FROM \"{table}\"");
        let pools = database.open(&[]);
        pools
            .read_blocking(move |db: &mut Db| {
                database::on_backend!(db, conn => diesel::sql_query(sql).get_result::<Number>(conn))
                    .map_err(DatabaseError::from)
            })
            .unwrap()
            .number
    };
    for (table, rows) in [
        ("currency", 3),
        ("customer", 60),
        ("order_line", 60),
        ("shipment_line", 60),
        ("voucher", 60),
    ] {
        assert_eq!(count(table), rows, "{table}");
    }
}

fn field<'s>(schema: &'s Value, table: &str, name: &str) -> &'s Value {
    let named = |list: &'s Value, name: &str| {
        list.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
    };
    named(&named(&schema["tables"], table)["fields"], name)
}

#[test]
fn fields_for_a_mysqldump_have_the_widths_of_its_types_and_its_checks() {
    let program = program();
    let (schema, broken) = schema(&program, MYSQL_DUMP);
    assert_eq!(broken, "");
    for (table, name, member, expected) in [
        ("country", "vat_rate", "max", json!(0.999)),
        ("product", "price", "min", json!(0.01)),
        ("product", "stock", "max", json!(32_767)),
        ("product", "attributes", "type", json!("object")),
        ("orders", "state", "values", json!(["new", "paid", "it's, done"])),
        ("customer", "is_active", "type", json!("boolean")),
        // MySQL refuses timestamps with an offset.
        ("orders", "placed", "expression", json!("left(placed_whole, 19)")),
        ("order_line", "line", "max", json!(99)),
        ("shipment_line", "line", "with", json!("order_id")),
    ] {
        assert_eq!(field(&schema, table, name)[member], expected, "{table}.{name} {member}");
    }
}

#[test]
fn constraints_that_rows_may_break_are_named() {
    let tables =
        "CREATE TABLE a (id INT PRIMARY KEY, b_id INT NOT NULL REFERENCES b (id), t INT, u INT,
            CHECK (t * 2 > u));
        CREATE TABLE b (id INT PRIMARY KEY, a_id INT NOT NULL REFERENCES a (id), j JSON UNIQUE);";
    let (_, broken) = schema(&program(), tables);
    let lines: Vec<_> = broken.lines().collect();
    assert_eq!(
        lines,
        [
            "the rows may violate a: CHECK (t * 2 > u)",
            "the rows may violate a: FOREIGN KEY to a later table, because of a cycle",
            "the rows may violate b: UNIQUE (j)",
        ]
    );
}
