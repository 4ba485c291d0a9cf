use std::collections::BTreeSet;

use serde_json::{Value, json};

use testkit::Exchange;

use crate::app::App;

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[actix_web::test]
async fn every_listed_culture_has_names_addresses_and_businesses() {
    let app = App::start().await;
    let cultures = app.ok("/api/Misc/Cultures").await;
    assert_eq!(cultures, app.ok("/api/Name/Cultures").await);
    assert_eq!(cultures.as_array().unwrap().len(), 82);
    assert_eq!(cultures[0], json!({ "code": "af_ZA", "name": "Afrikaans (South Africa)" }));
    for culture in cultures.as_array().unwrap() {
        let code = culture["code"].as_str().unwrap();
        let paths = [
            format!("/api/Name?nameType=fullname&quantity=20&cultureCode={code}"),
            format!("/api/Misc/Random-Address?number=20&culture={code}"),
        ];
        for path in paths {
            let list = app.ok(&path).await;
            let distinct: BTreeSet<_> = texts(&list).into_iter().collect();
            assert!(distinct.len() > 12, "{path}: {list}");
        }
        let path = format!("/api/Name/BusinessName?number=20&cultureCode={code}");
        let names = app.server.post(&path).answer().await.expect(200).json();
        assert_eq!(texts(&names).len(), 20);
    }
}

#[actix_web::test]
async fn postcodes_belong_to_their_state() {
    let app = App::start().await;
    let states =
        [("CA", "9"), ("NY", "1"), ("TX", "7"), ("FL", "3"), ("WA", "9"), ("IL", "6"), ("MA", "0")];
    let mut seen = 0;
    for address in texts(&app.ok("/api/Misc/Random-Address?number=1000&seed=1").await) {
        let (_, place) = address.rsplit_once(", ").unwrap();
        let (state, code) = place.split_once(' ').unwrap();
        assert_eq!(code.len(), 5, "{address}");
        if let Some((_, prefix)) = states.iter().find(|(known, _)| *known == state) {
            assert!(code.starts_with(prefix), "{address}");
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
    let german = app.ok("/api/Misc/Random-Address?number=300&culture=de&seed=1").await;
    for address in texts(&german).iter().filter(|address| address.ends_with(" Hamburg")) {
        let code = address.rsplit_once(", ").unwrap().1;
        assert!(code.starts_with("20") || code.starts_with("22"), "{address}");
    }
}

#[actix_web::test]
async fn addresses_have_their_default_and_limits() {
    let app = App::start().await;
    let path = |rest: &str| format!("/api/Misc/Random-Address?number=3&seed=1{rest}");
    assert_eq!(app.ok(&path("")).await, app.ok(&path("&culture=EN")).await);
    let longer = app.ok("/api/Misc/Random-Address?number=1000&culture=ja&seed=1").await;
    let shorter = app.ok(&path("&culture=ja-JP")).await;
    assert_eq!(longer.as_array().unwrap()[..3], shorter.as_array().unwrap()[..]);
    assert_eq!(
        app.errors("/api/Misc/Random-Address?number=1001&culture=xx").await,
        json!({
            "number": ["The field number must be between 1 and 1000."],
            "culture": ["The value 'xx' is not supported. See /api/Misc/Cultures."],
        })
    );
    assert_eq!(
        app.errors("/api/Misc/Random-Address?number=0").await,
        json!({ "number": ["The field number must be between 1 and 1000."] })
    );
}

#[actix_web::test]
async fn surnames_of_women_have_the_feminine_form() {
    let app = App::start().await;
    let path = "/api/Name?nameType=fullname&quantity=200&cultureCode=ru&seed=1";
    let names = app.ok(path).await;
    let female = ["Анна", "Мария", "Елена", "Ольга", "Наталья", "Екатерина"];
    let mut seen = 0;
    for name in texts(&names) {
        let (given, surname) = name.split_once(' ').unwrap();
        if female.contains(&given) {
            assert!(surname.ends_with('а') || surname.ends_with('я'), "{name}");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

#[actix_web::test]
async fn suggestions_contain_the_words() {
    let app = App::start().await;
    let names = app.ok("/api/Name/Suggestions?startingWords=%20blue%20%20river%20").await;
    let names: BTreeSet<_> = texts(&names).into_iter().collect();
    assert_eq!(names.len(), 20);
    assert!(names.iter().all(|name| name.contains("Blue River")), "{names:?}");
    for path in ["/api/Name/Suggestions", "/api/Name/Suggestions?startingWords=%20"] {
        let message = "The startingWords field is required.";
        assert_eq!(app.errors(path).await, json!({ "startingWords": [message] }));
    }
    let long =
        app.errors(&format!("/api/Name/Suggestions?startingWords={}", "x".repeat(101))).await;
    assert_eq!(
        long["startingWords"][0],
        "The field startingWords must be a string or array type with a maximum length of '100'."
    );
}

#[actix_web::test]
async fn brands_ignore_any_body() {
    let app = App::start().await;
    let request = app.server.post("/api/Name/BrandName?startingWords=blue&seed=1");
    let names = request.header("content-type", "text/plain").body("{").answer().await;
    let names = names.expect(200).json();
    assert_eq!(texts(&names).into_iter().collect::<BTreeSet<_>>().len(), 20);
    let refused = app.server.post("/api/Name/BrandName?startingWords=-%21").answer().await;
    assert_eq!(
        refused.expect(400).json()["errors"],
        json!({ "startingWords": ["The startingWords field must contain a letter or a digit."] })
    );
}

#[actix_web::test]
async fn reviews_contain_the_product_unchanged() {
    let app = App::start().await;
    let path = "/api/Text/Review?product=%3Cb%3EKettle%3C%2Fb%3E&quantity=500&seed=1";
    let answer = app.server.post(path).answer().await.expect(200);
    assert!(answer.text().contains("<b>Kettle</b>"));
    let reviews = answer.json();
    let distinct: BTreeSet<_> = texts(&reviews).into_iter().collect();
    assert!(distinct.len() > 475, "{}", distinct.len());
    let named = distinct.iter().filter(|review| review.contains("<b>Kettle</b>")).count();
    assert!(named > 300, "{named}");
    let refused = app.server.post("/api/Text/Review?quantity=501").answer().await.expect(400);
    assert_eq!(
        refused.json()["errors"],
        json!({
            "product": ["The product field is required."],
            "quantity": ["The field quantity must be between 1 and 500."],
        })
    );
}
