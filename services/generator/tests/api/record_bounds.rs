//! Schemas that would take too much time or memory are refused with the pointer to the field.

use serde_json::{Value, json};
use testkit::{Answer, Exchange};

use crate::app::App;

async fn post(app: &App, query: &str, schema: &Value) -> Answer {
    app.server.post(&format!("/api/Records?{query}")).json(schema).answer().await
}

/// Returns the first error at each pointer.
async fn errors(app: &App, schema: &Value) -> Value {
    post(app, "rows=1", schema).await.expect(400).json()["errors"].take()
}

fn message(errors: &Value, pointer: &str) -> String {
    errors[pointer][0].as_str().unwrap_or_default().to_owned()
}

/// Returns a table with a field of each value.
fn table(fields: impl IntoIterator<Item = Value>) -> Value {
    let named = |(place, mut field): (usize, Value)| {
        field["name"] = format!("f{place}").into();
        field
    };
    json!({"fields": fields.into_iter().enumerate().map(named).collect::<Vec<_>>()})
}

/// Returns a schema with arrays of three references to a table.
fn once(rows: u64) -> Value {
    json!({"tables": [
        {"name": "a", "rows": rows, "fields": [{"name": "id", "type": "sequence"}]},
        {"name": "b", "rows": 2, "fields": [{"name": "x", "type": "array", "min": 3, "max": 3,
            "items": {"type": "reference", "table": "a", "field": "id", "choose": "once"}}]}]})
}

#[actix_web::test]
async fn references_in_arrays_choose_each_row_once_or_are_refused() {
    let app = App::start().await;
    for rows in [1, 5] {
        let errors = errors(&app, &once(rows)).await;
        let found = message(&errors, "/tables/1/fields/0/items/choose");
        assert!(found.contains(&format!("a has {rows} rows for 6")), "{errors}");
    }
    let made = post(&app, "seed=demo", &once(6)).await.expect(200).json();
    let mut ids: Vec<_> = made["b"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row["x"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()))
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6]);
}

/// Returns a chain of fields, each of which uses the next, or the one before.
fn chain(length: usize, is_reversed: bool) -> Value {
    table((0..length).map(|place| {
        let next = if is_reversed { place.checked_sub(1) } else { Some(place + 1) };
        match next.filter(|next| *next < length) {
            Some(next) => json!({"type": "template", "template": format!("{{{{f{next}}}}}")}),
            None => json!({"type": "sequence"}),
        }
    }))
}

#[actix_web::test]
async fn chains_of_fields_have_at_most_64_links() {
    let app = App::start().await;
    for (is_reversed, pointer) in [(false, "/fields/64"), (true, "/fields/64")] {
        let made = post(&app, "rows=1", &chain(64, is_reversed)).await.expect(200).json();
        assert_eq!(made[0]["f0"].as_str().map_or(1, |text| text.parse().unwrap()), 1);
        let errors = errors(&app, &chain(65, is_reversed)).await;
        assert!(message(&errors, pointer).contains("more than 64 fields"), "{errors}");
    }
    // Twenty tables could have a chain of 4,000 fields.
    let tables: Vec<_> = (0..20)
        .map(|number| {
            let mut table = chain(200, false);
            table["name"] = format!("t{number}").into();
            if number < 19 {
                let next = format!("t{}", number + 1);
                table["fields"][199] =
                    json!({"name": "f199", "type": "reference", "table": next, "field": "f0"});
            }
            table
        })
        .collect();
    let errors = errors(&app, &json!({ "tables": tables })).await;
    assert!(errors.to_string().contains("more than 64 fields"), "{errors}");
}

#[actix_web::test]
async fn long_and_slow_values_count_as_several() {
    let app = App::start().await;
    let array = |items: Value| json!({"type": "array", "min": 95, "max": 95, "items": {"type": "array", "max": 100, "items": items}});
    for items in [
        json!({"type": "text", "words": 1000}),
        json!({"type": "text", "paragraphs": 20}),
        json!({"type": "password", "length": 250}),
        json!({"type": "pattern", "regex": "[a-z]{1000}"}),
        json!({"type": "review"}),
        json!({"type": "socialNumber"}),
        json!({"type": "vat"}),
        json!({"type": "person", "part": "nationalNumber"}),
        json!({"type": "normal", "min": 9}),
        json!({"type": "lognormal", "max": 0.001}),
    ] {
        let errors = errors(&app, &table([array(items.clone())])).await;
        let found = message(&errors, "/fields/0/items/items");
        let found = found + &message(&errors, "/fields/0/items") + &message(&errors, "/fields/0");
        assert!(found.contains("more than 10000 values per row"), "{items}: {errors}");
    }
    // As many short values are fine.
    let short = array(json!({"type": "text", "words": 1}));
    assert_eq!(post(&app, "rows=1", &table([short])).await.status, 200);
}

#[actix_web::test]
async fn parents_in_arrays_count_as_several() {
    let app = App::start().await;
    let array = |most: u64, items: Value| json!({"name": "x", "type": "array", "max": most, "items": items});
    let refer = |table: &str, field: &str| json!({"name": "a", "type": "reference", "table": table, "field": field});
    let schema = |field: &str| {
        json!({"tables": [
            {"name": "a", "rows": 5, "fields": [{"name": "id", "type": "sequence"}]},
            {"name": "b", "childrenOf": {"table": "a", "min": 1}, "fields": [
                {"name": "id", "type": "sequence"}, refer("a", "id")]},
            {"name": "c", "fields": [array(10, array(100, refer("b", field)))]}]})
    };
    let errors = errors(&app, &schema("a")).await;
    let found = message(&errors, "/tables/2/fields/0");
    assert!(found.contains("more than 10000 values per row"), "{errors}");
    // As many references to other rows are fine.
    assert_eq!(post(&app, "rows=1", &schema("id")).await.status, 200);
}

fn pattern(regex: String) -> Value {
    json!({"type": "pattern", "regex": regex})
}

#[actix_web::test]
async fn patterns_have_a_bounded_number_of_unicode_classes() {
    let app = App::start().await;
    for regex in [
        r"\pL".repeat(21),
        r"\w".repeat(21),
        format!("(?i){}(?-u:\\xff)", r"\pL".repeat(160)),
        r"[\pL]".repeat(21),
        r"(?i)[a\W]".repeat(21),
        // Each pair of brackets expands the class again.
        format!("{}\\pL{}", "[a".repeat(11), "]".repeat(11)).repeat(2),
    ] {
        let errors = errors(&app, &table([pattern(regex.clone())])).await;
        let found = message(&errors, "/fields/0/regex");
        assert!(found.contains("at most 20 Unicode classes"), "{regex}: {errors}");
    }
    let fields = |count: usize| (0..count).map(|_| pattern(r"\pL".repeat(20)));
    assert_eq!(post(&app, "rows=1", &table(fields(25))).await.status, 200);
    let errors = errors(&app, &table(fields(26))).await;
    let found = message(&errors, "/fields/25/regex");
    assert!(found.contains("at most 500 Unicode classes in a schema"), "{errors}");
    for regex in [
        r"\d".repeat(200),
        "[A-Z]".repeat(90),
        r"[\x00-\u{10ffff}]".repeat(21),
        r"(?i)[^a][^b]".to_owned(),
    ] {
        assert_eq!(post(&app, "rows=1", &table([pattern(regex)])).await.status, 200);
    }
}

#[actix_web::test]
async fn classes_that_ignore_letter_case_are_bounded_by_the_schema() {
    let app = App::start().await;
    let email = r"(?i)^[\S]+@[\S]+\.[\S]+$";
    let fine = [
        email,
        r"(?i)[^\W_]+[^\W_]+",
        "(?i)[一-龥]{2}[一-龥]{2}",
        r"(?i)[\x00-\u{10ffff}][\x00-\u{10ffff}]",
    ];
    let fine = fine.map(|regex| pattern(regex.to_owned()));
    post(&app, "rows=1", &table(fine)).await.expect(200).json();
    // How many fields can have such a pattern.
    for (regex, most) in [(format!("(?i){}", "[Ā-✀]".repeat(62)), 2_usize), (email.to_owned(), 8)]
    {
        let fields = vec![pattern(regex.clone()); most + 1];
        let errors = errors(&app, &table(fields)).await;
        let found = message(&errors, &format!("/fields/{most}/regex"));
        assert!(found.contains("at most 500 Unicode classes in a schema"), "{regex}: {errors}");
        assert_eq!(errors.as_object().unwrap().len(), 1, "{errors}");
    }
}

#[actix_web::test]
async fn more_than_100_unique_sets_of_a_table_are_refused() {
    let app = App::start().await;
    let mut schema = table((0..200).map(|_| json!({"type": "integer"})));
    let pair = |number: usize| [format!("f{}", 2 * number), format!("f{}", 2 * number + 1)];
    let mut sets: Vec<_> = (0..100).map(pair).collect();
    schema["uniqueTogether"] = json!(sets);
    post(&app, "rows=1", &schema).await.expect(200).json();
    sets.push(pair(0));
    schema["uniqueTogether"] = json!(sets);
    let errors = errors(&app, &schema).await;
    assert!(message(&errors, "/uniqueTogether").contains("at most 100 sets"), "{errors}");
}

#[actix_web::test]
async fn schema_with_thousands_of_cards_is_parsed() {
    let app = App::start().await;
    let object = |number: usize| {
        let card = |place: usize| json!({"name": format!("c{place}"), "type": "card", "part": "holder", "of": format!("{number}-{place}")});
        json!({"type": "object", "fields": (0..100).map(card).collect::<Vec<_>>()})
    };
    // For each card, all fields were once searched for its brand and holder.
    let cards = table((0..100).map(object));
    assert_eq!(post(&app, "rows=0", &cards).await.expect(200).text(), "[]\n");
}

#[actix_web::test]
async fn faults_past_the_hundredth_still_count() {
    let app = App::start().await;
    let mut first = table([json!({"type": "sequence"})]);
    first["name"] = "c".into();
    for number in 0..110 {
        first[format!("unknown{number}")] = 1.into();
    }
    let schema = json!({"tables": [first, {
        "name": "d", "uniquePair": ["r", "q"],
        "childrenOf": {"table": "c", "min": 0, "max": 2, "weights": []},
        "fields": [{"name": "r", "type": "reference", "table": "c", "field": "f0"}, {"name": "q", "type": "boolean"}]}]});
    let errors = errors(&app, &schema).await;
    assert_eq!(errors.as_object().unwrap().len(), 100);
}

#[actix_web::test]
async fn texts_that_no_cell_of_a_workbook_can_hold_are_refused() {
    let app = App::start().await;
    // Excel counts a character outside the basic plane as two.
    for (letter, most) in [("x", 32_767), ("😀", 16_383)] {
        let text =
            |count: usize| table([json!({"type": "constant", "value": letter.repeat(count)})]);
        let _ = post(&app, "rows=1&format=xlsx", &text(most)).await.expect(200);
        let refused = post(&app, "rows=1&format=xlsx", &text(most + 1)).await.expect(400);
        let found = message(&refused.json()["errors"], "rows");
        assert!(found.starts_with("row 1 has a text of more than 32767 characters"), "{found}");
    }
}

#[actix_web::test]
async fn workbooks_with_few_cells_that_use_many_values_are_refused() {
    let app = App::start().await;
    let array = |count: u64, items: Value| json!({"type": "array", "min": count, "max": count, "items": items});
    let words = array(50, array(100, json!({"type": "text", "words": 1})));
    let mut schema = table([words, json!({"type": "expression", "expression": "length(f0)"})]);
    schema["fields"][0]["hidden"] = true.into();
    let refused = post(&app, "rows=5000&format=xlsx", &schema).await.expect(400).json();
    let found = message(&refused["errors"], "rows");
    assert!(found.starts_with("A workbook has at most 20000000 values"), "{refused}");
    let _ = post(&app, "rows=2&format=xlsx", &schema).await.expect(200);
}

#[actix_web::test]
async fn parts_past_the_most_rows_are_refused_instead_of_empty() {
    let app = App::start().await;
    let mut schema = table([json!({"type": "sequence"})]);
    for query in ["offset=9999998&rows=5", "offset=20000000&rows=5"] {
        let errors = post(&app, query, &schema).await.expect(400).json()["errors"].take();
        let found = message(&errors, "offset");
        assert!(found.contains("at most 10000000 together"), "{errors}");
    }
    let last = post(&app, "offset=9999998&rows=2", &schema).await.expect(200).json();
    assert_eq!(last[1]["f0"], 10_000_000);
    // The schema says where this table ends.
    schema["rows"] = 20.into();
    let end = post(&app, "offset=20000000&rows=5", &schema).await.expect(200);
    assert_eq!(end.text(), "[]\n");
}

#[actix_web::test]
async fn parts_past_the_most_rows_depend_only_on_the_requested_table() {
    let app = App::start().await;
    let fields = json!([{"name": "id", "type": "sequence"}]);
    let schema = json!({"tables": [
        {"name": "a", "rows": 3, "fields": fields}, {"name": "b", "fields": fields}]});
    let part = |table: &str| format!("offset=20000000&rows=2{table}");
    let end = post(&app, &part("&table=a"), &schema).await.expect(200).json();
    assert_eq!(end, json!([]));
    for table in ["&table=b", ""] {
        let errors = post(&app, &part(table), &schema).await.expect(400).json()["errors"].take();
        assert!(message(&errors, "offset").contains("at most 10000000 together"), "{errors}");
    }
}
