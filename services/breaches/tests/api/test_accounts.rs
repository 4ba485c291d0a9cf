//! The table of test accounts, with an unknown key and with the zero key.

use domain::Sha1Digest;
use serde_json::{Value, json};

use crate::app::{App, TEST, UNKNOWN, ZERO, answer};

/// Alias, result of operation 1, whether there is a paste, result in operation 6.
const TABLE: [(&str, &[&str], bool, &[&str]); 16] = [
    ("account-exists", &["Acmegram"], true, &["Acmegram"]),
    (
        "multiple-breaches",
        &["Acmegram", "Borealis", "Cobaltbay"],
        false,
        &["Acmegram", "Borealis", "Cobaltbay"],
    ),
    ("not-active-and-active-breach", &["Acmegram"], false, &["Acmegram"]),
    ("not-active-breach", &[], false, &[]),
    ("opt-out", &[], false, &["Acmegram"]),
    ("opt-out-breach", &[], false, &["Acmegram"]),
    ("paste-sensitive-breach", &[], true, &["Duskmatch"]),
    ("permanent-opt-out", &[], false, &[]),
    (
        "sensitive-and-other-breaches",
        &["Acmegram", "Borealis"],
        false,
        &["Acmegram", "Borealis", "Duskmatch"],
    ),
    ("sensitive-breach", &[], false, &["Duskmatch"]),
    ("spam-list-only", &["Glowmailer"], false, &["Glowmailer"]),
    (
        "spam-list-and-others",
        &["Acmegram", "Borealis", "Glowmailer"],
        false,
        &["Acmegram", "Borealis", "Glowmailer"],
    ),
    (
        "subscription-free-and-other-breaches",
        &["Acmegram", "Borealis", "Freegate"],
        false,
        &["Acmegram", "Borealis", "Freegate"],
    ),
    ("stealer-log", &["HollowLogs"], false, &["HollowLogs"]),
    ("subscription-free-breach", &["Freegate"], false, &["Freegate"]),
    ("unverified-breach", &["Inkwell"], false, &["Inkwell"]),
];

#[actix_web::test]
async fn each_test_account_shows_its_breaches_and_pastes() {
    let app = App::start().await;
    let paste = json!([{"Source":"Pastebin","Id":"T3stP4st","Title":"fixture","Date":"2014-11-28T06:11:00Z","EmailCount":245}]);
    for key in [ZERO, UNKNOWN] {
        for (alias, breaches, pasted, _) in TABLE {
            let found =
                answer(app.get_with(key, &format!("/api/v3/breachedaccount/{alias}@{TEST}")).await)
                    .await;
            let names: Vec<Value> = breaches.iter().map(|name| json!({ "Name": name })).collect();
            let expected = if names.is_empty() {
                (404, String::new())
            } else {
                (200, Value::from(names).to_string())
            };
            assert_eq!(found, expected, "{alias}");
            let hash = Sha1Digest::of(format!("{alias}@{TEST}")).to_string();
            let range = format!("/api/v3/breachedaccount/range/{}", &hash[..6]);
            let range = app.json_with(key, &range).await;
            let own = range.as_array().unwrap().iter().find(|e| e["hashSuffix"] == hash[6..]);
            let expected = (!breaches.is_empty()).then(|| json!(breaches));
            assert_eq!(own.map(|entry| entry["websites"].clone()), expected, "{alias}");
            let found = app.get_with(key, &format!("/api/v3/pasteaccount/{alias}@{TEST}")).await;
            assert_eq!(found.status(), if pasted { 200 } else { 404 }, "{alias}");
            if pasted {
                assert_eq!(found.json::<Value>().await.unwrap(), paste);
            }
        }
    }
}

#[actix_web::test]
async fn test_domain_lists_each_alias_with_its_breaches() {
    let app = App::start().await;
    let mut expected = serde_json::Map::new();
    for (alias, _, _, names) in TABLE {
        if !names.is_empty() {
            expected.insert(alias.to_owned(), json!(names));
        }
    }
    for key in [ZERO, UNKNOWN] {
        let found =
            app.json_with(key, &format!("/api/v3/breacheddomain/{}", TEST.to_uppercase())).await;
        assert_eq!(found, Value::Object(expected.clone()));
    }
}

#[actix_web::test]
async fn stealer_log_test_account_is_found_by_each_search() {
    let app = App::start().await;
    let shop = format!("shop.{TEST}");
    let address = format!("stealer-log@{TEST}");
    for key in [ZERO, UNKNOWN] {
        for (path, expected) in [
            (format!("stealerlogsbyemail/{address}"), json!([shop])),
            (format!("stealerlogsbywebsitedomain/{shop}"), json!([address])),
            (format!("stealerlogsbyemaildomain/{TEST}"), json!({"stealer-log": [shop]})),
        ] {
            assert_eq!(app.json_with(key, &format!("/api/v3/{path}")).await, expected, "{path}");
        }
        for path in [
            format!("stealerlogsbyemail/account-exists@{TEST}"),
            format!("stealerlogsbywebsitedomain/{TEST}"),
            format!("stealerlogsbyemaildomain/{shop}"),
        ] {
            let response = app.get_with(key, &format!("/api/v3/{path}")).await;
            assert_eq!(answer(response).await, (404, String::new()), "{path}");
        }
    }
}

#[actix_web::test]
async fn zero_key_has_a_built_in_subscription() {
    let app = App::start().await;
    let status = answer(app.get_with(ZERO, "/api/v3/subscription/status").await).await;
    let expected = r#"{"SubscriptionName":"Test","Description":"Covers the test accounts only.","SubscribedUntil":"2099-12-31T23:59:59","Rpm":60,"DomainSearchMaxBreachedAccounts":2147483647,"MaxBreachedDomains":1,"IncludesStealerLogs":true,"IncludesBulkDomainAdd":false,"IncludesAutoSubdomainVerification":false,"IncludesCustomerDomains":false,"IncludesKAnon":true}"#;
    assert_eq!(status, (200, expected.into()));
    let domains = answer(app.get_with(ZERO, "/api/v3/subscribeddomains").await).await;
    let expected = format!(
        r#"[{{"DomainName":"{TEST}","PwnCount":null,"PwnCountExcludingSpamLists":null,"PwnCountExcludingSpamListsAtLastSubscriptionRenewal":null,"NextSubscriptionRenewal":"2099-12-31T23:59:59"}}]"#
    );
    assert_eq!(domains, (200, expected));
}

#[actix_web::test]
async fn test_data_can_be_removed_and_recreated() {
    let app = App::start().await;
    let path = format!("/api/v3/breachedaccount/account-exists@{TEST}");
    breaches::jobs::remove_test(&app.context).unwrap();
    app.state.reload().await.unwrap();
    assert_eq!(app.get_with(ZERO, &path).await.status(), 404);
    assert_eq!(answer(app.get("/api/v3/breaches").await).await, (200, "[]".into()));
    for _ in 0..2 {
        breaches::jobs::seed_test(&app.context, false).unwrap();
        app.state.reload().await.unwrap();
        assert_eq!(app.json_with(ZERO, &path).await, json!([{"Name": "Acmegram"}]));
    }
}

#[actix_web::test]
async fn test_accounts_can_use_breaches_of_a_loaded_catalogue() {
    let app = App::with(|settings| settings.seed_test_data = false).await;
    app.import(&json!([crate::app::entry("Adobe")])).await;
    breaches::jobs::seed_test(&app.context, true).unwrap();
    app.state.reload().await.unwrap();
    let path = format!("/api/v3/breachedaccount/account-exists@{TEST}");
    assert_eq!(app.json_with(ZERO, &path).await, json!([{"Name": "Adobe"}]));
}
