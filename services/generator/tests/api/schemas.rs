//! Schemas that keys have saved.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use database::{DatabaseError, Db};
use diesel::connection::SimpleConnection;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Answer, Exchange};

use crate::app::App;

async fn ask(app: &App, key: Option<&str>, method: Method, name: &str, body: &Value) -> Answer {
    let request = app.server.request(method.clone(), &format!("/api/Schemas{name}"));
    let request = match key {
        Some(key) => request.header("X-Api-Key", key),
        None => request,
    };
    match method {
        Method::PUT => request.json(body).answer().await,
        _ => request.answer().await,
    }
}

fn schema(rows: u64) -> Value {
    json!({"tables": [{"name": "t", "rows": rows, "fields": [{"name": "id", "type": "sequence"}]}]})
}

#[actix_web::test]
async fn a_schema_is_saved_replaced_listed_and_removed_by_its_key_only() {
    let app = App::start().await;
    let ((_, own), (_, other)) = (app.issue_key(), app.issue_key());
    let own = Some(own.as_str());
    assert_eq!(ask(&app, own, Method::PUT, "/my%20shop", &schema(1)).await.status, 204);
    assert_eq!(ask(&app, own, Method::PUT, "/my%20shop", &schema(2)).await.status, 204);
    let listed = ask(&app, own, Method::GET, "", &Value::Null).await.expect(200);
    assert_eq!(listed.header("cache-control"), "no-store");
    assert_eq!(listed.json(), json!([{"name": "my shop", "changed": "2026-11-20T12:00:00Z"}]));
    let read = ask(&app, own, Method::GET, "/my%20shop", &Value::Null).await.expect(200);
    assert_eq!(read.json(), schema(2));
    // With another key, the schema can neither be seen nor changed. A caller without a key is
    // rejected.
    for (key, status) in
        [(Some(other.as_str()), 404), (None, 401), (Some("0".repeat(32).as_str()), 401)]
    {
        for method in [Method::GET, Method::DELETE] {
            assert_eq!(ask(&app, key, method, "/my%20shop", &Value::Null).await.status, status);
        }
        let list = ask(&app, key, Method::GET, "", &Value::Null).await;
        let put = ask(&app, key, Method::PUT, "/my%20shop", &schema(9)).await;
        match status {
            404 => {
                assert_eq!((list.expect(200).json(), put.status), (json!([]), 204));
                assert_eq!(
                    ask(&app, key, Method::DELETE, "/my%20shop", &Value::Null).await.status,
                    204
                );
            }
            _ => assert_eq!((list.status, put.status), (401, 401)),
        }
    }
    let read = ask(&app, own, Method::GET, "/my%20shop", &Value::Null).await.expect(200);
    assert_eq!(read.json(), schema(2));
    assert_eq!(ask(&app, own, Method::DELETE, "/my%20shop", &Value::Null).await.status, 204);
    assert_eq!(ask(&app, own, Method::DELETE, "/my%20shop", &Value::Null).await.status, 404);
    assert_eq!(ask(&app, own, Method::GET, "/my%20shop", &Value::Null).await.status, 404);
}

#[actix_web::test]
async fn schemas_with_faults_too_many_and_too_large_ones_are_refused() {
    let app = App::start().await;
    let (_, key) = app.issue_key();
    let put = async |name: &str, body: Value| ask(&app, Some(&key), Method::PUT, name, &body).await;
    let wrong = json!({"fields": [{"name": "a", "type": "nope"}]});
    let errors = put("/wrong", wrong).await.expect(400).json();
    assert!(errors["errors"]["/fields/0/type"].is_array(), "{errors}");
    let values: Vec<String> = (0..9_000).map(|number| format!("value {number}")).collect();
    let large = json!({"fields": [{"name": "a", "type": "choice", "values": values}]});
    let errors = put("/large", large).await.expect(400).json();
    assert!(errors["errors"]["$"][0].as_str().unwrap().contains("65536 bytes"), "{errors}");
    let long = format!("/{}", "x".repeat(65));
    assert!(put(&long, schema(1)).await.expect(400).json()["errors"]["name"].is_array());
    for number in 0..100 {
        assert_eq!(put(&format!("/{number}"), schema(number)).await.status, 204);
    }
    let errors = put("/more", schema(1)).await.expect(400).json();
    assert!(errors["errors"]["name"][0].as_str().unwrap().contains("remove one first"), "{errors}");
    // Replacing a schema does not need another slot.
    assert_eq!(put("/7", schema(1)).await.status, 204);
}

/// Makes the database reject schemas with the error of a full disk.
fn fill_disk(db: &mut Db) -> Result<(), DatabaseError> {
    let statements = match db {
        Db::Sqlite(_) => {
            "CREATE TRIGGER refuse BEFORE INSERT ON record_schema \
             BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        }
        Db::Pg(_) => {
            "CREATE FUNCTION refuse() RETURNS trigger AS \
             $$ BEGIN RAISE 'No space left on device'; END $$ LANGUAGE plpgsql; \
             CREATE TRIGGER refuse BEFORE INSERT ON record_schema \
             FOR EACH ROW EXECUTE FUNCTION refuse()"
        }
    };
    Ok(db.batch_execute(statements)?)
}

#[actix_web::test]
async fn a_full_disk_is_unavailable_and_not_an_internal_error() {
    let app = App::start().await;
    let (_, key) = app.issue_key();
    app.pools.write_blocking(fill_disk).unwrap();
    let refused = ask(&app, Some(&key), Method::PUT, "/shop", &schema(1)).await.expect(503);
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(ask(&app, Some(&key), Method::GET, "", &Value::Null).await.status, 200);
}

/// Sends a request whose client waits for permission to send its body, and returns the response
/// head.
fn head_of_answer(address: SocketAddr, key: &str) -> String {
    let request = format!(
        "PUT /api/Schemas/shop HTTP/1.1\r\nhost: a\r\n{key}content-type: application/json\r\n\
         content-length: 45\r\nexpect: 100-continue\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    String::from_utf8(head).unwrap()
}

#[actix_web::test]
async fn a_caller_without_a_key_is_refused_before_the_body_is_read() {
    let app = App::start().await;
    let (_, key) = app.issue_key();
    let address = app.server.running().http;
    let unknown = "0".repeat(32);
    for (key, status) in [
        (String::new(), "401 Unauthorized"),
        (format!("x-api-key: {unknown}\r\n"), "401 Unauthorized"),
        (format!("x-api-key: {key}\r\n"), "100 Continue"),
    ] {
        let head = actix_web::web::block(move || head_of_answer(address, &key)).await.unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{head}");
    }
}
