//! Bulk checks of addresses at verified domains.

use breaches::model::OptOut;
use breaches::store::{opt_outs, plan_features, subscribers};
use diesel::RunQueryDsl;
use domain::{EmailAddress, Sha1Digest};
use serde_json::{Value, json};

use crate::app::{App, NOW, TEST, UNKNOWN, ZERO, answer, entry, failure};

pub const BULK: &str = "/api/v3/breachedaccounts";
const OWNER: &str = "owner@example.org";

async fn check(app: &App, key: &str, emails: &Value) -> Value {
    check_with(app, key, "", emails).await
}

async fn check_with(app: &App, key: &str, query: &str, emails: &Value) -> Value {
    let path = format!("{BULK}{query}");
    let (status, body) = app.post_with(key, &path, &json!({ "emails": emails })).await;
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

fn names(names: &[&str]) -> Value {
    names.iter().map(|name| json!({ "Name": name })).collect()
}

fn not_verified(email: &str) -> Value {
    let message = "Access denied, the domain has not been verified by this subscription.";
    json!({"email": email, "error": {"statusCode": 403, "message": message}})
}

/// Adds a subscriber to Pro 1 with a verified domain.
async fn controller(app: &App) -> String {
    let key = app.subscriber(OWNER, "pro1").await;
    app.verify(OWNER, "corp.example").await;
    key
}

async fn allow(app: &App, plan: &str) {
    app.change(|db| {
        let mut features = plan_features::get(db, plan)?.unwrap();
        features.bulk_check = true;
        plan_features::set(db, plan, &features)
    })
    .await;
}

#[actix_web::test]
async fn each_address_has_an_entry_in_the_order_of_the_request() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    app.load("Alpha", "ada@corp.example\nbob@corp.example\nada@other.example\n").await;
    app.load("Beta", "ada@corp.example\nada@sub.corp.example\n").await;
    let key = controller(&app).await;
    let emails = json!([
        "zoe@corp.example",
        " ADA@Corp.Example ",
        "nonsense",
        "bob@corp.example",
        "ada@other.example",
        "ada@corp.example",
        "",
        "a\"<b>@corp.example",
    ]);
    let invalid = |email: &str| {
        let message = "The email address is not in an acceptable format.";
        json!({"email": email, "error": {"statusCode": 400, "message": message}})
    };
    let expected = json!([
        {"email": "zoe@corp.example", "breaches": []},
        {"email": " ADA@Corp.Example ", "breaches": names(&["Alpha", "Beta"])},
        invalid("nonsense"),
        {"email": "bob@corp.example", "breaches": names(&["Alpha"])},
        not_verified("ada@other.example"),
        {"email": "ada@corp.example", "breaches": names(&["Alpha", "Beta"])},
        invalid(""),
        {"email": "a\"<b>@corp.example", "breaches": []},
    ]);
    assert_eq!(check(&app, &key, &emails).await, expected);
    // The plan includes known subdomains, but no other domains.
    let below = json!(["ada@sub.corp.example", "ada@none.corp.example"]);
    let found = check(&app, &key, &below).await;
    assert_eq!(found[0]["breaches"], names(&["Beta"]));
    assert_eq!(found[1], not_verified("ada@none.corp.example"));
}

#[actix_web::test]
async fn international_domain_is_checked_as_it_was_stored() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "ada@bücher.example\n").await;
    let key = app.subscriber(OWNER, "pro1").await;
    app.verify(OWNER, "bücher.example").await;
    let emails = json!(["ada@BÜCHER.example", "ada@xn--bcher-kva.example"]);
    let found = check(&app, &key, &emails).await;
    assert_eq!(found[0]["breaches"], names(&["Alpha"]));
    assert_eq!(found[1]["breaches"], names(&[]));
}

#[actix_web::test]
async fn breaches_are_those_of_a_domain_search() {
    let app = App::start().await;
    let mut entries: Vec<Value> =
        ["Plain", "Secret", "Unsure", "Off", "Old"].map(entry).into_iter().collect();
    entries[1]["IsSensitive"] = json!(true);
    entries[2]["IsVerified"] = json!(false);
    app.import(&Value::Array(entries)).await;
    for breach in ["Plain", "Secret", "Unsure", "Off", "Old"] {
        app.load(breach, "ada@corp.example\nhidden@corp.example\ngone@corp.example\n").await;
    }
    app.set_breach("Off", |breach| breach.active = false).await;
    app.set_breach("Old", |breach| breach.flags.retired = true).await;
    app.change(|db| {
        let digest = |alias| Sha1Digest::of(format!("{alias}@corp.example"));
        opt_outs::set(db, &digest("hidden"), Some(OptOut::Public), NOW)?;
        opt_outs::set(db, &digest("gone"), Some(OptOut::Breaches), NOW)
    })
    .await;
    let key = controller(&app).await;
    let shown = ["Plain", "Secret", "Unsure"];
    let domain = app.json_with(&key, "/api/v3/breacheddomain/corp.example").await;
    assert_eq!(domain, json!({"ada": shown, "hidden": shown}));
    let emails = json!(["ada@corp.example", "hidden@corp.example", "gone@corp.example"]);
    let found = check(&app, &key, &emails).await;
    assert_eq!(found[0]["breaches"], names(&shown));
    assert_eq!(found[1]["breaches"], names(&shown));
    assert_eq!(found[2], json!({"email": "gone@corp.example", "breaches": []}));
    let verified = check_with(&app, &key, "?IncludeUnverified=False", &emails).await;
    assert_eq!(verified[0]["breaches"], names(&["Plain", "Secret"]));
}

#[actix_web::test]
async fn opt_outs_that_are_not_in_memory_are_respected() {
    let app = App::with(|settings| settings.optout_memory_max = 0).await;
    app.import(&json!([entry("Alpha")])).await;
    app.load("Alpha", "ada@corp.example\ngone@corp.example\n").await;
    let gone = Sha1Digest::of("gone@corp.example");
    app.change(|db| opt_outs::set(db, &gone, Some(OptOut::Breaches), NOW)).await;
    let key = controller(&app).await;
    let found = check(&app, &key, &json!(["gone@corp.example", "ada@corp.example"])).await;
    assert_eq!(found[0]["breaches"], names(&[]));
    assert_eq!(found[1]["breaches"], names(&["Alpha"]));
}

#[actix_web::test]
async fn query_parameters_are_those_of_a_single_search() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    for breach in ["Alpha", "Beta"] {
        app.load(breach, "ada@corp.example\n").await;
    }
    let key = controller(&app).await;
    let emails = json!(["ada@corp.example"]);
    for query in [
        "",
        "?truncateResponse=false",
        "?TRUNCATERESPONSE=False&domain=BETA.example",
        "?domain=",
        "?truncateResponse=true&includeUnverified=true&Domain=alpha.example",
    ] {
        let single = format!("/api/v3/breachedaccount/ada@corp.example{query}");
        let expected = app.json_with(&key, &single).await;
        assert_eq!(
            check_with(&app, &key, query, &emails).await[0]["breaches"],
            expected,
            "{query}"
        );
    }
    let none = check_with(&app, &key, "?domain=none.example", &emails).await;
    assert_eq!(none, json!([{"email": "ada@corp.example", "breaches": []}]));
    for name in ["truncateResponse", "IncludeUnverified"] {
        let path = format!("{BULK}?{name}=maybe");
        let message = format!("The value of {name} must be true or false.");
        let answer = app.post_with(&key, &path, &json!({ "emails": emails })).await;
        assert_eq!(answer, failure(400, &message));
    }
}

#[actix_web::test]
async fn each_plan_allows_or_refuses_bulk_checks() {
    let app = App::start().await;
    let body = json!({"emails": ["ada@corp.example"]});
    let refused = failure(403, "Access denied, the subscription does not include this resource.");
    let levels = |family: &'static str| (1..=5).map(move |level| format!("{family}{level}"));
    let others = ["highrpm4000", "highrpm8000", "highrpm12000", "free"].map(str::to_owned);
    for plan in levels("core").chain(levels("pro")).chain(others) {
        let owner = format!("{plan}@example.org");
        let key = app.subscriber(&owner, &plan).await;
        app.verify(&owner, "corp.example").await;
        let answer = app.post_with(&key, BULK, &body).await;
        match plan.starts_with("pro") {
            true => assert_eq!(answer.0, 200, "{plan}: {}", answer.1),
            false => assert_eq!(answer, refused, "{plan}"),
        }
        if plan != "free" {
            // The operator may add bulk checks to any plan of these families.
            allow(&app, &plan).await;
            app.clock.advance(60);
            let allowed = app.post_with(&key, BULK, &body).await.0;
            assert_eq!(allowed == 200, !plan.starts_with("high"), "{plan}");
        }
    }
}

#[actix_web::test]
async fn callers_without_permission_are_refused_as_a_whole() {
    let app = App::start().await;
    let key = controller(&app).await;
    let body = json!({"emails": ["ada@corp.example"]});
    let message =
        |text: &str| failure(401, &format!("Access denied due to {text} breach-api-key."));
    assert_eq!(app.post_with("", BULK, &body).await, message("missing"));
    assert_eq!(app.post_with("short", BULK, &body).await, message("improperly formed"));
    // A mistyped key does not lead to an error for each address.
    let mixed = json!({"emails": [format!("account-exists@{TEST}"), "ada@corp.example"]});
    for unknown in [UNKNOWN, ZERO] {
        assert_eq!(app.post_with(unknown, BULK, &mixed).await, message("invalid"));
    }
    let bare = app.server.post(BULK).header("breach-api-key", &key).body(body.to_string());
    let expected = failure(403, "Access denied due to missing user-agent.");
    assert_eq!(answer(bare.send().await.unwrap()).await, expected);
    let get = app.get_with(&key, BULK).await;
    assert_eq!(get.headers()["allow"], "POST");
    assert_eq!(get.status(), 405);
    // Another subscriber has not verified the domain.
    let other = app.subscriber("other@example.org", "pro1").await;
    let found = check(&app, &other, &body["emails"]).await;
    assert_eq!(found, json!([not_verified("ada@corp.example")]));
    app.change(|db| breaches::store::domain_inheritance::revoke(db, 1, "corp.example")).await;
    assert_eq!(check(&app, &key, &body["emails"]).await, json!([not_verified("ada@corp.example")]));
    app.change(|db| auth::revoke_owner(db, OWNER, NOW)).await;
    assert_eq!(app.post_with(&key, BULK, &body).await, message("invalid"));
    app.clock.set(jiff::Timestamp::from_second(NOW + 86_400 * 366).unwrap());
    let ended = failure(403, "Access denied, the subscription ended on 2027-03-01.");
    assert_eq!(app.post_with(&other, BULK, &body).await, ended);
}

#[actix_web::test]
async fn test_keys_check_test_accounts() {
    let app = App::start().await;
    let emails: Value = ["sensitive-breach", "opt-out", "permanent-opt-out", "not-active-breach"]
        .map(|alias| format!("{alias}@{TEST}"))
        .into_iter()
        .chain(["nonsense".to_owned()])
        .collect();
    let found = check(&app, UNKNOWN, &emails).await;
    assert_eq!(found[0]["breaches"], names(&["Duskmatch"]));
    assert_eq!(found[1]["breaches"], names(&["Acmegram"]));
    assert_eq!(found[2]["breaches"], names(&[]));
    assert_eq!(found[3]["breaches"], names(&[]));
    assert_eq!(found[4]["error"]["statusCode"], 400);
    let app = App::with(|settings| settings.test_keys = shell::Switch::Off).await;
    let expected = failure(401, "Access denied due to invalid breach-api-key.");
    assert_eq!(app.post_with(UNKNOWN, BULK, &json!({ "emails": emails })).await, expected);
}

/// Builds a request with this number of addresses. All of them are checked and cost the same,
/// whether they are valid or not.
fn many(count: usize) -> Value {
    let domains = ["corp.example", "other.example", "invalid"];
    let emails = (0..count).map(|n| json!(format!("user{n}@{}", domains[n % 3])));
    json!({ "emails": emails.collect::<Vec<_>>() })
}

#[actix_web::test]
async fn each_address_costs_one_search() {
    let app = App::start().await;
    let key = controller(&app).await;
    // The limit is 500 per minute.
    assert_eq!(app.post_with(&key, BULK, &many(450)).await.0, 200);
    let single = "/api/v3/breachedaccount/ada@corp.example";
    assert_eq!(app.get_with(&key, single).await.status(), 404);
    let refused = failure(429, "Rate limit is exceeded. Try again in 1 seconds.");
    assert_eq!(app.post_with(&key, BULK, &many(50)).await, refused);
    // Neither the rejected request nor its addresses were charged.
    assert_eq!(app.post_with(&key, BULK, &many(49)).await.0, 200);
    assert_eq!(app.get_with(&key, single).await.status(), 429);
}

#[actix_web::test]
async fn more_addresses_than_a_full_quota_are_refused() {
    let app = App::start().await;
    let key = controller(&app).await;
    let refused = failure(400, "The subscription covers at most 500 addresses in one request.");
    assert_eq!(app.post_with(&key, BULK, &many(501)).await, refused);
    // The rejected request cost one search.
    assert_eq!(app.post_with(&key, BULK, &many(500)).await.0, 429);
    assert_eq!(app.post_with(&key, BULK, &many(499)).await.0, 200);
    let refused = failure(400, "The subscription covers at most 600 addresses in one request.");
    assert_eq!(app.post_with(UNKNOWN, BULK, &many(601)).await, refused);
}

#[actix_web::test]
async fn invalid_body_is_400_and_costs_one_search() {
    let app = App::start().await;
    let key = controller(&app).await;
    let message =
        r#"The body must be a JSON object with an array \"emails\" of 1 to 1000 strings."#;
    let too_many: Vec<_> = (0..1001).map(|n| format!("a{n}@corp.example")).collect();
    let bodies = [
        "".to_owned(),
        "{".to_owned(),
        "null".to_owned(),
        r#"["ada@corp.example"]"#.to_owned(),
        r#"{"emails":"ada@corp.example"}"#.to_owned(),
        r#"{"emails":["ada@corp.example",null]}"#.to_owned(),
        r#"{"emails":[1]}"#.to_owned(),
        r#"{"email":["ada@corp.example"]}"#.to_owned(),
        r#"{"emails":[]}"#.to_owned(),
        json!({ "emails": too_many }).to_string(),
        format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
    ];
    let count = bodies.len();
    for body in bodies {
        let request = app.server.post(BULK).header("user-agent", "tests");
        let shown = body.chars().take(40).collect::<String>();
        let request = request.header("breach-api-key", &key).body(body);
        assert_eq!(answer(request.send().await.unwrap()).await, failure(400, message), "{shown}");
    }
    assert_eq!(app.post_with(&key, BULK, &many(501 - count)).await.0, 429);
    assert_eq!(app.post_with(&key, BULK, &many(500 - count)).await.0, 200);
    app.clock.advance(60);
    for name in ["EMAILS", "Emails"] {
        assert_eq!(app.post_with(&key, BULK, &json!({ name: ["a@corp.example"] })).await.0, 200);
    }
    let full = app.subscriber("full@example.org", "pro2").await;
    assert_eq!(app.post_with(&full, BULK, &many(1_000)).await.0, 200);
}

#[actix_web::test]
async fn body_is_json_whatever_the_media_type() {
    let app = App::start().await;
    let key = controller(&app).await;
    let body = json!({"emails": ["ada@corp.example"]}).to_string();
    let post = async |kind: &str| {
        let request = app.server.post(BULK).header("user-agent", "tests");
        let request = request.header("breach-api-key", &key).header("content-type", kind);
        answer(request.body(body.clone()).send().await.unwrap()).await
    };
    for kind in ["application/json; charset=utf-8", "application/x-www-form-urlencoded", "x"] {
        assert_eq!(post(kind).await.0, 200, "{kind}");
    }
}

#[actix_web::test]
async fn body_larger_than_512_kib_is_413() {
    let app = App::start().await;
    let key = controller(&app).await;
    // Spaces around the JSON do not matter.
    let padded = |size: usize| {
        let body = json!({"emails": ["ada@corp.example"]}).to_string();
        " ".repeat(size - body.len()) + &body
    };
    let request = || {
        let request = app.server.post(BULK).header("user-agent", "tests");
        request.header("breach-api-key", &key)
    };
    let post = async |size: usize| answer(request().body(padded(size)).send().await.unwrap()).await;
    let refused = failure(413, "The body must not be larger than 512 KiB.");
    assert_eq!(post(512 * 1024).await.0, 200);
    assert_eq!(post(512 * 1024 + 1).await, refused);
    let chunks = padded(512 * 1024 + 1).into_bytes();
    let chunks: Vec<_> =
        chunks.chunks(64 * 1024).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec())).collect();
    let chunked = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
    assert_eq!(answer(request().body(chunked).send().await.unwrap()).await, refused);
    // 1,000 addresses of maximum length fit.
    let full = app.subscriber("full@example.org", "pro2").await;
    let label = "d".repeat(59);
    let long = |n: usize| format!("{n:064}@{label}.{label}.{label}.example");
    let emails: Vec<_> = (0..1_000).map(|n| json!(long(n))).collect();
    let found = check(&app, &full, &Value::Array(emails)).await;
    assert_eq!(found[999], not_verified(&long(999)));
}

#[actix_web::test]
async fn plan_limits_of_domains_apply_to_their_addresses() {
    let app = App::start().await;
    let mut free = entry("Free");
    free["IsSubscriptionFree"] = json!(true);
    app.import(&json!([entry("Alpha"), free])).await;
    let people = |domain: &str, count: usize| -> String {
        (0..count).map(|n| format!("user{n}@{domain}\n")).collect()
    };
    app.load("Alpha", &(people("large.example", 26) + &people("b.example", 11))).await;
    app.load("Free", "user1@large.example\n").await;
    allow(&app, "core1").await;
    let key = app.subscriber(OWNER, "core1").await;
    app.verify(OWNER, "large.example").await;
    let emails = json!(["user1@large.example", "user2@large.example", "none@large.example"]);
    let too_large = |email: &str| {
        let message =
            "Access denied, the domain has 26 breached addresses and the subscription covers 25.";
        json!({"email": email, "error": {"statusCode": 403, "message": message}})
    };
    let expected = json!([
        {"email": "user1@large.example", "breaches": names(&["Free"]), "limited": true},
        too_large("user2@large.example"),
        too_large("none@large.example"),
    ]);
    assert_eq!(check(&app, &key, &emails).await, expected);
    app.clock.advance(60);
    let filtered = check_with(&app, &key, "?domain=alpha.example", &emails).await;
    let expected = json!({"email": "user1@large.example", "breaches": [], "limited": true});
    assert_eq!(filtered[0], expected);
    // Two domains large enough to count, where the plan allows one.
    app.verify(OWNER, "b.example").await;
    app.clock.advance(60);
    let found = check(&app, &key, &json!(["user1@b.example"])).await;
    let single = app.get_with(&key, "/api/v3/breacheddomain/b.example").await;
    assert_eq!(
        (single.status().as_u16(), &found[0]["error"]),
        (403, &single.json().await.unwrap())
    );
    assert!(found[0]["breaches"].is_null(), "{found}");
    app.change(|db| {
        let id = subscribers::id(db, &EmailAddress::parse(OWNER).unwrap())?.unwrap();
        subscribers::subscribe(db, id, "pro1", NOW + 86_400, NOW)
    })
    .await;
    let found = check(&app, &key, &emails).await;
    assert_eq!(found[0]["breaches"], names(&["Alpha", "Free"]));
    assert_eq!(found[2], json!({"email": "none@large.example", "breaches": []}));
}

#[actix_web::test]
async fn accounts_in_runs_are_found() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha"), entry("Beta")])).await;
    let lines: String = (0..2_000).map(|n| format!("user{n}@corp.example\n")).collect();
    app.load("Alpha", &lines).await;
    app.load("Beta", "user7@corp.example\nnew@corp.example\n").await;
    let count = |db: &mut database::Db| breaches::store::accounts::run_figures(db);
    let (runs, _) = app.change(count).await;
    assert_eq!(runs > 0, app.database.file().is_some());
    let key = controller(&app).await;
    let emails = json!(["new@corp.example", "user8@corp.example", "user7@corp.example"]);
    let found = check(&app, &key, &emails).await;
    assert_eq!(found[0]["breaches"], names(&["Beta"]));
    assert_eq!(found[1]["breaches"], names(&["Alpha"]));
    assert_eq!(found[2]["breaches"], names(&["Alpha", "Beta"]));
}

#[actix_web::test]
async fn changed_column_of_a_plan_takes_effect_at_once() {
    let app = App::start().await;
    let key = controller(&app).await;
    let body = json!({"emails": ["ada@corp.example"]});
    assert_eq!(app.post_with(&key, BULK, &body).await.0, 200);
    app.change(|db| {
        let statement = "UPDATE plan_feature SET bulk_check = FALSE WHERE plan_code = 'pro1'";
        Ok(diesel::sql_query(statement).execute(db)?)
    })
    .await;
    assert_eq!(app.post_with(&key, BULK, &body).await.0, 403);
}
