//! `records` schemas proposed for existing tables.

use database::{DatabaseError, Db};
use diesel::connection::SimpleConnection;
use serde_json::{Value, json};
use testkit::{Database, Program};

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_generator"))
}

/// Returns the proposal for a file, and the rows that are generated from it.
fn proposed(name: &str, text: &str, more: &[&str]) -> (Value, String) {
    let program = program();
    let file = program.folder().write(name, text);
    let mut arguments = vec!["schema", file.to_str().unwrap()];
    arguments.extend(more);
    let schema = program.done(&arguments);
    let rows = ["records", "-", "--seed", "demo", "-n", "40", "--format"];
    let form = if name.ends_with("sql") { "sql" } else { "json" };
    let made = program.pipe(&[&rows[..], &[form]].concat(), schema.as_bytes()).done();
    (serde_json::from_str(&schema).unwrap(), made)
}

const TABLES: &str = "
    CREATE TABLE customers (
        id INTEGER PRIMARY KEY, first_name VARCHAR(6) NOT NULL CHECK (length(first_name) <= 6),
        email VARCHAR(120) NOT NULL UNIQUE, code CHAR(6) UNIQUE CHECK (length(code) = 6), born DATE, active BOOLEAN);
    CREATE TABLE orders (
        id BIGINT PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers (id),
        status VARCHAR(20) NOT NULL CHECK (status IN ('new', 'paid', 'sent')),
        total NUMERIC(10, 2) CHECK (total >= 0 AND total <= 5000), parent BIGINT REFERENCES orders (id),
        placed TIMESTAMP NOT NULL);
    CREATE TABLE tags (tag VARCHAR(10) PRIMARY KEY);
    CREATE TABLE order_tags (
        order_id BIGINT NOT NULL REFERENCES orders (id), tag VARCHAR(10) NOT NULL REFERENCES tags (tag),
        PRIMARY KEY (order_id, tag));";

#[test]
fn rows_of_sql_tables_satisfy_the_constraints_of_a_real_database() {
    let (schema, rows) = proposed("shop.sql", TABLES, &[]);
    let database = Database::new();
    let pools = database.open(&[&auth::MIGRATIONS]);
    let filled = pools.write_blocking(move |db: &mut Db| {
        db.batch_execute(TABLES)?;
        Ok::<_, DatabaseError>(db.batch_execute(&rows)?)
    });
    filled.unwrap();
    assert_eq!(schema["tables"][3]["uniquePair"], json!(["order_id", "tag"]));
    let status = &schema["tables"][1]["fields"][2];
    assert_eq!(status["values"], json!(["new", "paid", "sent"]));
}

#[test]
fn tables_come_after_those_that_they_refer_to_and_dialects_are_understood() {
    let text = "CREATE TYPE mood AS ENUM ('a');
        CREATE TABLE b (id SERIAL PRIMARY KEY, a INTEGER REFERENCES a, at TIMESTAMPTZ, o INTEGER REFERENCES elsewhere);
        CREATE TABLE a (id UUID PRIMARY KEY, data JSONB);";
    let (schema, _) = proposed("pg.sql", text, &[]);
    let names = |schema: &Value| -> Vec<String> {
        schema["tables"]
            .as_array()
            .unwrap()
            .iter()
            .map(|table| table["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&schema), ["a", "b"]);
    assert_eq!(schema["tables"][1]["fields"][1]["field"], "id");
    // The file does not contain the table of the last reference.
    assert_eq!(schema["tables"][1]["fields"][3]["type"], "integer");
    let text = "CREATE TABLE `u` (`id` int unsigned NOT NULL AUTO_INCREMENT, `kind` enum('x','y') NOT NULL, \
        `flag` tinyint(1), `name` varchar(50), `mobile` varchar(20) UNIQUE, PRIMARY KEY (`id`), UNIQUE KEY `n` (`name`)) ENGINE=InnoDB;";
    let (schema, _) = proposed("my.sql", text, &[]);
    let fields = &schema["tables"][0]["fields"];
    assert_eq!(fields[0]["type"], "sequence");
    assert_eq!(fields[1]["values"], json!(["x", "y"]));
    assert_eq!((&fields[2]["type"], &fields[3]["unique"]), (&json!("boolean"), &json!(true)));
    let mobile = json!({"name": "mobile", "type": "phone", "unique": true, "nulls": 0.1});
    assert_eq!(fields[4], mobile);
}

#[test]
fn objects_of_a_json_schema_have_its_types_bounds_and_formats() {
    let document = json!({
        "title": "Person", "required": ["id", "age", "sku", "state"],
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "age": {"type": "integer", "minimum": 7, "exclusiveMaximum": 10},
            "sku": {"type": "string", "pattern": "^[A-Z]{3}\\d{4}$"},
            "state": {"enum": ["on", "off"]},
            "tags": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"enum": ["a", "b"]}},
            "home": {"$ref": "#/$defs/home"},
            "nick": {"type": ["string", "null"], "maxLength": 3},
            "kind": {"const": "web"},
            "both": {"allOf": [{"type": "integer"}, {"minimum": 3, "maximum": 5}]},
            "either": {"oneOf": [{"type": "null"}, {"type": "boolean"}]},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            "nothing": {"type": "null"},
            "fives": {"type": "integer", "multipleOf": 5, "minimum": 7, "maximum": 20},
            "cents": {"type": "number", "multipleOf": 0.001},
            "host": {"type": "string", "format": "hostname"},
            "lasts": {"type": "string", "format": "duration"},
            "where": {"type": "string", "format": "json-pointer"},
            "loop": {"$ref": "#/$defs/loop"},
            "small": {"$ref": "#/$defs/number", "maximum": 2},
            "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
        },
        "$defs": {"loop": {"$ref": "#/$defs/loop"}, "number": {"type": "integer", "minimum": 1, "maximum": 9}, "home": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}}
    });
    let (schema, rows) = proposed("person.json", &document.to_string(), &[]);
    assert_eq!(schema["name"], "Person");
    let duration = regex_automata::meta::Regex::new("^P([0-9]+[DMWY])?(T[0-9]+[HM])?$").unwrap();
    let sku = regex_automata::meta::Regex::new("^[A-Z]{3}[0-9]{4}$").unwrap();
    for row in serde_json::from_str::<Vec<Value>>(&rows).unwrap() {
        assert!([7, 8, 9].contains(&row["age"].as_i64().unwrap()), "{row}");
        assert!(sku.is_match(row["sku"].as_str().unwrap()), "{row}");
        assert!(row["state"] == "on" || row["state"] == "off", "{row}");
        assert_eq!(row["id"].as_str().unwrap().len(), 36);
        assert!(row["tags"][1] == "a" || row["tags"][1] == "b", "{row}");
        assert!(row["home"]["city"].is_string(), "{row}");
        assert!(row["nick"].as_str().is_none_or(|nick| nick.len() <= 3), "{row}");
        assert!(row["kind"] == "web" && row["nothing"].is_null(), "{row}");
        assert!((3..=5).contains(&row["both"].as_i64().unwrap()), "{row}");
        assert!(row["either"].is_null() || row["either"].is_boolean(), "{row}");
        assert!(row["pair"][0].is_i64() && row["pair"][1].is_null(), "{row}");
        assert!([10, 15, 20].contains(&row["fives"].as_i64().unwrap()), "{row}");
        assert!(duration.is_match(row["lasts"].as_str().unwrap()), "{row}");
        assert!(row["where"].as_str().unwrap().starts_with('/'), "{row}");
        assert!(row["host"].as_str().unwrap().ends_with(".example"), "{row}");
        assert!((1..=2).contains(&row["small"].as_i64().unwrap()), "{row}");
        let share = row["share"].as_f64().unwrap();
        assert!(share > 0.0 && share < 1.0, "{row}");
    }
    let decimals = |name: &str| {
        let mut fields = schema["fields"].as_array().unwrap().iter();
        fields.find(|field| field["name"] == name).unwrap()["decimals"].clone()
    };
    assert_eq!(decimals("cents"), 3);
    let openapi = include_str!("../../openapi.json");
    let (_, rows) = proposed("openapi.json", openapi, &["--component", "CardAnswer"]);
    assert!(serde_json::from_str::<Value>(&rows).unwrap()[0]["cardNumber"].is_string());
    let program = program();
    let file = program.folder().write("openapi.json", openapi);
    let refused = program.run(&["schema", file.to_str().unwrap()]);
    assert!(refused.code == Some(1) && refused.errors.contains("CardAnswer"), "{}", refused.errors);
}

#[test]
fn proposal_from_a_sample_has_names_and_shapes_but_no_values() {
    let sample = "Kennung;Name;Preis;Wann;Notiz;Aktiv\r\n\
        QX-7731;Zebulon Quist;83.25;2019-08-17;\"frob;nicate\";true\r\n\
        ZZ-0042;Ottoline Varga;7.10;2020-01-02;;false\r\n";
    let (schema, rows) = proposed("sample.csv", sample, &[]);
    let shown = format!("{schema}{rows}");
    for value in ["QX", "7731", "Zebulon", "Varga", "83.25", "2019-08-17", "frob"] {
        assert!(!shown.contains(value), "{value}: {shown}");
    }
    let types: Vec<_> = schema["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["pattern", "person", "decimal", "date", "text", "boolean"]);
    assert_eq!(schema["fields"][0]["regex"], "[A-Z]{2}\\-[0-9]{4}");
    let (numbers, _) =
        proposed("n.csv", "id,PLZ,shade,age\n1,10115,#ff0000,7\n2,80331,#00ff00,8\n", &[]);
    let types: Vec<_> =
        numbers["fields"].as_array().unwrap().iter().map(|field| field["type"].clone()).collect();
    assert_eq!(types, ["sequence", "person", "colour", "integer"]);
    let (codes, _) = proposed("code.csv", "Rufnr\n+4930111222\n+4940333444\n", &[]);
    assert_eq!(codes["fields"][0]["regex"], "\\+[0-9]{10}");
    assert_eq!(schema["fields"][2]["max"], 100.0);
    assert_eq!(schema["fields"][4]["nulls"], 0.1);
}

#[test]
fn byte_order_marks_arrays_and_repeated_names_are_accepted() {
    let array = "\u{feff}{\"type\": \"array\", \"items\": {\"properties\": {\"n\": {\"type\": \"integer\"}}}}";
    let (schema, _) = proposed("array.json", array, &[]);
    assert_eq!(schema["fields"][0]["name"], "n");
    let (schema, _) = proposed("mark.sql", "\u{feff}CREATE TABLE a (n INT);", &[]);
    assert_eq!(schema["tables"][0]["name"], "a");
    let (schema, rows) = proposed("twice.csv", "a,a,\"x\"\"y\",\n1,2,3,4\n", &[]);
    let names: Vec<_> =
        schema["fields"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["a", "a_2", "xy", "_4"]);
    assert!(rows.contains("\"a_2\""));
    let program = program();
    let marked = program
        .folder()
        .write("m.json", "\u{feff}{\"fields\": [{\"name\": \"a\", \"type\": \"sequence\"}]}");
    assert_eq!(program.done(&["records", marked.to_str().unwrap(), "-n", "1"]), "{\"a\":1}\n");
}

#[test]
fn unsupported_files_are_refused_with_the_reason() {
    let program = program();
    for (name, text, reason) in [
        ("a.sql", "CREATE TABLE (", "sql parser error"),
        ("b.sql", "SELECT 1", "no CREATE TABLE"),
        ("c.json", "[", "is not JSON"),
        ("d.json", "{}", "does not have any properties"),
        ("e.csv", "", "has no header"),
        ("f.txt", "x", "use --kind"),
    ] {
        let file = program.folder().write(name, text);
        let refused = program.run(&["schema", file.to_str().unwrap()]);
        assert!(
            refused.code == Some(1) && refused.errors.contains(reason),
            "{name}: {}",
            refused.errors
        );
    }
}

/// As pg_dump 15 writes it: keys and references follow the tables.
const PG_DUMP: &str = r#"
--
-- PostgreSQL database dump
--

\restrict KE9SsqhEqxwIExhagWMvLNcsh1GEDbfVBQIS3KVqM9w2fuTx9aKU6Ngnd12ya7W

SELECT pg_catalog.set_config('search_path', '', false);
CREATE SCHEMA app;
CREATE TYPE app.mood AS ENUM (
    'Sad',
    'ok; really'
);
CREATE FUNCTION app.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN CREATE TABLE no (a int); END; $$;
CREATE TABLE app."order" (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    total numeric(12,2) NOT NULL,
    twice numeric GENERATED ALWAYS AS ((total * (2)::numeric)) STORED
);
CREATE TABLE app.customer (
    id bigint NOT NULL,
    email character varying(120) NOT NULL,
    m app.mood,
    tags text[],
    status text,
    CONSTRAINT customer_status_check CHECK ((status = ANY (ARRAY['new'::text, 'old'::text])))
);
ALTER TABLE app.customer ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME app.customer_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
COPY app.customer (id, email, m, status) FROM stdin;
1	it's;	Sad	new
\.
ALTER TABLE ONLY app.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);
ALTER TABLE ONLY app."order"
    ADD CONSTRAINT order_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX customer_email ON app.customer USING btree (email);
ALTER TABLE ONLY app."order"
    ADD CONSTRAINT order_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES app.customer(id) ON DELETE CASCADE;
\unrestrict KE9SsqhEqxwIExhagWMvLNcsh1GEDbfVBQIS3KVqM9w2fuTx9aKU6Ngnd12ya7W
"#;

/// As mysqldump of MariaDB 10.11 writes it.
const MYSQLDUMP: &str = r"/*M!999999\- enable the sandbox mode */
-- Host: localhost    Database: shop
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `customers`;
CREATE TABLE `customers` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `group` enum('Gold','None') DEFAULT 'None',
  `twice` varchar(80) GENERATED ALWAYS AS (concat(`id`,'x')) STORED,
  PRIMARY KEY (`id`),
  CONSTRAINT `CONSTRAINT_1` CHECK (`id` >= 0)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=latin1 COLLATE=latin1_swedish_ci COMMENT='it''s; a table';
LOCK TABLES `customers` WRITE;
INSERT INTO `customers` VALUES
(1,'o\'brien;@x'),
(2,'b\\');
DELIMITER ;;
/*!50003 CREATE*/ /*!50003 TRIGGER t BEFORE INSERT ON orders FOR EACH ROW BEGIN SET NEW.note='a;b'; END */;;
DELIMITER ;
CREATE TABLE `orders` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `customer_id` int(10) unsigned NOT NULL,
  PRIMARY KEY (`id`),
  KEY `f` (`customer_id`),
  CONSTRAINT `f` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=latin1;
";

/// As `.dump` of SQLite 3.40 writes it.
const SQLITE_DUMP: &str = r#"PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, "full name" TEXT NOT NULL, kind TEXT CHECK(kind IN ('X','y')));
INSERT INTO a VALUES(1,'C:\',NULL);
CREATE TABLE [b] (a_id INTEGER REFERENCES a, w, PRIMARY KEY(a_id)) WITHOUT ROWID;
DELETE FROM sqlite_sequence;
CREATE TRIGGER tr AFTER INSERT ON a BEGIN UPDATE a SET kind='X;'; END;
COMMIT;
"#;

#[test]
fn dumps_of_three_databases_are_read_with_their_data() {
    let (schema, rows) = proposed("pg.sql", PG_DUMP, &[]);
    assert_eq!(
        schema["tables"],
        json!([
            {"name": "app.customer", "fields": [
                {"name": "id", "type": "sequence", "hidden": true},
                {"name": "email", "type": "person", "part": "email"},
                {"name": "m", "type": "choice", "values": ["Sad", "ok; really"], "nulls": 0.1},
                {"name": "tags", "type": "constant", "value": "{}", "nulls": 0.1},
                {"name": "status", "type": "choice", "values": ["new", "old"], "nulls": 0.1}]},
            {"name": "app.order", "fields": [
                {"name": "id", "type": "sequence"},
                {"name": "customer_id", "type": "reference", "table": "app.customer", "field": "id"},
                {"name": "total", "type": "decimal", "decimals": 2}]}])
    );
    assert!(!rows.contains("twice") && rows.contains("'ok; really'"), "{rows}");
    assert!(rows.contains("INSERT INTO \"app\".\"order\" (\"id\""), "{rows}");
    let (schema, _) = proposed("my.sql", MYSQLDUMP, &[]);
    let tables = &schema["tables"];
    assert_eq!(tables[0]["fields"].as_array().unwrap().len(), 2, "{schema}");
    assert_eq!(tables[0]["fields"][1]["values"], json!(["Gold", "None"]));
    assert_eq!(tables[1]["fields"][1]["table"], "customers");
    let (schema, _) = proposed("lite.sql", SQLITE_DUMP, &[]);
    let tables = &schema["tables"];
    assert_eq!((&tables[0]["name"], &tables[1]["name"]), (&json!("a"), &json!("b")));
    assert_eq!(tables[0]["fields"][2]["values"], json!(["X", "y"]));
    assert_eq!(tables[1]["fields"][0]["table"], "a");
    let program = program();
    let wrong = program.folder().write("wrong.sql", "SELECT 1;\n\nCREATE TABLE a (b INT;\n");
    let refused = program.run(&["schema", wrong.to_str().unwrap()]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("the table at line 3"), "{}", refused.errors);
}

#[test]
fn sample_values_are_recognised_under_any_column_name() {
    let sample = "order_id,at,since,where,hash,version,rate,currency,month,word,mac\n\
        20,2024-01-02 10:11:12,2024-01-02T00:00:00Z,10.0.0.1,d41d8cd98f00b204e9800998ecf8427e,1.2.3,12%,EUR,5,alpha,0a:1b:2c:3d:4e:5f\n\
        10,2024-02-03 23:59:59,2024-01-03T00:00:00Z,192.168.1.20,00b204e9800998ecf8427e00d41d8cd9,1.10.0,7%,USD,11,beta,02:00:00:00:00:01\n";
    let (schema, rows) = proposed("orders.csv", sample, &[]);
    let shown: Vec<_> = schema["fields"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|field| field["hidden"] != true)
        .map(|field| (field["type"].as_str().unwrap(), field["regex"].as_str().unwrap_or_default()))
        .collect();
    let expected = [
        ("sequence", ""),
        ("expression", ""),
        ("timestamp", ""),
        ("ip", ""),
        ("pattern", "[0-9a-f]{32}"),
        ("pattern", r"[0-9]\.[0-9]{1,2}\.[0-9]"),
        ("pattern", "[0-9]{1,2}%"),
        ("choice", ""),
        ("integer", ""),
        ("text", ""),
        ("mac", ""),
    ];
    assert_eq!(shown, expected);
    for row in serde_json::from_str::<Vec<Value>>(&rows).unwrap() {
        assert_eq!(row["at"].as_str().unwrap().len(), 19, "{row}");
        assert_eq!(row["currency"].as_str().unwrap().len(), 3, "{row}");
        assert!((1..=12).contains(&row["month"].as_u64().unwrap()), "{row}");
    }
    let (schema, _) =
        proposed("t.sql", "CREATE TABLE t (age INT NOT NULL, month INT CHECK (month < 4));", &[]);
    let fields = &schema["tables"][0]["fields"];
    assert_eq!((&fields[0]["max"], &fields[1]["max"]), (&json!(99), &json!(3)));
}
