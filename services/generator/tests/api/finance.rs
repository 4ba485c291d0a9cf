use serde_json::{Value, json};

use super::{Fixture, header};

#[actix_web::test]
async fn seeded_account_is_the_same_for_ever() {
    let fixture = Fixture::start().await;
    let response = fixture.get("/api/Finance/Iban/de?seed=demo").await;
    assert_eq!(response.status(), 200);
    assert_eq!(header(&response, "x-seed"), "demo");
    assert_eq!(header(&response, "content-type"), "application/json; charset=utf-8");
    assert_eq!(response.text().await.unwrap(), "\"DE88370400441474203700\"");
}

#[actix_web::test]
async fn every_listed_country_gives_an_account() {
    let fixture = Fixture::start().await;
    let countries = fixture.ok("/api/Finance/Countries").await;
    let countries = countries.as_array().unwrap();
    assert_eq!(countries.len(), 89);
    assert_eq!(countries[0], json!({ "name": "Albania", "countryCode": "AL" }));
    for country in countries {
        let code = country["countryCode"].as_str().unwrap();
        let iban = fixture.ok(&format!("/api/Finance/Iban/{code}")).await;
        assert!(iban.as_str().unwrap().starts_with(code), "{iban}");
    }
    let path = |code: &str| format!("/api/Finance/Iban/{code}?seed=1");
    assert_eq!(fixture.ok(&path("uk")).await, fixture.ok(&path("GB")).await);
}

#[actix_web::test]
async fn unknown_country_of_an_account_is_400() {
    let fixture = Fixture::start().await;
    assert_eq!(
        fixture.errors("/api/Finance/Iban/zz").await,
        json!({ "countryCode": ["The value 'zz' is not supported. See /api/Finance/Countries."] })
    );
    let long = "The field countryCode must be a string or array type with a maximum length of '2'.";
    assert_eq!(fixture.errors("/api/Finance/Iban/DEU").await, json!({ "countryCode": [long] }));
}

#[actix_web::test]
async fn every_listed_coin_gives_an_address() {
    let fixture = Fixture::start().await;
    let coins = fixture.ok("/api/Finance/CryptoAddress/Types").await;
    let coins = coins.as_array().unwrap();
    assert_eq!(coins.len(), 68);
    for coin in coins {
        let coin = coin.as_str().unwrap();
        let answer = fixture.ok(&format!("/api/Finance/CryptoAddress?cryptoType={coin}")).await;
        assert_eq!(answer["type"], coin);
        assert!(answer["address"].as_str().unwrap().len() >= 26);
    }
}

#[actix_web::test]
async fn coin_may_be_a_ticker_and_is_bitcoin_when_absent() {
    let fixture = Fixture::start().await;
    let answer = fixture.ok("/api/finance/cryptoaddress?cryptotype=eth").await;
    assert_eq!(answer["type"], "Ethereum");
    assert_eq!(fixture.ok("/api/Finance/CryptoAddress").await["type"], "Bitcoin");
    let message = "The value 'Beans' is not supported. See /api/Finance/CryptoAddress/Types.";
    assert_eq!(
        fixture.errors("/api/Finance/CryptoAddress?cryptoType=Beans").await,
        json!({ "cryptoType": [message] })
    );
}

async fn vat(fixture: &Fixture, query: &str) -> Value {
    let path = format!("/api/Finance/Vat/Validator?{query}");
    // The operation has no body, so whatever comes as one is ignored.
    let request = fixture.server.post(&path).header("content-type", "text/plain").body("{");
    request.send().await.unwrap().json().await.unwrap()
}

#[actix_web::test]
async fn tax_numbers_are_checked() {
    let fixture = Fixture::start().await;
    let right = json!({ "isValid": true, "errorMessage": null });
    assert_eq!(vat(&fixture, "country=DE&vat=DE136695976").await, right);
    assert_eq!(vat(&fixture, "country=el&vat=EL%20094259216").await, right);
    assert_eq!(
        vat(&fixture, "country=DE&vat=136695977").await,
        json!({ "isValid": false, "errorMessage": "The USt-IdNr has a check digit mismatch." })
    );
}

#[actix_web::test]
async fn missing_and_unknown_parameters_of_a_tax_number_are_400() {
    let fixture = Fixture::start().await;
    assert_eq!(
        vat(&fixture, "vat=").await["errors"],
        json!({
            "country": ["The country field is required."],
            "vat": ["The vat field is required."],
        })
    );
    assert_eq!(
        vat(&fixture, "country=ZZ&vat=1").await["errors"],
        json!({ "country": ["The value 'ZZ' is not supported."] })
    );
}
