//! The complete response of each operation.

use testkit::Exchange;

use crate::app::App;

#[actix_web::test]
async fn answers_of_all_operations_are_unchanged() {
    let app = App::start().await;
    for (name, path) in [
        ("generate_card", "/api/Card?type=Visa&seed=demo"),
        ("list_card_types", "/api/Card/Types"),
        ("list_crypto_address_types", "/api/Finance/CryptoAddress/Types"),
        ("generate_crypto_address", "/api/Finance/CryptoAddress?seed=demo"),
        ("generate_iban", "/api/Finance/Iban/DE?seed=demo"),
        ("list_iban_countries", "/api/Finance/Countries"),
        ("list_misc_cultures", "/api/Misc/Cultures"),
        ("generate_addresses", "/api/Misc/Random-Address?number=2&culture=de&seed=demo"),
        ("generate_person", "/api/Person?culture=sv&seed=demo"),
        ("suggest_business_names", "/api/Name/Suggestions?startingWords=blue+river&seed=demo"),
        ("generate_names", "/api/Name?nameType=fullname&quantity=3&seed=demo"),
        ("list_name_cultures", "/api/Name/Cultures"),
        ("generate_phone_numbers", "/api/Phone/Generate?CountryCode=FR&Quantity=2&seed=demo"),
        ("generate_imeis", "/api/Phone/IMEI?Quantity=2&seed=demo"),
        ("validate_phone_number", "/api/Phone/Validate?telephone=0033612345678"),
        ("validate_phone_number_invalid", "/api/Phone/Validate?telephone=0612345678"),
        ("list_phone_countries", "/api/Phone/Countries"),
        ("generate_social_number", "/api/SocialNumber?seed=%C3%BC+1"),
    ] {
        insta::assert_snapshot!(name, App::shown(&app.get(path).await.expect(200)));
    }
    for (name, path) in [
        ("generate_business_names", "/api/Name/BusinessName?number=3&seed=demo"),
        ("generate_brand_names", "/api/Name/BrandName?startingWords=blue+river&seed=demo"),
        ("generate_reviews", "/api/Text/Review?product=kettle&quantity=4&seed=demo"),
    ] {
        let answer = app.server.post(path).answer().await.expect(200);
        insta::assert_snapshot!(name, App::shown(&answer));
    }
    let vat = app.server.post("/api/Finance/Vat/Validator?country=DE&vat=DE136695976");
    insta::assert_snapshot!("validate_vat", App::shown(&vat.answer().await.expect(200)));
    let number = app.server.post("/api/SocialNumber?idType=SSN");
    let number = number.header("content-type", "application/json");
    let number = number.body("{\"number\":\"536-90-4398\",\"country\":\"SE\"}");
    insta::assert_snapshot!(
        "validate_social_number",
        App::shown(&number.answer().await.expect(200))
    );
}
