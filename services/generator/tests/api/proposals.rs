//! Proposals for tables and documents that once gave wrong rows or were refused by `records`.

use serde_json::{Value, json};
use testkit::Program;

/// A proposal, and what rows may break.
pub struct Proposal {
    pub schema: Value,
    pub broken: String,
    /// Rows of the proposal.
    pub rows: Value,
}

impl Proposal {
    /// Proposes a schema for a file, and generates its rows.
    fn of(name: &str, text: &str, more: &[&str]) -> Self {
        let program = Program::new(env!("CARGO_BIN_EXE_generator"));
        let file = program.folder().write(name, text);
        let made = program.run(&[&["schema", file.to_str().unwrap()], more].concat());
        assert_eq!(made.code, Some(0), "{text}: {}", made.errors);
        let records = ["records", "-", "--seed", "demo", "-n", "200", "--format", "json"];
        let rows = program.pipe(&records, made.out.as_bytes()).done();
        let broken = made.errors.lines().filter(|line| line.starts_with("the rows may violate"));
        let broken = broken.map(|line| format!("{line}\n"));
        Self {
            schema: serde_json::from_str(&made.out).unwrap(),
            broken: broken.collect(),
            rows: serde_json::from_str(&rows).unwrap(),
        }
    }

    pub fn sql(text: &str) -> Self {
        Self::of("a.sql", text, &[])
    }

    pub fn json(document: &Value) -> Self {
        Self::of("a.json", &document.to_string(), &[])
    }

    fn csv(text: &str) -> Self {
        Self::of("a.csv", text, &[])
    }

    pub fn fields(&self, table: usize) -> &Value {
        &self.schema["tables"][table]["fields"]
    }

    /// Returns the names of the tables.
    pub fn tables(&self) -> Vec<&str> {
        let tables = self.schema["tables"].as_array().unwrap().iter();
        tables.map(|table| table["name"].as_str().unwrap()).collect()
    }

    /// Returns the only table's values in a column.
    pub fn values(&self, name: &str) -> Vec<Value> {
        self.rows.as_array().unwrap().iter().map(|row| row[name].clone()).collect()
    }
}

fn names(fields: &Value) -> Vec<&str> {
    fields.as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap()).collect()
}

#[test]
fn texts_that_equal_their_lower_case_have_no_capitals() {
    let slugs = Proposal::sql(
        "CREATE TABLE t (id INT PRIMARY KEY, slug TEXT NOT NULL CHECK (slug = lower(slug)),
            email TEXT NOT NULL CHECK (email = lower(email)));",
    );
    assert_eq!(slugs.broken, "");
    for name in ["slug", "email"] {
        for value in slugs.values(name) {
            let text = value.as_str().unwrap();
            assert_eq!(text, text.to_lowercase());
        }
    }
    let mixed = Proposal::sql("CREATE TABLE t (c TEXT CHECK (c = lower(c) AND c = upper(c)));");
    assert!(mixed.broken.contains("t: CHECK"), "{}", mixed.broken);
    let mixed =
        Proposal::sql("CREATE TABLE t (c TEXT CHECK (c ~ '^[A-Z]+$'), CHECK (c = lower(c)));");
    assert!(mixed.broken.contains("lower(c)"), "{}", mixed.broken);
}

#[test]
fn several_checks_of_a_column_hold_together_or_are_named() {
    for (checks, expected) in [
        ("n IN (1, 5, 10)), CHECK (n > 4", json!([5, 10])),
        ("n > 4), CHECK (n IN (1, 5, 10)", json!([5, 10])),
        ("n IN (1, 2, 3)), CHECK (n IN (3, 4)", json!([3])),
        ("n IN (1, 2, 3)), CHECK (n = 2", json!([2])),
    ] {
        let made = Proposal::sql(&format!("CREATE TABLE t (n INT NOT NULL, CHECK ({checks}));"));
        assert_eq!(
            (made.broken.as_str(), &made.fields(0)[0]["values"]),
            ("", &expected),
            "{checks}"
        );
    }
    for (checks, named) in [
        ("code ~ '^[A-Z]{3}$'), CHECK (code LIKE 'A%'", "CHECK (code LIKE 'A%')"),
        ("code IN ('a')), CHECK (code IN ('b')", "CHECK (code IN ('b'))"),
        ("code IN ('a')), CHECK (length(code) = 4", "the checks of code together"),
    ] {
        let made =
            Proposal::sql(&format!("CREATE TABLE t (code TEXT NOT NULL, CHECK ({checks}));"));
        assert!(made.broken.contains(named), "{checks}: {}", made.broken);
    }
    let kept =
        Proposal::sql("CREATE TABLE t (c TEXT CHECK (c IN ('ab', 'b')), CHECK (c LIKE 'a%'));");
    assert_eq!((kept.broken.as_str(), &kept.fields(0)[0]["values"]), ("", &json!(["ab"])));
}

#[test]
fn patterns_fit_the_width_of_their_column_and_addresses_their_pattern() {
    let wide =
        Proposal::sql("CREATE TABLE t (code VARCHAR(3) NOT NULL CHECK (code ~ '^[A-Z]+$'));");
    assert!(wide.broken.contains("CHECK (code ~ '^[A-Z]+$')"), "{}", wide.broken);
    let narrow =
        Proposal::sql("CREATE TABLE t (code VARCHAR(3) NOT NULL CHECK (code ~ '^[A-Z]{2,3}$'));");
    assert_eq!(
        (narrow.broken.as_str(), &narrow.fields(0)[0]["regex"]),
        ("", &json!("^[A-Z]{2,3}$"))
    );
    let own = Proposal::sql(
        r"CREATE TABLE t (email TEXT NOT NULL CHECK (email ~ '^[a-z]+@corp\.com$'));",
    );
    assert_eq!(own.broken, "");
    for value in own.values("email") {
        assert!(value.as_str().unwrap().ends_with("@corp.com"), "{value}");
    }
    let any = Proposal::sql(
        r"CREATE TABLE t (email TEXT NOT NULL CHECK (email ~* '^[A-Z0-9._%+-]+@[A-Z0-9.-]+\.[A-Z]{2,}$'));",
    );
    assert_eq!((any.broken.as_str(), &any.fields(0)[0]["part"]), ("", &json!("email")));
}

#[test]
fn the_order_of_checks_does_not_matter() {
    let checks = ["CHECK (a < b)", "CHECK (b < 10)"];
    let table = |checks: &str| {
        Proposal::sql(&format!(
            "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL, b INT NOT NULL, {checks});"
        ))
    };
    let made = table(&checks.join(", "));
    assert_eq!(made.schema, table("CHECK (b < 10), CHECK (a < b)").schema);
    assert_eq!(made.schema, table("CHECK (a < b AND b < 10)").schema);
    for (low, high) in made.values("a").iter().zip(made.values("b")) {
        assert!(low.as_i64() < high.as_i64() && high.as_i64() < Some(10), "{low} {high}");
    }
}

#[test]
fn backtick_in_a_comment_hides_no_table() {
    let made = Proposal::sql(
        "COMMENT ON SCHEMA public IS 'see `README`';
        CREATE TABLE a (id INTEGER PRIMARY KEY, d JSONB);
        CREATE INDEX i ON a ((d #>> '{x,y}'));
        CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER NOT NULL REFERENCES a);",
    );
    assert_eq!(made.tables(), ["a", "b"]);
}

#[test]
fn letter_case_of_unquoted_names_does_not_matter() {
    for reference in ["Users(ID)", "users(ID)", "USERS"] {
        let made = Proposal::sql(&format!(
            "CREATE TABLE users (id INTEGER PRIMARY KEY);
            CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES {reference});"
        ));
        let field = &made.fields(1)[1];
        assert_eq!(
            (&field["table"], &field["field"]),
            (&json!("users"), &json!("id")),
            "{reference}"
        );
    }
    let made = Proposal::sql(
        "CREATE TABLE users (id INTEGER, a INT); CREATE TABLE o (u INT NOT NULL);
        ALTER TABLE Users ADD PRIMARY KEY (ID); CREATE UNIQUE INDEX i ON USERS (A);
        ALTER TABLE O ADD FOREIGN KEY (U) REFERENCES Users;",
    );
    assert_eq!(made.fields(0)[0], json!({"name": "id", "type": "sequence"}));
    assert_eq!(made.fields(0)[1]["unique"], true);
    assert_eq!(made.fields(1)[0]["field"], "id");
    // PostgreSQL folds names, unless they are quoted.
    let made = Proposal::sql(
        "CREATE TABLE Customers (Id INTEGER PRIMARY KEY, \"FullName\" TEXT NOT NULL);",
    );
    assert_eq!((made.tables(), names(made.fields(0))), (vec!["customers"], vec!["id", "FullName"]));
    let made = Proposal::sql("CREATE TABLE Customers (Id INTEGER PRIMARY KEY AUTO_INCREMENT);");
    assert_eq!((made.tables(), names(made.fields(0))), (vec!["Customers"], vec!["Id"]));
}

#[test]
fn alter_table_is_followed_or_reported() {
    let made = Proposal::sql(
        "DROP TABLE IF EXISTS users;
        CREATE TABLE users (id INTEGER PRIMARY KEY, old INT, note TEXT);
        CREATE TABLE gone (id INT);
        ALTER TABLE users ADD COLUMN email TEXT NOT NULL UNIQUE;
        ALTER TABLE users ADD COLUMN code TEXT NOT NULL CHECK (code IN ('a', 'b'));
        ALTER TABLE users DROP COLUMN old;
        ALTER TABLE users ALTER COLUMN note SET NOT NULL;
        ALTER TABLE users OWNER TO me;
        ALTER TABLE users RENAME TO people;
        DROP TABLE gone;",
    );
    assert_eq!(made.tables(), ["users"]);
    assert_eq!(names(made.fields(0)), ["id", "note", "email", "code"]);
    assert!(made.fields(0)[1]["nulls"].is_null(), "{}", made.schema);
    assert_eq!(made.fields(0)[3]["values"], json!(["a", "b"]));
    assert_eq!(made.broken, "the rows may violate users: ALTER TABLE users RENAME TO people\n");
}

#[test]
fn partitions_are_read_where_they_are_created() {
    for by in [" PARTITION BY RANGE (at)", "\npartition by range (at)"] {
        let made = Proposal::sql(&format!(
            "CREATE TABLE m (id BIGINT NOT NULL, at DATE NOT NULL){by};
            CREATE TABLE m1 PARTITION OF m FOR VALUES FROM ('2024-01-01') TO ('2024-07-01');
            CREATE TABLE m2 PARTITION OF m
                FOR VALUES FROM ('2024-07-01') TO ('2024-09-01');"
        ));
        assert_eq!((made.tables(), made.broken.as_str()), (vec!["m"], ""));
        let at = json!({"name": "at", "type": "date", "min": "2024-01-01", "max": "2024-08-31"});
        assert_eq!(made.fields(0)[1], at);
    }
}

#[test]
fn tables_whose_comments_mention_partitions_are_kept() {
    for words in ["number of the partition of the disk", "attach partition of x for values of y"] {
        let made = Proposal::sql(&format!(
            "CREATE TABLE disks (id INT PRIMARY KEY, part INT NOT NULL, -- {words}
                size INT DEFAULT 0);
            CREATE TABLE other (id INT PRIMARY KEY);"
        ));
        assert_eq!((made.tables(), made.broken.as_str()), (vec!["disks", "other"], ""));
    }
}

#[test]
fn partitions_after_table_options_of_mysql_are_read() {
    for options in ["\n", " ", " DEFAULT CHARSET=utf8mb4\n"] {
        let made = Proposal::sql(&format!(
            "CREATE TABLE t (id int NOT NULL, y int NOT NULL) ENGINE=InnoDB{options}PARTITION BY RANGE (`y`)
            (PARTITION p0 VALUES LESS THAN (10));"
        ));
        assert_eq!((made.tables(), names(made.fields(0))), (vec!["t"], vec!["id", "y"]));
        assert_eq!(made.broken, "the rows may violate t: the partitioning by y\n");
    }
    // These words are part of a text.
    let made = Proposal::sql(
        "CREATE TABLE t (a VARCHAR(9) NOT NULL DEFAULT 'partition by (x)', b INT NOT NULL);",
    );
    assert_eq!((names(made.fields(0)), made.broken.as_str()), (vec!["a", "b"], ""));
}

#[test]
fn objects_and_arrays_without_a_type_are_recognised() {
    let made = Proposal::json(&json!({"properties": {
        "a": {"properties": {"b": {"type": "integer"}}}, "l": {"items": {"type": "integer"}},
        "page": {"$ref": "#/$defs/Page%3CUser%3E"}, "far": {"$ref": "other.json#/x"}},
        "$defs": {"Page<User>": {"type": "boolean"}}}));
    for row in made.rows.as_array().unwrap() {
        assert!(
            row["a"]["b"].is_i64() && row["l"][0].is_i64() && row["page"].is_boolean(),
            "{row}"
        );
    }
    assert!(made.broken.contains("the reference other.json#/x"), "{}", made.broken);
}

#[test]
fn the_deepest_objects_are_empty_objects_or_left_out() {
    let mut schema = json!({"type": "integer"});
    for _ in 0..8 {
        schema = json!({"required": ["o"], "properties": {"o": schema.clone(), "p": schema}});
    }
    let made = Proposal::json(&schema);
    let row = &made.rows[0];
    assert_eq!(row["o"]["o"]["o"]["o"], json!({"o": {}}));
    assert!(row["p"]["o"]["o"]["o"]["p"].is_null(), "{row}");
    // An object that contains itself many times could have millions of fields.
    let names: Vec<_> = (0..60).map(|number| format!("p{number}")).collect();
    let own = json!({"$ref": "#/$defs/node"});
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), own.clone())).collect();
    let node = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": properties}}});
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let file = program.folder().write("node.json", node.to_string());
    let made = program.done(&["schema", file.to_str().unwrap()]);
    assert!(made.matches("\"name\"").count() < 5_000, "{}", made.len());
}

#[test]
fn bounds_that_no_field_can_have_are_moved_inside() {
    let made = Proposal::csv(
        "id,name,big\n1234567890123456789,x,9234567890123456\n2234567890123456789,y,8234567890123456\n",
    );
    assert_eq!(made.schema["fields"][0]["regex"], "[0-9]{19}");
    let made = Proposal::json(&json!({"properties": {
        "a": {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX},
        "b": {"type": "number", "maximum": 1e300}, "c": {"type": "number", "minimum": -1e300}}}));
    assert_eq!(made.schema["fields"][0]["max"], (1_i64 << 53) - 1);
    let made = Proposal::sql("CREATE TABLE t (q SMALLINT NOT NULL CHECK (q >= 40000 OR q < 0));");
    assert_eq!(made.broken, "");
    let is_small = |value: &Value| (-32_768..0).contains(&value.as_i64().unwrap());
    assert!(made.values("q").iter().all(is_small));
    for (check, first, last) in [
        (">= '2035-06-01'", "2035-06-01", "2036-05-31"),
        ("<= '1990-06-01'", "1989-06-01", "1990-06-01"),
    ] {
        for kind in ["DATE", "TIMESTAMP"] {
            let made =
                Proposal::sql(&format!("CREATE TABLE t (a {kind} NOT NULL CHECK (a {check}));"));
            for value in made.values("a") {
                let day = &value.as_str().unwrap()[..10];
                assert!((first..=last).contains(&day), "{kind} {check}: {day}");
            }
        }
    }
}

#[test]
fn names_that_no_field_can_have_are_cut_or_left_out() {
    let long = "x".repeat(70);
    let made = Proposal::json(&json!({"title": long, "properties": {"a\"b": {"type": "boolean"}}}));
    assert_eq!(names(&made.schema["fields"]), ["ab"]);
    assert!(
        made.broken.contains("the property a\"b") && made.broken.contains(&long),
        "{}",
        made.broken
    );
    // Names that then collide get a number.
    let (first, second) = (format!("{long}1"), format!("{long}2"));
    let made = Proposal::json(&json!({"properties": {
        "a\"b": {"type": "boolean"}, "ab": {"type": "boolean"},
        (first.as_str()): {"type": "boolean"}, (second.as_str()): {"type": "boolean"}}}));
    let short = "x".repeat(50);
    let numbered = format!("{short}_4");
    let found = names(&made.schema["fields"]);
    assert_eq!(found, ["ab_1", "ab", short.as_str(), numbered.as_str()]);
    let made = Proposal::sql("CREATE TABLE t (id INT, \"a\"\"b\" INT);");
    assert_eq!(names(made.fields(0)), ["id"]);
    assert!(made.broken.contains("the column a"), "{}", made.broken);
    let made = Proposal::sql(
        "CREATE TABLE t (begins DATE NOT NULL, ends DATE NOT NULL, ends_days INT, CHECK (ends >= begins));",
    );
    assert_eq!(names(made.fields(0)), ["begins", "ends_days_", "ends", "ends_days"]);
}

#[test]
fn patterns_that_cannot_be_read_are_named() {
    let made = Proposal::json(
        &json!({"properties": {"zip": {"type": "string", "pattern": r"^(?!000)\d{5}$"}}}),
    );
    assert!(made.broken.contains(r"the pattern ^(?!000)\d{5}$ of zip"), "{}", made.broken);
}

#[test]
fn exclusive_bounds_multiples_and_empty_arrays_of_json_schema_are_kept() {
    let made = Proposal::json(&json!({"properties": {
        "a": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 2, "exclusiveMaximum": true},
        "none": {"type": "array", "maxItems": 0, "items": {"type": "integer"}},
        "quarter": {"type": "number", "multipleOf": 0.25, "minimum": 0.1, "maximum": 2},
        "huge": {"type": "integer", "multipleOf": i64::MAX}}}));
    for row in made.rows.as_array().unwrap() {
        assert_eq!((&row["a"], &row["none"]), (&json!(1), &json!([])), "{row}");
        let quarters = row["quarter"].as_f64().unwrap() * 4.0;
        assert!(quarters.fract() == 0.0 && (1.0..=8.0).contains(&quarters), "{row}");
    }
    let made = Proposal::sql("CREATE TABLE t (code TEXT CHECK (char_length(code) > 99999999999));");
    assert!(made.broken.contains("99999999999"), "{}", made.broken);
}

#[test]
fn blank_lines_and_quoted_separators_of_samples_do_not_count() {
    let made = Proposal::csv("id,email\n1,a@b.de\n2,c@d.de\n\n");
    assert_eq!(made.schema["fields"][0], json!({"name": "id", "type": "sequence"}));
    let made = Proposal::csv("\"a,b,c\";d\n1;2\n3;5\n");
    assert_eq!(names(&made.schema["fields"]), ["a,b,c", "d"]);
}

#[test]
fn samples_may_have_any_separator_and_quotes_within_texts() {
    for (text, expected) in [
        ("sep=;\r\nid;tool\r\n1;saw\r\n2;axe\r\n", ["id", "tool"]),
        ("id|tool\n1|saw\n2|axe\n", ["id", "tool"]),
        ("id\ttool\r1\tsaw\r2\taxe\r", ["id", "tool"]),
        ("id, \"tool, old\"\n1, \"5\"\" nail\"\n2,saw\n", ["id", "tool, old"]),
    ] {
        let made = Proposal::csv(text);
        assert_eq!(names(&made.schema["fields"]), expected, "{text}");
        assert_eq!(made.schema["fields"][0]["type"], "sequence", "{text}");
    }
    let made = Proposal::csv("size,n\n5\" nail,7\n6\" nail,5\n");
    assert_eq!(made.schema["fields"][0]["regex"], "[0-9]\" [a-z]{4}");
    assert_eq!(made.schema["fields"][1]["type"], "integer");
}

#[test]
fn samples_have_numbers_answers_and_dates_of_other_countries() {
    let made = Proposal::csv(
        "Preis;Menge;Rabatt;Bezahlt;Termin;When;Kaputt\n\
         1.234,50;1.000;0,5;Ja;31.12.2024;12/31/2024;40.12.2024\n\
         7,25;2.500;0,25;Nein;01.02.2023;1/2/2023;01.02.2023\n",
    );
    let kinds = ["Preis", "Menge", "Rabatt", "Bezahlt"].map(|name| {
        let mut fields = made.schema["fields"].as_array().unwrap().iter();
        fields.find(|field| field["name"] == name).unwrap()["type"].clone()
    });
    assert_eq!(kinds, ["decimal", "decimal", "decimal", "choice"]);
    let matches = |name: &str, regex: &str| {
        let regex = regex_automata::meta::Regex::new(regex).unwrap();
        made.values(name).iter().all(|value| regex.is_match(value.as_str().unwrap()))
    };
    assert!(matches("Bezahlt", "^(Ja|Nein)$"));
    assert!(matches("Termin", r"^(0[1-9]|[12][0-9])\.(0[1-9]|1[0-2])\.(19|20)[0-9]{2}$"));
    assert!(matches("When", "^[1-9][0-2]?/([1-9]|[12][0-9])/(19|20)[0-9]{2}$"));
    assert!(matches("Kaputt", r"^[0-9]{2}\.[0-9]{2}\.[0-9]{4}$"));
    let made = Proposal::csv("amount,fee\n\"1,234.50\",1\n\"17,000\",2\n");
    assert_eq!(made.schema["fields"][0]["max"], 100_000.0);
    assert!(!made.schema.to_string().contains("1234"));
}

#[test]
fn parts_of_tables_that_no_dialect_understands_are_left_out_and_named() {
    let made = Proposal::sql(
        "CREATE TABLE a (id INT PRIMARY KEY, n INT NOT NULL, -- it's (odd\n
            EXCLUDE USING gist (n WITH =), odd integer ARRAY, note TEXT DEFAULT '),(');
         ALTER TABLE ONLY public.a ADD CONSTRAINT x EXCLUDE USING gist (id WITH =);",
    );
    assert_eq!(names(made.fields(0)), ["id", "n", "note"]);
    for text in ["a: EXCLUDE USING gist (n WITH =)", "a: odd integer ARRAY", "(id WITH =)"] {
        assert!(made.broken.contains(text), "{}", made.broken);
    }
}

#[test]
fn tables_have_inherited_and_copied_columns() {
    let made = Proposal::sql(
        "CREATE TABLE base (id INT NOT NULL, kind VARCHAR(3) NOT NULL CHECK (kind IN ('a', 'b')));
         CREATE TABLE child (extra BOOLEAN NOT NULL, ID INT PRIMARY KEY) INHERITS (public.base);
         CREATE TABLE empty () INHERITS (child);
         CREATE TABLE copy (LIKE base INCLUDING ALL, more DATE NOT NULL);",
    );
    let found: Vec<_> = (0..4).map(|table| names(made.fields(table))).collect();
    let [child, copy] = [["kind", "extra", "id"], ["id", "kind", "more"]];
    assert_eq!(found, [&["id", "kind"][..], &child, &child, &copy]);
    assert_eq!(made.fields(3)[1]["values"], json!(["a", "b"]));
    let made = Proposal::sql(
        "CREATE TABLE `a` (`id` INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB;\nCREATE TABLE `b` LIKE `a`;",
    );
    assert_eq!((made.tables(), names(made.fields(1))), (vec!["a", "b"], vec!["id"]));
}

#[test]
fn accounts_coordinates_and_unique_identifiers_are_never_null_or_impossible() {
    let made = Proposal::sql(
        "CREATE TABLE t (iban VARCHAR(34) NOT NULL, lat NUMERIC(8,6) NOT NULL CHECK (lat BETWEEN -90 AND 90),
            longitude DOUBLE PRECISION NOT NULL, lon NUMERIC(4,2), uuid CHAR(36) NOT NULL UNIQUE, guid CHAR(32) NOT NULL);",
    );
    let types = ["iban", "latitude", "longitude", "decimal", "uuid"];
    let fields = made.fields(0).as_array().unwrap();
    for (field, kind) in fields.iter().zip(types) {
        assert_eq!(field["type"], kind, "{field}");
    }
    for row in made.rows.as_array().unwrap() {
        assert!(row["iban"].is_string() && row["longitude"].is_number(), "{row}");
        assert_eq!(
            (row["uuid"].as_str().unwrap().len(), row["guid"].as_str().unwrap().len()),
            (36, 32)
        );
    }
    let made = Proposal::csv("lat,lng,lon\n52.51,13.4,500.5\n48.1,11.57,20.5\n");
    let types = ["lat", "lng", "lon"].map(|name| {
        let mut fields = made.schema["fields"].as_array().unwrap().iter();
        fields.find(|field| field["name"] == name).unwrap()["type"].clone()
    });
    assert_eq!(types, ["latitude", "longitude", "decimal"]);
}
