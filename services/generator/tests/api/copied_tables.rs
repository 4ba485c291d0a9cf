//! Schemas for tables that take columns from others, by `LIKE` or `INHERITS`.

use serde_json::Value;
use testkit::{Program, Ran};

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_generator"))
}

/// Proposes a schema for tables.
fn proposed(program: &Program, text: &str) -> Ran {
    let file = program.folder().write("tables.sql", text);
    program.run(&["schema", file.to_str().unwrap()])
}

/// Returns the names of each table's fields.
fn names(schema: &str) -> Vec<Vec<String>> {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let names = |table: &Value| {
        let fields = table["fields"].as_array().unwrap().iter();
        fields.map(|field| field["name"].as_str().unwrap().to_owned()).collect()
    };
    schema["tables"].as_array().unwrap().iter().map(names).collect()
}

#[test]
fn columns_inherited_twice_are_merged_with_their_constraints() {
    let program = program();
    let made = proposed(
        &program,
        "CREATE TABLE p (n INT NOT NULL, CONSTRAINT least CHECK (n >= 7));
         CREATE TABLE q (n INT CHECK (n < 9), -- it's the same
            note TEXT);
         CREATE TABLE one (k INT NOT NULL, CONSTRAINT most CHECK (k < 4)) INHERITS (p, q);
         CREATE TABLE other (k INT NOT NULL) INHERITS (q, public.p);
         CREATE TABLE last (LIKE one);",
    );
    let tables = names(&made.out);
    let columns = ["n", "note", "k"];
    assert!(tables[2..].iter().all(|table| table == &columns), "{tables:?}");
    assert!(!made.errors.contains("may violate"), "{}", made.errors);
    let rows = ["records", "-", "--seed", "demo", "-n", "200", "--format", "json"];
    let rows: Value =
        serde_json::from_str(&program.pipe(&rows, made.out.as_bytes()).done()).unwrap();
    for table in ["one", "other", "last"] {
        for row in rows[table].as_array().unwrap() {
            assert!(row["n"] == 7 || row["n"] == 8, "{table} {row}");
            assert!(row["k"].as_i64().is_some_and(|k| table == "other" || k < 4), "{table} {row}");
        }
    }
}

#[test]
fn table_that_inherits_another_one_twice_has_its_columns_once() {
    let copies: String =
        (1..17).map(|n| format!("CREATE TABLE t{n} (LIKE t{0}, LIKE t{0});", n - 1)).collect();
    let text = format!("CREATE TABLE t0 (n INT, CHECK (n > 0));{copies}");
    let tables = names(&proposed(&program(), &text).out);
    assert_eq!((tables.len(), tables[16].as_slice()), (17, &["n".to_owned()][..]));
}

#[test]
fn columns_are_distinguished_from_constraints_and_comments() {
    let made = proposed(
        &program(),
        r#"CREATE TABLE a (key TEXT NOT NULL, "check" INT, -- the first
            "full name" TEXT, -- the second
            "full age" INT, UNIQUE (key));
         CREATE TABLE b (-- its own
            more INT, UNIQUE (more)) INHERITS (a);"#,
    );
    let tables = names(&made.out);
    assert_eq!(tables[1], ["key", "check", "full name", "full age", "more"], "{}", made.errors);
    let schema: Value = serde_json::from_str(&made.out).unwrap();
    for place in [0, 4] {
        assert_eq!(schema["tables"][1]["fields"][place]["unique"], true, "{schema}");
    }
}

#[test]
fn tables_that_copy_too_many_columns_are_refused() {
    let columns = (0..2_000).map(|n| format!("c{n} INT")).collect::<Vec<_>>().join(",");
    let copies = vec!["LIKE a"; 4_000].join(",");
    let text = format!("CREATE TABLE a ({columns});\nCREATE TABLE b ({copies});");
    let refused = proposed(&program(), &text);
    let reason = "the table at line 2: the tables take more than 64 MiB";
    assert!(refused.code == Some(1) && refused.errors.contains(reason), "{}", refused.errors);
}
