//! Field types that describe people, goods and places; children of rows; and archives of tables.

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};

use serde_json::{Value, json};
use testkit::{Answer, Exchange, Program};
use zip::ZipArchive;

use crate::app::App;

async fn post(app: &App, query: &str, schema: &Value) -> Answer {
    app.server.post(&format!("/api/Records?{query}")).json(schema).answer().await
}

async fn rows(app: &App, query: &str, schema: &Value) -> Vec<Value> {
    let answer = post(app, &format!("seed=demo&format=json&{query}"), schema).await.expect(200);
    serde_json::from_str(answer.text()).unwrap()
}

fn person(name: &str, part: &str) -> Value {
    json!({"name": name, "type": "person", "part": part, "household": 4, "locale": "cs"})
}

#[actix_web::test]
async fn households_share_surname_and_address_and_employers_their_domain() {
    let app = App::start().await;
    let parts = [
        "household",
        "surname",
        "givenName",
        "address",
        "sex",
        "occupation",
        "employer",
        "employerDomain",
        "workEmail",
    ];
    let fields: Vec<Value> = parts.iter().map(|part| person(part, part)).collect();
    let schema = json!({ "fields": fields });
    let made = rows(&app, "rows=600", &schema).await;
    let mut households: HashMap<u64, Vec<&Value>> = HashMap::new();
    for row in &made {
        households.entry(row["household"].as_u64().unwrap()).or_default().push(row);
    }
    let shared = households.values().filter(|rows| rows.len() > 1).count();
    // About two in three households have more than one member.
    assert!(households.len() > 200 && shared > 100, "{} {shared}", households.len());
    for rows in households.values() {
        assert!(rows.len() <= 4);
        for row in rows {
            assert_eq!(row["address"], rows[0]["address"]);
            // Women's surnames have a different ending.
            let start =
                |row: &Value| row["surname"].as_str().unwrap().chars().take(3).collect::<String>();
            assert_eq!(start(row), start(rows[0]), "{row}");
        }
    }
    let mut domains: HashMap<&str, &Value> = HashMap::new();
    for row in &made {
        let is_idle =
            ["Pupil", "Student", "Retired"].contains(&row["occupation"].as_str().unwrap());
        assert_eq!(row["employer"].is_null(), is_idle, "{row}");
        if let Some(domain) = row["employerDomain"].as_str() {
            assert_eq!(*domains.entry(domain).or_insert(&row["employer"]), &row["employer"]);
            assert!(domain.ends_with(".example"));
            assert!(row["workEmail"].as_str().unwrap().ends_with(&format!("@{domain}")), "{row}");
        }
    }
    let employed = made.iter().filter(|row| !row["employer"].is_null()).count();
    assert!(domains.len() < employed, "no two persons have one employer");
    // A slice equals that slice of the whole, even within a household.
    assert_eq!(rows(&app, "rows=7&offset=13", &schema).await, made[13..20]);
}

#[actix_web::test]
async fn children_have_their_parents_in_order_and_their_numbers_are_bounded() {
    let app = App::start().await;
    let schema = |children: Value| {
        json!({"tables": [
            {"name": "orders", "childrenOf": children, "fields": [
                {"name": "n", "type": "sequence"},
                {"name": "customer", "type": "reference", "table": "customers", "field": "id"}]},
            {"name": "items", "childrenOf": {"table": "orders", "min": 2, "max": 2}, "fields": [
                {"name": "order", "type": "reference", "table": "orders", "field": "n"}]},
            {"name": "customers", "rows": 1000, "fields": [{"name": "id", "type": "sequence"}]}]})
    };
    let children = json!({"table": "customers", "min": 1, "max": 4, "weights": [4, 3, 2, 1]});
    let made = post(&app, "seed=demo", &schema(children.clone())).await.expect(200).json();
    let parents: Vec<u64> = made["orders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["customer"].as_u64().unwrap())
        .collect();
    // The mean is 2.
    let orders = parents.len();
    assert!(orders.abs_diff(2_000) < 100, "{orders}");
    assert!(parents.is_sorted());
    let mut counts = [0_usize; 5];
    for customer in 1..=1_000 {
        counts[parents.iter().filter(|parent| **parent == customer).count()] += 1;
    }
    assert_eq!(counts[0], 0);
    for (count, expected) in counts[1..].iter().zip([400_usize, 300, 200, 100]) {
        // Within four standard deviations.
        assert!(count.abs_diff(expected) < 62, "{counts:?}");
    }
    assert_eq!(made["items"].as_array().unwrap().len(), 2 * orders);
    assert_eq!(made["items"][2 * orders - 1]["order"], orders);
    let query = "seed=demo&format=ndjson&table=orders&offset=1234&rows=3";
    let part = post(&app, query, &schema(children)).await.expect(200);
    let part: Vec<Value> =
        part.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(part, made["orders"].as_array().unwrap()[1_234..1_237]);
    let exact = json!({"table": "customers", "min": 3, "max": 3, "weights": [0.3]});
    let made = post(&app, "seed=demo&table=orders", &schema(exact)).await.expect(200).json();
    assert_eq!(made.as_array().unwrap().len(), 3_000);
    for (children, pointer) in [
        (json!({"table": "nope"}), "/tables/0/childrenOf/table"),
        (json!({"table": "items"}), "/tables/0/childrenOf/table"),
        (json!({"table": "customers", "min": 3, "max": 2}), "/tables/0/childrenOf/max"),
        (
            json!({"table": "customers", "max": 1, "weights": [1e308, 1e308]}),
            "/tables/0/childrenOf/weights",
        ),
        (json!({"table": "customers", "max": 1, "weights": [1]}), "/tables/0/childrenOf/weights"),
    ] {
        let errors = post(&app, "", &schema(children)).await.expect(400).json();
        assert!(errors["errors"][pointer].is_array(), "{errors:#}");
    }
}

#[actix_web::test]
async fn brands_reviews_and_coordinates_of_a_row_are_consistent() {
    let app = App::start().await;
    let schema = json!({"fields": [
        {"name": "brand", "type": "brand", "words": "river"},
        {"name": "review", "type": "review", "of": "brand"},
        {"name": "text", "type": "text", "paragraphs": 2},
        {"name": "lat", "type": "latitude", "country": "IT"},
        {"name": "lon", "type": "longitude", "country": "IT"},
        {"name": "again", "type": "latitude", "country": "IT"},
        {"name": "other", "type": "latitude", "country": "IT", "of": "office"}]});
    let made = rows(&app, "rows=200", &schema).await;
    let brands: HashSet<&str> = made.iter().map(|row| row["brand"].as_str().unwrap()).collect();
    assert!(brands.len() > 20, "{brands:?}");
    let named = made
        .iter()
        .filter(|row| row["review"].as_str().unwrap().contains(row["brand"].as_str().unwrap()));
    assert!(named.count() > 100);
    for row in &made {
        assert_eq!(row["text"].as_str().unwrap().matches("\n\n").count(), 1);
        let (lat, lon) = (row["lat"].as_f64().unwrap(), row["lon"].as_f64().unwrap());
        assert!((36.6..47.1).contains(&lat) && (6.6..18.6).contains(&lon), "{row}");
        // The Adriatic and the Tyrrhenian Sea.
        assert!(!((43.0..45.0).contains(&lat) && (14.2..15.0).contains(&lon)), "{row}");
        assert!(!((38.5..41.2).contains(&lat) && (9.9..12.0).contains(&lon)), "{row}");
        assert_eq!(row["lat"], row["again"]);
    }
    assert!(made.iter().any(|row| row["lat"] != row["other"]));
    // Sicily, Sardinia, Apulia, and the Alps.
    for (latitudes, longitudes) in [
        (36.6..38.4, 12.0..15.7),
        (38.8..41.3, 8.1..9.9),
        (39.5..42.0, 15.0..18.6),
        (46.0..47.1, 6.6..13.8),
    ] {
        let is_there = |row: &&Value| {
            latitudes.contains(&row["lat"].as_f64().unwrap())
                && longitudes.contains(&row["lon"].as_f64().unwrap())
        };
        assert!(made.iter().any(|row| is_there(&row)), "{latitudes:?} {longitudes:?}");
    }
    let wrong = json!({"fields": [
        {"name": "a", "type": "latitude", "country": "XX"}, {"name": "b", "type": "brand", "words": "!"},
        {"name": "c", "type": "review", "of": "nope"}, {"name": "d", "type": "sequence"},
        {"name": "e", "type": "array", "items": {"type": "reference", "field": "d"}}]});
    let errors = post(&app, "", &wrong).await.expect(400).json();
    for pointer in ["/fields/0/country", "/fields/1/words", "/fields/2/of", "/fields/4/items/table"]
    {
        assert!(errors["errors"][pointer].is_array(), "{pointer} {errors:#}");
    }
}

#[test]
fn output_does_not_depend_on_the_number_of_threads() {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let schema = program.folder().write("schema.json", two_tables().to_string());
    let schema = schema.to_str().unwrap();
    for format in ["json", "sql", "copy", "csv", "ndjson"] {
        let only = if ["csv", "ndjson"].contains(&format) { &["--table", "a_b"][..] } else { &[] };
        let made = |threads: &str, more: &[&str]| {
            let fixed =
                ["records", schema, "--seed", "demo", "--format", format, "--threads", threads];
            program.done(&[&fixed[..], only, more].concat())
        };
        let one = made("1", &[]);
        assert!(one == made("3", &[]) && one == made("8", &[]), "{format}");
        let part = ["--offset", "1234", "-n", "4321"];
        assert!(made("1", &part) == made("2", &part), "{format}");
    }
    assert_eq!(program.run(&["records", schema, "--threads", "0"]).code, Some(2));
}

fn two_tables() -> Value {
    json!({"tables": [
        {"name": "a/b", "rows": 3, "fields": [{"name": "id", "type": "sequence"}]},
        {"name": "a_b", "rows": 40_000, "fields": [
            {"name": "name", "type": "person", "part": "fullName"}, {"name": "n", "type": "integer"}]}]})
}

#[actix_web::test]
async fn card_fields_of_a_row_show_one_card_of_its_person() {
    let app = App::start().await;
    let card = |name: &str, part: &str| json!({"name": name, "type": "card", "part": part});
    let fields = json!([
        {"name": "name", "type": "person", "part": "nameLatin", "locale": "ja"},
        {"name": "mate", "type": "person", "part": "nameLatin", "of": "mate"},
        card("number", "number"), card("brand", "type"), card("cvv", "cvv"), card("holder", "holder"),
        {"name": "payment", "type": "object", "fields": [card("number", "number"), card("expiry", "expiry")]},
        card("expiry", "expiry"),
        {"name": "amex", "type": "card", "of": "mate", "brand": "Amex"},
        {"name": "amexCode", "type": "card", "of": "mate", "part": "cvv"},
        {"name": "amexHolder", "type": "card", "of": "mate", "part": "holder"},
        {"name": "spare", "type": "array", "items": {"type": "card", "part": "holder"}}]);
    let made = rows(&app, "rows=200", &json!({ "fields": fields })).await;
    let numbers: HashSet<&str> = made.iter().map(|row| row["number"].as_str().unwrap()).collect();
    assert_eq!(numbers.len(), 200);
    for row in &made {
        let text = |name: &str| row[name].as_str().unwrap();
        let query =
            format!("/api/Card/Validate?cardNumber={}&type={}", text("number"), text("brand"));
        let valid = app.get(&query).await.expect(200).json();
        assert_eq!(valid["isValid"], true, "{row}");
        let is_amex = text("brand") == "AmericanExpress";
        assert_eq!(text("cvv").len(), if is_amex { 4 } else { 3 }, "{row}");
        assert_eq!(row["payment"]["number"], row["number"]);
        assert_eq!(row["payment"]["expiry"], row["expiry"]);
        assert_eq!(row["holder"], row["name"]);
        assert!(text("amex").starts_with('3') && text("amexCode").len() == 4, "{row}");
        assert_eq!(row["amexHolder"], row["mate"]);
        assert!(row["spare"].as_array().unwrap().iter().all(|holder| *holder == row["name"]));
    }
    // A range of the rows equals a slice of the whole.
    let part = rows(&app, "rows=5&offset=50", &json!({ "fields": fields })).await;
    assert_eq!(part, made[50..55]);
}

#[actix_web::test]
async fn short_texts_differ_between_rows() {
    let app = App::start().await;
    for vocabulary in ["latin", "business"] {
        let field = |words: u64| json!({"name": format!("w{words}"), "type": "text", "words": words, "vocabulary": vocabulary});
        let schema = json!({"fields": (1..=5).map(field).collect::<Vec<_>>()});
        let made = rows(&app, "rows=100", &schema).await;
        for words in 1..=5 {
            let texts: HashSet<&str> =
                made.iter().map(|row| row[format!("w{words}")].as_str().unwrap()).collect();
            let least = if words == 1 { 5 } else { 20 };
            assert!(texts.len() > least, "{vocabulary} {words}: {texts:?}");
        }
    }
}

#[actix_web::test]
async fn combinations_of_fields_occur_once_and_references_share_a_row() {
    let app = App::start().await;
    let refer = |name: &str, table: &str, field: &str| json!({"name": name, "type": "reference", "table": table, "field": field});
    let follow = |name: &str, table: &str, field: &str, with: &str| json!({"name": name, "type": "reference", "table": table, "field": field, "with": with});
    let schema = json!({"tables": [
        {"name": "orders", "rows": 40, "fields": [{"name": "id", "type": "sequence"}]},
        {"name": "kinds", "maxRows": 3, "fields": [
            {"name": "kind", "type": "choice", "values": ["a", "b", "c"], "unique": true}]},
        {"name": "lines", "rows": 300, "uniqueTogether": [["order", "line"]], "fields": [
            refer("order", "orders", "id"), {"name": "line", "type": "integer", "min": 1, "max": 9}]},
        {"name": "shipped", "rows": 500, "uniqueTogether": [["day", "order", "line"]], "fields": [
            {"name": "day", "type": "date", "min": "2024-01-01", "max": "2024-01-03"},
            refer("order", "lines", "order"), follow("line", "lines", "line", "order")]},
        {"name": "items", "childrenOf": {"table": "orders", "min": 4, "max": 9}, "uniquePair": ["order", "product"],
            "fields": [refer("order", "orders", "id"), {"name": "product", "type": "integer", "min": 1, "max": 9}]},
        {"name": "chain", "rows": 30, "fields": [
            {"name": "id", "type": "sequence"},
            {"name": "before", "type": "reference", "field": "id", "choose": "once"}]}]});
    let made = post(&app, "seed=demo&rows=20", &schema).await.expect(200).json();
    assert_eq!(made["kinds"].as_array().unwrap().len(), 3);
    let whole = post(&app, "seed=demo", &schema).await.expect(200).json();
    for (table, names) in [
        ("lines", &["order", "line"][..]),
        ("shipped", &["day", "order", "line"]),
        ("items", &["order", "product"]),
        ("chain", &["before"]),
    ] {
        let rows = whole[table].as_array().unwrap();
        let found: HashSet<String> = column_of(rows, names).into_iter().collect();
        assert_eq!(found.len(), rows.len(), "{table}");
        let part = column_of(made[table].as_array().unwrap(), names);
        // There are 20 orders, each with all of its items.
        let length = if table == "items" { part.len() } else { 20 };
        assert_eq!(part, column_of(&rows[..length], names), "{table}");
    }
    assert_eq!(made["items"].as_array().unwrap().last().unwrap()["order"], 20);
    let lines: HashSet<String> =
        column_of(whole["lines"].as_array().unwrap(), &["order", "line"]).into_iter().collect();
    for pair in column_of(whole["shipped"].as_array().unwrap(), &["order", "line"]) {
        assert!(lines.contains(&pair), "{pair}");
    }
    for (place, row) in whole["chain"].as_array().unwrap().iter().enumerate().skip(1) {
        assert_eq!(row["before"], place);
    }
    let wrong = json!({"tables": [
        {"name": "a", "rows": 20, "uniqueTogether": [["x", "y"], ["x"], ["x", "nope"], ["y", "z"]], "fields": [
            {"name": "x", "type": "boolean"}, {"name": "y", "type": "integer", "max": 4},
            {"name": "z", "type": "ip"}, follow("w", "a", "x", "x")]}]});
    let errors = post(&app, "", &wrong).await.expect(400).json();
    let repeated = json!({"tables": [
        {"name": "a", "fields": [{"name": "x", "type": "boolean"}]},
        {"name": "b", "uniquePair": ["y", "z"], "fields": [
            refer("y", "a", "x"), {"name": "z", "type": "integer"},
            {"name": "w", "type": "reference", "table": "a", "field": "x", "choose": "once", "unique": true}]}]});
    let refused = post(&app, "", &repeated).await.expect(400).json();
    for (pointer, text) in [
        ("/tables/1/uniquePair", "y refers to a field that is not unique"),
        ("/tables/1/fields/2/unique", "cannot be guaranteed"),
    ] {
        assert!(refused["errors"][pointer].to_string().contains(text), "{pointer} {refused:#}");
    }
    for (pointer, text) in [
        ("/tables/0/uniqueTogether/0", "10 combinations for 20 rows"),
        ("/tables/0/uniqueTogether/1", "2 to 8 fields"),
        ("/tables/0/uniqueTogether/2", "does not have a field nope"),
        ("/tables/0/uniqueTogether/3", "z cannot be combined"),
        ("/tables/0/fields/3/with", "another reference"),
    ] {
        assert!(errors["errors"][pointer].to_string().contains(text), "{pointer} {errors:#}");
    }
}

fn column_of(rows: &[Value], names: &[&str]) -> Vec<String> {
    rows.iter().map(|row| names.iter().map(|name| format!("{}|", row[*name])).collect()).collect()
}

#[actix_web::test]
async fn an_archive_has_a_file_for_each_table() {
    let app = App::start().await;
    let answer =
        post(&app, "seed=demo&format=csv&zip=true&bom=true", &two_tables()).await.expect(200);
    assert_eq!(answer.header("content-type"), "application/zip");
    assert_eq!(answer.header("content-disposition"), "attachment; filename=\"records.zip\"");
    let mut archive = ZipArchive::new(Cursor::new(answer.body.clone())).unwrap();
    assert_eq!(archive.file_names().collect::<Vec<_>>(), ["a_b.csv", "a_b-2.csv"]);
    for (place, table) in ["a/b", "a_b"].into_iter().enumerate() {
        let mut text = String::new();
        archive.by_index(place).unwrap().read_to_string(&mut text).unwrap();
        let table = table.replace('/', "%2F");
        let query = format!("seed=demo&format=csv&bom=true&table={table}");
        let alone = post(&app, &query, &two_tables()).await.expect(200);
        assert!(text.starts_with('\u{feff}') && alone.text() == text, "{table}");
    }
    assert_eq!(post(&app, "zip=true&table=nope", &two_tables()).await.status, 400);
}

#[actix_web::test]
async fn archive_for_clients_that_accept_workbooks_contains_none() {
    let app = App::start().await;
    let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    let asked = app.server.post("/api/Records?seed=demo&zip=true&rows=20").header("accept", kind);
    let answer = asked.json(&two_tables()).answer().await.expect(200);
    assert_eq!(answer.header("content-type"), "application/zip");
    let archive = ZipArchive::new(Cursor::new(answer.body.clone())).unwrap();
    assert_eq!(archive.file_names().collect::<Vec<_>>(), ["a_b.json", "a_b-2.json"]);
    let query = "format=xlsx&zip=true&offset=-1";
    let errors = post(&app, query, &two_tables()).await.expect(400).json()["errors"].take();
    let message = "The field zip must be false for xlsx: a workbook has a sheet for each table.";
    assert_eq!(errors["zip"], json!([message]));
    assert!(errors["offset"].is_array(), "{errors}");
}

#[actix_web::test]
async fn workbooks_have_a_sheet_for_each_table_and_a_bounded_size() {
    let app = App::start().await;
    let answer = post(&app, "seed=demo&format=xlsx&rows=20", &two_tables()).await.expect(200);
    let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    assert_eq!(answer.header("content-type"), kind);
    let archive = ZipArchive::new(Cursor::new(answer.body.clone())).unwrap();
    let sheets = archive.file_names().filter(|name| name.starts_with("xl/worksheets/sheet"));
    assert_eq!(sheets.count(), 2);
    let asked = app.server.post("/api/Records?seed=demo&rows=20").header("accept", kind);
    let accepted = asked.json(&two_tables()).answer().await.expect(200);
    assert_eq!(accepted.body, answer.body);
    let long = json!({"fields": [{"name": "a", "type": "array", "min": 100, "max": 100,
        "items": {"type": "text", "words": 100}}]});
    let refused = post(&app, "format=xlsx&rows=1", &long).await.expect(400).json();
    assert!(refused["errors"]["rows"].is_array(), "{refused}");
    let (_, key) = app.issue_key();
    let large = app.server.post("/api/Records?format=xlsx&rows=600000").header("X-Api-Key", key);
    let schema = json!({"fields": [{"name": "a", "type": "mac"}, {"name": "b", "type": "mac"}]});
    let refused = large.json(&schema).answer().await.expect(400).json();
    assert!(refused["errors"]["rows"][0].as_str().unwrap().contains("1000000 cells"), "{refused}");
}

#[actix_web::test]
async fn schemas_whose_rows_cost_too_much_are_refused_before_any_row_is_made() {
    let app = App::start().await;
    let chain = |kind: &str, write: &dyn Fn(usize) -> String| {
        let field = |nth: usize| match nth {
            0 => json!({"name": "f0", "type": "sequence"}),
            _ => json!({"name": format!("f{nth}"), "type": kind, kind: write(nth - 1)}),
        };
        json!({"fields": (0..40).map(field).collect::<Vec<_>>()})
    };
    let item = json!({"name": "i", "type": "integer"});
    let items =
        |items: Value| json!({"name": "a", "type": "array", "min": 1, "max": 100, "items": items});
    for schema in [
        chain("template", &|before| format!("{{{{f{before}}}}}{{{{f{before}}}}}")),
        chain("expression", &|before| format!("f{before} + f{before} * 0")),
        json!({"fields": [items(items(items(item.clone())))]}),
    ] {
        let refused = post(&app, "rows=1", &schema).await.expect(400);
        assert!(refused.text().contains("generates more than 10000 values"), "{}", refused.text());
    }
    let wide = json!({"fields": [items(item)]});
    let made = post(&app, "rows=1", &wide).await.expect(200).json();
    assert_eq!(made.as_array().map(Vec::len), Some(1));
}

#[actix_web::test]
async fn archives_of_rows_that_compress_well_are_complete() {
    let app = App::start().await;
    let field = |nth: usize| json!({"name": format!("f{nth}"), "type": "choice", "values": ["x"]});
    let schema = json!({"fields": (0..50).map(field).collect::<Vec<_>>()});
    let answer = post(&app, "rows=20000&format=csv&zip=true", &schema).await.expect(200);
    let mut archive = ZipArchive::new(Cursor::new(answer.body.clone())).unwrap();
    let mut text = String::new();
    archive.by_index(0).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 20_001);
}

#[actix_web::test]
async fn fields_take_the_parameters_of_the_operations_that_generate_their_values() {
    let app = App::start().await;
    let schema = json!({"fields": [
        {"name": "national", "type": "phone", "country": "FR", "format": "national"},
        {"name": "fiction", "type": "phone", "country": "FR", "fictional": true},
        {"name": "iban", "type": "iban", "country": "DE", "format": "pretty"},
        {"name": "card", "type": "card", "brand": "Visa", "format": "pretty"},
        {"name": "digits", "type": "card"},
        {"name": "number", "type": "socialNumber", "country": "SE", "sex": "female", "birthDate": "1984-02-29"},
        {"name": "born", "type": "person", "part": "birthDate", "birthDate": "1984-02-29"},
        {"name": "tax", "type": "person", "part": "nationalNumber", "locale": "sv", "birthDate": "1984-02-29"}]});
    for row in rows(&app, "rows=200", &schema).await {
        let text = |name: &str| row[name].as_str().unwrap();
        assert!(text("national").starts_with('0') && text("national").contains(' '), "{row}");
        assert!(
            ["19900", "26191", "35301", "46571", "53649", "63998"]
                .iter()
                .any(|range| text("fiction")[3..].starts_with(range)),
            "{row}"
        );
        assert_eq!(text("iban").split(' ').map(str::len).collect::<Vec<_>>(), [4, 4, 4, 4, 4, 2]);
        assert_eq!(text("card").split(' ').map(str::len).collect::<Vec<_>>(), [4, 4, 4, 4]);
        // Both are the row's card.
        assert_eq!(text("card").replace(' ', ""), text("digits"));
        assert!(text("number").starts_with("19840229"), "{row}");
        assert!((text("number").as_bytes()[10] - b'0').is_multiple_of(2), "{row}");
        assert_eq!(text("born"), "1984-02-29");
        assert!(text("tax").starts_with("19840229"), "{row}");
    }
    let broken = json!({"fields": [
        {"name": "a", "type": "phone", "country": "JP", "fictional": true},
        {"name": "b", "type": "phone", "country": "ZZ", "format": "pretty"},
        {"name": "c", "type": "card", "part": "cvv", "format": "pretty"},
        {"name": "d", "type": "socialNumber", "birthDate": "2100-01-01"},
        {"name": "e", "type": "vat", "birthDate": "1984-02-29"},
        {"name": "f", "type": "uuid", "version": 3}]});
    let answer = post(&app, "rows=1&refDate=2200-01-01", &broken).await.expect(400).json();
    let faults: Vec<_> = answer["errors"].as_object().unwrap().keys().collect();
    assert_eq!(
        faults,
        [
            "/fields/0/fictional",
            "/fields/1/country",
            "/fields/1/format",
            "/fields/2/format",
            "/fields/3/birthDate",
            "/fields/4/birthDate",
            "/fields/5/version",
        ]
    );
    let only = answer["errors"]["/fields/0/fictional"][0].as_str().unwrap();
    assert!(only.contains("AU, CA, DE, FR, GB"), "{only}");
    assert_eq!(answer["errors"]["/fields/5/version"][0], "must be 4 or 7");
}
