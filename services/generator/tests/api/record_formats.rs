//! Values that only some formats of records can hold.

use std::io::{Cursor, Read};

use serde_json::{Value, json};
use testkit::{Answer, Exchange, Program};
use zip::ZipArchive;

use crate::app::App;

async fn post(app: &App, query: &str, schema: &Value) -> Answer {
    app.server.post(&format!("/api/Records?rows=1&{query}")).json(schema).answer().await
}

#[actix_web::test]
async fn booleans_are_boolean_cells_in_workbooks() {
    let app = App::start().await;
    let schema = json!({"fields": [{"name": "a", "type": "boolean", "share": 1}]});
    let answer = post(&app, "format=xlsx", &schema).await.expect(200);
    let mut archive = ZipArchive::new(Cursor::new(answer.body)).unwrap();
    let mut sheet = String::new();
    archive.by_name("xl/worksheets/sheet1.xml").unwrap().read_to_string(&mut sheet).unwrap();
    assert!(sheet.contains(r#"<c r="A2" t="b"><v>1</v></c>"#), "{sheet}");
}

#[actix_web::test]
async fn sql_refuses_the_character_that_it_cannot_express() {
    let app = App::start().await;
    let schema = json!({"fields": [
        {"name": "a", "type": "constant", "value": "x\0"},
        {"name": "b", "type": "choice", "values": ["y", "\0"]},
        {"name": "c", "type": "pattern", "regex": r"z[\x00-\x01]"},
        {"name": "d", "type": "pattern", "regex": "[^a]"},
    ]});
    let text = "contains the character U+0000, which SQL cannot express: use json, ndjson or csv";
    for format in ["sql", "copy"] {
        let answer = post(&app, &format!("format={format}"), &schema).await.expect(400);
        let expected = json!({
            "/fields/0/value": [text],
            "/fields/1/values/1": [text],
            "/fields/2/regex": [text],
        });
        assert_eq!(answer.json()["errors"], expected, "{format}");
    }
    assert_eq!(post(&app, "format=json", &schema).await.expect(200).json()[0]["a"], "x\0");
    let program = Program::new(env!("CARGO_BIN_EXE_generator"));
    let path = program.folder().join("schema.json");
    std::fs::write(&path, schema.to_string()).unwrap();
    let ran = program.run(&["records", path.to_str().unwrap(), "--format", "copy"]);
    assert!(ran.code != Some(0) && ran.errors.contains("U+0000"), "{}", ran.errors);
}
