//! Checks that handlers are named after their operation and registered exactly once.

use serde_json::Value;

use crate::offence::{Offence, assert_obeyed};
use crate::source::{Place, SERVICES, Source, root, sources};

/// Converts `listCryptoAddressTypes` to `list_crypto_address_types`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() && before != '_'
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if begins {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase().map(|c| if c == '-' { '_' } else { c }));
    }
    snake
}

/// Returns whether an identifier in a route is the handler: its name, or the name that
/// `utoipa::path` generates for operations that are answered before routing.
fn is_handler(word: &str, name: &str) -> bool {
    word.strip_prefix("__path_").unwrap_or(word) == name
}

fn operation_ids(service: &str) -> Vec<String> {
    let path = root().join("services").join(service).join("openapi.json");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let items = document["paths"].as_object().unwrap().values();
    items
        .flat_map(|item| item.as_object().unwrap().values())
        .filter_map(|operation| operation["operationId"].as_str().map(str::to_owned))
        .collect()
}

fn of_service(service: &str) -> impl Iterator<Item = &'static Source> {
    let path = format!("services/{service}/src/");
    sources()
        .iter()
        .filter(move |source| source.place == Place::Src && source.path.starts_with(&path))
}

#[test]
fn handlers_are_named_after_their_operation() {
    let mut offences = Vec::new();
    for source in
        sources().iter().filter(|source| source.is_service() && source.place == Place::Src)
    {
        for handler in &source.contents.handlers {
            let Some(id) = &handler.operation_id else { continue };
            let right = snake_case(id);
            if handler.name != right {
                offences.push(Offence {
                    rule: "handler",
                    file: source.path.clone(),
                    line: handler.line,
                    what: format!("{} answers the operation {id}", handler.name),
                    fix: format!("call it {right}"),
                });
            }
            if source.room() != "handlers" {
                offences.push(Offence {
                    rule: "handler",
                    file: source.path.clone(),
                    line: handler.line,
                    what: format!("{} is not in handlers/", handler.name),
                    fix: "move it to the file of its resource in handlers/".to_owned(),
                });
            }
        }
    }
    assert_obeyed(&["handler"], offences);
}

#[test]
fn every_operation_is_registered_once_in_routes() {
    let mut offences = Vec::new();
    for &service in SERVICES.iter() {
        for id in operation_ids(service) {
            let name = snake_case(&id);
            let routes = of_service(service).filter(|source| source.room() == "routes");
            let registered = routes
                .flat_map(|source| &source.contents.mentions)
                .filter(|mention| mention.binds.is_none() && !mention.test)
                .filter(|mention| {
                    mention.segments.last().is_some_and(|last| is_handler(last, &name))
                })
                .count();
            if registered != 1 {
                offences.push(Offence {
                    rule: "registered",
                    file: format!("services/{service}/src/routes.rs"),
                    line: 1,
                    what: format!("{id} is registered {registered} times"),
                    fix: format!("register {name} in the one list"),
                });
            }
        }
    }
    assert_obeyed(&["registered"], offences);
}

#[test]
fn operation_ids_become_function_names() {
    assert_eq!(snake_case("listCryptoAddressTypes"), "list_crypto_address_types");
    assert_eq!(snake_case("generateIMEI"), "generate_imei");
    assert_eq!(snake_case("getIBANByCountry"), "get_iban_by_country");
    assert_eq!(snake_case("get_event"), "get_event");
}
