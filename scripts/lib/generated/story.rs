//! One story for each service, told by the Rust client that openapi-generator builds from its
//! document: story GENERATOR BUCKETS KEY BREACHES PASSWORDS CALENDAR KEY

use breaches_client::apis as breaches;
use buckets_client::apis as buckets;
use calendar_client::apis as calendar;
use generator_client::apis as generator;
use passwords_client::apis as passwords;

fn check(what: &str, passed: bool) {
    assert!(passed, "generated Rust client: {what}");
    eprintln!("  Rust: {what}");
}

fn make_a_card(base: String) {
    let at = generator::configuration::Configuration { base_path: base, ..Default::default() };
    let card = generator::card_api::generate_card(&at, Some("Visa"), None, None, Some("check"), None, None, None).unwrap();
    let generator_client::models::OneOrSeveralCardAnswer::OneOrSeveralCardAnswerOneOf(card) = card else {
        panic!("one card was requested: {card:?}")
    };
    let checked = generator::card_api::validate_card(&at, &card.card_number, None).unwrap();
    check("generator: a card that is valid", checked.is_valid);
    let refused = generator::card_api::generate_card(&at, Some("Nonsense"), None, None, None, None, None, None);
    check("generator: an error with its status", status_of_generator(refused) == 400);
}

fn status_of_generator<T, E>(outcome: Result<T, generator::Error<E>>) -> u16 {
    match outcome {
        Err(generator::Error::ResponseError(answer)) => answer.status.as_u16(),
        _ => 0,
    }
}

fn search_files(base: String, key: String) {
    let at = buckets::configuration::Configuration {
        base_path: base,
        bearer_access_token: Some(key),
        ..Default::default()
    };
    let stats = buckets::search_api::get_stats(&at).unwrap();
    let listed = buckets::search_api::list_buckets(&at, None, None, None, None, Some(2), None, None).unwrap();
    check("buckets: stats and a page of buckets", listed.buckets.len() == 2 && format!("{stats:?}").contains("105"));
}

fn look_an_account_up(base: String) {
    let at = breaches::configuration::Configuration {
        base_path: base,
        user_agent: Some("generated-client".to_owned()),
        api_key: Some(breaches::configuration::ApiKey { prefix: None, key: "0".repeat(32) }),
        ..Default::default()
    };
    let listed = breaches::catalogue_api::breaches(&at, None, None).unwrap();
    check("breaches: the catalogue", listed.iter().any(|breach| breach.name == "Acmegram"));
    let address = "account-exists@breach-integration-tests.example";
    let found = breaches::accounts_api::breached_account(&at, address, None, None, None).unwrap();
    check("breaches: an account", found[0].name == "Acmegram");
}

fn ask_for_a_range(base: String) {
    let at = passwords::configuration::Configuration { base_path: base, ..Default::default() };
    let lines = passwords::range_api::get_password_range(&at, "5BAA6", None, None).unwrap();
    check("passwords: a range", lines.contains("1E4C9B93F3F0682250B6CF8331B7EE68FD8:"));
}

fn make_an_event(base: String, key: String) {
    let at = calendar::configuration::Configuration {
        base_path: base,
        bearer_access_token: Some(key),
        ..Default::default()
    };
    let event = calendar_client::models::EventCreate::new(
        "+1 day 11:00".to_owned(),
        "+1 day 10:00".to_owned(),
        "By a Rust client".to_owned(),
    );
    let made = calendar::events_api::create_event(&at, event, None).unwrap();
    let read = calendar::events_api::get_event(&at, made.id, None, None, None).unwrap();
    check("calendar: an event made and read", read.title == "By a Rust client");
    calendar::events_api::delete_event(&at, made.id, None, None, None, None).unwrap();
}

fn main() {
    let [generator, buckets, buckets_key, breaches, passwords, calendar, calendar_key]: [String; 7] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().expect("seven arguments");
    make_a_card(generator);
    search_files(buckets, buckets_key);
    look_an_account_up(breaches);
    ask_for_a_range(passwords);
    make_an_event(calendar, calendar_key);
}
