use generator::Generator;
use generator::model::card::CARD_TYPES;
use generator::model::names::Part;
use generator::model::{DATA_VERSION, Seed, crypto, iban, imei, names, phone, ssn};
use sha2::{Digest, Sha256};

use testkit::Exchange;

use crate::app::App;

#[test]
fn openapi_json_matches_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    testkit::assert_openapi_matches::<Generator>(path);
}

#[actix_web::test]
async fn every_documented_path_is_found_in_upper_case() {
    let app = App::start().await;
    let document = app.ok("/openapi.json").await;
    assert_eq!(document["info"]["version"], "v1");
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let method = method.to_uppercase().parse().unwrap();
            let path = path.replace("{countryCode}", "DE").replace("{name}", "shop").to_uppercase();
            let response = app.server.request(method, &path).answer().await;
            assert!(![404, 405].contains(&response.status), "{path}");
        }
    }
}

#[actix_web::test]
async fn document_has_the_headers_and_failures_of_each_kind_of_operation() {
    let document = App::start().await.ok("/openapi.json").await;
    let answers = |path: &str, method: &str| document["paths"][path][method]["responses"].clone();
    for path in [
        "/api/Card/Types",
        "/api/Finance/CryptoAddress/Types",
        "/api/Finance/Countries",
        "/api/Misc/Cultures",
        "/api/Name/Cultures",
        "/api/Phone/Countries",
    ] {
        for status in ["200", "304"] {
            for header in ["ETag", "Cache-Control", "RateLimit-Limit"] {
                let told = &answers(path, "get")[status]["headers"][header];
                assert!(told.is_object(), "{path} {status} {header}");
            }
        }
    }
    let post = answers("/api/SocialNumber", "post");
    for status in ["200", "400", "401", "413", "415", "429"] {
        for header in ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] {
            let place = format!("#/components/headers/{header}");
            assert_eq!(post[status]["headers"][header]["$ref"], place, "{status}");
            assert!(document["components"]["headers"][header]["description"].is_string());
        }
    }
    assert!(post["429"]["headers"]["Retry-After"].is_object());
    assert!(answers("/licenses", "get")["200"].get("headers").is_none());
    assert_eq!(
        document["components"]["schemas"]["CardAnswer"]["properties"]["pin"]["minimum"],
        1000
    );
}

#[test]
fn values_of_a_seed_change_only_with_the_data_version() {
    let mut random = Seed::parse("fixed").unwrap().random("fixed", "");
    let mut values = String::new();
    for _ in 0..20 {
        CARD_TYPES.iter().for_each(|kind| kind.write_number(&mut random, &mut values));
        crypto::COINS.iter().for_each(|coin| coin.write(&mut random, &mut values));
        iban::all().iter().for_each(|country| country.write(&mut random, &mut values));
        for region in phone::all().iter().step_by(20) {
            region.numbers().unwrap().write(&mut random, phone::Format::E164, &mut values);
        }
        imei::write(&mut random, &mut values);
        ssn::write(&mut random, &mut values);
        for part in [Part::First, Part::Last, Part::Full] {
            names::american().write(&mut random, part, &mut values);
        }
        for culture in names::all() {
            culture.write_full(&mut random, &mut values);
            culture.write_address(&mut random, &mut values);
            culture.write_company(&mut random, &mut values);
        }
    }
    let digest = hex::encode(&Sha256::digest(&values)[..8]);
    // If the digest changes, the same seed gives other values: change DATA_VERSION too.
    assert_eq!((DATA_VERSION, digest.as_str()), ("2.14.0", "6597c30002dffdba"));
}
