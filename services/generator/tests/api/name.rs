use serde_json::json;

use crate::app::App;

#[actix_web::test]
async fn quantity_is_the_number_of_names() {
    let app = App::start().await;
    for quantity in [1, 2, 5000] {
        let names = app.ok(&format!("/api/Name?nameType=fullname&quantity={quantity}")).await;
        let names = names.as_array().unwrap();
        assert_eq!(names.len(), quantity);
        assert!(names.iter().all(|name| name.as_str().unwrap().split(' ').count() == 2));
    }
}

#[actix_web::test]
async fn shorter_list_of_names_is_a_prefix_of_a_longer_one() {
    let app = App::start().await;
    for kind in ["firstname", "surname", "fullname"] {
        let path = |n: u32| format!("/api/Name?nameType={kind}&quantity={n}&seed=prefix");
        let long = app.ok(&path(300)).await;
        let short = app.ok(&path(7)).await;
        assert_eq!(long.as_array().unwrap()[..7], short.as_array().unwrap()[..]);
    }
}

#[actix_web::test]
async fn seeded_names_never_change() {
    let app = App::start().await;
    let response = app.get("/api/Name?nameType=FULLNAME&Quantity=3&seed=demo").await;
    assert_eq!(response.header("x-seed"), "demo");
    let names = response.text();
    assert_eq!(names, r#"["Patricia Clements","Jessica Jones","Joseph Dietrich"]"#);
}

#[actix_web::test]
async fn every_invalid_parameter_is_named() {
    let app = App::start().await;
    assert_eq!(
        app.errors("/api/Name").await,
        json!({
            "nameType": ["A value for the 'nameType' parameter or property was not provided."],
            "quantity": ["A value for the 'quantity' parameter or property was not provided."],
        })
    );
    assert_eq!(
        app.errors("/api/Name?nameType=1&quantity=abc&cultureCode=xx").await,
        json!({
            "nameType": ["The value '1' is not valid."],
            "quantity": ["The value 'abc' is not valid."],
            "cultureCode": ["The value 'xx' is not supported. See /api/Name/Cultures."],
        })
    );
}

#[actix_web::test]
async fn quantity_outside_its_range_is_400() {
    let app = App::start().await;
    for quantity in ["0", "5001", "-1", "2147483647"] {
        assert_eq!(
            app.errors(&format!("/api/Name?nameType=surname&quantity={quantity}")).await,
            json!({ "quantity": ["The field quantity must be between 1 and 5000."] })
        );
    }
    for quantity in ["2147483648", "1.0", "0x1", "1e3"] {
        let message = format!("The value '{quantity}' is not valid.");
        assert_eq!(
            app.errors(&format!("/api/Name?nameType=surname&quantity={quantity}")).await,
            json!({ "quantity": [message] })
        );
    }
    let blanks = app.ok("/api/Name?nameType=surname&quantity=%20%2B2%20").await;
    assert_eq!(blanks.as_array().unwrap().len(), 2);
}

#[actix_web::test]
async fn cultures_are_listed_and_accepted_in_any_spelling() {
    let app = App::start().await;
    let cultures = app.ok("/api/Name/Cultures").await;
    let american = json!({ "code": "en_US", "name": "English (United States)" });
    assert!(cultures.as_array().unwrap().contains(&american));
    let path = |code: &str| format!("/api/Name?nameType=surname&quantity=2&seed=1{code}");
    assert_eq!(app.ok(&path("&culturecode=EN-us")).await, app.ok(&path("")).await);
}
