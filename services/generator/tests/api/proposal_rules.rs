//! The rows of a proposal satisfy the rules of tables and documents. Other rules are named.

use serde_json::{Value, json};
use testkit::{Folder, Program};

use crate::proposals::Proposal;

#[test]
fn domains_without_nulls_keep_their_type_and_checks() {
    let made = Proposal::sql(
        "CREATE DOMAIN price AS numeric(8,2) DEFAULT 0 NOT NULL CHECK (VALUE > 0);
        CREATE TABLE t (id INT PRIMARY KEY, net price);",
    );
    assert_eq!((made.broken.as_str(), &made.fields(0)[1]["type"]), ("", &json!("decimal")));
    assert!(made.values("net").iter().all(|value| value.as_f64() > Some(0.0)), "{}", made.rows);
}

#[test]
fn domains_of_domains_and_types_in_another_case_are_found() {
    let made = Proposal::sql(
        "CREATE TYPE Mood AS ENUM ('sad', 'ok');
        CREATE DOMAIN Positive AS integer CHECK (VALUE > 0);
        CREATE DOMAIN small AS positive CHECK (VALUE < 3);
        CREATE TABLE t (m mood NOT NULL, n Small NOT NULL);",
    );
    assert_eq!((made.broken.as_str(), &made.fields(0)[0]["values"]), ("", &json!(["sad", "ok"])));
    assert!(made.values("n").iter().all(|value| *value == 1 || *value == 2), "{}", made.rows);
}

#[test]
fn unique_indexes_of_partitioned_tables_make_columns_unique() {
    let made = Proposal::sql(
        "CREATE TABLE t (id INT PRIMARY KEY, code TEXT NOT NULL);
        CREATE UNIQUE INDEX i ON ONLY public.t USING btree (code);",
    );
    assert_eq!((made.broken.as_str(), &made.fields(0)[1]["unique"]), ("", &json!(true)));
}

#[test]
fn unsupported_rules_are_reported() {
    let made = Proposal::sql(
        "CREATE TABLE t (a INT NOT NULL, b INT NOT NULL REFERENCES users (id), c INT NOT NULL,
            FOREIGN KEY (c) REFERENCES orders);
        ALTER TABLE ONLY public.t ADD CONSTRAINT stay PRIMARY KEY (a, b WITHOUT OVERLAPS);
        CREATE UNIQUE INDEX i ON public.t(a) TABLESPACE fast;
        ALTER TABLE t ADD FULLTEXT INDEX f (a) WITH PARSER ngram;",
    );
    let lines: Vec<_> = made.broken.lines().collect();
    let expected = [
        "the rows may violate t: CONSTRAINT stay PRIMARY KEY (a, b WITHOUT OVERLAPS)",
        "the rows may violate t: CREATE UNIQUE INDEX i ON public.t(a) TABLESPACE fast",
        "the rows may violate t: FOREIGN KEY (b) to users, which is not in the file",
        "the rows may violate t: FOREIGN KEY (c) to orders, which is not in the file",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn several_bounds_of_a_day_all_apply() {
    for checks in [
        "d >= '2010-01-01' AND d <= CURRENT_DATE",
        "d <= now() AND d >= '2010-01-01'",
        "d >= '2010-01-01' AND d > '2001-01-01' AND d < '2024-06-01' AND d <= '2024-12-31'",
    ] {
        let made = Proposal::sql(&format!("CREATE TABLE t (d DATE NOT NULL CHECK ({checks}));"));
        assert_eq!((made.broken.as_str(), &made.fields(0)[0]["min"]), ("", &json!("2010-01-01")));
        let last = if checks.contains("06-01") { "2024-05-31" } else { "2024-12-31" };
        assert_eq!(made.fields(0)[0]["max"], last, "{checks}");
    }
    let made = Proposal::sql(
        "CREATE TABLE t (d DATE NOT NULL CHECK (d >= '2031-01-01' AND d <= CURRENT_DATE));",
    );
    assert!(made.broken.contains("the checks of d together"), "{}", made.broken);
}

#[test]
fn times_of_day_and_dates_in_other_notations_are_respected_or_reported() {
    let made = Proposal::sql(
        "CREATE TABLE t (a timestamp NOT NULL CHECK (a >= '2024-03-01 12:00:00' AND a < '2024-03-03'),
            b date NOT NULL CHECK (b >= '2031/01/01'));",
    );
    assert_eq!(made.broken, "the rows may violate t: CHECK (b >= '2031/01/01')\n");
    for value in made.values("a") {
        assert!(value.as_str() >= Some("2024-03-01T12:00:00"), "{value}");
    }
}

#[test]
fn times_of_day_in_other_zones_are_respected() {
    let made = Proposal::sql(
        "CREATE TABLE t (a timestamptz NOT NULL
            CHECK (a > '2024-03-01 23:00:00-05' AND a < '2024-03-05 01:00:00+05'));",
    );
    assert_eq!(made.broken, "");
    for value in made.values("a") {
        let range = Some("2024-03-02T04:00:00")..Some("2024-03-04T20:00:00");
        assert!(range.contains(&value.as_str()), "{value}");
    }
}

#[test]
fn bounds_in_other_zones_leave_all_days_that_satisfy_them() {
    for (checks, first, last) in [
        ("a >= '2024-03-01 00:00:00-05' AND a < '2024-03-03 00:00:00-05'", 2, 2),
        ("a > '2024-03-01 01:00:00+05' AND a < '2024-03-04 01:00:00+05'", 2, 3),
        ("a >= '2024-03-01 23:00:00-05' AND a <= '2024-03-05 23:00:00+05'", 3, 4),
    ] {
        let made =
            Proposal::sql(&format!("CREATE TABLE t (a timestamptz NOT NULL CHECK ({checks}));"));
        let field = &made.fields(0)[0];
        let days = [first, last].map(|day| json!(format!("2024-03-0{day}")));
        assert_eq!(
            (made.broken.as_str(), [&field["min"], &field["max"]]),
            ("", [&days[0], &days[1]])
        );
    }
}

#[test]
fn excluded_values_that_rows_are_likely_to_have_are_reported() {
    let made = Proposal::sql(
        "CREATE TABLE t (country_code char(2) NOT NULL CHECK (country_code <> 'US'),
            currency text NOT NULL CHECK (currency NOT IN ('EUR', 'USD')),
            email text NOT NULL CHECK (email <> 'root@example.com'),
            city text NOT NULL CHECK (city <> ''));",
    );
    let lines: Vec<_> = made.broken.lines().collect();
    let expected = [
        "the rows may violate t: CHECK (country_code <> 'US')",
        "the rows may violate t: CHECK (currency NOT IN ('EUR', 'USD'))",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn excluded_values_stay_excluded_by_later_checks() {
    for (checks, expected) in [
        ("k <> 'x'), CHECK (k IN ('x', 'y')", json!(["y"])),
        ("k NOT IN ('x', 'z')), CHECK (k IN ('x', 'y')", json!(["y"])),
        ("k <> 'x' OR n IS NOT NULL), CHECK (k IN ('x', 'y')", json!(["y"])),
    ] {
        let made =
            Proposal::sql(&format!("CREATE TABLE t (k text NOT NULL, n int, CHECK ({checks}));"));
        assert_eq!(
            (made.broken.as_str(), &made.fields(0)[0]["values"]),
            ("", &expected),
            "{checks}"
        );
    }
    for (kind, checks, named) in [
        ("text", "k <> 'x'), CHECK (k IN ('x')", "t: CHECK (k IN ('x'))"),
        ("text", "k <> 'x'), CHECK (k ~ '^[xy]$'", "t: the checks of k together"),
        ("char(1)", "k <> 'x'", "t: the checks of k together"),
    ] {
        let made = Proposal::sql(&format!("CREATE TABLE t (k {kind} NOT NULL, CHECK ({checks}));"));
        assert_eq!(made.broken, format!("the rows may violate {named}\n"), "{checks}");
    }
    let rare = Proposal::sql(
        "CREATE TABLE t (code char(2) PRIMARY KEY CHECK (code <> 'XX'),
            k char(1) NOT NULL CHECK (k <> ' '),
            name text NOT NULL CHECK (name ~ '^[a-z]+$' AND name <> 'admin'));",
    );
    assert_eq!(rare.broken, "");
    let referred = Proposal::sql(
        "CREATE TABLE kind (k text PRIMARY KEY CHECK (k IN ('x', 'y')));
        CREATE TABLE t (k text NOT NULL REFERENCES kind CHECK (k <> 'x'),
            l text NOT NULL REFERENCES kind CHECK (l <> 'z'));",
    );
    assert_eq!(referred.broken, "the rows may violate t: CHECK (k <> 'x')\n");
}

#[test]
fn lengths_without_strings_are_reported_and_repeated_values_count_once() {
    let made = Proposal::sql("CREATE TABLE t (a text NOT NULL CHECK (length(a) < 1));");
    assert_eq!(made.broken, "the rows may violate t: CHECK (length(a) < 1)\n");
    let made = Proposal::sql("CREATE TABLE t (a int NOT NULL UNIQUE CHECK (a IN (2, 1, 2)));");
    assert_eq!((made.broken.as_str(), made.values("a").len()), ("", 2));
}

#[test]
fn dates_are_computed_from_others_only_if_all_their_checks_allow_it() {
    for (checks, named) in [
        ("a < b), CHECK (b < c), CHECK (c < a", "CHECK (c < a)"),
        ("a <= b AND a >= b", "CHECK (a <= b AND a >= b)"),
        ("a < b), CHECK (b IN ('2020-01-01', '2021-01-01')", "CHECK (a < b)"),
        ("a IS NULL), CHECK (b > a", "CHECK (b > a)"),
        ("b > a), CHECK (b <= '2001-01-01' OR b = a", "CHECK (b <= '2001-01-01' OR b = a)"),
        ("b > a), CHECK (b IN ('2001-01-01') OR b = a", "CHECK (b IN ('2001-01-01') OR b = a)"),
        ("c > a), CHECK (c IS NOT NULL AND id < n", "CHECK (c IS NOT NULL AND id < n)"),
        ("c > a), UNIQUE (c", "UNIQUE (c)"),
    ] {
        let made = Proposal::sql(&format!(
            "CREATE TABLE t (id int PRIMARY KEY, n int, a date, b date NOT NULL, c date,
                CHECK ({checks}));"
        ));
        assert!(made.broken.contains(&format!("t: {named}\n")), "{checks}: {}", made.broken);
    }
}

#[test]
fn listed_days_satisfy_the_other_checks_or_are_reported() {
    for kind in ["date", "timestamp"] {
        let ddl = |least: &str| {
            format!(
                "CREATE TABLE t (a {kind} NOT NULL CHECK (a IN ('2024-01-01', '2025-01-01')),
                    CHECK (a > '{least}'));"
            )
        };
        let made = Proposal::sql(&ddl("2024-06-30"));
        let values = &made.fields(0)[0]["values"];
        assert_eq!((made.broken.as_str(), values), ("", &json!(["2025-01-01"])), "{kind}");
        let never = Proposal::sql(&ddl("2025-06-30"));
        assert_eq!(never.broken, "the rows may violate t: the checks of a together\n", "{kind}");
    }
}

#[test]
fn dates_can_be_compared_by_several_checks() {
    let made = Proposal::sql(
        "CREATE TABLE t (a date NOT NULL, b date NOT NULL, CHECK (a <= b), CHECK (b > a),
            CHECK (a IS NULL OR b IS NULL OR a <= b));",
    );
    assert_eq!(made.broken, "");
    for (a, b) in made.values("a").iter().zip(made.values("b")) {
        assert!(a.as_str() < b.as_str(), "{a} {b}");
    }
}

#[test]
fn days_of_a_short_range_limit_the_rows_of_unique_columns() {
    for (rules, rows) in [
        ("d date PRIMARY KEY CHECK (d BETWEEN '2024-02-01' AND '2024-03-01')", 30),
        (
            "d date NOT NULL CHECK (d >= '2024-01-01' AND d < '2024-02-01'),
                n int NOT NULL CHECK (n IN (1, 2)), UNIQUE (d, n)",
            62,
        ),
        ("d timestamptz PRIMARY KEY CHECK (d >= '2024-01-01' AND d < '2024-01-02')", 1),
    ] {
        let made = Proposal::sql(&format!("CREATE TABLE t ({rules});"));
        assert_eq!((made.broken.as_str(), made.values("d").len()), ("", rows), "{rules}");
    }
}

#[test]
fn columns_are_null_only_if_nothing_else_satisfies_a_check() {
    for check in [
        "a IS NULL OR b IS NULL OR a <= b",
        "(a IS NULL AND b IS NULL) OR a <= b",
        "(a IS NULL AND b IS NULL) OR (a IS NOT NULL AND b IS NOT NULL)",
    ] {
        let made = Proposal::sql(&format!("CREATE TABLE t (a date, b date, CHECK ({check}));"));
        assert_eq!(made.broken, "", "{check}");
        for name in ["a", "b"] {
            assert!(made.values(name).iter().any(|value| !value.is_null()), "{check}: {name}");
        }
    }
}

#[test]
fn columns_are_not_both_null_and_not_null() {
    let made = Proposal::sql(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int, CHECK (a IS NULL OR b IS NULL),
            CHECK (b IS NOT NULL OR a IS NOT NULL));",
    );
    assert_eq!(made.broken, "");
    for (a, b) in made.values("a").iter().zip(made.values("b")) {
        assert!(a.is_null() != b.is_null(), "{a} {b}");
    }
    let never = Proposal::sql("CREATE TABLE t (a int, CHECK (a IS NULL), CHECK (a IS NOT NULL));");
    assert_eq!(never.broken, "the rows may violate t: CHECK (a IS NOT NULL)\n");
}

#[test]
fn columns_whose_nulls_are_not_distinct_have_none() {
    let made = Proposal::sql(
        "CREATE TABLE t (id int PRIMARY KEY, a text, b text, c text UNIQUE,
            UNIQUE NULLS NOT DISTINCT (a));
        CREATE UNIQUE INDEX i ON t (b) NULLS NOT DISTINCT;",
    );
    assert_eq!(made.broken, "");
    let has_nulls = |name: &str| made.values(name).iter().any(Value::is_null);
    assert_eq!(["a", "b", "c"].map(has_nulls), [false, false, true]);
}

#[test]
fn number_that_a_check_excludes_does_not_occur() {
    let made =
        Proposal::sql("CREATE TABLE t (n INT NOT NULL CHECK (n >= 0 AND n <> 0 AND n < 3));");
    assert_eq!(made.broken, "");
    assert!(made.values("n").iter().all(|value| *value == 1 || *value == 2), "{}", made.rows);
}

#[test]
fn escaped_wildcards_of_like_match_only_themselves() {
    for (check, start) in [(r"'INV\_%'", "INV_"), ("'a!%b%' ESCAPE '!'", "a%b")] {
        let made = Proposal::sql(&format!(
            "CREATE TABLE t (code TEXT NOT NULL CHECK (code LIKE {check}));"
        ));
        assert_eq!(made.broken, "");
        for value in made.values("code") {
            assert!(value.as_str().unwrap().starts_with(start), "{check}: {value}");
        }
    }
}

#[test]
fn arrays_with_a_size_and_unsigned_decimals_get_the_right_type() {
    let made = Proposal::sql("CREATE TABLE t (squares integer[3] NOT NULL, n INT NOT NULL);");
    assert_eq!(made.fields(0)[0]["value"], "{}");
    let made = Proposal::sql(
        "CREATE TABLE `t` (`a` double unsigned NOT NULL, `b` float(3,1) NOT NULL,
            `c` float(7,4) unsigned NOT NULL) ENGINE=InnoDB;",
    );
    let small = |value: &Value| value.as_f64().unwrap() < 99.95;
    assert!(made.values("b").iter().all(small), "{}", made.rows);
    assert!(made.values("a").iter().chain(&made.values("c")).all(Value::is_number));
}

#[test]
fn rows_satisfy_all_combined_schemas() {
    let made = Proposal::json(&json!({
        "allOf": [{"$ref": "#/$defs/base"}],
        "properties": {"kind": {"const": "dog"}, "size": {"enum": ["s", "m"]},
            "legs": {"type": "integer", "minimum": 4},
            "above": {"type": "integer", "minimum": 0, "exclusiveMinimum": 5, "maximum": 7}},
        "$defs": {"base": {"properties": {"kind": {"type": "string"}, "size": {"enum": ["m", "l"]},
            "legs": {"type": "number", "minimum": 1, "maximum": 5}}}}}));
    assert_eq!(made.broken, "");
    for row in made.rows.as_array().unwrap() {
        assert!(row["kind"] == "dog" && row["size"] == "m", "{row}");
        assert!(row["legs"] == 4 || row["legs"] == 5, "{row}");
        assert!(row["above"] == 6 || row["above"] == 7, "{row}");
    }
}

#[test]
fn tuples_with_different_items_are_named() {
    let tuple = json!([{"type": "boolean"}, {"type": "integer"}]);
    let made = Proposal::json(&json!({"properties": {
        "pair": {"type": "array", "prefixItems": tuple, "minItems": 2},
        "old": {"type": "array", "items": tuple},
        "long": {"type": "array", "minItems": 200, "items": {"type": "boolean"}}}}));
    assert!(made.rows[0]["old"][0].is_boolean(), "{}", made.rows[0]);
    for text in ["the items of pair after the first", "the number of items in long"] {
        assert!(made.broken.contains(text), "{}", made.broken);
    }
    assert_eq!(made.broken.lines().count(), 2, "{}", made.broken);
}

#[test]
fn fractional_bounds_of_integers_and_negative_multiples_are_respected() {
    let made = Proposal::sql("CREATE TABLE t (n INT NOT NULL CHECK (n >= 0.5 AND n < 3.5));");
    assert_eq!((&made.fields(0)[0]["min"], &made.fields(0)[0]["max"]), (&json!(1), &json!(2)));
    let made = Proposal::json(&json!({"properties": {
        "below": {"type": "integer", "maximum": -0.5},
        "fives": {"type": "integer", "multipleOf": 5, "maximum": -3}}}));
    for row in made.rows.as_array().unwrap() {
        assert!(row["below"].as_i64() < Some(0), "{row}");
        let number = row["fives"].as_i64().unwrap();
        assert!(number < 0 && number % 5 == 0, "{row}");
    }
}

#[test]
fn names_too_short_for_their_column_do_not_occur() {
    let made = Proposal::sql(
        "CREATE TABLE t (id INT PRIMARY KEY, surname TEXT NOT NULL CHECK (length(surname) >= 5),
            username TEXT NOT NULL UNIQUE CHECK (length(username) >= 5),
            city TEXT NOT NULL CHECK (length(city) >= 2));",
    );
    assert_eq!((made.broken.as_str(), &made.fields(0)[3]["part"]), ("", &json!("city")));
    for value in made.values("surname").iter().chain(&made.values("username")) {
        assert!(value.as_str().unwrap().len() >= 5, "{value}");
    }
}

#[test]
fn words_and_currencies_fit_into_short_columns() {
    let made = Proposal::sql(
        "CREATE TABLE t (id INT PRIMARY KEY, category varchar(12) NOT NULL,
            currency char(2) NOT NULL);",
    );
    assert_eq!(made.broken, "");
    for (name, most) in [("category", 12), ("currency", 2)] {
        for value in made.values(name) {
            assert!(value.as_str().unwrap().len() <= most, "{value}");
        }
    }
}

#[test]
fn property_that_a_combined_schema_makes_non_null_has_no_nulls() {
    let text = json!({"type": "string", "maxLength": 9});
    let base = json!({"type": "string", "nullable": true});
    let made = Proposal::json(&json!({
        "allOf": [true, {"$ref": "#/$defs/base"}],
        "properties": {"first": text, "next": {"enum": ["a", "b"]}},
        "$defs": {
            "base": {"properties": {"first": base, "next": base, "kept": base, "link": {
                "nullable": true, "allOf": [{"$ref": "#/$defs/text"}]}, "either": {
                "anyOf": [{"type": "null"}, {"$ref": "#/$defs/text"}]}}},
            "text": text}}));
    for (name, has_nulls) in
        [("first", false), ("next", false), ("kept", true), ("link", true), ("either", true)]
    {
        assert_eq!(made.values(name).iter().any(Value::is_null), has_nulls, "{name}");
    }
}

#[test]
fn columns_of_composite_types_are_named() {
    let made = Proposal::sql(
        "CREATE TYPE public.Cost AS (amount numeric, currency text);
        CREATE DOMAIN price AS cost;
        CREATE TABLE t (id INT PRIMARY KEY, gross public.cost, net price, all_of cost[]);",
    );
    let expected = ["gross", "net"]
        .map(|name| format!("the rows may violate t: the composite type cost of {name}\n"));
    assert_eq!(made.broken, expected.concat());
}

#[test]
fn virtual_tables_and_the_tables_of_their_data_are_left_out_and_named() {
    let text = "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT);
        CREATE VIRTUAL TABLE ft USING fts5(body)
        /* ft(body) */;
        CREATE TABLE IF NOT EXISTS 'ft_data'(id INTEGER PRIMARY KEY, block BLOB);
        CREATE TABLE IF NOT EXISTS 'ft_content'(id INTEGER PRIMARY KEY, c0);
        CREATE TABLE IF NOT EXISTS 'ft_docsize'(id INTEGER PRIMARY KEY, sz BLOB);";
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let folder = Folder::new();
    let file = folder.write("a.sql", text);
    let made = program.run(&["schema", file.to_str().unwrap()]);
    let note = "ft is a virtual table: it is left out, with the tables of its data\n";
    assert_eq!(made.code, Some(0));
    assert!(made.errors.ends_with(note), "{}", made.errors);
    let schema: Value = serde_json::from_str(&made.out).unwrap();
    let names: Vec<_> =
        schema["tables"].as_array().unwrap().iter().map(|table| &table["name"]).collect();
    assert_eq!(names, ["notes"]);
}

#[test]
fn base64_is_followed_and_limits_that_are_not_are_named() {
    let number = json!({"type": "integer", "minimum": 9_007_199_254_740_993_u64});
    let made = Proposal::json(&json!({
        "minProperties": 9, "patternProperties": {"^x": {"type": "string"}},
        "properties": {
            "key": {"type": "string", "format": "byte", "minLength": 10, "maxLength": 30},
            "blob": {"type": "string", "contentEncoding": "base64"},
            "hex": {"type": "string", "contentEncoding": "base16"},
            "short": {"type": "string", "format": "uuid", "maxLength": 36},
            "day": {"type": "string", "format": "date-time", "minLength": 40},
            "few": {"type": "object", "properties": {"a": {}}, "maxProperties": 1},
            "large": number}}));
    for key in made.values("key").iter().chain(&made.values("blob")) {
        let key = key.as_str().unwrap();
        assert!(key.len().is_multiple_of(4) && (4..=30).contains(&key.len()), "{key}");
        let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/".contains(letter);
        assert!(key.chars().all(is_base64), "{key}");
    }
    assert!(made.values("key").iter().all(|key| key.as_str().unwrap().len() >= 10));
    let lines: Vec<_> = made.broken.lines().collect();
    let expected = [
        "the rows may violate the bounds of large, beyond which numbers are not exact",
        "the rows may violate the encoding base16 of hex, which is not followed",
        "the rows may violate the length of day, which its format does not give",
        "the rows may violate the number of properties of the whole",
    ];
    assert_eq!(lines, expected);
}
