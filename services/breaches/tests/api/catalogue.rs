//! Operations 8 to 11 and the import of the catalogue.

use breaches::store::versions;
use serde_json::{Value, json};

use crate::app::{App, NOW, ZERO, answer, entry, failure};

async fn without_fixtures() -> App {
    App::with(|settings| settings.seed_test_data = false).await
}

fn names(breaches: &Value) -> Vec<&str> {
    breaches.as_array().unwrap().iter().map(|breach| breach["Name"].as_str().unwrap()).collect()
}

#[actix_web::test]
async fn imported_entry_is_returned_unchanged_in_model_order() {
    let app = without_fixtures().await;
    app.import(&json!([entry("Alpha")])).await;
    let expected = r#"{"Name":"Alpha","Title":"The Alpha","Domain":"alpha.example","BreachDate":"2020-02-20","AddedDate":"2020-05-15T10:20:00Z","ModifiedDate":"2020-05-15T10:20:00Z","PwnCount":3,"Description":"A <em>made-up</em> entry.","LogoPath":"https://logos.example/x.png","Attribution":null,"DisclosureUrl":null,"DataClasses":["Email addresses","Names"],"IsVerified":true,"IsFabricated":false,"IsSensitive":false,"IsRetired":false,"IsSpamList":false,"IsMalware":false,"IsSubscriptionFree":false,"IsStealerLog":false}"#;
    assert_eq!(answer(app.get("/api/v3/breach/ALPHA").await).await, (200, expected.into()));
    let list = answer(app.get("/api/v3/breaches").await).await;
    assert_eq!(list, (200, format!("[{expected}]")));
    assert_eq!(answer(app.get("/api/v3/latestbreach").await).await, (200, expected.into()));
    let classes = answer(app.get("/api/v3/DataClasses/").await).await;
    assert_eq!(classes, (200, r#"["Email addresses","Names"]"#.into()));
}

#[actix_web::test]
async fn empty_catalogue_is_an_empty_list_without_a_latest_breach() {
    let app = without_fixtures().await;
    assert_eq!(answer(app.get("/api/v3/breaches").await).await, (200, "[]".into()));
    assert_eq!(answer(app.get("/api/v3/dataclasses").await).await, (200, "[]".into()));
    assert_eq!(answer(app.get("/api/v3/latestbreach").await).await, (404, String::new()));
    assert_eq!(answer(app.get("/api/v3/breach/Alpha").await).await, (404, String::new()));
}

#[actix_web::test]
async fn breaches_are_sorted_by_title_and_filtered() {
    let app = without_fixtures().await;
    let mut entries = vec![entry("One"), entry("Two"), entry("Three")];
    entries[0]["Title"] = json!("zebra");
    entries[1]["Title"] = json!("Apple");
    entries[2]["Title"] = json!("banana");
    entries[2]["IsSpamList"] = json!(true);
    app.import(&json!(entries)).await;
    for (path, expected) in [
        ("/api/v3/breaches", vec!["Two", "Three", "One"]),
        ("/api/v3/breaches?isspamlist=TRUE", vec!["Three"]),
        ("/api/v3/breaches?IsSpamList=false", vec!["Two", "One"]),
        ("/api/v3/breaches?IsSpamList=&domain=", vec!["Two", "Three", "One"]),
        ("/api/v3/breaches?DOMAIN=Two.Example", vec!["Two"]),
        ("/api/v3/breaches?domain=no%20domain", vec![]),
        ("/api/v3/breaches?domain=one.example&domain=two.example", vec!["One"]),
        ("/api/v3/breaches?unknown=1", vec!["Two", "Three", "One"]),
    ] {
        let list: Value = app.get(path).await.json().await.unwrap();
        assert_eq!(names(&list), expected, "{path}");
    }
    let wrong = answer(app.get("/api/v3/breaches?IsSpamList=1").await).await;
    assert_eq!(wrong, failure(400, "The value of IsSpamList must be true or false."));
}

#[actix_web::test]
async fn latest_breach_may_be_retired_but_not_inactive() {
    let app = without_fixtures().await;
    let mut entries = vec![entry("Early"), entry("B"), entry("A"), entry("Later")];
    for (place, date) in
        [(1, "2021-01-01T00:00Z"), (2, "2021-01-01T00:00Z"), (3, "2022-01-01T00:00Z")]
    {
        entries[place]["AddedDate"] = json!(date);
        entries[place]["ModifiedDate"] = json!(date);
    }
    app.import(&json!(entries)).await;
    app.set_breach("Later", |breach| breach.flags.retired = true).await;
    let latest: Value = app.get("/api/v3/latestBreach").await.json().await.unwrap();
    assert_eq!((&latest["Name"], &latest["IsRetired"]), (&json!("Later"), &json!(true)));
    app.set_breach("Later", |breach| breach.active = false).await;
    let latest: Value = app.get("/api/v3/latestBreach").await.json().await.unwrap();
    assert_eq!(latest["Name"], "A");
}

#[actix_web::test]
async fn second_import_changes_nothing_and_a_change_updates_the_date() {
    let app = without_fixtures().await;
    let first = app.import(&json!([entry("Alpha")])).await;
    assert_eq!(first.added, ["Alpha"]);
    let again = app.import(&json!([entry("Alpha")])).await;
    assert_eq!((again.unchanged, again.changed.len(), again.added.len()), (1, 0, 0));
    let mut changed = entry("ALPHA");
    changed["Title"] = json!("Another title");
    changed["IsNew"] = json!(1);
    let report = app.import(&json!([changed])).await;
    assert_eq!(report.changed, [("Alpha".to_owned(), vec!["Title"])]);
    assert_eq!(report.unknown_members, ["IsNew"]);
    let breach: Value = app.get("/api/v3/breach/alpha").await.json().await.unwrap();
    assert_eq!(breach["ModifiedDate"], "2026-03-01T12:00:00Z");
    assert_eq!(breach["Name"], "Alpha");
    let later = json!([{ "Name": "Alpha", "Title": "Third", "BreachDate": "2020-02-20",
        "AddedDate": "2020-05-15T10:20:00Z", "ModifiedDate": "2030-01-01T00:00:00Z" }]);
    app.import(&later).await;
    let breach: Value = app.get("/api/v3/breach/alpha").await.json().await.unwrap();
    assert_eq!(breach["ModifiedDate"], "2030-01-01T00:00:00Z");
}

#[actix_web::test]
async fn catalogue_answers_are_cacheable_and_allow_any_origin() {
    let app = App::start().await;
    // Each change has a time of its own, so the last one may be ahead of the clock.
    app.clock.advance(60);
    for path in ["breaches", "breach/Acmegram", "latestBreach", "dataClasses"] {
        let path = format!("/api/v3/{path}");
        let response = app.get(&path).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("access-control-allow-origin"), "*");
        assert_eq!(header("cache-control"), "public, max-age=300");
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("link"), format!("<{}>; rel=\"license\"", app.server.url("")));
        let etag = header("etag");
        assert!(etag.starts_with('"'), "{etag}");
        let modified = header("last-modified");
        for (name, value, status) in [
            ("if-none-match", etag.as_str(), 304),
            ("if-none-match", "\"other\"", 200),
            ("if-modified-since", modified.as_str(), 304),
            ("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT", 200),
        ] {
            let again = app.request(&path).header(name, value).send().await.unwrap();
            assert_eq!(again.status(), status, "{path} {name} {value}");
            assert_eq!(again.headers()["etag"], etag.as_str());
        }
    }
    app.set_breach("Acmegram", |breach| breach.title = "New".into()).await;
}

#[actix_web::test]
async fn change_is_noticed_by_clients_without_entity_tags() {
    let app = App::start().await;
    app.clock.advance(105);
    let change = async |at: i64| {
        app.change(|db| {
            versions::bump_catalogue(db, at)?;
            versions::get(db, versions::CATALOGUE_CHANGED_AT)
        })
        .await
    };
    assert_eq!(change(NOW + 105).await, Some(NOW + 105));
    let path = "/api/v3/latestBreach";
    let before = app.get(path).await.headers()["last-modified"].clone();
    let again = async || {
        let request = app.request(path).header("if-modified-since", before.clone());
        request.send().await.unwrap().status()
    };
    assert_eq!(again().await, 304);
    // The second change waited for the first one, and the third is in the same second.
    assert_eq!(change(NOW + 100).await, Some(NOW + 106));
    assert_eq!(again().await, 200);
    assert_eq!(change(NOW + 106).await, Some(NOW + 107));
}

#[actix_web::test]
async fn last_modified_is_not_in_the_future() {
    let app = App::start().await;
    app.change(|db| versions::bump_catalogue(db, NOW + 50)).await;
    let modified = async |since: &str| {
        let request = app.request("/api/v3/latestBreach").header("if-modified-since", since);
        let response = request.send().await.unwrap();
        let sent = response.headers()["last-modified"].to_str().unwrap().to_owned();
        (response.status().as_u16(), sent)
    };
    let date = |at: i64| shell::http_date(at).unwrap().to_str().unwrap().to_owned();
    // A copy with this date may be of the same second, but from before the change.
    assert_eq!(modified(&date(NOW)).await, (200, date(NOW)));
    app.clock.advance(60);
    assert_eq!(modified(&date(NOW)).await, (200, date(NOW + 50)));
    assert_eq!(modified(&date(NOW + 50)).await, (304, date(NOW + 50)));
}

#[actix_web::test]
async fn large_answer_is_compressed_if_accepted() {
    let app = App::start().await;
    let packed = app.request("/api/v3/breaches").header("accept-encoding", "gzip");
    let packed = packed.send().await.unwrap();
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    let plain = app.request("/api/v3/breaches").send().await.unwrap();
    assert!(!plain.headers().contains_key("content-encoding"));
    for answer in [packed, plain] {
        assert_eq!(answer.headers()["vary"], "accept-encoding");
    }
}

#[actix_web::test]
async fn catalogue_answers_are_unchanged() {
    let app = App::start().await;
    let mut shown = String::new();
    for path in [
        "breaches?Domain=acmegram.example",
        "breaches?IsSpamList=true",
        "breach/Inkwell",
        "breach/Nowhere",
        "latestBreach",
        "dataClasses",
    ] {
        shown += &app.shown(ZERO, &format!("/api/v3/{path}")).await;
    }
    insta::assert_snapshot!(shown);
}

#[actix_web::test]
async fn etag_of_a_compressed_answer_is_weak_and_still_matches() {
    let app = App::start().await;
    let ask = async |coding: &str, tag: &str| {
        let request = app.request("/api/v3/breaches").header("accept-encoding", coding);
        let answer = request.header("if-none-match", tag).send().await.unwrap();
        (answer.status().as_u16(), answer.headers()["etag"].to_str().unwrap().to_owned())
    };
    let (_, plain) = ask("identity", "\"other\"").await;
    assert!(plain.starts_with('"'), "{plain}");
    for coding in ["gzip", "br", "deflate"] {
        let (status, coded) = ask(coding, "\"other\"").await;
        assert_eq!((status, &coded), (200, &format!("W/{plain}")), "{coding}");
        assert_eq!(ask(coding, &coded).await.0, 304, "{coding}");
    }
}

#[actix_web::test]
async fn stored_description_with_active_content_is_cleaned_in_answers() {
    let app = App::start().await;
    let html = "<b>a</b><iframe src=x></iframe><a href='java&#115;cript:a()'>b</a>";
    app.set_breach("Acmegram", |breach| breach.description = html.into()).await;
    let breach: Value = app.get("/api/v3/breach/acmegram").await.json().await.unwrap();
    assert_eq!(breach["Description"], "<b>a</b><a>b</a>");
}

#[actix_web::test]
async fn page_of_the_license_link_and_public_pages_have_the_attribution() {
    let app = App::start().await;
    app.import(&json!([entry("Alpha")])).await;
    let link = app.get("/api/v3/breaches").await.headers()["link"].to_str().unwrap().to_owned();
    let root = link.strip_prefix('<').and_then(|link| link.split('>').next()).unwrap();
    assert_eq!(root, app.server.url(""));
    for path in ["/", "/breaches", "/breaches/Alpha"] {
        let page = app.get(path).await.text().await.unwrap();
        assert!(page.contains("credit this service visibly and with a link"), "{path}: {page}");
    }
}
