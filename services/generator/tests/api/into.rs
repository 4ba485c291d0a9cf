//! `records --into`: writes a schema's rows into database tables.

use database::{DatabaseError, Db, Pools};
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Text};
use diesel::{QueryableByName, RunQueryDsl};
use serde_json::{Value, json};
use testkit::{Database, Process, Program};

const TABLES: &str = "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, note TEXT, paid BOOLEAN NOT NULL);
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE)";

#[derive(QueryableByName)]
struct Summary {
    #[diesel(sql_type = BigInt)]
    rows: i64,
    #[diesel(sql_type = BigInt)]
    sum: i64,
    #[diesel(sql_type = Text)]
    last: String,
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Returns a schema that lists children before their parents.
fn schema(rows: u64) -> Value {
    json!({"tables": [
        {"name": "orders", "childrenOf": {"table": "customers", "max": 4}, "fields": [
            {"name": "id", "type": "sequence"},
            {"name": "customer", "type": "reference", "table": "customers", "field": "id"},
            {"name": "note", "type": "template", "template": "it's \\ {{id}};\n", "nulls": 0.1},
            {"name": "paid", "type": "boolean"}]},
        {"name": "customers", "rows": rows, "fields": [
            {"name": "id", "type": "sequence"},
            {"name": "name", "type": "person", "part": "fullName"},
            {"name": "email", "type": "person", "part": "email"}]}]})
}

fn run(pools: &Pools, statements: &str) {
    let run = |db: &mut Db| db.batch_execute(statements).map_err(DatabaseError::from);
    pools.write_blocking(run).unwrap();
}

struct Setup {
    database: Database,
    pools: Pools,
    program: Program,
    schema: String,
}

impl Setup {
    fn new(rows: u64) -> Self {
        let database = Database::new();
        let pools = database.open(&[]);
        run(&pools, TABLES);
        let program = Program::new(env!("CARGO_BIN_EXE_generator"));
        let path = program.folder().write("schema.json", schema(rows).to_string());
        Self { database, pools, program, schema: path.to_str().unwrap().to_owned() }
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        [&["records", &self.schema, "--into", self.database.url()], more].concat()
    }

    fn query<
        T: QueryableByName<diesel::sqlite::Sqlite> + QueryableByName<diesel::pg::Pg> + 'static,
    >(
        &self,
        sql: &str,
    ) -> Result<T, DatabaseError> {
        self.pools.read_blocking(|db: &mut Db| {
            database::on_backend!(db, conn => diesel::sql_query(sql).get_result(conn))
                .map_err(DatabaseError::from)
        })
    }

    fn summaries(&self) -> Vec<(i64, i64, String)> {
        let columns = [("orders", "customer", "note"), ("customers", "id", "email")];
        let one = |(table, number, text): (&str, &str, &str)| {
            let sql = format!(
                "SELECT COUNT(*) AS rows, CAST(SUM({number} * (id % 97)) AS BIGINT) AS sum, \
                 COALESCE(MAX({text}), '') AS last FROM {table}"
            );
            let Summary { rows, sum, last } = self.query(&sql).unwrap();
            (rows, sum, last)
        };
        columns.map(one).into()
    }

    fn progress(&self) -> Result<i64, DatabaseError> {
        let sql = "SELECT CAST(SUM(next_row) AS BIGINT) AS number FROM generator_progress";
        Ok(self.query::<Number>(sql)?.number)
    }
}

#[test]
fn a_killed_run_continues_and_gives_the_rows_of_one_run() {
    let rows = 30_000;
    let whole = Setup::new(rows);
    whole.program.done(&whole.arguments(&["--seed", "demo"]));
    let expected = whole.summaries();
    // Two orders for each customer on average, with a deviation of less than one part in a hundred.
    assert!((59_400..60_600).contains(&expected[0].0), "{}", expected[0].0);
    assert_eq!(expected[1].0, 30_000);
    assert!(whole.progress().is_err(), "the progress is dropped");

    let killed = Setup::new(rows);
    let mut command = killed.program.command(&killed.arguments(&["--seed", "demo"]));
    let mut process = Process::spawn(&mut command);
    let killed_it = process.kill_when(|| killed.progress().is_ok_and(|rows| rows > 0));
    assert!(killed_it, "it ended before it was killed");
    // A run with a different number of rows cannot resume the earlier one.
    let other = killed.program.run(&killed.arguments(&["-n", "7"]));
    assert_eq!(other.code, Some(1));
    assert!(other.errors.contains("an earlier run with a different schema"), "{}", other.errors);
    // Rows removed in the meantime would be missing in the end.
    let first = killed
        .query::<Number>("SELECT CAST(MIN(id) AS BIGINT) AS number FROM customers")
        .unwrap()
        .number;
    run(&killed.pools, &format!("CREATE TABLE kept AS SELECT * FROM customers WHERE id = {first}"));
    run(&killed.pools, &format!("DELETE FROM customers WHERE id = {first}"));
    let refused = killed.program.run(&killed.arguments(&[]));
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("customers does not have the rows"), "{}", refused.errors);
    run(&killed.pools, "INSERT INTO customers SELECT * FROM kept");
    // The seed is taken from the first run.
    killed.program.done(&killed.arguments(&[]));
    assert_eq!(killed.summaries(), expected);
    assert!(killed.progress().is_err());
}

#[test]
fn tables_must_exist_and_be_empty() {
    let setup = Setup::new(5);
    run(&setup.pools, "INSERT INTO customers VALUES (1, 'a', 'b')");
    let refused = setup.program.run(&setup.arguments(&[]));
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("customers is not empty"), "{}", refused.errors);
    run(&setup.pools, "DROP TABLE customers");
    let refused = setup.program.run(&setup.arguments(&[]));
    assert!(
        refused.errors.contains("customers cannot be read. Create it first"),
        "{}",
        refused.errors
    );
    assert!(setup.progress().is_err());
    for url in ["mysql://host/name", "sqlite:///nowhere/at/all.db"] {
        let refused = setup.program.run(&["records", &setup.schema, "--into", url]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.errors.contains("--into"), "{}", refused.errors);
    }
}

#[test]
fn a_row_that_the_database_refuses_is_named_and_leaves_no_part_of_its_batch() {
    let setup = Setup::new(50);
    run(
        &setup.pools,
        "DROP TABLE customers; CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, email TEXT CHECK (id < 40))",
    );
    let refused = setup.program.run(&setup.arguments(&["--seed", "demo"]));
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("rejected rows 1 to 50 of customers"), "{}", refused.errors);
    assert_eq!(
        setup.query::<Number>("SELECT COUNT(*) AS number FROM customers").unwrap().number,
        0
    );
    assert_eq!(setup.progress().unwrap(), 0);
}

/// A run that finds neither rows nor progress, because another run has not committed them, must not write
/// after that run has ended.
#[test]
fn a_run_that_begins_while_another_ends_finds_its_rows() {
    let setup = Setup::new(5);
    let late = |db: &mut Db| {
        database::transaction(db, |db| {
            db.batch_execute(
                "CREATE TABLE generator_progress (table_name TEXT); INSERT INTO customers VALUES (1, 'a', 'b')",
            )?;
            let late = setup.program.start(&setup.arguments(&[]));
            let waiting = "SELECT COUNT(*) AS number FROM pg_locks WHERE NOT granted AND pid IN \
                 (SELECT pid FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
            // SQLite shows no waiting connections. There the run may also start after the commit.
            while let Db::Pg(db) = db
                && diesel::sql_query(waiting).get_result::<Number>(db)?.number == 0
            {
                std::thread::yield_now();
            }
            db.batch_execute("DROP TABLE generator_progress")?;
            Ok::<_, DatabaseError>(late)
        })
    };
    let mut late = setup.pools.write_blocking(late).unwrap();
    assert_eq!(late.wait(), Some(1));
    let rows = "SELECT COUNT(*) AS number FROM customers";
    assert_eq!(setup.query::<Number>(rows).unwrap().number, 1);
    let rows = "SELECT COUNT(*) AS number FROM orders";
    assert_eq!(setup.query::<Number>(rows).unwrap().number, 0);
    assert!(setup.progress().is_err());
}

#[test]
fn identity_columns_have_the_numbers_that_references_expect() {
    let setup = Setup::new(5);
    if setup.database.file().is_some() {
        // SQLite has no identity columns.
        return;
    }
    // The deleted rows used up numbers, as the rows of a killed run do.
    run(
        &setup.pools,
        "DROP TABLE orders; DROP TABLE customers;
        CREATE TABLE customers (id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers);
        INSERT INTO customers (name) VALUES ('a'), ('b'); DELETE FROM customers",
    );
    let schema = json!({"tables": [
        {"name": "customers", "rows": 6_000, "fields": [
            {"name": "id", "type": "sequence", "start": 1e3, "hidden": true},
            {"name": "name", "type": "person", "part": "fullName"}]},
        {"name": "orders", "rows": 50, "fields": [
            {"name": "id", "type": "sequence"},
            {"name": "customer", "type": "reference", "table": "customers", "field": "id"}]}]});
    let path = setup.program.folder().write("identity.json", schema.to_string());
    setup.program.done(&["records", path.to_str().unwrap(), "--into", setup.database.url()]);
    let largest = "SELECT CAST(MAX(id) AS BIGINT) AS number FROM customers";
    assert_eq!(setup.query::<Number>(largest).unwrap().number, 6_999);
}

#[test]
fn rows_for_proposed_identity_columns_and_partitions_are_accepted() {
    const TABLES: &str = "
        CREATE TABLE a (t INT NOT NULL, id INT GENERATED ALWAYS AS IDENTITY (START 10 INCREMENT 5 CACHE 1),
            n TEXT NOT NULL, PRIMARY KEY (t, id));
        CREATE TABLE b (id INT PRIMARY KEY, t INT NOT NULL, a INT NOT NULL, FOREIGN KEY (t, a) REFERENCES a);
        CREATE TABLE m (id INT NOT NULL, d DATE) PARTITION BY RANGE (d);
        CREATE TABLE m1 PARTITION OF m FOR VALUES FROM (MINVALUE) TO ('2024-02-01');
        CREATE TABLE m3 PARTITION OF m FOR VALUES FROM ('2024-03-01') TO ('2024-04-01');";
    let setup = Setup::new(1);
    if setup.database.file().is_some() {
        // SQLite has neither.
        return;
    }
    run(&setup.pools, TABLES);
    let file = setup.program.folder().write("tables.sql", TABLES);
    let schema = setup.program.done(&["schema", file.to_str().unwrap()]);
    let file = setup.program.folder().write("proposal.json", schema);
    let file = file.to_str().unwrap();
    let url = setup.database.url();
    setup.program.done(&["records", file, "-n", "60", "--seed", "s", "--into", url]);
    let rows = "SELECT COUNT(*) AS number FROM b JOIN a ON a.t = b.t AND a.id = b.a, \
        (SELECT COUNT(*) AS months FROM m) AS m WHERE months = 60";
    assert_eq!(setup.query::<Number>(rows).unwrap().number, 60);
}

#[test]
fn tables_are_found_by_the_name_of_their_schema() {
    let setup = Setup::new(1);
    let owner = if setup.database.file().is_some() { "main" } else { "public" };
    let name = format!("{owner}.customers");
    let mut value = schema(30);
    let mut table = value["tables"][1].take();
    table["name"] = name.as_str().into();
    let schema = json!({ "tables": [table] });
    let path = setup.program.folder().write("qualified.json", schema.to_string());
    let arguments = ["records", path.to_str().unwrap(), "--into", setup.database.url()];
    setup.program.done(&arguments);
    assert_eq!(
        setup.query::<Number>("SELECT COUNT(*) AS number FROM customers").unwrap().number,
        30
    );
    let refused = setup.program.run(&arguments);
    assert!(refused.errors.contains(&format!("{name} is not empty")), "{}", refused.errors);
}
