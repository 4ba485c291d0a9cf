//! The rows of a proposal satisfy the keys, checks and types of SQL tables, or these are reported.

use std::collections::HashSet;

use serde_json::{Value, json};
use testkit::Program;

use crate::proposals::Proposal;

/// Returns whether the combinations of two columns in a table are unique.
fn are_unique(rows: &Value, columns: [&str; 2]) -> bool {
    let mut known = HashSet::new();
    let mut rows = rows.as_array().unwrap().iter();
    rows.all(|row| known.insert(columns.map(|name| row[name].to_string())))
}

fn lines(made: &Proposal) -> Vec<&str> {
    let start = "the rows may violate ";
    made.broken.lines().map(|line| line.strip_prefix(start).unwrap()).collect()
}

#[test]
fn composite_keys_next_to_composite_references_are_kept() {
    let made = Proposal::sql(
        "CREATE TABLE t (tenant int NOT NULL, id int NOT NULL, PRIMARY KEY (tenant, id));
        CREATE TABLE u (tenant int NOT NULL, id int NOT NULL, t int, PRIMARY KEY (tenant, id),
            FOREIGN KEY (tenant, t) REFERENCES t (tenant, id));
        CREATE TABLE v (shop int NOT NULL, code text NOT NULL, p int NOT NULL, UNIQUE (shop, code),
            FOREIGN KEY (shop, p) REFERENCES t (tenant, id));",
    );
    assert_eq!(made.broken, "");
    let known: HashSet<_> =
        made.rows["t"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(known.len(), 200);
    for (table, names, key) in
        [("u", ["tenant", "t"], ["tenant", "id"]), ("v", ["shop", "p"], ["shop", "code"])]
    {
        assert!(are_unique(&made.rows[table], key), "{table}");
        for row in made.rows[table].as_array().unwrap() {
            let row = json!({"tenant": row[names[0]], "id": row[names[1]]});
            assert!(known.contains(&row.to_string()), "{table}: {row}");
        }
    }
}

#[test]
fn uniqueness_that_a_reference_cannot_have_is_reported() {
    let made = Proposal::sql(
        "CREATE TABLE t (a int NOT NULL, b int NOT NULL, PRIMARY KEY (a, b));
        CREATE TABLE u (a int NOT NULL UNIQUE, b int NOT NULL, FOREIGN KEY (a, b) REFERENCES t);
        CREATE TABLE v (id int, UNIQUE (lower(md5(id))));",
    );
    assert_eq!(lines(&made), ["u: UNIQUE (a)", "v: UNIQUE (md5(id))"]);
}

#[test]
fn checks_on_references_are_reported_unless_all_rows_referred_to_satisfy_them() {
    let made = Proposal::sql(
        "CREATE TABLE party (id int PRIMARY KEY, kind text NOT NULL CHECK (kind IN ('p', 'o')),
            UNIQUE (id, kind));
        CREATE TABLE person (id int PRIMARY KEY, kind text NOT NULL CHECK (kind = 'p'),
            FOREIGN KEY (id, kind) REFERENCES party (id, kind));
        CREATE TABLE pair (a int NOT NULL REFERENCES party (id) CHECK (a > 0),
            b int NOT NULL REFERENCES party (id), CHECK (a < b), CHECK (b < 100));",
    );
    let expected = ["person: CHECK (kind = 'p')", "pair: CHECK (b < 100)", "pair: CHECK (a < b)"];
    assert_eq!(lines(&made).iter().collect::<HashSet<_>>(), expected.iter().collect());
}

#[test]
fn unique_timestamps_of_mysql_have_no_offset() {
    let made = Proposal::sql(
        "CREATE TABLE `t` (`a` datetime NOT NULL UNIQUE, `b` timestamp NOT NULL, `c` int NOT NULL,
            `d` datetime NOT NULL UNIQUE CHECK (`d` >= '2020-01-01'), UNIQUE KEY (`b`, `c`)) ENGINE=InnoDB;",
    );
    assert_eq!(made.broken, "");
    for name in ["a", "b", "d"] {
        for value in made.values(name) {
            let text = value.as_str().unwrap();
            assert!(text.len() == 19 && !text.ends_with('Z'), "{name}: {text}");
        }
    }
    let distinct: HashSet<_> = made.values("d").iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), 200);
}

#[test]
fn values_of_unusual_types_are_literals_of_these_types() {
    let made = Proposal::sql(
        "CREATE TYPE spans AS RANGE (subtype = float8);
        CREATE TABLE t (a interval day to second NOT NULL, b interval hour NOT NULL,
            c box NOT NULL, d pg_lsn NOT NULL, e datemultirange NOT NULL, f spans NOT NULL,
            g char NOT NULL, h circle NOT NULL, i regclass NOT NULL, j point NOT NULL);",
    );
    assert_eq!(made.broken, "");
    for (name, regex) in [
        ("a", r"^\d+ days$"),
        ("b", r"^\d+ hours$"),
        ("c", r"^\(\d+,\d+\),\(\d+,\d+\)$"),
        ("d", "^[0-9A-F]+/[0-9A-F]+$"),
        ("e", r"^\{\}$"),
        ("f", "^empty$"),
        ("g", "^.$"),
        ("h", r"^<\(\d+,\d+\),\d>$"),
        ("i", "^pg_class$"),
        ("j", r"^\(\d+,\d+\)$"),
    ] {
        let regex = regex_automata::meta::Regex::new(regex).unwrap();
        for value in made.values(name) {
            assert!(regex.is_match(value.as_str().unwrap()), "{name}: {value}");
        }
    }
}

#[test]
fn types_without_literals_are_reported() {
    let made = Proposal::sql("CREATE TABLE t (id int PRIMARY KEY, a vector(3), b mytype);");
    assert_eq!(lines(&made), ["t: the type vector(3) of a", "t: the type mytype of b"]);
    let made = Proposal::sql(
        "CREATE TABLE `t` (`a` point NOT NULL, `b` polygon, `c` inet6 NOT NULL) ENGINE=InnoDB;",
    );
    assert_eq!(lines(&made), ["t: NOT NULL of a, whose type has no strings"]);
    assert!(made.values("c").iter().all(|value| value.as_str().unwrap().contains(':')));
    let made = Proposal::sql("CREATE TABLE t (id INTEGER, a BLOB NOT NULL, b BLOB) STRICT;");
    assert_eq!(lines(&made), ["t: NOT NULL of a, whose type has no strings"]);
    assert!(made.values("b").iter().all(Value::is_null), "{}", made.rows);
}

#[test]
fn unique_prefixes_of_mysql_limit_the_length() {
    let made = Proposal::sql(
        "CREATE TABLE `t` (`name` varchar(50) NOT NULL, UNIQUE KEY (`name`(3))) ENGINE=InnoDB;",
    );
    assert_eq!(made.broken, "");
    let values = made.values("name");
    let names: HashSet<_> = values.iter().map(|name| name.as_str().unwrap()).collect();
    assert!(names.len() == 200 && names.iter().all(|name| name.len() <= 3), "{names:?}");
}

#[test]
fn bounds_that_are_not_exact_are_reported_and_those_of_keys_are_kept() {
    let made = Proposal::sql(
        "CREATE TABLE t (id bigint PRIMARY KEY CHECK (id >= 1000),
            a numeric(20,2) NOT NULL CHECK (a >= 20000000000000),
            b bigint NOT NULL CHECK (b > 9100000000000000000));",
    );
    let expected = ["a", "b"]
        .map(|name| format!("t: the bounds of {name}, beyond which numbers are not exact"));
    assert_eq!(lines(&made), expected);
    assert!(made.values("id").iter().all(|id| id.as_i64() >= Some(1000)), "{}", made.rows);
    let made = Proposal::sql("CREATE TABLE t (id int PRIMARY KEY CHECK (id < 0));");
    assert!(made.values("id").iter().all(|id| id.as_i64() < Some(0)), "{}", made.rows);
}

#[test]
fn patterns_without_an_end_do_not_limit_the_number_of_rows() {
    let made = Proposal::sql(
        "CREATE TABLE t (name text NOT NULL UNIQUE CHECK (name ~ '^[A-Z]'),
            code varchar(4) NOT NULL CHECK (code ~ '^[A-Z]'), plate text NOT NULL CHECK (plate LIKE 'A_'));",
    );
    assert_eq!((made.broken.as_str(), made.values("name").len()), ("", 200));
    for row in made.rows.as_array().unwrap() {
        assert!(row["name"].as_str().unwrap().starts_with(char::is_uppercase), "{row}");
        assert!(row["code"].as_str().unwrap().len() == 4, "{row}");
        assert!(row["plate"].as_str().unwrap().len() == 2, "{row}");
    }
}

#[test]
fn globs_are_followed_or_reported_as_written() {
    let made = Proposal::sql(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT NOT NULL CHECK (code GLOB '[A-Z][0-9]'),
            kind TEXT NOT NULL CHECK (kind IN ('ab', 'b') AND kind GLOB 'a*'),
            n TEXT NOT NULL CHECK (n NOT GLOB '*[^0-9]*'));",
    );
    assert_eq!(lines(&made), ["t: CHECK (n NOT GLOB '*[^0-9]*')"]);
    for row in made.rows.as_array().unwrap() {
        assert!(row["code"].as_str().unwrap().len() == 2 && row["kind"] == "ab", "{row}");
    }
}

#[test]
fn state_is_a_region_only_next_to_an_address() {
    let made = Proposal::sql(
        "CREATE TABLE a (id int PRIMARY KEY, state varchar(40) NOT NULL, user_email text NOT NULL);
        CREATE TABLE b (id int PRIMARY KEY, state varchar(40) NOT NULL, city text NOT NULL);",
    );
    assert_eq!(made.fields(0)[1]["type"], "text");
    assert_eq!(made.fields(0)[2]["part"], "email");
    assert_eq!(made.fields(1)[1]["part"], "region");
}

#[test]
fn partitions_limit_keys_to_values_that_they_accept() {
    let made = Proposal::sql(
        "CREATE TABLE m (id int NOT NULL, at date) PARTITION BY RANGE (at);
        CREATE TABLE m1 PARTITION OF m FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
        CREATE TABLE m2 PARTITION OF m FOR VALUES FROM ('2024-03-01') TO ('2024-04-01');
        CREATE TABLE m3 PARTITION OF m FOR VALUES FROM ('2024-04-01') TO ('2024-05-01');
        CREATE TABLE l (k text) PARTITION BY LIST (k);
        CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('a');
        CREATE TABLE n (k text) PARTITION BY LIST (k);
        CREATE TABLE n1 PARTITION OF n FOR VALUES IN ('a', NULL);
        CREATE TABLE h (id int NOT NULL) PARTITION BY HASH (id);
        CREATE TABLE h0 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE h1 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 1);",
    );
    assert_eq!(made.broken, "");
    let at = json!({"name": "at", "type": "date", "min": "2024-03-01", "max": "2024-04-30"});
    assert_eq!(made.fields(0)[1], at);
    assert_eq!(made.fields(1)[0], json!({"name": "k", "type": "choice", "values": ["a"]}));
    assert_eq!(made.fields(2)[0]["nulls"], json!(0.1));
}

#[test]
fn partitioning_and_constraints_that_only_some_rows_must_satisfy_are_reported() {
    let made = Proposal::sql(
        "CREATE TABLE m (d date NOT NULL, k int NOT NULL) PARTITION BY RANGE (d);
        CREATE TABLE m1 PARTITION OF m
            FOR VALUES FROM ('2024-01-01') TO ('2024-02-01') PARTITION BY LIST (k);
        CREATE TABLE m2 PARTITION OF m1 FOR VALUES IN ('1');
        CREATE TABLE h (id int NOT NULL) PARTITION BY HASH (id);
        CREATE TABLE h0 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE c (id int NOT NULL, n int NOT NULL) PARTITION BY HASH (id);
        CREATE TABLE c0 (id int NOT NULL, n int NOT NULL, CHECK (n > 5));
        ALTER TABLE c ATTACH PARTITION c0 FOR VALUES WITH (MODULUS 1, REMAINDER 0);
        CREATE TABLE e (x int NOT NULL, y int GENERATED ALWAYS AS (x % 2) STORED UNIQUE CHECK (y > 0));",
    );
    let expected = [
        "m: the partitioning by k",
        "h: the partitioning by id",
        "c: the constraints of its partition c0",
        "e: UNIQUE of y",
        "e: CHECK (y > 0) of y",
    ];
    assert_eq!(lines(&made), expected);
}

#[test]
fn references_have_the_numbers_that_the_database_assigns() {
    let made = Proposal::sql(
        "CREATE TABLE a (id bigint GENERATED ALWAYS AS IDENTITY (START WITH 1000 INCREMENT BY 5) UNIQUE,
            n text NOT NULL);
        CREATE TABLE b (t int NOT NULL, id int NOT NULL, n int NOT NULL, PRIMARY KEY (t, id));
        alter table only public.b alter column id add generated always as identity (
            sequence name public.b_seq minvalue 7), add check (n < 0);
        CREATE TABLE c (a bigint NOT NULL REFERENCES a (id), t int NOT NULL, b int NOT NULL,
            FOREIGN KEY (t, b) REFERENCES b);
        CREATE TABLE d (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
        ALTER TABLE a ALTER COLUMN id RESTART WITH 9;",
    );
    assert_eq!(lines(&made), ["a: ALTER COLUMN id RESTART WITH 9"]);
    // No row of the last table could be written.
    assert_eq!(made.tables(), ["a", "b", "c"]);
    for row in made.rows["c"].as_array().unwrap() {
        let (a, b) = (row["a"].as_i64().unwrap(), row["b"].as_i64().unwrap());
        assert!((1_000..2_000).contains(&a) && a % 5 == 0, "{row}");
        assert!((7..207).contains(&b), "{row}");
    }
    for row in made.rows["b"].as_array().unwrap() {
        assert!(row["n"].as_i64().unwrap() < 0, "{row}");
    }
}

#[test]
fn indexes_inside_a_table_are_not_columns() {
    let made = Proposal::sql(
        "CREATE TABLE t (a INT UNSIGNED NOT NULL, b VARCHAR(32) NOT NULL, INDEX by_a (a),
            index by_b (b), KEY both (b, a DESC), FULLTEXT words (b), PRIMARY KEY (a));
        CREATE TABLE u (\"index\" int, key vector(3), spatial geography(Point, 4326), point int);",
    );
    let names = |table: usize| -> Vec<String> {
        let fields = made.fields(table).as_array().unwrap().iter();
        let shown = fields.filter(|field| field["hidden"] != true);
        shown.map(|field| field["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(0), ["a", "b"]);
    assert_eq!(names(1), ["index", "key", "spatial", "point"]);
    assert!(lines(&made).iter().all(|line| line.starts_with("u: the type ")), "{}", made.broken);
}

#[test]
fn expressions_with_thousands_of_operators_are_reported() {
    let long = "a > 1".to_owned() + &" AND a > 1".repeat(20_000);
    let short = "b = 'v0'".to_owned() + &" OR b = 'v1'".repeat(300);
    let made = Proposal::sql(&format!(
        "CREATE TABLE t (a int, b text NOT NULL CHECK ({short}), CHECK ({long}));
        CREATE TABLE u (a int CHECK ({long}), b int);
        ALTER TABLE u ADD CHECK ({long});"
    ));
    let rows = made.rows["t"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["b"].as_str().unwrap().starts_with('v')));
    let found = lines(&made);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|line| line.contains("a > 1 AND a > 1")), "{found:?}");
}

#[test]
fn thousands_of_unique_columns_with_checks_are_proposed() {
    // With a copy of all columns for each check, this would take minutes.
    let columns = (0..6_000).map(|number| format!("c{number} int UNIQUE, CHECK (c{number} >= 7)"));
    let columns: Vec<_> = columns.collect();
    let text = format!("CREATE TABLE t ({}, CHECK (c0 > 8 OR c1 > 8))", columns.join(", "));
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let file = program.folder().write("wide.sql", text);
    let made = program.run(&["schema", file.to_str().unwrap()]);
    assert_eq!((made.code, made.errors.contains("may violate")), (Some(0), false));
    let rows = ["records", "-", "--seed", "demo", "-n", "1", "--format", "json"];
    let rows: Value =
        serde_json::from_str(&program.pipe(&rows, made.out.as_bytes()).done()).unwrap();
    let row = rows[0].as_object().unwrap();
    assert_eq!(row.len(), 6_000);
    assert!(row.values().all(|value| value.as_i64().is_none_or(|number| number >= 7)));
}

#[test]
fn checks_apply_to_no_other_columns_than_those_they_mention() {
    // Only in a domain, VALUE means the column.
    let made = Proposal::sql(
        "CREATE DOMAIN large AS int CHECK (VALUE >= 500);
        CREATE TABLE t (a int NOT NULL, b large NOT NULL, c int NOT NULL,
            total int GENERATED ALWAYS AS (a + c) STORED,
            CHECK (value > 5 OR C >= 70), CHECK (a < 50 AND total > 3));",
    );
    assert_eq!(lines(&made), ["t: CHECK (a < 50 AND total > 3)"]);
    let least = |name: &str| {
        let values = made.values(name);
        values.iter().map(|value| value.as_i64().unwrap()).min().unwrap()
    };
    assert!(least("b") >= 500 && least("c") >= 70);
}
