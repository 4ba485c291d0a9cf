use serde_json::{Value, json};

use testkit::Exchange;

use crate::app::App;

#[actix_web::test]
async fn seeded_iban_never_changes() {
    let app = App::start().await;
    let response = app.get("/api/Finance/Iban/de?seed=demo").await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("x-seed"), "demo");
    assert_eq!(response.header("content-type"), "application/json; charset=utf-8");
    assert_eq!(response.text(), "\"DE88370400441474203700\"");
}

#[actix_web::test]
async fn every_listed_country_gives_an_account() {
    let app = App::start().await;
    let countries = app.ok("/api/Finance/Countries").await;
    let countries = countries.as_array().unwrap();
    assert_eq!(countries.len(), 89);
    assert_eq!(countries[0], json!({ "name": "Albania", "countryCode": "AL" }));
    for country in countries {
        let code = country["countryCode"].as_str().unwrap();
        let iban = app.ok(&format!("/api/Finance/Iban/{code}")).await;
        assert!(iban.as_str().unwrap().starts_with(code), "{iban}");
    }
    let path = |code: &str| format!("/api/Finance/Iban/{code}?seed=1");
    assert_eq!(app.ok(&path("uk")).await, app.ok(&path("GB")).await);
}

#[actix_web::test]
async fn unknown_country_of_an_account_is_400() {
    let app = App::start().await;
    assert_eq!(
        app.errors("/api/Finance/Iban/zz").await,
        json!({ "countryCode": ["The value 'zz' is not supported. See /api/Finance/Countries."] })
    );
    let long = "The field countryCode must be a string or array type with a maximum length of '2'.";
    assert_eq!(app.errors("/api/Finance/Iban/DEU").await, json!({ "countryCode": [long] }));
}

#[actix_web::test]
async fn every_listed_coin_gives_an_address() {
    let app = App::start().await;
    let coins = app.ok("/api/Finance/CryptoAddress/Types").await;
    let coins = coins.as_array().unwrap();
    assert_eq!(coins.len(), 68);
    for coin in coins {
        let coin = coin.as_str().unwrap();
        let answer = app.ok(&format!("/api/Finance/CryptoAddress?cryptoType={coin}")).await;
        assert_eq!(answer["type"], coin);
        assert!(answer["address"].as_str().unwrap().len() >= 26);
    }
}

#[actix_web::test]
async fn coin_may_be_a_ticker_and_is_bitcoin_when_absent() {
    let app = App::start().await;
    let answer = app.ok("/api/finance/cryptoaddress?cryptotype=eth").await;
    assert_eq!(answer["type"], "Ethereum");
    assert_eq!(app.ok("/api/Finance/CryptoAddress").await["type"], "Bitcoin");
    let message = "The value 'Beans' is not supported. See /api/Finance/CryptoAddress/Types.";
    assert_eq!(
        app.errors("/api/Finance/CryptoAddress?cryptoType=Beans").await,
        json!({ "cryptoType": [message] })
    );
}

async fn vat(app: &App, query: &str) -> Value {
    let path = format!("/api/Finance/Vat/Validator?{query}");
    // The operation does not have a body, so any body is ignored.
    let request = app.server.post(&path).header("content-type", "text/plain").body("{");
    request.answer().await.json()
}

#[actix_web::test]
async fn tax_numbers_are_checked() {
    let app = App::start().await;
    let right = json!({ "isValid": true, "errorMessage": null });
    assert_eq!(vat(&app, "country=DE&vat=DE136695976").await, right);
    assert_eq!(vat(&app, "country=el&vat=EL%20094259216").await, right);
    assert_eq!(
        vat(&app, "country=DE&vat=136695977").await,
        json!({ "isValid": false, "errorMessage": "The USt-IdNr has a check digit mismatch." })
    );
}

#[actix_web::test]
async fn missing_and_unknown_parameters_of_a_tax_number_are_400() {
    let app = App::start().await;
    assert_eq!(
        vat(&app, "vat=").await["errors"],
        json!({
            "country": ["The country field is required."],
            "vat": ["The vat field is required."],
        })
    );
    assert_eq!(
        vat(&app, "country=ZZ&vat=1").await["errors"],
        json!({ "country": ["The value 'ZZ' is not supported."] })
    );
}

#[actix_web::test]
async fn accounts_and_addresses_are_checked() {
    let app = App::start().await;
    assert_eq!(
        app.ok("/api/finance/iban/validate?iban=iban%20gb82WEST12345698765432").await,
        json!({
            "isValid": true, "errorMessage": null, "countryCode": "GB",
            "electronic": "GB82WEST12345698765432", "printed": "GB82 WEST 1234 5698 7654 32",
        })
    );
    assert_eq!(
        app.ok("/api/Finance/Iban/Validate?iban=DE89370400440532013001&countryCode=DE").await,
        json!({ "isValid": false, "errorMessage": "The check digits are wrong." })
    );
    let check = async |query: &str| {
        app.ok(&format!("/api/Finance/CryptoAddress/Validate?address={query}")).await
    };
    assert_eq!(
        check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa").await,
        json!({ "isValid": true, "errorMessage": null, "types": ["Bitcoin", "BitcoinSV"] })
    );
    let message = "The checksum of the Bitcoin address is wrong.";
    assert_eq!(
        check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb&cryptoType=btc").await,
        json!({ "isValid": false, "errorMessage": message, "types": [] })
    );
}

#[actix_web::test]
async fn pretty_ibans_are_grouped() {
    let app = App::start().await;
    let plain = app.ok("/api/Finance/Iban/NO?seed=a").await;
    let pretty = app.ok("/api/Finance/Iban/NO?seed=a&format=pretty").await;
    let pretty = pretty.as_str().unwrap();
    assert_eq!(pretty.replace(' ', ""), plain);
    assert_eq!(pretty.split(' ').map(str::len).collect::<Vec<_>>(), [4, 4, 4, 3]);
}
