//! Records of tables described by a schema.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;

use database::{DatabaseError, Db};
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use diesel::{QueryableByName, RunQueryDsl};
use generator::model::Seed;
use serde_json::{Value, json};
use testkit::{Answer, Database, Exchange, Program};

use crate::app::App;

/// Returns the schema of a shop: customers, products and the products in orders.
fn shop() -> Value {
    json!({"tables": [
        {"name": "customers", "rows": 50, "locale": "de", "fields": [
            {"name": "id", "type": "sequence", "start": 1000},
            {"name": "given", "type": "person", "part": "givenName"},
            {"name": "full", "type": "person", "part": "fullName"},
            {"name": "email", "type": "person", "part": "email"},
            {"name": "note", "type": "template", "template": "{{given}}'s \"note\",\t\\ {{id}}", "nulls": 0.2}
        ]},
        {"name": "products", "rows": 9, "fields": [
            {"name": "code", "type": "pattern", "regex": "[A-Z]{2}[0-9]{3}", "unique": true},
            {"name": "price", "type": "decimal", "min": 1, "max": 99}
        ]},
        {"name": "items", "rows": 300, "uniquePair": ["customer", "product"], "fields": [
            {"name": "n", "type": "sequence"},
            {"name": "customer", "type": "reference", "table": "customers", "field": "id"},
            {"name": "product", "type": "reference", "table": "products", "field": "code"},
            {"name": "before", "type": "reference", "field": "n"},
            {"name": "count", "type": "integer", "min": 1, "max": 9},
            {"name": "cost", "type": "expression", "expression": "round(count * 1.5, 1)"},
            {"name": "gift", "type": "boolean", "share": 0.1}
        ]}
    ]})
}

async fn post(app: &App, query: &str, schema: &Value) -> Answer {
    app.server.post(&format!("/api/Records?{query}")).json(schema).answer().await
}

/// Returns the schema of one table with one field.
fn one(field: Value) -> Value {
    let mut field = field;
    field["name"] = "x".into();
    json!({"fields": [field]})
}

async fn values(app: &App, rows: usize, field: Value) -> Vec<Value> {
    let answer = post(app, &format!("rows={rows}&seed=demo"), &one(field)).await.expect(200);
    let rows: Vec<Value> = serde_json::from_str(answer.text()).unwrap();
    rows.into_iter().map(|mut row| row["x"].take()).collect()
}

#[actix_web::test]
async fn every_part_in_every_format_has_the_same_rows() {
    let app = App::start().await;
    let whole = post(&app, "seed=demo&format=json", &shop()).await.expect(200);
    assert_eq!(whole.header("x-seed"), "demo");
    assert_eq!(whole.header("x-ref-date"), "2030-01-01");
    let whole = whole.json();
    for table in ["customers", "products", "items"] {
        let rows = whole[table].as_array().unwrap();
        for (offset, count) in [(0, 3), (5, 4), (7, 100)] {
            let query =
                format!("seed=demo&format=ndjson&table={table}&offset={offset}&rows={count}");
            let part = post(&app, &query, &shop()).await.expect(200);
            let part: Vec<Value> =
                part.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let end = rows.len().min(offset + count);
            assert_eq!(part, rows[offset..end], "{table} {offset}");
        }
        let table = format!("seed=demo&format=csv&table={table}");
        let csv = post(&app, &table, &shop()).await.expect(200);
        assert_eq!(csv.text().lines().filter(|line| !line.is_empty()).count(), rows.len() + 1);
    }
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let schema = program.folder().write("shop.json", shop().to_string());
    let schema = schema.to_str().unwrap();
    for format in ["json", "sql", "copy"] {
        let asked = post(&app, &format!("seed=demo&format={format}"), &shop()).await.expect(200);
        let made = program.done(&["records", schema, "--seed", "demo", "--format", format]);
        assert!(asked.text() == made, "{format}");
    }
    let folder = program.folder().join("out");
    let folder = folder.to_str().unwrap();
    program.done(&["records", schema, "--seed", "demo", "--format", "csv", "--out", folder]);
    let asked = post(&app, "seed=demo&format=csv&table=items", &shop()).await;
    assert_eq!(std::fs::read_to_string(format!("{folder}/items.csv")).unwrap(), asked.text());
    // A second run does not overwrite anything.
    assert_eq!(program.run(&["records", schema, "--format", "csv", "--out", folder]).code, Some(1));
    let other = post(&app, "seed=other&format=json", &shop()).await.json();
    assert_ne!(other["customers"], whole["customers"]);
}

#[actix_web::test]
async fn references_exist_and_pairs_occur_once() {
    let app = App::start().await;
    let made = post(&app, "seed=demo&format=json", &shop()).await.json();
    let column = |table: &str, name: &str| -> Vec<Value> {
        made[table].as_array().unwrap().iter().map(|row| row[name].clone()).collect()
    };
    let (ids, codes) = (column("customers", "id"), column("products", "code"));
    let pairs: Vec<_> =
        column("items", "customer").into_iter().zip(column("items", "product")).collect();
    for (customer, product) in &pairs {
        assert!(ids.contains(customer) && codes.contains(product), "{customer} {product}");
    }
    let texts: HashSet<String> = pairs.iter().map(|pair| format!("{pair:?}")).collect();
    assert_eq!((texts.len(), pairs.len()), (300, 300));
    // Each row refers to an earlier one, so there are no cycles.
    for (place, before) in column("items", "before").iter().enumerate() {
        match place {
            0 => assert!(before.is_null()),
            _ => assert!((1..=place as u64).contains(&before.as_u64().unwrap()), "{place}"),
        }
    }
    for row in made["customers"].as_array().unwrap() {
        let (given, full) = (row["given"].as_str().unwrap(), row["full"].as_str().unwrap());
        assert!(full.contains(given), "{row}");
        if let Some(note) = row["note"].as_str() {
            assert_eq!(note, format!("{given}'s \"note\",\t\\ {}", row["id"]));
        }
    }
    for row in made["items"].as_array().unwrap() {
        let (count, cost) = (row["count"].as_f64().unwrap(), row["cost"].as_f64().unwrap());
        assert!((cost - count * 1.5).abs() < 1e-9, "{row}");
    }
}

#[test]
fn workbooks_have_a_sheet_for_each_table() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let schema = program.folder().write("shop.json", shop().to_string());
    let (schema, out) = (schema.to_str().unwrap().to_owned(), program.folder().join("shop.xlsx"));
    let mut command = program.command(&["records", &schema, "--seed", "demo", "--format", "xlsx"]);
    assert!(command.stdout(File::create(&out).unwrap()).status().unwrap().success());
    let mut book = zip::ZipArchive::new(File::open(&out).unwrap()).unwrap();
    let mut part = |name: &str| {
        let mut text = String::new();
        book.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        text
    };
    let names = part("xl/workbook.xml");
    for (number, (name, rows)) in
        [("customers", 51), ("products", 10), ("items", 301)].iter().enumerate()
    {
        assert!(names.contains(&format!("<sheet name=\"{name}\"")), "{names}");
        let sheet = part(&format!("xl/worksheets/sheet{}.xml", number + 1));
        assert_eq!(sheet.matches("<row ").count(), *rows, "{name}");
    }
    let customers = part("xl/worksheets/sheet1.xml");
    // A cell with a number, and a cell with a string.
    assert!(customers.contains("<v>1000</v>") && customers.contains("<t>email</t>"), "{customers}");
    let csv = program.done(&["records", &schema, "--format", "csv", "--table", "items", "--bom"]);
    assert!(csv.starts_with("\u{feff}n,customer"));
    let cards = program.done(&["make", "card", "Visa", "-n", "2", "--format", "csv", "--bom"]);
    assert!(cards.starts_with('\u{feff}') && cards.lines().count() == 3);
}

#[test]
fn large_workbooks_are_assembled_on_disk_and_not_in_memory() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    // Deflate looks back 32 KiB, so it cannot shorten texts that only repeat after 60,000 bytes.
    let mut random = Seed::parse("noise").unwrap().random("noise", "");
    let mut noise = || -> String {
        (0..30_000)
            .map(|_| char::from(*random.pick(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEF")))
            .collect()
    };
    let fields: Vec<_> =
        ["a", "b"].map(|name| json!({"name": name, "type": "constant", "value": noise()})).into();
    let schema = program.folder().write("noise.json", json!({ "fields": fields }).to_string());
    let peak = |rows: &str| {
        let folder = program.folder().join(rows);
        let schema = schema.to_str().unwrap();
        let ran = program.run(&[
            "records",
            schema,
            "-n",
            rows,
            "--format",
            "xlsx",
            "--out",
            folder.to_str().unwrap(),
        ]);
        assert_eq!(ran.code, Some(0), "{}", ran.errors);
        let size = std::fs::metadata(folder.join("records.xlsx")).unwrap().len();
        (size >> 20, ran.peak_mib)
    };
    let ((_, least), (size, most)) = (peak("1"), peak("600"));
    assert!(size > 20, "{size} MiB");
    assert!(most < least + 12, "{least} MiB for a row, {most} MiB for a file of {size} MiB");
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    n: i64,
}

#[actix_web::test]
async fn generated_statements_satisfy_the_constraints_of_a_real_database() {
    let app = App::start().await;
    let sql = post(&app, "seed=demo&format=sql", &shop()).await.expect(200);
    let database = Database::new();
    let pools = database.open(&[&auth::MIGRATIONS]);
    let tables = "CREATE TABLE customers (id INTEGER PRIMARY KEY, given TEXT NOT NULL, \"full\" TEXT NOT NULL, \
        email TEXT NOT NULL UNIQUE, note TEXT);
        CREATE TABLE products (code TEXT PRIMARY KEY, price NUMERIC(5, 2) NOT NULL CHECK (price >= 1));
        CREATE TABLE items (n INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers (id), \
        product TEXT NOT NULL REFERENCES products (code), before INTEGER REFERENCES items (n), \
        count INTEGER NOT NULL, cost NUMERIC NOT NULL, gift BOOLEAN NOT NULL, UNIQUE (customer, product));";
    let text = sql.text().to_owned();
    let counted = pools.write_blocking(move |db: &mut Db| {
        db.batch_execute(tables)?;
        db.batch_execute(&text)?;
        let sum =
            diesel::sql_query("SELECT count(*) AS n FROM items JOIN customers ON id = customer");
        Ok::<_, DatabaseError>(sum.get_result::<Count>(db)?.n)
    });
    assert_eq!(counted.unwrap(), 300);
}

#[actix_web::test]
async fn unique_values_occur_once_and_use_the_whole_space() {
    let app = App::start().await;
    for field in [
        json!({"type": "integer", "min": -3, "max": 996}),
        json!({"type": "decimal", "min": 0, "max": 9.99}),
        json!({"type": "choice", "values": (0..1_000).collect::<Vec<_>>()}),
        json!({"type": "pattern", "regex": "x[0-9]{3}"}),
        json!({"type": "date", "min": "2000-01-01", "max": "2002-09-26"}),
        json!({"type": "timestamp", "min": "2026-03-29", "max": "2026-03-29T16:39:00", "step": 60}),
    ] {
        let mut unique = field.clone();
        unique["unique"] = true.into();
        let made = values(&app, 1_000, unique).await;
        let texts: Vec<String> = made.iter().map(Value::to_string).collect();
        assert_eq!(texts.iter().collect::<HashSet<_>>().len(), 1_000, "{field}");
        let in_order = texts.windows(2).filter(|pair| pair[0] <= pair[1]);
        assert!((350..650).contains(&in_order.count()), "{field}");
    }
    for field in [
        json!({"type": "uuid"}),
        json!({"type": "uuid", "version": 7}),
        json!({"type": "person", "part": "email"}),
        json!({"type": "person", "part": "username", "locale": "ja"}),
    ] {
        let texts: HashSet<String> =
            values(&app, 5_000, field.clone()).await.iter().map(Value::to_string).collect();
        assert_eq!(texts.len(), 5_000, "{field}");
    }
}

#[actix_web::test]
async fn values_follow_shares_and_weights() {
    let app = App::start().await;
    // Within four standard deviations for 20,000 draws.
    let near = |count: usize, share: f64| {
        let deviation = (20_000.0 * share * (1.0 - share)).sqrt();
        (count as f64 - 20_000.0 * share).abs() < 4.0 * deviation
    };
    let nulls = values(&app, 20_000, json!({"type": "mac", "nulls": 0.25})).await;
    assert!(near(nulls.iter().filter(|value| value.is_null()).count(), 0.25));
    let flags = values(&app, 20_000, json!({"type": "boolean", "share": 0.9})).await;
    assert!(near(flags.iter().filter(|value| **value == true).count(), 0.9));
    let weighted = json!({"type": "choice", "values": ["a", "b", "c"], "weights": [7, 2, 1]});
    let mut counts = HashMap::new();
    for value in values(&app, 20_000, weighted).await {
        *counts.entry(value.as_str().unwrap().to_owned()).or_insert(0) += 1;
    }
    for (value, share) in [("a", 0.7), ("b", 0.2), ("c", 0.1)] {
        assert!(near(counts[value], share), "{counts:?}");
    }
    let normal = json!({"type": "normal", "mean": 100, "deviation": 15, "min": 70, "decimals": 3});
    let normal: Vec<f64> =
        values(&app, 20_000, normal).await.iter().map(|value| value.as_f64().unwrap()).collect();
    assert!(normal.iter().all(|value| *value >= 70.0));
    assert!(near(normal.iter().filter(|value| **value > 115.0).count(), 0.1587 / 0.97725));
}

#[actix_web::test]
async fn rounding_does_not_move_numbers_past_their_bounds() {
    let app = App::start().await;
    for kind in ["normal", "lognormal"] {
        let between = |least: f64, most: f64| json!({"type": kind, "deviation": 20, "min": least, "max": most, "decimals": 1});
        for value in values(&app, 300, between(0.24, 0.76)).await {
            let value = value.as_f64().unwrap();
            assert!((0.24..=0.76).contains(&value), "{kind} {value}");
        }
        let refused = post(&app, "", &one(between(0.21, 0.29))).await.expect(400).json();
        let found = refused["errors"]["/fields/0/max"][0].as_str().unwrap();
        assert!(found.contains("with the wanted decimals between them"), "{refused}");
    }
}

#[actix_web::test]
async fn values_of_every_type_have_its_format() {
    let app = App::start().await;
    for (field, pattern) in [
        (json!({"type": "address", "part": "postcode", "locale": "fr"}), "[0-9]{5}"),
        (json!({"type": "company", "locale": "de"}), ".{3,}"),
        (json!({"type": "phone", "country": "FR"}), r"\+33[0-9]{9}"),
        (json!({"type": "iban", "country": "NL"}), "NL[0-9]{2}[A-Z]{4}[0-9]{10}"),
        (json!({"type": "card", "brand": "Visa"}), "4[0-9]{12,18}"),
        (json!({"type": "card", "part": "expiry"}), "20[0-9]{2}-[0-9]{2}"),
        (json!({"type": "crypto", "coin": "Ethereum"}), "0x[0-9a-fA-F]{40}"),
        (json!({"type": "imei"}), "[0-9]{15}"),
        (json!({"type": "socialNumber", "country": "SE"}), "[0-9+-]{10,13}"),
        (json!({"type": "vat", "country": "DE"}), "[0-9]{9}"),
        (json!({"type": "text", "words": 3}), r"\w+,? \w+,? \w+\."),
        (json!({"type": "password", "length": 9, "digits": true}), "[a-z0-9]{9}"),
        (json!({"type": "time", "min": "08:00", "max": "08:59:59"}), "08:[0-5][0-9]:[0-5][0-9]"),
        (json!({"type": "ip"}), r"(192\.0\.2|198\.51\.100|203\.0\.113)\.[0-9]{1,3}"),
        (json!({"type": "ip", "version": 6}), "2001:db8:[0-9a-f:]+"),
        (json!({"type": "mac"}), "[0-9a-f][26ae](:[0-9a-f]{2}){5}"),
        (json!({"type": "url"}), r"https://www\.example\.(com|net|org)/[a-z]+/[a-z]+-[0-9]+"),
        (json!({"type": "userAgent"}), r"Mozilla/5\.0 .*"),
        (json!({"type": "fileName"}), r"[a-z]+-[0-9]{4}\.[a-z0-9]{3,4}"),
        (json!({"type": "colour"}), "#[0-9a-f]{6}"),
        (
            json!({"type": "uuid"}),
            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        ),
        (
            json!({"type": "timestamp", "zone": "Asia/Tokyo"}),
            r"20[0-9]{2}-[0-9-]{5}T[0-9:]{8}\+09:00",
        ),
        (json!({"type": "pattern", "regex": "(a|bc)+[^x]?\\d{2,3}"}), "(a|bc)+[^x]?[0-9]{2,3}"),
        (json!({"type": "constant", "value": "same"}), "same"),
    ] {
        let whole = regex_automata::meta::Regex::new(&format!("^(?:{pattern})$")).unwrap();
        for value in values(&app, 200, field.clone()).await {
            assert!(whole.is_match(value.as_str().unwrap()), "{field}: {value}");
        }
    }
    let nested = json!({"type": "array", "min": 2, "max": 2, "items":
        {"type": "object", "fields": [{"name": "a", "type": "integer", "max": 3}, {"name": "b", "type": "constant", "value": [1]}]}});
    let nested = values(&app, 50, nested).await;
    assert!(
        nested
            .iter()
            .all(|value| value[1]["a"].as_u64().unwrap() <= 3 && value[0]["b"] == json!([1]))
    );
    assert!(nested.iter().any(|value| value[0]["a"] != value[1]["a"]));
}

#[actix_web::test]
async fn every_fault_of_a_schema_is_reported_with_its_pointer() {
    let app = App::start().await;
    let schema = json!({"locale": "tlh", "tables": [
        {"name": "a", "rows": 5, "colour": 1, "fields": [
            {"name": "x", "type": "whole"},
            {"name": "x", "type": "integer", "min": 5, "max": 2},
            {"name": "y", "type": "template", "template": "{{z}}"},
            {"name": "c", "type": "expression", "expression": "d + 1"},
            {"name": "d", "type": "template", "template": "{{c}}"},
            {"name": "u", "type": "choice", "values": [1, 2, 1], "unique": true},
            {"name": "v", "type": "company", "unique": true},
            {"type": "mac"},
            {"name": "r", "type": "reference", "table": "b", "field": "q"},
            {"name": "p", "type": "pattern", "regex": "(a"},
            {"name": "q", "type": "pattern", "regex": "((a{50}){50}){50}"},
            {"name": "m", "type": "mac", "upper": true},
            {"name": "w", "type": "choice", "values": ["a"], "weights": [1, 2]},
            {"name": "s", "type": "person", "part": "shoe"},
            {"name": "e", "type": "pattern", "regex": "x[a&&b]+"}
        ]},
        {"name": "a", "fields": []}
    ]});
    let errors = post(&app, "rows=x", &schema).await.expect(400).json()["errors"].take();
    assert_eq!(errors["rows"], json!(["The value 'x' is not valid."]));
    let errors = post(&app, "", &schema).await.expect(400).json()["errors"].take();
    let at = |pointer: &str| errors[pointer][0].as_str().unwrap_or_default().to_owned();
    for (pointer, part) in [
        ("/locale", "/api/Name/Cultures lists"),
        ("/tables/0/colour", "is unknown; a table takes name, locale, rows"),
        ("/tables/0/fields/0/type", "must be one of person, address"),
        ("/tables/0/fields/1/name", "is already the name of another field"),
        ("/tables/0/fields/1/max", "must be at least min, 5"),
        ("/tables/0/fields/2/template", "the table does not have a field z"),
        ("/tables/0/fields/3", "is derived from itself"),
        ("/tables/0/fields/5/unique", "there are 2 values for 5 rows"),
        ("/tables/0/fields/6/unique", "cannot be guaranteed"),
        ("/tables/0/fields/7/name", "is required"),
        ("/tables/0/fields/8/table", "must be one of a"),
        ("/tables/0/fields/9/regex", "unclosed group"),
        ("/tables/0/fields/10/regex", "at most 1000 characters"),
        ("/tables/0/fields/11/upper", "is unknown; mac takes name, type"),
        ("/tables/0/fields/12/weights", "must be 1 numbers"),
        ("/tables/0/fields/13/part", "must be one of fullName"),
        ("/tables/0/fields/14/regex", "has a character class that matches nothing"),
        ("/tables/1/fields", "must be an array of 1 to 200 fields"),
    ] {
        assert!(at(pointer).contains(part), "{pointer}: {errors:#}");
    }
    let body = |text: &str| {
        app.server
            .post("/api/Records")
            .header("content-type", "application/json")
            .body(text.to_owned())
    };
    assert!(body("{").answer().await.expect(400).text().contains("The body is not JSON"));
    assert!(body("{}").answer().await.expect(400).text().contains("/tables"));
    let csv = post(&app, "format=csv", &shop()).await.expect(400).json();
    assert!(csv["errors"]["table"][0].as_str().unwrap().contains("several tables"), "{csv}");
    let unknown = post(&app, "table=nope", &shop()).await.expect(400).json();
    assert!(
        unknown["errors"]["table"][0].as_str().unwrap().contains("must name a table"),
        "{unknown}"
    );
}

#[actix_web::test]
async fn example_schemas_in_the_document_generate_rows() {
    let app = App::start().await;
    let document = app.ok("/openapi.json").await;
    let body = &document["paths"]["/api/Records"]["post"]["requestBody"]["content"];
    let examples = body["application/json"]["examples"].as_object().unwrap();
    assert_eq!(examples.len(), 4);
    for (name, example) in examples {
        let answer = post(&app, "rows=5", &example["value"]).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        assert!(example["summary"].is_string(), "{name}");
    }
}

#[actix_web::test]
async fn callers_without_a_key_have_fewer_rows() {
    let app = App::start().await;
    let schema = one(json!({"type": "boolean"}));
    let refused = post(&app, "rows=100001", &schema).await.expect(400).json();
    assert!(refused["errors"]["rows"][0].as_str().unwrap().contains("at most 100000 rows"));
    let (_, key) = app.issue_key();
    let with_key =
        app.server.post("/api/Records?rows=100001&format=ndjson").header("X-Api-Key", key);
    let answer = with_key.json(&schema).answer().await.expect(200);
    assert_eq!(answer.text().lines().count(), 100_001);
    let none = post(&app, "rows=0", &schema).await.expect(200);
    assert_eq!(none.text(), "[]\n");
}
