use generator::service::Generator;

use super::Fixture;

#[test]
fn document_in_the_tree_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    testkit::assert_openapi_matches::<Generator>(path);
}

#[actix_web::test]
async fn every_documented_path_is_found_in_upper_case() {
    let fixture = Fixture::start().await;
    let document = fixture.ok("/openapi.json").await;
    assert_eq!(document["info"]["version"], "v1");
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let method = method.to_uppercase().parse().unwrap();
            let path = path.replace("{countryCode}", "DE").to_uppercase();
            let response = fixture.server.request(method, &path).send().await.unwrap();
            assert!(![404, 405].contains(&response.status().as_u16()), "{path}");
        }
    }
}

#[actix_web::test]
async fn notices_of_the_data_are_served() {
    let fixture = Fixture::start().await;
    let text = fixture.get("/licenses").await.text().await.unwrap();
    for word in ["faker-js", "Unicode", "libphonenumber", "MIT", "Apache License"] {
        assert!(text.contains(word), "{word}");
    }
}
