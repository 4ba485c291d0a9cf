use std::collections::BTreeSet;

use serde_json::{Value, json};

use testkit::Exchange;

use crate::app::App;

#[actix_web::test]
async fn parts_of_a_person_are_consistent() {
    let app = App::start().await;
    let people = app.ok("/api/Person?culture=it&quantity=50&seed=1").await;
    for person in people.as_array().unwrap() {
        let text = |path: &str| person.pointer(path).and_then(Value::as_str).unwrap();
        assert_eq!(text("/fullName"), format!("{} {}", text("/givenName"), text("/surname")));
        assert_eq!(text("/card/fullName"), text("/nameLatin"));
        assert!(text("/iban").starts_with("IT") && text("/phone").starts_with("+39"));
        let line = text("/address/line");
        assert!(line.contains(text("/address/postcode")) && line.contains(text("/address/city")));
        // The number encodes the year and the sex: 40 is added to the day for women.
        let number = text("/nationalNumber");
        assert_eq!(&number[6..8], &text("/birthDate")[2..4]);
        let day: u32 = number[9..11].parse().unwrap();
        assert_eq!(day > 40, text("/sex") == "female", "{number}");
        let body = json!({ "number": number, "country": "IT" }).to_string();
        let check = app.server.post("/api/SocialNumber?idType=SSN");
        let check = check.header("content-type", "application/json").body(body);
        assert_eq!(check.answer().await.expect(200).json()["isValid"], true, "{number}");
    }
}

#[actix_web::test]
async fn every_culture_has_persons() {
    let app = App::start().await;
    let cultures = app.ok("/api/Misc/Cultures").await;
    for culture in cultures.as_array().unwrap() {
        let code = culture["code"].as_str().unwrap();
        let people = app.ok(&format!("/api/Person?culture={code}&quantity=3")).await;
        assert_eq!(people.as_array().unwrap().len(), 3, "{code}");
        assert_eq!(people[0]["culture"], code);
        let country = people[0]["address"]["countryCode"].as_str().unwrap();
        let without = "AM AZ BD DZ GE GH HK HU IR KE LU MK NG NP PS RS SA SN TW UZ VN";
        let without = without.split(' ').any(|known| known == country);
        assert_eq!(people[0]["nationalNumber"].is_null(), without, "{code}");
    }
    assert_eq!(app.ok("/api/Person").await["address"]["countryCode"], "US");
}

#[actix_web::test]
async fn persons_are_repeatable_and_available_as_csv() {
    let app = App::start().await;
    let one = app.get("/api/Person?culture=ja&seed=demo").await;
    assert_eq!(one.header("x-ref-date"), "2030-01-01");
    let several = app.ok("/api/Person?culture=JA-jp&quantity=2&seed=demo").await;
    assert_eq!(one.json(), several[0]);
    let request = app.server.get("/api/Person?culture=ja&quantity=2&seed=demo");
    let table = request.header("accept", "text/csv").answer().await.expect(200);
    let table = table.text().to_owned();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("culture,sex,givenName,surname,fullName,birthDate,address,city,"));
    assert!(lines[1].starts_with("ja,"));
    assert_eq!(
        app.errors("/api/Person?culture=xx&quantity=1001").await,
        json!({
            "culture": ["The value 'xx' is not supported. See /api/Name/Cultures."],
            "quantity": ["The field quantity must be between 1 and 1000."],
        })
    );
}

#[actix_web::test]
async fn addresses_and_user_names_fit_unique_columns_and_come_from_the_name() {
    let app = App::start().await;
    let people = app.ok("/api/Person?culture=ja&quantity=1000&seed=1").await;
    let people = people.as_array().unwrap();
    for member in ["email", "username"] {
        let distinct: BTreeSet<_> =
            people.iter().map(|one| one[member].as_str().unwrap()).collect();
        assert_eq!(distinct.len(), 1000, "{member}");
    }
    for person in people {
        let text = |member: &str| person[member].as_str().unwrap();
        let (surname, given) = text("nameLatin").split_once(' ').unwrap();
        let email = text("email");
        assert!(email.contains(&surname.to_lowercase()), "{email} {surname}");
        assert!(email.starts_with(&given[..1].to_lowercase()), "{email} {given}");
        let kana = text("nameKana").replace(' ', "");
        assert!(kana.chars().all(|letter| ('ァ'..='ー').contains(&letter)), "{kana}");
        assert_eq!(person["card"]["fullName"], person["nameLatin"]);
    }
    let russian = app.ok("/api/Person?culture=ru&seed=1").await;
    assert_eq!(russian["nameKana"], Value::Null);
}

#[actix_web::test]
async fn persons_have_the_requested_age_sex_and_birth_date() {
    let app = App::start().await;
    let path = "/api/Person?culture=pl&quantity=60&seed=1&refDate=2000-06-15";
    let people = app.ok(&format!("{path}&minAge=20&maxAge=29&sex=female")).await;
    for person in people.as_array().unwrap() {
        let born = person["birthDate"].as_str().unwrap();
        assert!(("1970-06-15".."1980-06-16").contains(&born), "{born}");
        assert_eq!(person["sex"], "female");
        assert!(person["nationalNumber"].as_str().unwrap().starts_with(&born[2..4]));
    }
    let person = app.ok("/api/Person?culture=pl&birthDate=1984-02-29").await;
    assert_eq!(person["birthDate"], "1984-02-29");
    assert_eq!(
        app.errors("/api/Person?minAge=100&maxAge=-1").await,
        json!({
            "minAge": ["The field minAge must be between 0 and 99."],
            "maxAge": ["The field maxAge must be between 0 and 99."],
        })
    );
    assert_eq!(
        app.errors("/api/Person?minAge=30&maxAge=20").await,
        json!({ "minAge": ["The field minAge must be between 0 and 20."] })
    );
    assert_eq!(
        app.errors("/api/Person?birthDate=2000-06-16&refDate=2000-06-15").await,
        json!({ "birthDate": ["The field birthDate must be between 1900-01-01 and 2000-06-15."] })
    );
    // The number would be that of a person born in 2050.
    assert_eq!(
        app.errors("/api/Person?culture=pl&birthDate=2150-06-15&refDate=2200-01-01").await,
        json!({ "birthDate": ["The field birthDate must be between 1900-01-01 and 2099-12-31."] })
    );
}

#[actix_web::test]
async fn persons_on_distant_reference_days_fit_the_ages_or_are_refused() {
    let app = App::start().await;
    for (query, first, last) in [
        ("refDate=1910-01-01&minAge=40&maxAge=50", "1940-01-01", "2150-12-30"),
        ("refDate=2200-01-01&minAge=40&maxAge=50", "1940-01-01", "2150-12-30"),
        ("refDate=1890-01-01", "1900-01-01", "2199-12-30"),
        ("refDate=2200-01-01", "1900-01-01", "2199-12-30"),
    ] {
        assert_eq!(
            app.errors(&format!("/api/Person?seed=1&{query}")).await,
            json!({ "refDate": [format!("The field refDate must be between {first} and {last}.")] })
        );
    }
    for (query, first, last) in [
        ("refDate=1910-06-15", "1900-01-01", "1910-06-15"),
        ("refDate=1945-06-15&minAge=40&maxAge=50", "1900-01-01", "1905-06-15"),
        ("refDate=2140-06-15&minAge=40&maxAge=50", "2089-06-16", "2099-12-31"),
    ] {
        let people = app.ok(&format!("/api/Person?seed=1&quantity=60&{query}")).await;
        for person in people.as_array().unwrap() {
            let born = person["birthDate"].as_str().unwrap();
            assert!((first..=last).contains(&born), "{query}: {born}");
        }
    }
}
