//! The metrics of a real process, because all tests in a process share their metrics.

use std::io::Write;
use std::net::TcpStream;

use testkit::{Exchange, Program, Served};

const LONG: &str = "/api/Text/LoremIpsum?loremType=normal&type=paragraphs&number=2147483647";

fn served(settings: &[(&str, &str)]) -> (Program, Served) {
    let program = Program::new(env!("CARGO_BIN_EXE_generator"))
        .with_database()
        .setting("ANONYMOUS_RPM", "0")
        .setting("ANONYMOUS_STREAMS", "1");
    let program =
        settings.iter().fold(program, |program, (name, value)| program.setting(*name, *value));
    let served = program.serve(&[]);
    (program, served)
}

/// Waits until a metric reaches a value.
async fn until(served: &Served, name: &str, value: f64) {
    while served.metric(name).await != value {
        actix_web::rt::task::yield_now().await;
    }
}

#[actix_web::test]
async fn values_are_counted_by_kind_from_zero() {
    let (_program, served) = served(&[]);
    let kinds = [
        ("address", "/api/Misc/Random-Address?number=3", 3),
        ("card", "/api/Card?type=Visa&quantity=7", 7),
        ("crypto_address", "/api/Finance/CryptoAddress?cryptoType=Bitcoin", 1),
        ("iban", "/api/Finance/Iban/DE", 1),
        ("imei", "/api/Phone/IMEI?Quantity=4", 4),
        ("name", "/api/Name?nameType=fullname&quantity=5", 5),
        (
            "password",
            "/api/Text/Password?length=12&hasDigits=true&hasUppercase=true&hasSpecial=false",
            1,
        ),
        ("person", "/api/Person?quantity=2", 2),
        ("phone", "/api/Phone/Generate?CountryCode=FR&Quantity=2", 2),
        ("social_number", "/api/SocialNumber?country=SE&quantity=6", 6),
        ("text", "/api/Text/LoremIpsum?loremType=normal&type=words&number=9", 1),
        ("business", "/api/Name/Suggestions?startingWords=blue", 20),
    ];
    for kind in ["brand", "review"].into_iter().chain(kinds.map(|(kind, ..)| kind)) {
        let name = format!("generator_values_total{{kind=\"{kind}\"}}");
        assert_eq!(served.metric(&name).await, 0.0, "{kind}");
    }
    for (kind, path, count) in kinds {
        assert_eq!(served.get(path).answer().await.status, 200);
        until(&served, &format!("generator_values_total{{kind=\"{kind}\"}}"), f64::from(count))
            .await;
    }
}

#[actix_web::test]
async fn rows_are_counted_equally_in_every_format() {
    let (_program, served) = served(&[]);
    let fields = serde_json::json!([{"name": "id", "type": "sequence"}]);
    let schema = serde_json::json!({"tables": [
        {"name": "a", "rows": 900, "fields": fields}, {"name": "b", "rows": 13, "fields": fields}]});
    let mut rows = 0.0;
    for (query, count) in [
        ("format=json", 913.0),
        ("format=sql", 913.0),
        ("format=csv&table=b", 13.0),
        ("format=ndjson&table=a&rows=800&offset=150", 750.0),
        ("format=csv&zip=true", 913.0),
        ("format=ndjson&zip=true&rows=10", 20.0),
        ("format=xlsx", 913.0),
        ("format=xlsx&table=b&offset=3", 10.0),
    ] {
        let path = format!("/api/Records?{query}");
        let answer = served.request(reqwest::Method::POST, &path).json(&schema).answer().await;
        assert_eq!(answer.status, 200, "{query}");
        rows += count;
        until(&served, "generator_values_total{kind=\"record\"}", rows).await;
    }
}

#[actix_web::test]
async fn refused_keys_and_used_up_quotas_are_counted() {
    let (program, served) = served(&[("ANONYMOUS_RPM", "3"), ("ANONYMOUS_BURST", "3")]);
    program.done(&["plans", "set", "tiny", "--per-minute", "1", "--name", "Tiny"]);
    let key = program.done(&["keys", "issue", "ann", "--plan", "tiny"]).trim().to_owned();
    let refused = |reason: &str| format!("auth_keys_refused_total{{reason=\"{reason}\"}}");
    let used_up = |plan: &str| format!("auth_quota_refusals_total{{plan=\"{plan}\"}}");
    for name in [refused("malformed"), refused("unknown"), used_up("none"), used_up("standard")] {
        assert_eq!(served.metric(&name).await, 0.0, "{name}");
    }
    let unknown = "0".repeat(32);
    for (key, status) in [
        (key.as_str(), 200),
        (&key, 429),
        (&key, 429),
        (&unknown, 401),
        ("short", 401),
        (&unknown, 401),
        (&unknown, 429),
    ] {
        let request = served.get("/api/Phone/IMEI?Quantity=1").header("X-Api-Key", key);
        assert_eq!(request.answer().await.status, status, "{key}");
    }
    let counts = [("malformed", 1.0), ("unknown", 3.0)];
    for (reason, count) in counts {
        assert_eq!(served.metric(&refused(reason)).await, count, "{reason}");
    }
    for (plan, count) in [("tiny", 2.0), ("none", 1.0)] {
        assert_eq!(served.metric(&used_up(plan)).await, count, "{plan}");
    }
}

#[actix_web::test]
async fn head_request_generates_no_values() {
    let (_program, served) = served(&[]);
    for path in ["/api/Card?type=Visa&quantity=7", LONG] {
        assert_eq!(served.request(reqwest::Method::HEAD, path).answer().await.status, 200);
    }
    assert_eq!(served.get("/api/Card?type=Visa").answer().await.status, 200);
    until(&served, "generator_values_total{kind=\"card\"}", 1.0).await;
    assert_eq!(served.metric("generator_values_total{kind=\"text\"}").await, 0.0);
}

#[actix_web::test]
async fn streams_are_counted_as_open_refused_and_cut_by_clients() {
    let (_program, served) = served(&[]);
    let client = "generator_streams_cut_total{cause=\"client\"}";
    for name in ["open", "total", "refused_total", "cut_total{cause=\"time\"}"] {
        assert_eq!(served.metric(&format!("generator_streams_{name}")).await, 0.0, "{name}");
    }
    assert_eq!(served.metric(client).await, 0.0);
    let running = served.get(LONG).send().await.unwrap();
    assert_eq!(served.metric("generator_streams_open").await, 1.0);
    assert_eq!(served.get(LONG).answer().await.status, 429);
    assert_eq!(served.metric("generator_streams_refused_total").await, 1.0);
    drop(running);
    until(&served, client, 1.0).await;
    assert_eq!(served.metric("generator_streams_open").await, 0.0);
    // A complete stream does not count as cut off.
    let whole = "/api/Text/LoremIpsum?loremType=normal&type=paragraphs&number=2000";
    assert_eq!(served.get(whole).answer().await.status, 200);
    assert_eq!(served.metric("generator_streams_total").await, 2.0);
    assert_eq!(served.metric(client).await, 1.0);
}

#[actix_web::test]
async fn a_stream_that_takes_too_long_is_counted_as_cut_by_time() {
    let (_program, served) = served(&[("STREAM_MAX_TIME", "1")]);
    let mut running = served.get(LONG).send().await.unwrap();
    while let Ok(Some(_)) = running.chunk().await {}
    until(&served, "generator_streams_cut_total{cause=\"time\"}", 1.0).await;
    assert_eq!(served.metric("generator_streams_cut_total{cause=\"client\"}").await, 0.0);
}

#[actix_web::test]
async fn records_that_a_client_stops_reading_are_cut_and_free_its_slot() {
    let (_program, served) = served(&[("STREAM_IDLE_TIMEOUT", "1")]);
    let value = "x".repeat(5_000);
    let schema = serde_json::json!({"fields": [{"name": "a", "type": "constant", "value": value}]});
    let body = schema.to_string();
    let request = format!(
        "POST /api/Records?rows=100000&format=ndjson HTTP/1.1\r\nhost: a\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(served.http()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    until(&served, "generator_streams_cut_total{cause=\"client\"}", 1.0).await;
    assert_eq!(served.metric("generator_streams_open").await, 0.0);
    assert_eq!(served.get(LONG).send().await.unwrap().status(), 200);
    drop(stream);
}
