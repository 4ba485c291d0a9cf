//! Schemas of files whose tables are in several schemas, or that no SQL parser understands.

use serde_json::{Value, json};
use testkit::{Program, Ran};

use crate::proposals::Proposal;

fn proposed(text: &str) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let file = program.folder().write("a.sql", text);
    program.run(&["schema", file.to_str().unwrap()])
}

#[test]
fn unlogged_and_typed_tables_and_storage_options_are_read() {
    let made = Proposal::sql(
        "CREATE TYPE public.pair AS (id integer, note text);
        CREATE UNLOGGED TABLE public.a (id integer NOT NULL, n integer NOT NULL CHECK (n < 5)) TABLESPACE fast;
        CREATE TABLE public.b OF public.pair (id WITH OPTIONS NOT NULL, PRIMARY KEY (id));
        ALTER TABLE ONLY public.a ADD CONSTRAINT a_pkey PRIMARY KEY (id);",
    );
    assert_eq!((made.tables(), made.broken.as_str()), (vec!["a", "b"], ""));
    assert_eq!(made.fields(0)[0]["type"], "sequence");
    assert_eq!(made.fields(0)[1]["max"], 4);
    assert_eq!(made.fields(1)[0], json!({"name": "id", "type": "sequence"}));
}

#[test]
fn tables_that_cannot_be_read_are_left_out_and_reported() {
    let made = proposed(
        "CREATE TABLE a (id INT PRIMARY KEY);
        CREATE TABLE b OF missing;
        CREATE TABLE c (LIKE later INCLUDING ALL);
        CREATE TABLE d (n INT, LIKE later INCLUDING ALL);
        CREATE TABLE later (id INT);",
    );
    assert_eq!(made.code, Some(0), "{}", made.errors);
    let schema: Value = serde_json::from_str(&made.out).unwrap();
    let names: Vec<_> =
        schema["tables"].as_array().unwrap().iter().map(|table| &table["name"]).collect();
    assert_eq!(names, ["a", "d", "later"]);
    let left_out: Vec<_> =
        made.errors.lines().filter(|line| line.ends_with("; it is left out")).collect();
    assert_eq!(left_out.len(), 2, "{}", made.errors);
    assert!(left_out[0].starts_with("the table at line 2: "), "{}", made.errors);
    assert!(made.errors.contains("d: LIKE later INCLUDING ALL"), "{}", made.errors);
}

#[test]
fn tables_of_other_schemas_keep_their_names_and_references() {
    let text = "CREATE TABLE auth.users (id uuid PRIMARY KEY);
        CREATE TABLE public.users (id bigint PRIMARY KEY, auth_id uuid NOT NULL);
        CREATE TABLE app.posts (id bigint PRIMARY KEY, author uuid NOT NULL, editor bigint NOT NULL);
        ALTER TABLE ONLY public.users ADD CONSTRAINT u FOREIGN KEY (auth_id) REFERENCES auth.users(id);
        ALTER TABLE ONLY app.posts ADD CONSTRAINT a FOREIGN KEY (author) REFERENCES auth.users(id);
        ALTER TABLE ONLY app.posts ADD CONSTRAINT e FOREIGN KEY (editor) REFERENCES public.users(id);";
    let made = Proposal::sql(text);
    assert_eq!(
        (made.tables(), made.broken.as_str()),
        (vec!["auth.users", "users", "app.posts"], "")
    );
    let tables: Vec<_> = (1..3).map(|field| &made.fields(2)[field]["table"]).collect();
    assert_eq!(tables, ["auth.users", "users"]);
    assert_eq!(made.fields(1)[1]["table"], "auth.users");
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    for (form, start) in [("sql", "INSERT INTO"), ("copy", "COPY")] {
        let rows = ["records", "-", "-n", "2", "--seed", "demo", "--format", form];
        let rows = program.pipe(&rows, proposed(text).out.as_bytes()).done();
        for name in [r#""auth"."users""#, r#""users""#, r#""app"."posts""#] {
            assert!(rows.contains(&format!("{start} {name} (\"id\"")), "{name}: {rows}");
        }
    }
}

#[test]
fn reference_to_a_table_of_another_schema_that_is_absent_is_reported() {
    let made = Proposal::sql(
        "CREATE TABLE public.users (id bigint PRIMARY KEY);
        CREATE TABLE public.posts (id bigint PRIMARY KEY, author bigint REFERENCES auth.users(id));",
    );
    let line = "the rows may violate posts: FOREIGN KEY (author) to auth.users, which is not in the file\n";
    assert_eq!(made.broken, line);
}
