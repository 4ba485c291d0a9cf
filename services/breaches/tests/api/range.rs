//! Operation 2: search by hash prefix.

use breaches::jobs::AccountsOptions;
use diesel::RunQueryDsl;
use domain::Sha1Digest;
use serde_json::{Value, json};

use crate::app::{App, TEST, UNKNOWN, ZERO, entry};

fn sha1(address: &str) -> String {
    Sha1Digest::of(address).to_string()
}

fn path(prefix: &str) -> String {
    format!("/api/v3/breachedaccount/range/{prefix}")
}

#[actix_web::test]
async fn addresses_are_found_by_prefix_and_suffix_of_their_hash() {
    let app = App::start().await;
    app.import(&json!([entry("beta"), entry("Alpha")])).await;
    let addresses: Vec<String> = (0..1000).map(|n| format!("user{n}@example.com")).collect();
    app.load("Alpha", &addresses.join("\n")).await;
    app.load("beta", &addresses[..500].join("\n")).await;
    let key = app.subscriber("owner@example.org", "highrpm12000").await;
    for (n, address) in addresses.iter().enumerate() {
        let hash = sha1(address);
        let prefix = if n % 2 == 0 { hash[..6].to_owned() } else { hash[..6].to_lowercase() };
        let found = app.json_with(&key, &path(&prefix)).await;
        let own = found.as_array().unwrap().iter().find(|entry| entry["hashSuffix"] == hash[6..]);
        let expected = if n < 500 { json!(["Alpha", "beta"]) } else { json!(["Alpha"]) };
        assert_eq!(own.unwrap()["websites"], expected, "{address}");
    }
}

#[actix_web::test]
async fn first_and_last_prefix_without_addresses_are_empty_lists() {
    let app = App::start().await;
    for prefix in ["000000", "FFFFFF", "ffffff"] {
        assert_eq!(app.json_with(ZERO, &path(prefix)).await, json!([]));
    }
}

/// The first addresses `userN@example.com` that have the lowest and the highest prefix, with their
/// suffixes. They were found by trying all N.
const FIRST: (&str, &str) = ("user28142800@example.com", "6CA2C659BAF50C32B088B9A44EB86BB17D");
const LAST: (&str, &str) = ("user1158913@example.com", "EF129EBA26681E9821F319D84E0E9BBCE9");

#[actix_web::test]
async fn addresses_at_the_first_and_last_prefix_are_found_only_there() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", &format!("{}\n{}\n", FIRST.0, LAST.0)).await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    for ((address, suffix), prefix, neighbour) in
        [(FIRST, "000000", "000001"), (LAST, "ffffff", "FFFFFE")]
    {
        assert_eq!(sha1(address), format!("{}{suffix}", prefix.to_uppercase()));
        let expected = json!([{"hashSuffix": suffix, "websites": ["Alpha"]}]);
        assert_eq!(app.json_with(&key, &path(prefix)).await, expected);
        assert_eq!(app.json_with(&key, &path(neighbour)).await, json!([]));
        // Test keys only see test accounts.
        assert_eq!(app.json_with(ZERO, &path(prefix)).await, json!([]));
    }
}

#[actix_web::test]
async fn range_omits_hidden_addresses_and_limits_test_keys_to_test_accounts() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "someone@example.com\n").await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    let names = |list: Value, hash: &str| -> Option<Value> {
        let entries = list.as_array().unwrap().clone();
        entries.into_iter().find(|e| e["hashSuffix"] == hash[6..]).map(|e| e["websites"].clone())
    };
    for (alias, expected) in [
        ("account-exists", Some(json!(["Acmegram"]))),
        ("sensitive-and-other-breaches", Some(json!(["Acmegram", "Borealis"]))),
        ("sensitive-breach", None),
        ("not-active-breach", None),
        ("opt-out", None),
        ("permanent-opt-out", None),
    ] {
        let hash = sha1(&format!("{alias}@{TEST}"));
        for key in [ZERO, key.as_str()] {
            let list = app.json_with(key, &path(&hash[..6])).await;
            assert_eq!(names(list, &hash), expected, "{alias}");
        }
    }
    let hash = sha1("someone@example.com");
    assert!(names(app.json_with(&key, &path(&hash[..6])).await, &hash).is_some());
    assert!(names(app.json_with(ZERO, &path(&hash[..6])).await, &hash).is_none());
}

#[actix_web::test]
async fn answers_for_empty_filled_and_invalid_prefixes_are_unchanged() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in [
        "breachedaccount/range/000000".to_owned(),
        format!(
            "breachedaccount/range/{}",
            &Sha1Digest::of(format!("multiple-breaches@{TEST}")).to_string()[..6]
        ),
        "breachedaccount/range/xyz".to_owned(),
    ] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}

const RANGES: &str = "/api/v3/breachedaccount/ranges";

#[actix_web::test]
async fn ranges_are_answered_together_and_cost_as_much_as_single_ones() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    let lines: String = (0..200).map(|n| format!("user{n}@example.com\n")).collect();
    app.load("Alpha", &lines).await;
    let key = app.subscriber("owner@example.org", "pro1").await;
    let prefixes: Vec<String> = (0..60)
        .map(|n| Sha1Digest::of(format!("user{n}@example.com")).to_string()[..6].to_owned())
        .chain(["000000".to_owned(), "ffffff".to_owned()])
        .collect();
    let (status, body) = app.post_with(&key, RANGES, &json!({ "prefixes": prefixes })).await;
    assert_eq!(status, 200);
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body.as_object().unwrap().len(), 62);
    for prefix in &prefixes[..10] {
        let path = format!("/api/v3/breachedaccount/range/{prefix}");
        assert_eq!(body[prefix.to_uppercase()], app.json_with(&key, &path).await);
    }
    // Of 500 per minute, 62 and 10 are used, so 428 remain.
    let distinct = |count: usize| (0..count).map(|n| format!("{n:06x}")).collect::<Vec<_>>();
    let post = async |count| {
        let body = json!({ "prefixes": distinct(count) });
        app.post_with(&key, RANGES, &body).await.0
    };
    assert_eq!(post(429).await, 429);
    assert_eq!(post(428).await, 200);
    assert_eq!(post(1).await, 429);
}

#[actix_web::test]
async fn slow_client_gets_no_ranges_with_a_breach_that_was_hidden_since_its_request() {
    let app = App::start().await;
    // Enough long names to exceed the buffers of a connection.
    let names: Vec<String> = (0..400).map(|n| format!("Breach-{n:0>50}")).collect();
    let entries = names.iter().map(|name| {
        let mut entry = entry(name);
        entry["Domain"] = json!("");
        entry
    });
    app.import(&entries.collect()).await;
    let addresses: Vec<String> = (0..1_000).map(|n| format!("user{n}@example.com")).collect();
    app.folder.write("addresses.txt", addresses.join("\n"));
    let manifest: String = names.iter().map(|name| format!("{name}\taddresses.txt\n")).collect();
    let manifest = Some(app.folder.write("manifest.txt", manifest));
    let options = AccountsOptions { manifest, ..AccountsOptions::default() };
    breaches::jobs::load_accounts(&app.context, &options).unwrap();
    app.state.reload().await.unwrap();
    let key = app.subscriber("owner@example.org", "highrpm12000").await;
    let prefixes: Vec<_> = addresses.iter().map(|address| sha1(address)[..6].to_owned()).collect();
    let request = app.server.post(RANGES).header("user-agent", "tests");
    let request = request.header("breach-api-key", &key).header("accept-encoding", "identity");
    let body = json!({ "prefixes": prefixes }).to_string();
    let mut response = request.body(body).send().await.unwrap();
    let mut text = response.chunk().await.unwrap().unwrap().to_vec();
    app.set_breach(&names[0], |breach| breach.active = false).await;
    app.state.reload().await.unwrap();
    while let Some(chunk) = response.chunk().await.unwrap() {
        text.extend_from_slice(&chunk);
    }
    // Each part is longer than two entries, so it contains at least one whole entry.
    let text = String::from_utf8(text).unwrap();
    let (start, end) = (&text[..60_000], &text[text.len() - 60_000..]);
    assert!(start.contains(&names[0]) && start.contains(&names[1]));
    assert!(!end.contains(&names[0]) && end.contains(&names[1]));
    assert!(text.ends_with("}]}"));
}

#[actix_web::test]
async fn invalid_body_of_ranges_is_400() {
    let app = App::start().await;
    let message = "The body must be a JSON object with an array of 1 to 1000 prefixes of exactly 6 hexadecimal characters.";
    let many: Vec<_> = (0..1001).map(|n| format!("{n:06x}")).collect();
    for body in [
        json!([]),
        json!({}),
        json!({"prefixes": []}),
        json!({"prefixes": ["12345"]}),
        json!({"prefixes": ["00000g"]}),
        json!({"prefixes": many}),
    ] {
        let answer = app.post_with(UNKNOWN, RANGES, &body).await;
        assert_eq!(answer, crate::app::failure(400, message), "{body}");
    }
    let body = json!({"prefixes": ["567159", "567159"]});
    assert_eq!(app.post_with(UNKNOWN, RANGES, &body).await.1, r#"{"567159":[]}"#);
    let high = app.subscriber("high@example.org", "highrpm4000").await;
    assert_eq!(app.post_with(&high, RANGES, &body).await.0, 200);
    let core = app.subscriber("core@example.org", "core1").await;
    assert_eq!(app.post_with(&core, RANGES, &body).await.0, 403);
}

#[actix_web::test]
async fn member_prefixes_is_read_in_any_case() {
    let app = App::start().await;
    for name in ["prefixes", "Prefixes", "PREFIXES", "preFixes"] {
        let body = json!({ name: ["567159"] });
        let answer = app.post_with(UNKNOWN, RANGES, &body).await;
        assert_eq!(answer, (200, r#"{"567159":[]}"#.to_owned()), "{name}");
    }
    for body in [json!({"prefix": ["567159"]}), json!({"Prefixes": "567159"}), json!([["567159"]])]
    {
        assert_eq!(app.post_with(UNKNOWN, RANGES, &body).await.0, 400, "{body}");
    }
}

#[actix_web::test]
async fn more_ranges_than_a_full_quota_are_refused() {
    let app = App::start().await;
    app.change(|db| {
        let mut plan = breaches::store::plan_features::get(db, "highrpm4000")?.unwrap();
        plan.kanon_cost = Some(2);
        breaches::store::plan_features::set(db, "highrpm4000", &plan)?;
        diesel::sql_query("UPDATE plan SET per_minute = 50, burst = 50 WHERE code = 'highrpm4000'")
            .execute(db)?;
        Ok(())
    })
    .await;
    let key = app.subscriber("high@example.org", "highrpm4000").await;
    let post = async |key: &str, count: usize| {
        let prefixes: Vec<_> = (0..count).map(|n| format!("{n:06x}")).collect();
        app.post_with(key, RANGES, &json!({ "prefixes": prefixes })).await
    };
    let message = "The subscription covers at most 25 prefixes in one request.";
    assert_eq!(post(&key, 1_000).await, crate::app::failure(400, message));
    app.clock.advance(60);
    assert_eq!(post(&key, 25).await.0, 200);
    assert_eq!(post(&key, 1).await.0, 429);
    app.clock.advance(2);
    assert_eq!(post(&key, 1).await.0, 429);
    app.clock.advance(1);
    assert_eq!(post(&key, 1).await.0, 200);
    // Test keys share the quota of their client address.
    let message = "The subscription covers at most 600 prefixes in one request.";
    assert_eq!(post(UNKNOWN, 601).await, crate::app::failure(400, message));
    assert_eq!(post(UNKNOWN, 599).await.0, 200);
    // The plan's missing operation is reported first.
    let core = app.subscriber("core@example.org", "core1").await;
    assert_eq!(post(&core, 1_000).await.0, 403);
}

#[actix_web::test]
async fn range_request_refused_with_400_costs_one_token() {
    let app = App::start().await;
    app.change(|db| {
        let mut plan = breaches::store::plan_features::get(db, "highrpm4000")?.unwrap();
        plan.kanon_cost = Some(10);
        breaches::store::plan_features::set(db, "highrpm4000", &plan)?;
        diesel::sql_query("UPDATE plan SET per_minute = 50, burst = 50 WHERE code = 'highrpm4000'")
            .execute(db)?;
        Ok(())
    })
    .await;
    let key = app.subscriber("high@example.org", "highrpm4000").await;
    for _ in 0..4 {
        let body = json!({ "prefixes": ["00000g"] });
        assert_eq!(app.post_with(&key, RANGES, &body).await.0, 400);
        let six: Vec<_> = (0..6).map(|n| format!("{n:06x}")).collect();
        assert_eq!(app.post_with(&key, RANGES, &json!({ "prefixes": six })).await.0, 400);
        let short = app.get_with(&key, "/api/v3/breachedaccount/range/12345").await;
        assert_eq!(short.status(), 400);
    }
    // 12 of 50 tokens are used. Three searches cost 30, so 8 remain.
    let three = json!({ "prefixes": ["000000", "000001", "000002"] });
    assert_eq!(app.post_with(&key, RANGES, &three).await.0, 200);
    assert_eq!(app.post_with(&key, RANGES, &json!({ "prefixes": ["000000"] })).await.0, 429);
}
