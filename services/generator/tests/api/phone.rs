use serde_json::json;

use crate::app::App;

#[actix_web::test]
async fn numbers_are_valid_in_their_country() {
    let app = App::start().await;
    for code in ["FR", "US", "IT", "AR", "CI", "TA"] {
        let numbers = app.ok(&format!("/api/Phone/Generate?CountryCode={code}&Quantity=20")).await;
        assert_eq!(numbers.as_array().unwrap().len(), 20);
        for number in numbers.as_array().unwrap() {
            let number = number.as_str().unwrap().replace('+', "%2B");
            let path = format!("/api/Phone/Validate?telephone={number}&CountryCode={code}");
            let answer = app.ok(&path).await;
            assert_eq!(answer["isValid"], true, "{number}");
            assert_eq!(answer["countryCode"], code);
        }
    }
}

#[actix_web::test]
async fn shorter_list_is_a_prefix_of_a_longer_one() {
    let app = App::start().await;
    for path in
        ["/api/Phone/Generate?countrycode=jp&seed=a&quantity=", "/api/Phone/IMEI?seed=a&Quantity="]
    {
        let long = app.ok(&format!("{path}1000")).await;
        let short = app.ok(&format!("{path}5")).await;
        assert_eq!(long.as_array().unwrap()[..5], short.as_array().unwrap()[..]);
    }
}

#[actix_web::test]
async fn valid_number_is_returned_in_all_formats() {
    let app = App::start().await;
    let right = json!({
        "isValid": true, "countryCode": "FR", "e164": "+33612345678",
        "international": "+33 6 12 34 56 78", "national": "06 12 34 56 78", "type": "MOBILE",
    });
    for query in [
        "telephone=06%2012%2034%2056%2078&CountryCode=fr",
        "telephone=%2B33612345678",
        "telephone=0033612345678",
        "telephone=+33612345678",
    ] {
        assert_eq!(app.ok(&format!("/api/Phone/Validate?{query}")).await, right, "{query}");
    }
}

#[actix_web::test]
async fn invalid_numbers_have_a_reason() {
    let app = App::start().await;
    for query in [
        "telephone=0612345678",
        "telephone=hello&CountryCode=FR",
        "telephone=%2B33612345678&CountryCode=DE",
        "telephone=%2B80012345678",
    ] {
        let answer = app.ok(&format!("/api/Phone/Validate?{query}")).await;
        assert_eq!(answer["isValid"], false);
        assert!(answer["errorMessage"].as_str().unwrap().ends_with('.'));
        assert_eq!(answer.as_object().unwrap().len(), 2);
    }
}

#[actix_web::test]
async fn faults_of_a_check_are_400() {
    let app = App::start().await;
    let long = "1".repeat(26);
    assert_eq!(
        app.errors(&format!("/api/Phone/Validate?telephone={long}&CountryCode=ZZ")).await,
        json!({
            "telephone": [
                "The field telephone must be a string or array type with a maximum length of '25'."
            ],
            "CountryCode": ["The value 'ZZ' is not supported. See /api/Phone/Countries."],
        })
    );
    assert_eq!(
        app.errors("/api/Phone/Validate").await,
        json!({ "telephone": ["The telephone field is required."] })
    );
}

#[actix_web::test]
async fn countries_are_sorted_by_name() {
    let app = App::start().await;
    let countries = app.ok("/api/Phone/Countries").await;
    let countries = countries.as_array().unwrap();
    assert_eq!(countries.len(), 245);
    assert_eq!(countries[0]["name"], "Afghanistan");
    assert_eq!(countries[244], json!({ "name": "Zimbabwe", "countryCode": "ZW" }));
}

#[actix_web::test]
async fn fictional_numbers_are_generated_or_refused() {
    let app = App::start().await;
    let path = "/api/Phone/Generate?CountryCode=US&Quantity=20&fictional=true";
    for number in app.ok(path).await.as_array().unwrap() {
        assert_eq!(&number.as_str().unwrap()[5..10], "55501", "{number}");
    }
    let message = "No numbers in JP are reserved for fiction. There are such numbers in AU, CA, \
                   DE, FR, GB, IE, SE, US.";
    assert_eq!(
        app.errors("/api/Phone/Generate?CountryCode=JP&Quantity=1&fictional=True").await,
        json!({ "fictional": [message] })
    );
    assert_eq!(
        app.errors("/api/Phone/Generate?CountryCode=JP&Quantity=1&fictional=1").await,
        json!({ "fictional": ["The value '1' is not valid."] })
    );
}

#[actix_web::test]
async fn numbers_have_the_requested_format() {
    let app = App::start().await;
    for (format, beginning) in
        [("e164", "+33"), ("International", "+33 "), ("national", "0"), ("rfc3966", "tel:+33-")]
    {
        let path = format!("/api/Phone/Generate?CountryCode=FR&Quantity=5&format={format}");
        for number in app.ok(&path).await.as_array().unwrap() {
            assert!(number.as_str().unwrap().starts_with(beginning), "{number}");
        }
    }
    assert_eq!(
        app.errors("/api/Phone/Generate?CountryCode=FR&Quantity=5&format=fax").await,
        json!({ "format": ["The value 'fax' is not valid."] })
    );
}
